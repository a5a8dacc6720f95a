#!/usr/bin/env python3
"""Every public name of the library says what it is, in a comment that the reference shows (///).

    tools/check_names.py [--root DIR]     prints one line per name that says nothing; exit status 1 if there is one
    tools/check_names.py --list           every public name
    tools/check_names.py --self-test      plants every kind of name without a comment and expects it to be found

A public name is a class, an enumeration, an alias, a concept, a function or a variable of a namespace below
include/fairlead that is called neither impl nor detail, or a macro FAIRLEAD_*. Of several declarations one has the comment.
Operators, specialisations and overloads that refuse their arguments belong to what they are of. Macros that programs
have no use for stand in OWN_MACROS.
"""

import argparse
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from check_contracts import code_of, declarations

# What the headers need among themselves.
OWN_MACROS = frozenset("FAIRLEAD_" + name for name in """
    ALWAYS_INLINE ANOTHER_CLOCK ASAN COLD COMPILED_PRIMITIVE COMPILED_TABLE COMPILER_CLANG CORO_FORK_AT CORO_YIELD_AT
    EXPORT HOT_TLS LIFETIMEBOUND NOINLINE NO_BUFFERS NO_ENDPOINTS NO_MUTABLE_BUFFERS NO_TOKEN RARELY_CALLED REFUSED TSAN
    """.split())
NAMESPACE = re.compile(r"namespace ([\w:]+)$")
NO_NAME = re.compile(r"(namespace|static_assert|friend|extern|&&|\|\||\\)|template (class|struct)\b|.*\brequires$")
TYPE = re.compile(r"(?:class|struct|union|enum(?: class| struct)?) (?:FAIRLEAD_\w+ |\[\[[^\]]*\]\] )*(\w+)(?! ?(?:<|::|(?!final)\w))")
NOT_A_FUNCTION = {"requires", "noexcept", "decltype", "explicit", "alignas", "__attribute__"}
MACRO = re.compile(r"#\s*define (FAIRLEAD_\w+)")


@dataclass(frozen=True)
class Name:
    name: str  # With its namespaces.
    kind: str  # type, concept, alias, function, variable or macro
    where: str
    is_documented: bool


def at_top(statement: str) -> str:
    """What is not between angle brackets or parentheses, of which the outermost pairs remain."""
    out, angles, parentheses = "", 0, 0
    for character in statement.replace("->", "  ").replace("<=", "  ").replace(">=", "  "):
        if character == "(":
            out += "(" if not angles and not parentheses else ""
            parentheses += 1
        elif character == ")":
            parentheses -= 1
            out += ")" if not angles and not parentheses else ""
        elif character == "<" and not parentheses:
            out += "<" if not angles else ""
            angles += 1
        elif character == ">" and not parentheses:
            angles -= 1
            out += ">" if not angles else ""
        elif not angles and not parentheses:
            out += character
    return out


def named_by(statement: str) -> tuple[str, str] | None:
    """Kind and name of what a statement of a namespace declares."""
    if NO_NAME.match(statement) or "FAIRLEAD_REFUSED" in statement or re.search(r"\boperator", statement):
        return None
    top = at_top(statement)
    head = re.sub(r"^(template ?<> ?)+", "", top).strip()
    declared = head.partition("=")[0].strip()
    if found := re.match(r"using (?:[\w:]+::)?(\w+)$", declared):
        return "alias", found[1]
    if found := re.match(r"concept (\w+)$", declared):
        return "concept", found[1]
    if re.match(r"(requires\b.*? )?(class|struct|union|enum) ", head):
        found = TYPE.search(head)
        return ("type", found[1]) if found else None
    for found in re.finditer(r"(?:(\w+)|([\w:<>]+)) ?\(", declared):
        before = declared[:found.start()].strip()
        if found[1] in NOT_A_FUNCTION:
            continue
        # A definition outside of its class, a deduction guide.
        return None if not found[1] or before.endswith("::") or not before or before.endswith("()") else ("function", found[1])
    found = re.search(r"[\w>&*] (\w+)$", declared)
    return ("variable", found[1]) if found and " " in declared and "template" not in found[1] else None


