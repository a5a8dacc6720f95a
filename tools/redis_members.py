#!/usr/bin/env python3
"""The typed commands of Redis as members, and as a table: made of the functions in include/fairlead/redis/cmd/.

    tools/redis_members.py [--root DIR] --write     writes the members, and the table in docs/redis.md
    tools/redis_members.py [--root DIR]             prints one line per violation; exit status 1 if there is one
    tools/redis_members.py --self-test              plants every kind of violation and expects it to be found

A group is a header of that folder with functions of namespace cmd. Its members stand in include/fairlead/redis/members/, as
GROUP_of<Derived>, each a call of `call(command)` of the class that derives from it. A violation is a file that --write would
change, and a name that two groups have: derived classes would find it ambiguous.
"""

import argparse
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path("include/fairlead/redis/cmd")
MEMBERS = Path("include/fairlead/redis/members")
PAGE = Path("docs/redis.md")
BEGIN = "<!-- typed commands: made by tools/redis_members.py --write -->\n"
END = "<!-- end of typed commands -->\n"
HEAD = re.compile(r"(template <(?P<template>.*?)>\s+)?(inline )?(?P<result>auto|command<.*>)\s+(?P<name>\w+)\($", re.S)
COLUMNS = 120


@dataclass
class Builder:
    name: str
    template: str  # its parameters, with defaults
    parameters: list[str]  # with types and defaults

    def explicit(self) -> str:
        """The template arguments that callers may name, as a call hands them on."""
        names = [p.split("=")[0].split()[-1] for p in split(self.template) if "..." not in p]
        return f"<{', '.join(names)}>" if names else ""

    def arguments(self) -> str:
        names = []
        for parameter in self.parameters:
            is_pack = "..." in parameter
            names.append(parameter.split("=")[0].split()[-1] + ("..." if is_pack else ""))
        return ", ".join(names)

    def member(self) -> str:
        head = f"    template <{self.template}> " if self.template else "    "
        head += f"decltype(auto) {self.name}({', '.join(self.parameters)}) {{"
        body = f"static_cast<Derived&>(*this).call(cmd::{self.name}{self.explicit()}({self.arguments()}));"
        return f"{head}\n        return {body}\n    }}\n"


