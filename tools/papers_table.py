#!/usr/bin/env python3
"""What the papers require and which tests show it: docs/papers.md, made of tests/papers.tsv and the names of the tests.

    tools/papers_table.py [--root DIR] --write               writes docs/papers.md
    tools/papers_table.py [--root DIR] [--open ID...]         prints one line per violation; exit status 1 if there is one
    tools/papers_table.py --self-test                         plants every kind of violation and expects it to be found

A row is shown by tests that carry its id; or it says where it is held, "held: PLACE; PLACE", where a place is a file and,
after a colon, words of it; or what is missing, "open: WHAT", also beside tests that show a part.

A violation is a row that is none of these, a place that is not there, a test that carries an id of no row, a row that is
open without being named after --open or the other way round, and a docs/papers.md that --write would change.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

from check_catalogue import tests_of

TABLE = Path("tests/papers.tsv")
PAGE = Path("docs/papers.md")
# How many rows each group has: P0162R0, P0055R1, the paper on performance, the essay on costs.
GROUPS = {"A": 25, "B": 19, "C": 8, "D": 25}
IDS = [f"{group}{number:02}" for group, most in GROUPS.items() for number in range(1, most + 1)]
HELD = "held: "
OPEN = "open: "
CARRIED = re.compile(r"((?:[A-D]\d\d_)+)")
HEAD = """# What the papers require

Made by `tools/papers_table.py --write` of `tests/papers.tsv` and the names of the tests; not to be edited.
`structure/papers` fails when it is out of date. A test begins with the ids of the rows that it shows. A row without one is
held where its state says, or open.

