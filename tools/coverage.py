#!/usr/bin/env python3
"""What of src/ and include/ the tests have run, by lines and by branches, from what gcov counted.

    tools/coverage.py BUILD [PATH...]   prints a line per file, and of what lies below PATH each line that lacks something;
                                        exit status 1 below the limits for src/, or when an excuse no longer holds
    tools/coverage.py --self-test       compiles a small program and expects what is covered of it

./dev coverage makes the build and runs the tests. A branch counts where the source decides. So these do not count:

- edges of exceptions, each with the edge that the same call takes when it throws nothing;
- branches within FAIRLEAD_ASSERT and FAIRLEAD_ASSERT_SLOW, whose other side ends the process;
- lines without a word, such as a closing brace: what the compiler counts there leaves a block, often by an exception.

gcov of g++ 12 leaves out the bodies of coroutines, so they are not measured.

Instances of a template count as one, unless they differ in the number of branches; so do the places into which a function
is always inlined. Lines that need not be covered stand in
tests/coverage.tsv with the reason: file, kind, text, reason, separated by tabs. The kind says what is excused: `line` the
line with that text and its branches, `branch` its branches alone, `function` a function that begins with that line.
An excuse for what is not there or what is covered is an error.
"""

import argparse
import concurrent.futures
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("src", "include")
LIMITS = {"src": (95, 90)}  # per cent of lines and of branches
KINDS = ("line", "branch", "function")


@dataclass
class Line:
    count: int = 0
    branches: dict[tuple, list[int]] = field(default_factory=dict)  # by function and number

    def taken(self) -> list[bool]:
        return [count > 0 for counts in self.branches.values() for count in counts]


@dataclass
class File:
    lines: dict[int, Line] = field(default_factory=lambda: defaultdict(Line))
    functions: dict[int, int] = field(default_factory=dict)  # first line, last line
    text: list[str] = field(default_factory=list)

    def total(self) -> list[int]:
        """Covered and all of the lines, covered and all of the branches."""
        taken = [each for line in self.lines.values() for each in line.taken()]
        return [sum(line.count > 0 for line in self.lines.values()), len(self.lines), sum(taken), len(taken)]


def decisions(branches: list[dict]) -> list[int]:
    """Without edges of exceptions: such an edge and the one beside it are the two ways out of a call."""
    kept = []
    for at, branch in enumerate(branches):
        beside = branches[at + 1] if at + 1 < len(branches) else {"throw": False}
        if not branch["throw"] and not (branch["fallthrough"] and beside["throw"]):
            kept.append(branch["count"])
    return kept


def asserting(text: list[str]) -> set[int]:
    """Lines from FAIRLEAD_ASSERT to the parenthesis that closes it."""
    found, depth = set(), 0
    for number, line in enumerate(text, 1):
        if depth == 0:
            begin = re.search(r"\bFAIRLEAD_ASSERT(_SLOW)?\(", line)
            if not begin:
                continue
            line = line[begin.start():]
        found.add(number)
        depth = max(0, depth + line.count("(") - line.count(")"))
    return found


def objects(build: Path) -> list[Path]:
    return sorted(path for path in build.rglob("*.gcno") if not path.name.startswith("cmake_pch"))


def ask_gcov(gcov: str, notes: Path, root: Path) -> list[dict]:
    done = subprocess.run([gcov, "--json-format", "--stdout", "--branch-probabilities", "--relative-only", "--source-prefix",
                           root, notes], capture_output=True, check=True, cwd=notes.parent)
    read = []
    for line in done.stdout.splitlines():
        for entry in json.loads(line)["files"]:
            entry["file"] = os.path.relpath(os.path.join(root, entry["file"]), root)
            if entry["file"].split("/")[0] in ROOMS:
                read.append(entry)
    return read


def add(files: dict[str, File], entry: dict, root: Path) -> None:
    name = entry["file"]
    if name not in files:
        files[name] = File(text=(root / name).read_text().splitlines())
        if any(line["line_number"] > len(files[name].text) for line in entry["lines"]):
            sys.exit(f"{name} has changed since it was compiled: build again")
    file = files[name]
    begins = {}
    for function in entry["functions"]:
        begins[function["name"]] = (function["start_line"], function["start_column"])
        file.functions[function["start_line"]] = max(function["end_line"], file.functions.get(function["start_line"], 0))
    for said in entry["lines"]:
        line = file.lines[said["line_number"]]
        line.count += said["count"]
        counts = decisions(said["branches"])
        key = (begins.get(said.get("function_name")), len(counts))
        line.branches[key] = [a + b for a, b in zip(counts, line.branches.get(key, [0] * len(counts)))]


