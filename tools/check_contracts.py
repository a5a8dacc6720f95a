#!/usr/bin/env python3
"""Holds the documentation of every public initiating function to the contract block of STYLE.md: of async_*, and of
co_spawn, post, defer and dispatch.

    tools/check_contracts.py [--root DIR]     prints one line per violation; exit status 1 if there is one
    tools/check_contracts.py --list           what each operation promises, with what it shares
    tools/check_contracts.py --self-test      plants every kind of violation and expects it to be found

A docstring has a first sentence and the lines of REQUIRED. It may leave out lines if its first sentence says whose they
are: "The same ..." is the overload above it; "As async_x ..." is another operation of the header that is documented
in full. An overload without a docstring shares the one above. The lines that are there stand in the order of STYLE.md,
each once. What they call `so` is a parameter, and what they call error::so is declared.

In every docstring of include/ and src/ a line of a contract stands on a line of its own, and so does each of its errors:
clang-format joins such a line to the one before when that is too long, unless .clang-format (CommentPragmas) forbids it.
"""

import argparse
import re
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

LINES = ("Completes", "Errors", "Cancel", "Immediate", "Lifetime", "Threads", "Allocates", "Source")
REQUIRED = ("Completes", "Errors", "Cancel", "Lifetime", "Threads", "Allocates")
CONTRACT_LINE = re.compile(rf"({'|'.join(LINES)})  +(\S.*)")
OPERATION = re.compile(r"(?<![.>:\w])(async_\w+)\s*\(")
SHORT_NAMES = re.compile(r"(?<![.>:\w])(co_spawn|post|defer|dispatch)\s*\(")  # Of functions, not of members.
REFERENCE = re.compile(r"As (async_\w+|post)\b")
ANY_TITLE = rf"(?:{'|'.join(LINES)}|Throws)"
ANY_LINE = re.compile(rf"(?:self |state )?(?:{ANY_TITLE}|offers)  +(.*)")
JOINED = re.compile(rf"\S +{ANY_TITLE}  +\S")  # A line of a contract inside another line.
HALVED = re.compile(r"offers  +\S")  # Its first word, `self` or `state`, stands on the line before.
COLUMNS_MAX = 120
LABEL = re.compile(r"\s*(public|protected|private)\s*:(?!:)")


@dataclass
class Operation:
    where: str
    name: str
    scope: str
    declaration: str
    doc: list[str]
    contract: dict[str, list[str]] = field(default_factory=dict)


def declarations(text: str):
    """Yields (line, scope, statement, docstring) for what stands in public scopes: no impl, no detail, no function's body."""
    scopes: list[tuple[str, bool]] = []  # name and whether its members are public
    statement, doc, begun = "", [], 1
    parentheses, in_macro = 0, False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("///") and not statement.strip():
            doc.append(stripped.removeprefix("///").removeprefix(" "))
            continue
        if in_macro or stripped.startswith("#"):
            if in_macro or stripped.startswith("#define"):
                doc = []  # The macro's.
            in_macro = stripped.endswith("\\")
            continue
        code = code_of(line)
        if not code.strip() and not statement.strip():
            doc = []
        for character in code + " ":
            if not statement.strip() and not character.isspace():
                begun = number
            if character in "()":
                parentheses += 1 if character == "(" else -1
            if parentheses or character not in "{};:":
                statement += character
                continue
            if character == ":":
                statement += character
                if scopes and (label := LABEL.fullmatch(statement)):
                    scopes[-1] = (scopes[-1][0], label[1] == "public")
                    statement, doc = "", []
                continue
            is_public = all(public for _, public in scopes)
            if character in "{;" and is_public and statement.strip():
                yield begun, "::".join(name for name, _ in scopes), " ".join(statement.split()), doc
            if character == "{":
                scopes.append(scope_of(statement))
            elif character == "}" and scopes:
                scopes.pop()
            statement, doc = "", []


