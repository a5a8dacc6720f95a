#!/usr/bin/env python3
"""Small rules that no other tool holds: headers guard themselves, a TODO carries an issue number, nothing is left over,
links between pages lead somewhere, docs/redis-server.md lists the commands that the embedded server knows, docs/walks.md names
functions where they are.

    tools/check_text.py [--root DIR]     prints one line per violation; exit status 1 if there is one
    tools/check_text.py --self-test      plants every kind of violation and expects it to be found
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

FOLDERS = ("include", "src", "tests", "tools", "examples", "bench", "docs", "cmake")
SUFFIXES = {".hpp", ".cpp", ".py", ".cmake", ".md", ".toml", ".tsv", ".txt", ".sh", ".yml"}
SELF = Path(__file__).name  # Full of planted violations.
RESIDUE = re.compile(r"\b(FIXME|XXX|HACK)\b")
LINK = re.compile(r"(\[(?:[^\]\[`]|`[^`]*`)*\]\()([^)\s]+)\)")
COMMANDS = ("docs/redis-server.md", "src/redis_server")
WALKS = "docs/walks.md"
STEP = re.compile(r"\| \d+ \| `([^`]+)` \| `(\w+)` \|")
COUNTED = re.compile(r"(\d+) files, (\d+) changes of room\.")
TODO = re.compile(r"\bTODO\b(?!\(#\d+\))")


def check_file(name: str, text: str) -> list[str]:
    found = []
    if name.endswith(".hpp") and not re.search(r"^(#pragma once|// No #pragma once: .+)$", text, re.M):
        found.append(f"{name}: no #pragma once")
    if text and not text.endswith("\n"):
        found.append(f"{name}: no newline at the end")
    for number, line in enumerate(text.splitlines(), 1):
        if word := RESIDUE.search(line):
            found.append(f"{name}:{number}: {word[0]} left over")
        if TODO.search(line):
            found.append(f"{name}:{number}: a TODO carries an issue number: TODO(#12)")
        if "\t" in line and not name.endswith((".tsv", ".md")):
            found.append(f"{name}:{number}: tab")
    return found


def prose(page: str) -> list[bool]:
    """Of each line whether it is text, and not part of a block of code."""
    out, inside = [], False
    for line in page.splitlines():
        fence = line.lstrip().startswith("```")
        out.append(not inside and not fence)
        inside ^= fence
    return out


def slug(heading: str) -> str:
    """How a link names a heading of its page."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def headings(page: str) -> set[str]:
    return {slug(found[1]) for line, is_prose in zip(page.splitlines(), prose(page))
            if is_prose and (found := re.match(r"#+ (.*)", line))}


def check_links(root: Path, path: Path) -> list[str]:
    found = []
    text = path.read_text(errors="replace")
    for number, (line, is_prose) in enumerate(zip(text.splitlines(), prose(text)), 1):
        for link in LINK.finditer(line) if is_prose else ():
            name, _, heading = link[2].partition("#")
            target = path.parent / name if name else path
            if ":" in name:
                continue
            if not target.exists():
                found.append(f"{path.relative_to(root)}:{number}: there is no {link[2]}")
            elif heading and heading not in headings(target.read_text()):
                found.append(f"{path.relative_to(root)}:{number}: {name or 'this page'} has no heading for #{heading}")
    return found


def check_commands(root: Path) -> list[str]:
    """The table of commands of the page beside those of the sources."""
    name, folder = COMMANDS
    page = (root / name).read_text()
    source = "".join(path.read_text() for path in sorted((root / folder).glob("*.cpp")))
    listed = {word.lower() for line in page.splitlines() if line.startswith("| ") for word in re.findall(r"`([A-Z_]+)`", line)}
    known = set(re.findall(r'^    \{"(\w+)", (?:at_least\(\d+\)|\d+), ', source, re.M))
    return [f"{name}: {command.upper()} is missing in the table of commands" for command in sorted(known - listed)] + [
        f"{name}: the embedded server does not know {command.upper()}" for command in sorted(listed - known)]


def check_walks(root: Path) -> list[str]:
    """The tables of WALKS: each function stands in its file, and what is counted below a table is so."""
    found, files = [], []
    for number, line in enumerate((root / WALKS).read_text().splitlines() if (root / WALKS).exists() else (), 1):
        if step := STEP.match(line):
            path = root / (step[1] if step[1].startswith("src/") else "include/fairlead/" + step[1])
            if not path.exists() or not re.search(rf"\b{step[2]}\b", path.read_text()):
                found.append(f"{WALKS}:{number}: there is no {step[2]} in {step[1]}")
            files.append(step[1])
        elif counted := COUNTED.match(line):
            rooms = [name.removeprefix("src/").partition("/")[0] for name in files]
            ought = len(set(files)), sum(a != b for a, b in zip(rooms, rooms[1:]))
            if ought != (int(counted[1]), int(counted[2])):
                found.append(f"{WALKS}:{number}: the table above has {ought[0]} files and {ought[1]} changes of room")
            files = []
    return found + [f"{WALKS}: the last table is not counted"] * bool(files)


def check(root: Path) -> list[str]:
    paths = [path
             for folder in FOLDERS
             for path in sorted((root / folder).rglob("*"))
             if path.suffix in SUFFIXES and path.is_file() and "corpus" not in path.parts and path.name != SELF]
    pages = [path for path in paths if path.suffix == ".md"] + sorted(root.glob("*.md"))
    return [violation
            for path in paths
            for violation in check_file(path.relative_to(root).as_posix(), path.read_text(errors="replace"))
            ] + [violation for path in pages for violation in check_links(root, path)
                 ] + check_commands(root) + check_walks(root)


def self_test() -> list[str]:
    planted = {
        "include/a.hpp": "int a;\n",
        "src/a.cpp": "int a; // FIXME\n",
        "src/b.cpp": "int b; // TODO: later\n",
        "src/c.cpp": "\tint c;\n",
        "tools/d.py": "d = 1",
    }
    planted_commands = {"docs/redis-server.md": "| Strings | `GET`, `SET` |\n`NO`\n",
                        "src/redis_server/keys.cpp": '    {"del", at_least(2), 0},\n',
                        "src/redis_server/strings.cpp": '    {"get", 2, 0},\n'}
    planted_walks = {WALKS: "| 1 | `b.hpp` | `once` | is there |\n| 2 | `src/d.cpp` | `twice` | is not |\n"
                            "1 files, 1 changes of room.\n| 1 | `b.hpp` | `pragma` | is not counted |\n"}
    planted_links = {"docs/e.md": "[nothing](f.md)\n", "docs/g.md": "# It\n[it](#it) [`at`](#at)\n"}
    good = {"include/b.hpp": "#pragma once\n", "src/d.cpp": "int d; // TODO(#7): when g++ 13 is everywhere\n",
            "include/fairlead/b.hpp": "#pragma once\n",
            "docs/h.md": "# To `it`, twice\n[a](#to-it-twice) [b](h.md) [c](https://example.org/x)\n```\n[](int& i)\n```\n"}
    failures = []
    for name, text in planted.items():
        if len(found := check_file(name, text)) != 1:
            failures.append(f"planted {name}, found {found}")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**good, **planted, **planted_links, **planted_commands, **planted_walks}.items():
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_text(text)
        if len(found := check(Path(folder))) != (ought := len(planted) + len(planted_links) + 2 + 3):
            failures.append(f"planted {ought}, found {found}")
    return failures


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    arguments.add_argument("--self-test", action="store_true")
    options = arguments.parse_args()
    problems = self_test() if options.self_test else check(options.root)
    print("\n".join(problems) or "no violation")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