def fold(line: Line) -> None:
    """Where a function is always inlined, its branches are listed once for each place, under no name."""
    inlined = [line.branches.pop(key) for key in list(line.branches) if key[0] is None and key[1]]
    period = math.gcd(*map(len, inlined))
    if period:
        line.branches[None, period] = [sum(sum(counts[at::period]) for counts in inlined) for at in range(period)]


def measure(build: Path, root: Path, gcov: str) -> dict[str, File]:
    files: dict[str, File] = {}
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for entries in pool.map(lambda notes: ask_gcov(gcov, notes, root), objects(build)):
            for entry in entries:
                add(files, entry, root)
    for file in files.values():
        within = asserting(file.text)
        for number in list(file.lines):
            if not re.search(r"\w", file.text[number - 1]):
                del file.lines[number]
            elif number in within:
                file.lines[number].branches.clear()
            else:
                fold(file.lines[number])
    return files


def excuse(files: dict[str, File], table: str) -> list[str]:
    """Takes out of the files what the table excuses; says what no longer holds."""
    wrong = []
    rows = [row for row in enumerate(table.splitlines(), 1) if row[1].strip() and not row[1].startswith("#")]
    for at, row in rows:
        cells = row.split("\t")
        if len(cells) != 4 or cells[1] not in KINDS or not all(cell.strip() for cell in cells):
            wrong.append(f"line {at}: has to be file, kind ({', '.join(KINDS)}), text and reason, separated by tabs")
            continue
        name, kind, text, _ = cells
        file = files.get(name)
        places = [n for n, line in enumerate(file.text, 1) if line.strip() == text.strip()] if file else []
        if kind == "function":
            places = [n for n in places if n in file.functions]
        else:
            places = [n for n in places if n in file.lines]
        if not places:
            wrong.append(f"line {at}: {name} has no {kind} with the text {text}")
        for place in places:
            if kind == "branch":
                if all(file.lines[place].taken()):
                    wrong.append(f"line {at}: all branches of {name}:{place} are covered")
                file.lines[place].branches.clear()
                continue
            until = file.functions[place] if kind == "function" else place
            numbers = [n for n in file.lines if place <= n <= until]
            if any(file.lines[n].count for n in numbers):
                wrong.append(f"line {at}: {name}:{place} is covered")
            for number in numbers:
                del file.lines[number]
    return wrong


def ranges(numbers: list[int]) -> str:
    said: list[list[int]] = []
    for number in sorted(numbers):
        if said and said[-1][1] == number - 1:
            said[-1][1] = number
        else:
            said.append([number, number])
    return " ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in said)


def percent(covered: int, whole: int) -> str:
    return f"{100 * covered / whole:5.1f} %" if whole else "      -"


def report(files: dict[str, File], listed: list[str]) -> tuple[list[str], list[str]]:
    """The table, and what is below a limit."""
    rows = [f"{'':36} {'lines':>7} {'branches':>8}  lines that no test runs; lines with a branch that no test takes"]
    totals = {room: [0] * 4 for room in ROOMS}
    for name, file in sorted(files.items()):
        total = file.total()
        room = name.split("/")[0]
        totals[room] = [a + b for a, b in zip(totals[room], total)]
        missed = [n for n, line in file.lines.items() if not line.count]
        partly = [n for n, line in file.lines.items() if line.count and not all(line.taken())]
        if missed or partly:
            rows.append(f"{name:36} {percent(*total[:2])}  {percent(*total[2:])}  {ranges(missed) or '-'}; {ranges(partly) or '-'}")
        if any(name.startswith(path) for path in listed):
            for n in sorted(missed + partly):
                line = file.lines[n]
                what = "is not run" if not line.count else f"{sum(line.taken())} of {len(line.taken())} branches"
                rows.append(f"    {n:5} {what:18} {file.text[n - 1]}")
    wrong = []
    for room, total in totals.items():
        rows.append(f"{room + '/':36} {percent(*total[:2])}  {percent(*total[2:])}  {total[0]} of {total[1]} lines, "
                    f"{total[2]} of {total[3]} branches")
        for limit, covered, whole, what in zip(LIMITS.get(room, ()), total[::2], total[1::2], ("lines", "branches")):
            if 100 * covered < limit * whole:
                wrong.append(f"{room}/: {percent(covered, whole).strip()} of the {what} are covered, and {limit} % are demanded")
    return rows, wrong