| row | paper | requirement | tests | state |
|---|---|---|---|---|
"""


def carriers(root: Path) -> dict[str, list[str]]:
    """For each id the tests that carry it."""
    found: dict[str, list[str]] = {}
    for test in sorted(tests_of(root)[0]):
        folder, _, rest = test.rpartition("/")
        suite, _, name = rest.partition(".")
        if folder.split("/")[0] != "papers" and folder != "structure/must_fail" and not suite.startswith("Papers"):
            continue
        carried = CARRIED.match(name or suite)
        for identity in carried[1].rstrip("_").split("_") if carried else []:
            found.setdefault(identity, []).append(test)
    return found


def missing_places(root: Path, rest: str) -> list[str]:
    """What a row names as places and is not there."""
    missing = []
    for place in rest.removeprefix(HELD).split("; "):
        name, _, words = place.partition(": ")
        path = root / name
        if not path.is_file():
            missing.append(f"there is no {name}")
        elif words and " ".join(words.split()) not in " ".join(path.read_text().split()):
            missing.append(f"{name} says nowhere \"{words}\"")
    return missing


def rows_of(root: Path, found: list[str]) -> list[tuple[str, str, str, str]]:
    rows = []
    for number, line in enumerate((root / TABLE).read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 4 or not all(fields[:3]) or (fields[3] and not fields[3].startswith((HELD, OPEN))):
            found.append(f"{TABLE}:{number}: a row is id, paper, requirement, and nothing, \"{HELD}PLACE\" or "
                         f"\"{OPEN}WHAT\"; with three tabs")
            continue
        rows.append(tuple(fields))
    listed = [row[0] for row in rows]
    if not found and listed != IDS:
        missing = [identity for identity in IDS if identity not in listed]
        found.append(f"{TABLE}: the rows are {IDS[0]} to {IDS[-1]}, each once and in order"
                     + (f"; {missing[0]} is missing" if missing else ""))
    return rows


def shown(tests: list[str]) -> str:
    return "<br>".join(f"`{test.removeprefix('papers/')}`" for test in tests)


def state_of(rest: str) -> str:
    if not rest.startswith(HELD):
        return rest or "held"
    places = [place.partition(": ") for place in rest.removeprefix(HELD).split("; ")]
    return "held: " + "<br>".join(f"`{name}`" + (f": {words}" if words else "") for name, _, words in places)


def page_of(rows: list[tuple[str, str, str, str]], tests: dict[str, list[str]]) -> str:
    return HEAD + "".join(f"| {identity} | {paper} | {requirement} | {shown(tests.get(identity, []))} "
                          f"| {state_of(rest)} |\n" for identity, paper, requirement, rest in rows)


def check(root: Path, may_be_open: set[str]) -> list[str]:
    found: list[str] = []
    rows = rows_of(root, found)
    tests = carriers(root)
    if found:
        return found
    for identity, _, _, rest in rows:
        is_open = rest.startswith(OPEN)
        if is_open and identity not in may_be_open:
            found.append(f"{TABLE}: {identity} is open: hold it, or name it after --open in tests/structure.cmake")
        if not is_open and identity in may_be_open:
            found.append(f"{identity} is no longer open: take it from --open in tests/structure.cmake")
        if not rest and identity not in tests:
            found.append(f"{TABLE}: {identity} has no test: name one after it, or say where it is held")
        if rest.startswith(HELD):
            found += [f"{TABLE}: {identity}: {what}" for what in missing_places(root, rest)]
    found += [f"{test} carries {identity}, which is no row of {TABLE}"
              for identity in sorted(tests) if identity not in IDS for test in tests[identity]]
    page = root / PAGE
    if not found and (not page.is_file() or page.read_text() != page_of(rows, tests)):
        found.append(f"{PAGE} is out of date: run tools/papers_table.py --write")
    return found


def planted(folder: Path, tests: str, change=lambda text: text, write: bool = True) -> list[str]:
    """Violations in a small project whose table is right but for `change`."""
    rows = [f"{identity}\tsome paper\tsomething\t" for identity in IDS]
    rows[0] += "open: not yet"
    rows[-1] += "held: docs/place.md: it is so; docs/place.md"
    names = "".join(f"TEST(Papers, {identity}_Holds) {{\n}}\n" for identity in IDS[1:-1])
    (folder / "tests/papers").mkdir(parents=True)
    (folder / "docs").mkdir()
    (folder / "docs/place.md").write_text("Say that it\nis so.\n")
    (folder / "tests/compile/must_fail").mkdir(parents=True)
    (folder / "tests/papers/a_test.cpp").write_text(names)
    (folder / TABLE).write_text("\n".join(rows) + "\n")
    if write:
        (folder / PAGE).write_text(page_of(rows_of(folder, []), carriers(folder)))
    (folder / TABLE).write_text(change((folder / TABLE).read_text()))
    (folder / "tests/papers/b_test.cpp").write_text(tests)
    return check(folder, {"A01"})


def self_test() -> list[str]:
    wrong = {
        "": ("", lambda t: t, True),
        "with three tabs": ("", lambda t: t.replace("A02\tsome paper\t", "A02\t"), True),
        "a row is id": ("", lambda t: t.replace("held: ", "hold: "), True),
        "A03 is missing": ("", lambda t: t.replace("A03\tsome paper\tsomething\t\n", ""), True),
        "A02 is open": ("", lambda t: t.replace("A02\tsome paper\tsomething\t", "A02\tsome paper\tsomething\topen: x"),
                        True),
        "A01 is no longer open": ("TEST(Papers, A01_Holds) {\n}\n", lambda t: t.replace("open: not yet", ""), True),
        "D25: there is no docs/plaice.md": ("", lambda t: t.replace("docs/place.md: it", "docs/plaice.md: it"), True),
        "D25: docs/place.md says nowhere": ("", lambda t: t.replace("it is so", "it is not so"), True),
        "D25 has no test": ("", lambda t: t.replace("held: docs/place.md: it is so; docs/place.md", ""), True),
        "carries B99": ("TEST(Papers, B99_Holds) {\n}\n", lambda t: t, True),
        "carries D26": ("TEST(Papers, D26_Holds) {\n}\n", lambda t: t, True),
        "is out of date": ("TEST(Papers, B02_B03_More) {\n}\n", lambda t: t, True),
        "docs/papers.md is out": ("", lambda t: t, False),
    }
    failures = []
    for expected, (tests, change, write) in wrong.items():
        with tempfile.TemporaryDirectory() as folder:
            found = planted(Path(folder), tests, change, write)
        if len(found) != (1 if expected else 0) or any(expected not in each for each in found):
            failures.append(f"planted \"{expected}\", found {found}")
    with tempfile.TemporaryDirectory() as folder:
        planted(Path(folder), "")
        tests = Path(folder) / "tests/papers/a_test.cpp"
        tests.write_text(tests.read_text().replace("C08_", "Other"))
        found = check(Path(folder), {"A01"})
        if len(found) != 1 or "C08 has no test" not in found[0]:
            failures.append(f"planted a row without a test, found {found}")
    return failures


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    arguments.add_argument("--self-test", action="store_true")
    arguments.add_argument("--write", action="store_true", help=f"write {PAGE}")
    arguments.add_argument("--open", nargs="*", default=[], metavar="ID", help="rows that may be open")
    options = arguments.parse_args()
    if options.write:
        problems: list[str] = []
        rows = rows_of(options.root, problems)
        if not problems:
            (options.root / PAGE).write_text(page_of(rows, carriers(options.root)))
    else:
        problems = self_test() if options.self_test else check(options.root, set(options.open))
    print("\n".join(problems) or "no violation")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