def code_of(text: str) -> str:
    return re.sub(r'//.*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'', "", text)


def scope_of(statement: str) -> tuple[str, bool]:
    if found := re.search(r"\bnamespace ([\w:]*)", statement):
        return found[1], bool(found[1]) and not re.search(r"(impl|detail)\b", found[1])
    head = re.sub(r"^template ?<.*?>(?= ?(class|struct|requires)\b(?! \w+[,>]))", "", " ".join(statement.split()))
    if found := re.search(r"\b(class|struct) (?:FAIRLEAD_\w+ |\[\[[^\]]*\]\] )*(\w+)", head):
        return found[2], found[1] == "struct"
    return "", False  # A function's body, an initialiser, an enumeration.


def operations(where: str, text: str) -> list[Operation]:
    return [Operation(f"{where}:{line}", found[1], scope, statement, doc)
            for line, scope, statement, doc in declarations(text)
            if (found := OPERATION.search(statement) or (scope == "fairlead" and SHORT_NAMES.search(statement)))
            and found[1] != scope.rpartition("::")[2]  # a constructor
            and not statement.endswith("= delete") and "FAIRLEAD_REFUSED" not in statement
            and not statement.startswith(("using ", "friend ", "concept "))]


def split(doc: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """A docstring's sentences, and the lines of its contract with what continues them."""
    sentences, lines, title = [], {}, None
    for line in doc:
        if found := CONTRACT_LINE.match(line):
            title = found[1]
            lines.setdefault(title, []).append(line)
        elif title and line.startswith(" "):
            lines[title].append(line)
        else:
            title = None
            sentences.append(line)
    return sentences, lines


def resolve(of_header: list[Operation]) -> list[str]:
    """Gives each operation its whole contract: its own lines, and those of the one it refers to. A line of its own that
    begins with "also" adds to what the other says. Returns what leads nowhere."""
    found, above = [], None
    owners = {op.name: lines for op in reversed(of_header) if set(REQUIRED) <= set(lines := split(op.doc)[1])}
    for op in of_header:
        sentences, own = split(op.doc)
        same = above if above and (above.name, above.scope) == (op.name, op.scope) else None
        first = sentences[0] if sentences else ""
        reference = REFERENCE.match(first)
        other = owners.get(reference[1]) if reference else None
        if same and (not op.doc or first.startswith("The same")):
            other = same.contract
        op.contract = dict(other or {})
        for title, lines in own.items():
            is_more = lines[0].removeprefix(title).lstrip().startswith("also ")
            op.contract[title] = op.contract.get(title, []) + lines if is_more else lines
        if not op.doc and not same:
            found.append(f"{op.where}: {op.name} has no documentation")
        elif reference and not other:
            found.append(f"{op.where}: {op.name} refers to {reference[1]}, which has no contract in this header")
        elif first.startswith("The same") and not other:
            found.append(f"{op.where}: {op.name} is the same as nothing: no overload stands above it")
        elif missing := [line for line in REQUIRED if line not in op.contract]:
            found.append(f"{op.where}: {op.name} does not say {', '.join(missing)}")
        above = op
    return found


def problems_of(op: Operation, errors: set[str]) -> list[str]:
    found = []
    if op.doc and (CONTRACT_LINE.match(op.doc[0]) or not re.match(r"[A-Z`]", op.doc[0])):
        found.append(f"{op.where}: {op.name} does not begin with a sentence that says what it does")
    contract = [line[1] for text in op.doc if (line := CONTRACT_LINE.match(text))]
    if contract != sorted(set(contract), key=LINES.index):
        found.append(f"{op.where}: {op.name} has its lines twice or not in the order of STYLE.md: {', '.join(contract)}")
    for name in re.findall(r"`(\w+)`", "\n".join(op.doc)):
        if not re.search(rf"\b{name}\b", op.declaration):
            found.append(f"{op.where}: {op.name} has no `{name}`")
    for name in re.findall(r"\berror::(\w+)", "\n".join(op.doc)):
        if name not in errors:
            found.append(f"{op.where}: {op.name} names error::{name}, which no error.hpp declares")
    return found


def joined_lines(where: str, text: str) -> list[str]:
    """Lines of contracts that are no lines of their own, and those that clang-format would have broken."""
    found, is_inside = [], False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped.startswith("///") or stripped.startswith("///<"):
            is_inside = False
            continue
        content = stripped[3:].removeprefix(" ")
        begins = ANY_LINE.match(content)
        is_inside = bool(begins) or (is_inside and content.startswith(" "))
        columns = begins[1] if begins else content.strip()
        if JOINED.search(content) or (is_inside and len(re.findall(r"\S {2,}(?=\S)", columns)) > 1):
            found.append(f"{where}:{number}: two lines of a contract in one")
        if HALVED.match(content):
            found.append(f"{where}:{number}: a line of a contract that begins on the line before")
        if is_inside and len(line) > COLUMNS_MAX:
            found.append(f"{where}:{number}: a line of a contract has more than {COLUMNS_MAX} columns")
    return found


def check(root: Path, list_all: bool = False) -> list[str]:
    base = root / "include/fairlead"
    by_header = [operations(path.relative_to(root).as_posix(), path.read_text()) for path in sorted(base.rglob("*.hpp"))]
    found = [problem for of_header in by_header for problem in resolve(of_header)]
    all_of = [op for of_header in by_header for op in of_header]
    errors = {name for path in base.rglob("error.hpp") for name in re.findall(r"\b\w+\b", code_of(path.read_text()))}
    found += [problem for op in all_of for problem in problems_of(op, errors)]
    found += [problem for folder in ("include", "src") for path in sorted((root / folder).rglob("*.?pp"))
              for problem in joined_lines(path.relative_to(root).as_posix(), path.read_text())]
    if list_all:
        for op in all_of:
            print(f"{op.where}: {op.scope}::{op.name}", *split(op.doc)[0], sep="\n    ")
            print(*(f"        {line}" for lines in op.contract.values() for line in lines), sep="\n")
    if not all_of:
        found.append(f"no operation below {base}")
    return found


GOOD = """\
namespace fairlead {
namespace detail {
void async_hidden();
}
/// Does it.
/// Completes  (error_code ec)
/// Errors     error::late  it is
/// Cancel     none
/// Lifetime   `token` lives
/// Threads    any
/// Allocates  nothing
template <class Token> auto async_do(Token&& token = {}) { return async_inner(token); }
/// The same, faster.
void async_do(int);
void async_do(char);
class c {
    void async_private();
public:
    /// As async_do, on this.
    void async_also();
};
}
"""


def self_test() -> list[str]:
    planted = {
        "no documentation": GOOD.replace("    /// As async_do, on this.\n", ""),
        "no sentence": GOOD.replace("/// Does it.\n", ""),
        "a missing line": GOOD.replace("/// Cancel     none\n", ""),
        "order": GOOD.replace("/// Cancel     none\n", "").replace("/// Threads", "/// Cancel     none\n/// Threads"),
        "twice": GOOD.replace("/// Cancel     none\n", "/// Cancel     none\n/// Cancel     all\n"),
        "a reference to nothing": GOOD.replace("As async_do", "As async_undo"),
        "a parameter that is none": GOOD.replace("`token`", "`taken`"),
        "an error that is none": GOOD.replace("error::late", "error::later"),
        "the same as nothing": GOOD.replace("As async_do", "The same"),
        "a line joined to a sentence": GOOD + "/// Is one. Lifetime   the context outlives it\nclass d;\n",
        "a line joined to another": GOOD + "/// Is one.\n/// Lifetime   the context outlives it Threads    any\nclass d;\n",
        "an error joined to another": GOOD.replace("it is", "it is error::late  it is again"),
        "a line in two": GOOD + "/// Is one.\n/// self\n/// offers  complete\nclass d;\n",
        "a line too long": GOOD.replace("it is", "it is " + "so " * 40),
    }
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        header = Path(folder) / "include/fairlead/a.hpp"
        header.parent.mkdir(parents=True)
        header.with_name("error.hpp").write_text("enum class misc { late }; // later\n")
        for name, text in {"nothing": GOOD, **planted}.items():
            header.write_text(text)
            found = check(Path(folder))
            # One that lacks a line is no one to refer to either.
            expected = {"nothing": 0, "a missing line": 4}.get(name, 1)
            if len(found) != expected:
                failures.append(f"planted {name}, found {found}")
    return failures


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("--self-test", action="store_true")
    options = arguments.parse_args()
    problems = self_test() if options.self_test else check(options.root, options.list)
    print("\n".join(problems) or "no violation")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