PROGRAM = """\
#define FAIRLEAD_ASSERT(fact) (static_cast<bool>(fact) ? void(0) : __builtin_abort())
void may_throw(int n) { if (n > 9) throw n; }
struct ends { ~ends() {} };
template <class T> T twice(T of) { return of > 5 ? of + of + 1 : of * 2; }
int decide(int n) {
    ends after;
    FAIRLEAD_ASSERT(n < 1000 &&
                    n > -1000);
    may_throw(n);
    if (n == 3)
        return 1;
    return twice(n) + static_cast<int>(twice(n + 8L));
}
void never() {
    may_throw(1);
}
"""


def self_test() -> list[str]:
    wrong = []

    def expect(what: str, found, expected) -> None:
        if found != expected:
            wrong.append(f"{what}: {found}, expected {expected}")

    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary).resolve()
        (root / "src").mkdir()
        (root / "build").mkdir()
        (root / "src/part.cpp").write_text(PROGRAM)
        (root / "main.cpp").write_text("int decide(int); int main() { return decide(2) != 25; }\n")
        subprocess.run(["g++", "-O0", "--coverage", "-c", root / "src/part.cpp", "-o", "part.o"], check=True, cwd=root / "build")
        subprocess.run(["g++", "--coverage", root / "main.cpp", "part.o", "-o", "main"], check=True, cwd=root / "build")
        subprocess.run([root / "build/main"], check=True)

        def again() -> dict[str, File]:
            return measure(root / "build", root, "gcov")

        files = again()
        expect("files", sorted(files), ["src/part.cpp"])
        lines = files["src/part.cpp"].lines
        expect("not run", [n for n, line in lines.items() if not line.count], [11, 14, 15])
        expect("branches", {n: line.taken() for n, line in lines.items() if line.taken()},
               {2: [False, True], 4: [True, True], 10: [False, True]})
        rows, below = report(files, ["src/part"])
        expect("limits", [each[:6] for each in below], ["src/: "] * 2)
        expect("listed", [row.split()[0] for row in rows if row.startswith("    ")][1:], ["2", "10", "11", "14", "15"])

        holds = "# file\nsrc/part.cpp\tline\treturn 1;\twhy\nsrc/part.cpp\tbranch\tif (n == 3)\twhy\n" \
                "src/part.cpp\tfunction\tvoid never() {\twhy\n"
        expect("excuses", excuse(files, holds), [])
        expect("excused", files["src/part.cpp"].total(), [8, 8, 3, 4])
        planted = {"src/part.cpp\tline\tif (n == 3)\twhy": "is covered", "src/part.cpp\tline\treturn 2;\twhy": "has no line",
                   "src/gone.cpp\tfunction\tvoid never() {\twhy": "has no function", "src/part.cpp\tline\treturn 1;": "has to be",
                   "src/part.cpp\tfunction\tint decide(int n) {\twhy": "is covered", "src/part.cpp\tword\tx\twhy": "has to be",
                   "src/part.cpp\tbranch\tmay_throw(n);\twhy": "are covered", "src/part.cpp\tline\treturn 1;\t ": "has to be"}
        for row, expected in planted.items():
            found = excuse(again(), row)
            if len(found) != 1 or expected not in found[0]:
                wrong.append(f"{row!r}: {found}, expected {expected}")
    line = Line(1, {(None, 4): [0, 1, 0, 2], (None, 2): [0, 3], ((1, 1), 1): [0], (None, 0): []})
    fold(line)
    expect("inlined", line.taken(), [False, False, True])
    expect("ranges", ranges([7, 1, 2, 3, 9]), "1-3 7 9")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=Path)
    parser.add_argument("path", nargs="*")
    parser.add_argument("--gcov", default="gcov", help="gcov of the compiler that built")
    parser.add_argument("--self-test", action="store_true")
    given = parser.parse_args()
    if given.self_test:
        wrong = self_test()
        print("\n".join(wrong) or "all was counted")
        return 1 if wrong else 0
    if given.build is None:
        parser.error("name the folder of the build")
    files = measure(given.build.resolve(), ROOT, given.gcov)
    table = ROOT / "tests" / "coverage.tsv"
    stale = [f"tests/coverage.tsv, {each}" for each in excuse(files, table.read_text() if table.exists() else "")]
    rows, below = report(files, given.path)
    print("\n".join(rows + stale + below))
    return 1 if stale or below else 0


if __name__ == "__main__":
    sys.exit(main())