def split(text: str) -> list[str]:
    """At the commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "<({") - (c in ">)}")
        if c == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts + [text[start:].strip()] if text.strip() else []


def builders_of(text: str) -> list[Builder]:
    """The functions in the part of a header that is namespace cmd."""
    begin = re.search(r"^namespace (?:fairlead::redis::)?cmd \{$", text, re.M)
    if not begin:
        return []
    body = re.sub(r"^ *//.*\n", "", text[begin.end():], flags=re.M)
    found = []
    for start in re.finditer(r"^(?=template|inline|command<)", body, re.M):
        depth = 0
        opening = None
        for i in range(start.start(), len(body)):
            c = body[i]
            depth += (c == "<") - (c == ">")
            if c == "(" and not depth:
                opening = i
                break
        if opening is None or (found and found[-1][1] >= start.start()):
            continue
        head = HEAD.fullmatch(body[start.start(): opening + 1])
        depth, closing = 0, opening
        for i in range(opening, len(body)):
            depth += (body[i] == "(") - (body[i] == ")")
            if not depth:
                closing = i
                break
        if head:
            parameters = [re.sub(r"\s+", " ", p) for p in split(body[opening + 1: closing])]
            template = re.sub(r"\s+", " ", head["template"] or "")
            found.append((Builder(head["name"], template, parameters), closing))
    return [builder for builder, _ in found]


def groups_of(root: Path) -> dict[str, list[Builder]]:
    groups = {path.stem: builders_of(path.read_text()) for path in sorted((root / FOLDER).glob("*.hpp"))}
    return {group: builders for group, builders in groups.items() if builders}


def class_of(group: str) -> str:
    return {"server": "server_commands", "functions": "function_commands"}.get(group, group) + "_of"


def members(group: str, builders: list[Builder]) -> str:
    return (f"// The commands of cmd/{group}.hpp as members. Made by tools/redis_members.py --write; not to be edited.\n"
            f"#pragma once\n\n#include <fairlead/redis/cmd/{group}.hpp>\n\nnamespace fairlead::redis {{\n\n"
            f"/// The functions of cmd/{group}.hpp as members of Derived, whose call(command) executes a command.\n"
            f"template <class Derived> class {class_of(group)} {{\npublic:\n"
            + "".join(builder.member() for builder in builders)
            + "\nprotected:\n"
            f"    {class_of(group)}() = default;\n"
            f"    ~{class_of(group)}() = default;\n"
            f"    {class_of(group)}({class_of(group)} const&) = default;\n"
            f"    {class_of(group)}& operator=({class_of(group)} const&) = default;\n"
            "};\n\n} // namespace fairlead::redis\n")


def table(groups: dict[str, list[Builder]]) -> str:
    lines = ["| header | functions of `redis::cmd` |", "|---|---|"]
    for group, builders in groups.items():
        names = " ".join(dict.fromkeys(builder.name for builder in builders))
        lines.append(f"| [cmd/{group}.hpp](../{FOLDER}/{group}.hpp) | `{names}` |")
    return "\n".join(lines) + "\n"


def squeezed(text: str) -> str:
    """Without what clang-format changes."""
    return re.sub(r"\s+", "", text)


def wanted(root: Path, groups: dict[str, list[Builder]]) -> dict[Path, str]:
    files = {MEMBERS / f"{group}.hpp": members(group, builders) for group, builders in groups.items()}
    page = (root / PAGE).read_text()
    if BEGIN in page and END in page:
        before, rest = page.split(BEGIN, 1)
        files[PAGE] = before + BEGIN + table(groups) + END + rest.split(END, 1)[1]
    return files


def violations(root: Path) -> list[str]:
    groups = groups_of(root)
    found = []
    owner: dict[str, str] = {}
    for group, builders in groups.items():
        for builder in builders:
            if owner.setdefault(builder.name, group) != group:
                found.append(f"{FOLDER}/{group}.hpp: {builder.name} is also in {owner[builder.name]}.hpp")
    files = wanted(root, groups)
    if PAGE not in files:
        found.append(f"{PAGE}: has no place for the table: {BEGIN.strip()} {END.strip()}")
    for path, text in files.items():
        there = (root / path).read_text() if (root / path).exists() else ""
        if squeezed(there) != squeezed(text):
            found.append(f"{path}: is out of date: tools/redis_members.py --write")
    for path in sorted((root / MEMBERS).glob("*.hpp")):
        if path.stem not in groups:
            found.append(f"{MEMBERS}/{path.name}: there is no cmd/{path.name}")
    return found


def write(root: Path) -> None:
    for path, text in wanted(root, groups_of(root)).items():
        there = (root / path).read_text() if (root / path).exists() else ""
        if squeezed(there) != squeezed(text):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
            print(f"{path}: written; ./dev format lays it out")


def self_test() -> int:
    header = ("namespace fairlead::redis::cmd {\n\n/// GET.\ntemplate <class T = std::string> command<std::optional<T>> get("
              "key_view key) {\n    return x(key);\n}\n/// SET.\ntemplate <class T = int, class... Option>\nauto set(key_view key, "
              "value_view value = \"\", Option const&... option) {\n    return f(key);\n}\ninline command<long>\ndel(keys_view keys"
              " = {}) { return g(keys); }\n}\n")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / FOLDER).mkdir(parents=True)
        (root / "docs").mkdir()
        (root / PAGE).write_text(f"# Page\n{BEGIN}{END}")
        (root / FOLDER / "strings.hpp").write_text(header)
        found = builders_of(header)
        expected = [("get", "<T>", "key"), ("set", "<T>", "key, value, option..."), ("del", "", "keys")]
        if [(b.name, b.explicit(), b.arguments()) for b in found] != expected:
            print(f"self-test: read {found}")
            return 1
        write(root)
        plants = {
            "": lambda: None,
            "is also in": lambda: (root / FOLDER / "zsets.hpp").write_text(header),
            "members/strings.hpp: is out of date": lambda: (root / MEMBERS / "strings.hpp").write_text("other"),
            "docs/redis.md: is out of date": lambda: (root / PAGE).write_text(f"{BEGIN}{END}"),
            "has no place": lambda: (root / PAGE).write_text("# Page\n"),
            "there is no cmd": lambda: (root / MEMBERS / "other.hpp").write_text("x"),
        }
        for expected_text, plant in plants.items():
            plant()
            all_found = violations(root)
            if bool(all_found) != bool(expected_text) or not any(expected_text in f for f in all_found or [""]):
                print(f"self-test: {expected_text!r} was not found: {all_found}")
                return 1
    print(f"self-test: {len(plants)} cases")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    if arguments.write:
        write(arguments.root)
        return 0
    found = violations(arguments.root)
    print("\n".join(found) or "no violation")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
