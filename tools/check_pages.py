#!/usr/bin/env python3
"""The pages of docs/ name tests that exist, and quote programs and messages of compilers as they are.

    tools/check_pages.py [--root DIR]     prints one line per violation; exit status 1 if there is one
    tools/check_pages.py --self-test      plants every kind of violation and expects it to be found

A test stands in backquotes, as ctest names it, without the parameter: `unit/coro/Spawn.Name`,
`structure/must_fail/name`. On docs/lifetime.md stands the message of each code that must not compile. Each numbered row
there names a test, and leads to its section.

A block of C++ that begins with a comment, the path of an example, quotes it: its other lines stand together in the example,
perhaps further to the right. On a page of docs/guide/ each block of C++ does so. Each program of examples/guide/ is quoted.
"""

import argparse
import re
import sys
import tempfile
import textwrap
from pathlib import Path

from check_catalogue import tests_of

NAMED = re.compile(r"`((?:unit|catalogue|conformance|facts|interop|papers|races|sim|alloc)/[\w/]+\.(?![ch]pp`)\w+"
                   r"|structure/\w+/\w+)`")
MUST_FAIL = "structure/must_fail/"
ROW = re.compile(r"^\| \[(\d+)\]\(#([\w-]+)\) \|(.*)$", re.M)
LIFETIME = Path("docs/lifetime.md")
GUIDE, PROGRAMS = Path("docs/guide"), Path("examples/guide")
BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.M | re.S)
SOURCE = re.compile(r"// (examples/[\w/]+\.[ch]pp)\n")


def anchor(heading: str) -> str:
    """The place of a heading, as the sites that show these pages make it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def check_page(root: Path, page: Path, tests: set[str]) -> list[str]:
    text = page.read_text()
    return [f"{page.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1}: there is no test {match[1]}"
            for match in NAMED.finditer(text) if match[1] not in tests]


def check_quotes(root: Path, text: str) -> list[str]:
    """What only clang says is in clang's own words, and needs no quote."""
    shown = re.sub(r"\s+", " ", text)
    found = []
    for name in re.findall(rf"`{MUST_FAIL}(\w+)`", text):
        source = root / f"tests/compile/must_fail/{name}.cpp"
        first, second = source.read_text().splitlines()[:2] if source.is_file() else ("", "// Clang: ")
        message = first.removeprefix("// Fails: ")
        if not second.startswith("// Clang: ") and not re.search(message, shown):
            found.append(f"{LIFETIME}: the message of {MUST_FAIL}{name} is not quoted: {message}")
    return found


def stands_in(lines: str, source: Path) -> bool:
    text = f"\n{source.read_text()}" if source.is_file() else ""
    return bool(lines.strip()) and any("\n" + textwrap.indent(lines, " " * by) in text for by in range(0, 17, 4))


def check_programs(root: Path, pages: list[Path]) -> list[str]:
    found = []
    missing = {path.relative_to(root).as_posix() for path in root.glob(f"{PROGRAMS}/*.cpp")}
    for page in pages:
        text, name = page.read_text(), page.relative_to(root)
        for block in BLOCK.finditer(text):
            at = f"{name}:{text.count(chr(10), 0, block.start()) + 1}"
            source = SOURCE.match(block[1])
            if source and not stands_in(block[1][source.end():], root / source[1]):
                found.append(f"{at}: this does not stand in {source[1]}")
            elif source:
                missing.discard(source[1])
            elif name.parent == GUIDE:
                found.append(f"{at}: this says not which program it is from")
    return found + [f"{program}: no page quotes it" for program in sorted(missing)]


def check_rows(text: str) -> list[str]:
    places = {anchor(heading) for heading in re.findall(r"^## (.+)$", text, re.M)}
    found = []
    rows = ROW.findall(text)
    if [int(number) for number, _, _ in rows] != list(range(1, len(rows) + 1)) or not rows:
        found.append(f"{LIFETIME}: its rows are not numbered from 1 on")
    for number, place, rest in rows:
        if not NAMED.search(rest):
            found.append(f"{LIFETIME}: row {number} names no test")
        if place not in places:
            found.append(f"{LIFETIME}: row {number} leads nowhere: #{place}")
    return found


def check(root: Path) -> list[str]:
    tests, _ = tests_of(root)
    pages = sorted([*(root / "docs").glob("*.md"), *(root / GUIDE).glob("*.md")])
    found = [violation for page in pages for violation in check_page(root, page, tests)]
    text = (root / LIFETIME).read_text()
    return found + check_quotes(root, text) + check_rows(text) + check_programs(root, pages)


GOOD = """\
| | mistake | held by |
|---|---|---|
| [1](#1-a-wait-of-co_await) | a wait | `unit/net/Timer.Waits` `structure/must_fail/literal` |

## 1. A wait of co_await

It says: "write
buffer(x)", and names `unit/net/timer_test.cpp`.
"""

GUIDE_PAGE = """\
```cpp
// examples/guide/hello.cpp
say();
if (twice)
    say();
```
"""


def self_test() -> list[str]:
    failures = []
    planted = {
        "there is no test unit/net/Timer.Sleeps": ("Timer.Waits", "Timer.Sleeps"),
        "there is no test structure/must_fail/number": ("must_fail/literal", "must_fail/number"),
        "is not quoted": ("buffer(x)", "buffer"),
        "row 1 names no test": ("`unit/net/Timer.Waits` `structure/must_fail/literal`", "none"),
        "row 1 leads nowhere": ("## 1. A wait", "## 1. A way"),
        "are not numbered": ("| [1]", "| [2]"),
    }
    planted_in_guide = {
        "hello.md:1: this does not stand in examples/guide/hello.cpp": ("    say", "   say"),
        "hello.md:1: this does not stand in examples/guide/bye.cpp": ("hello.cpp", "bye.cpp"),
        "hello.md:1: this says not which program": ("// examples", "// example"),
        "examples/guide/hello.cpp: no page quotes it": (GUIDE_PAGE, "Nothing.\n"),
    }
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in {"tests/unit/net/timer_test.cpp": "TEST(Timer, Waits) {}\n",
                           "tests/compile/must_fail/literal.cpp": "// Fails: write buffer\\(x\\)\n\n",
                           "examples/guide/hello.cpp": "main() {\n    say();\n    if (twice)\n        say();\n}\n",
                           "docs/guide/hello.md": GUIDE_PAGE}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        page = root / LIFETIME
        page.write_text(GOOD)
        guide = root / "docs/guide/hello.md"
        failures += [f"wrongly found: {violation}" for violation in check(root)]
        for where, good, all_planted in ((page, GOOD, planted), (guide, GUIDE_PAGE, planted_in_guide)):
            for expected, (old, new) in all_planted.items():
                where.write_text(good.replace(old, new))
                if not any(expected in violation for violation in check(root)):
                    failures.append(f"planted, and not found: {expected}")
            where.write_text(good)
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