def names_of(where: str, text: str) -> list[Name]:
    out, lines = [], text.splitlines()
    namespaces: set[str] = set()
    for line, scope, statement, doc in declarations(text):
        if found := NAMESPACE.match(statement):
            namespaces.add(f"{scope}::{found[1]}".removeprefix("::"))
        elif statement.startswith("using fairlead::"):  # The same thing under a second name.
            continue
        elif scope in namespaces and not re.search(r"(impl|detail)\b", scope) and (named := named_by(statement)):
            end = next(n for n in range(line - 1, len(lines)) if re.search("[;{]", code_of(lines[n])))
            is_forward = named[0] == "type" and re.search("[;{]", code_of(lines[end]))[0] == ";"
            is_documented = bool(doc) or "///<" in lines[end]
            out.append(Name(f"{scope}::{named[1]}", "forward" if is_forward else named[0], f"{where}:{line}", is_documented))
    for number, line in enumerate(lines, 1):
        if (found := MACRO.match(line)) and found[1] not in OWN_MACROS:
            above = next((text for text in reversed(lines[:number - 1]) if not text.startswith("#if")), "")
            out.append(Name(found[1], "macro", f"{where}:{number}", above.startswith("///") or "///<" in line))
    return out


def public_names(root: Path) -> dict[str, list[Name]]:
    """Each name and its declarations."""
    out: dict[str, list[Name]] = {}
    for path in sorted((root / "include/fairlead").rglob("*.hpp")):
        for name in names_of(path.relative_to(root).as_posix(), path.read_text()):
            out.setdefault(name.name, []).append(name)
    return {name: of for name, of in out.items() if any(one.kind != "forward" for one in of)}


def check(root: Path) -> list[str]:
    names = public_names(root)
    found = [] if names else [f"no public name below {root / 'include/fairlead'}"]
    return found + [f"{of[0].where}: {name} has no comment (///) that says what it is"
                    for name, of in names.items() if not any(one.is_documented for one in of)]


GOOD = """\
#define FAIRLEAD_COLD
/// The number of the version.
#define FAIRLEAD_NEW 1
namespace fairlead {
namespace detail {
class hidden;
struct also_hidden {};
template <class T> void hidden_function(T);
}
class forward;
class elsewhere; // Defined in no header.
/// A class.
template <class T>
    requires(sizeof(T) > 1)
class FAIRLEAD_EXPORT forward final : public base<T> {
public:
    void member();
};
template <> class forward<int> {};
template <class T> forward(T) -> forward<T>;
template <class T> void forward<T>::member() {}
enum class kind : unsigned char { one }; ///< An enumeration.
bool operator==(forward, forward);
forward operator""_forward(char const*);
/// A concept.
template <class T>
concept small = requires(T t) { t.size() < 2; };
using text = std::basic_string<char>; ///< An alias.
/// A function.
template <class F = int (*)(int), class D = decltype(auto)>
    requires small<F>
[[nodiscard]] std::array<int, (2 > 1)> make(F&& f, D d = {}) noexcept(noexcept(f()));
void make(int);
int make() = delete;
namespace inner {
/// A variable.
template <class T> inline constexpr std::pair<T, int> value{};
using fairlead::make;
}
}
"""
NAMES = ["forward", "kind", "small", "text", "make", "inner::value"]


def self_test() -> list[str]:
    comments = ["/// The number of the version.\n", "/// A class.\n", " ///< An enumeration.", "/// A concept.\n",
                " ///< An alias.", "/// A function.\n", "/// A variable.\n"]
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        header = Path(folder) / "include/fairlead/a.hpp"
        header.parent.mkdir(parents=True)
        header.write_text(GOOD)
        if (named := list(public_names(Path(folder)))) != (ought := [f"fairlead::{name}" for name in NAMES] + ["FAIRLEAD_NEW"]):
            failures.append(f"names {named} in place of {ought}")
        for comment in ["nothing", *comments]:
            header.write_text(GOOD.replace(comment, "\n" if comment.endswith("\n") else ""))
            if len(found := check(Path(folder))) != (comment != "nothing"):
                failures.append(f"without {comment!r} found {found}")
    return failures


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("--self-test", action="store_true")
    options = arguments.parse_args()
    if options.list:
        print(*(f"{of[0].where}: {of[0].kind} {name}" for name, of in public_names(options.root).items()), sep="\n")
        return 0
    problems = self_test() if options.self_test else check(options.root)
    print("\n".join(problems) or "no violation")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
