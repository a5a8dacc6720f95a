#!/usr/bin/env python3
"""Planted bugs: each patch in tests/mutants breaks the library in one way that people do, and the test that it names has
to notice; a simulated one within 10,000 seeds, any other at once. A test that notices nothing proves nothing.

    tools/mutants.py [--build DIR] [--jobs N] [--sample N] [ID...]    prints a table; exit status 1 if one survives,
                                                                      does not apply or does not compile
    tools/mutants.py --check        only whether all patches apply and are listed; compiles nothing
    tools/mutants.py --self-test    plants violations and expects --check to find them

ID is an id of the failure catalogue (C05), a row of the papers (papers_A10; papers: all of them), a room (exec) or the
beginning of a patch's name. --sample N takes N of the patches, others with each commit.

A patch begins with its id, the bug in a sentence, and the file and name of the test that is to notice. The file is made
into a program of its own, with the sources beside it that hold no tests. The library's sources are copied and patched in
a folder of their own; only what includes a patched file is compiled again. The tests also have to pass without a patch,
with as many seeds as the slowest kill needed.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

SEEDS_MOST = 10_000
CONTROL_SEEDS = 300
CPU_SECONDS_MOST = 150  # of one test, which takes this long only if it survives
SECONDS_MOST = 300  # of a test without seeds, whose threads may all wait for nothing
# Most of the time goes into compiling; g++ collects garbage only when a gigabyte is in use.
FLAGS = ["-std=c++20", "-O0", "-g0", "-w", "-pthread"]
FLAGS_OF_GCC = ["--param=ggc-min-heapsize=1000000", "-ffold-simple-inlines"]
FOLDERS = ["include", "src", "tests"]
TOGETHER = 6  # sources of the library that are compiled at a time
OF_OTHER_BUILDS = ("fuzz_replay", "count_at_end")  # sources of tests/support that no plain program has
# Rooms of which a test needs no object if it includes nothing of them, nor of the rooms behind the colon, which need them.
ROOMS_ASKED_FOR = {"redis": (), "redis_server": (), "resp3": ("redis", "redis_server"), "sim": (), "tls": ()}
SIMULATOR = "include/fairlead/sim/"  # A test that includes nothing of it has no seeds.
FIRST_LINES = re.compile(r"Id: +([A-Z]\d\d|[a-z]\w*)\nBug: +(.+)\nTest: +(\S+) (\S+)\n\n")
ROW = re.compile(r"^\| ((?:papers_)?[A-Z]\d\d) \| (.+) \|$", re.M)
PAPERS = "papers_"  # before the id of a row of tests/papers.tsv: the catalogue has the same ids
HOLDS_TESTS = re.compile(r"^\s*(TEST(_F|_P)?|TYPED_TEST(_P)?|int main)\(", re.M)


class Broken(Exception):
    """A mutant that says nothing about the tests: it does not apply, or it does not compile."""


# ---- patches

@dataclass
class Mutant:
    name: str
    id: str  # of the failure catalogue, a row of the papers, or the room of a bug that brings about none of its modes
    bug: str
    source: str  # of the test
    test: str
    files: dict[str, list[tuple[int, list[str], list[str]]]]  # hunks: line, what is there, what is to be there


def parse(path: Path) -> Mutant:
    text = path.read_text()
    first = FIRST_LINES.match(text)
    if not first:
        raise Broken("does not begin with the lines Id, Bug and Test")
    files, hunks = {}, None
    for line in text[first.end():].splitlines():
        if line.startswith("+++ b/"):
            hunks = files.setdefault(line[6:], [])
        elif line.startswith("@@"):
            hunks.append((int(re.match(r"@@ -(\d+)", line)[1]), [], []))
        elif not line.startswith("--- ") and hunks:
            if line[:1] in ("-", " ", ""):
                hunks[-1][1].append(line[1:])
            if line[:1] in ("+", " ", ""):
                hunks[-1][2].append(line[1:])
    return Mutant(path.stem, first[1], first[2], first[3], first[4], files)


def patched(text: str, hunks: list) -> str:
    """The text with the hunks applied, each where it fits nearest to where it says; no fuzz."""
    lines = text.split("\n")
    for number, old, new in reversed(hunks):
        places = [i for i in range(len(lines) - len(old) + 1) if lines[i:i + len(old)] == old]
        if not places:
            raise Broken(f"does not apply: line {number} is another one now")
        at = min(places, key=lambda i: abs(i - number + 1))
        lines[at:at + len(old)] = new
    return "\n".join(lines)


def all_mutants(root: Path, wanted: list[str]) -> list[Mutant]:
    found = []
    for path in sorted((root / "tests/mutants").glob("*.patch")):
        if not wanted or any(path.stem == w or path.stem.startswith(w + "_") or
                             (len(w) > 3 and path.stem.startswith(w)) for w in wanted):
            try:
                found.append(parse(path))
            except Broken as e:
                raise SystemExit(f"{path}: {e}")
    return found


def sample_of(root: Path, mutants: list[Mutant], n: int) -> list[Mutant]:
    """n of them: the same for one commit, others for the next; outside a repository always the same."""
    try:
        head = subprocess.run(["git", "-C", root, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        head = ""
    order = sorted(mutants, key=lambda m: hashlib.sha256((head + m.name).encode()).hexdigest())
    return sorted(order[:n], key=lambda m: m.name)


def rows_of_papers(root: Path) -> list[str]:
    table = root / "tests/papers.tsv"
    lines = table.read_text().splitlines() if table.is_file() else []
    return [PAPERS + line.split("\t")[0] for line in lines if line and not line.startswith("#")]


def check(root: Path) -> list[str]:
    found = []
    readme = root / "tests/mutants/README.md"
    rows = dict(ROW.findall(readme.read_text())) if readme.is_file() else {}
    catalogue = root / "tests/catalogue.tsv"
    of_papers = rows_of_papers(root)
    real = {line.split("\t")[0] for line in catalogue.read_text().splitlines()} if catalogue.is_file() else set(rows)
    real = {id for id in real if not id.startswith(PAPERS)} | set(of_papers)
    covered = set()
    for path in sorted((root / "tests/mutants").glob("*.patch")):
        try:
            m = parse(path)
            if not m.name.startswith(m.id + "_"):
                raise Broken(f"is called after another id than {m.id}")
            is_room = (root / "include/fairlead" / m.id).is_dir()
            if not is_room and m.id not in real:
                raise Broken(f"{m.id} is no id of the failure catalogue, no row of the papers, and no room")
            if not is_room and m.id not in rows:
                raise Broken(f"tests/mutants/README.md has no row {m.id}")
            if not m.files:
                raise Broken("changes nothing")
            for name, hunks in m.files.items():
                if not name.startswith(("src/", "include/fairlead/")) or "/sim/" in name:
                    raise Broken(f"changes {name}, which is no library code under test")
                patched((root / name).read_text(), hunks)
            names = re.search(r"(\w+)\.(\w+)", m.test)  # The filter may also name an instance, as of a driver.
            suite, test = names.groups() if names else ("", m.test)
            text = (root / m.source).read_text() if (root / m.source).is_file() else ""
            if not re.search(rf"TEST(_F|_P)?\(\s*{suite},\s*{re.escape(test)}\)", text):
                raise Broken(f"{m.source} has no test {m.test}")
            if m.id in of_papers and m.id.removeprefix(PAPERS) not in test.split("_"):
                raise Broken(f"names a test that does not show the row {m.id.removeprefix(PAPERS)}")
            covered.add(m.id)
        except Broken as e:
            found.append(f"{path.relative_to(root)}: {e}")
        except OSError as e:
            found.append(f"{path.relative_to(root)}: {e.strerror}: {e.filename}")
    for row, text in rows.items():
        if row not in real:
            found.append(f"{readme.relative_to(root)}: {row} is no id of the failure catalogue, and no row of the papers")
        if (text == "planted") != (row in covered):
            found.append(f"{readme.relative_to(root)}: {row} says \"{text}\", " +
                         ("but is planted" if row in covered else "but there is no such patch"))
    found += [f"{readme.relative_to(root)}: no row {row}: plant a bug that breaks it alone, or say why there is none"
              for row in of_papers if row not in rows]
    return found


# ---- compiling

def copy_sources(root: Path, to: Path) -> None:
    """The sources, and nothing that is of another age."""
    for folder in FOLDERS:
        wanted = {p.relative_to(root) for p in (root / folder).rglob("*") if p.suffix in (".hpp", ".cpp", ".inc")}
        for path in [p for p in (to / folder).rglob("*") if p.is_file() and p.relative_to(to) not in wanted]:
            path.unlink()
        for path in wanted:
            data = (root / path).read_bytes()
            target = to / path
            if not target.is_file() or target.read_bytes() != data:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)


def sources_together(tree: Path) -> list[str]:
    """The library's sources, a few of a room at a time: alone, each takes three times as long to compile."""
    written = []
    for room in sorted(p for p in (tree / "src").iterdir() if p.is_dir()):
        names = sorted(p.name for p in room.glob("*.cpp"))
        for first in range(0, len(names), TOGETHER):
            target = room / f"together_{first // TOGETHER}.cpp"
            target.write_text("".join(f'#include "{name}"\n' for name in names[first:first + TOGETHER]))
            written.append(target.relative_to(tree).as_posix())
    return written


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Compiler:
    def __init__(self, command: str, build: Path):
        self.command = [command, *FLAGS, *([] if "clang" in command else FLAGS_OF_GCC), "-Iinclude", "-Isrc", "-Itests", f'-DFAIRLEAD_SOURCE_DIR="{build}"']
        self.header = build / "pch/precompiled.hpp"

    def run(self, tree: Path, arguments: list) -> None:
        done = subprocess.run([*self.command, *map(str, arguments)], cwd=tree, capture_output=True, text=True)
        if done.returncode != 0:
            errors = [line for line in done.stderr.splitlines() if "error" in line or "undefined" in line]
            raise Broken("does not compile: " + (errors or done.stderr.splitlines() or ["no message"])[0])

    def precompile(self, tree: Path) -> None:
        """What each test includes of the standard library and of GoogleTest."""
        source = tree / "tests/support/precompiled.hpp"
        if self.header.is_file() and digest(self.header) == digest(source) and \
                self.header.with_suffix(".hpp.gch").is_file():
            return
        self.header.parent.mkdir(parents=True, exist_ok=True)
        self.run(tree, ["-x", "c++-header", source, "-o", self.header.with_suffix(".hpp.gch")])
        shutil.copyfile(source, self.header)

    def compile(self, tree: Path, source: str, into: Path) -> tuple[Path, set[str]]:
        """The object of a source of the tree, and the files of the tree that went into it."""
        target = into / (source.replace("/", "_") + ".o")
        notes = target.with_suffix(".json")
        if target.is_file() and notes.is_file():
            known = json.loads(notes.read_text())
            if known["command"] == self.command and \
                    all((tree / f).is_file() and digest(tree / f) == d for f, d in known["files"].items()):
                return target, set(known["files"])
        into.mkdir(parents=True, exist_ok=True)
        depends = target.with_suffix(".d")
        self.run(tree, ["-include", self.header, "-MMD", "-MF", depends, "-c", source, "-o", target])
        files = depends.read_text().replace("\\\n", " ").split(": ", 1)[1].split()
        own = sorted({f for f in files if not f.startswith("/")})
        notes.write_text(json.dumps({"command": self.command, "files": {f: digest(tree / f) for f in own}}))
        return target, set(own)

    def link(self, objects: list[Path], program: Path) -> None:
        tls = ["-lssl", "-lcrypto"] if any("src_tls" in o.name for o in objects) else []
        self.run(program.parent, [*objects, "-o", program, "-lgtest_main", "-lgtest", *tls])


class Base:
    """The library and the tests as they are: what a mutant does not change is taken from here."""

    def __init__(self, root: Path, build: Path, compiler: Compiler, mutants: list[Mutant], jobs: int):
        self.tree, self.objects_in, self.compiler = build / "base", build / "objects", compiler
        copy_sources(root, self.tree)
        compiler.precompile(self.tree)
        sources = sources_together(self.tree) + [
            p.relative_to(self.tree).as_posix() for p in sorted((self.tree / "tests/support").rglob("*.cpp"))
            if p.stem not in OF_OTHER_BUILDS]
        tests = sorted({m.source for m in mutants})
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            self.objects = dict(pool.map(lambda s: (s, compiler.compile(self.tree, s, self.objects_in)), tests))
            self.needed = {test: self.needed_by(test, sources) for test in tests}
            self.has_seeds = {test: any(f.startswith(SIMULATOR) for f in self.objects[test][1]) for test in tests}
            rest = sorted(set().union(*self.needed.values()) - self.objects.keys())
            self.objects |= pool.map(lambda s: (s, compiler.compile(self.tree, s, self.objects_in)), rest)
        self.programs = {}
        for test in tests:
            self.programs[test] = build / ("control_" + Path(test).with_suffix("").as_posix().replace("/", "_"))
            compiler.link([self.objects[s][0] for s in self.needed[test]], self.programs[test])

    def needed_by(self, test: str, sources: list[str]) -> list[str]:
        beside = [p for p in sorted((self.tree / test).parent.glob("*.cpp")) if not HOLDS_TESTS.search(p.read_text())]
        asks = [*self.objects[test][1], *(p.read_text() for p in beside)]
        rooms = [room for room, users in ROOMS_ASKED_FOR.items()
                 if not any(f"/{name}/" in each for name in (room, *users) for each in asks)]
        beside = [p.relative_to(self.tree).as_posix() for p in beside]
        return [test, *beside, *(s for s in sources if s.split("/")[1] not in rooms)]

    def with_mutant(self, m: Mutant, folder: Path) -> Path:
        tree = folder / "tree"
        for part in FOLDERS:
            shutil.copytree(self.tree / part, tree / part, dirs_exist_ok=True)
        for name, hunks in m.files.items():
            (tree / name).write_text(patched((self.tree / name).read_text(), hunks))
        objects = []
        for source in self.needed[m.source]:
            target, files = self.objects[source]
            if files & m.files.keys():
                target, _ = self.compiler.compile(tree, source, folder / "objects")
            objects.append(target)
        program = folder / "test"
        self.compiler.link(objects, program)
        shutil.rmtree(tree)
        return program


# ---- running

@dataclass
class Verdict:
    killed: bool
    seeds: int  # of the kill
    text: str


def run(program: Path, test: str, seeds: int | None) -> tuple[int | None, str]:
    """Exit status, None when it took too long; and what it said."""
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS_MOST, CPU_SECONDS_MOST + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("SIM_", "GTEST_", "FAIRLEAD_"))}
    if seeds is not None:
        environment |= {"SIM_COUNT": str(seeds), "SIM_SHRINK": "0"}
    try:
        done = subprocess.run([program, f"--gtest_filter={test}"], env=environment, preexec_fn=limit, text=True,
                              errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=SECONDS_MOST if seeds is None else 5 * CPU_SECONDS_MOST)
    except subprocess.TimeoutExpired:
        return None, ""
    took_too_long = done.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
    return (None if took_too_long else done.returncode), done.stdout


def judge(status: int | None, output: str, has_seeds: bool) -> Verdict:
    if status is None:
        return Verdict(False, 0, "HANGS, which no test notices by itself")
    if status == 0:
        ran = "[  PASSED  ] 0 tests" not in output
        survives = f"SURVIVES {SEEDS_MOST} seeds" if has_seeds else "SURVIVES"
        return Verdict(False, 0, survives if ran else "the filter matches NO TEST")
    if failed := re.search(r"seed (\d+) failed, number (\d+)", output):
        return Verdict(True, int(failed[2]), failed[2])
    if died := re.search(r"it died\. To replay: SIM_SEED=(\d+)", output):
        return Verdict(True, int(died[1]), f"{died[1]}, dies")
    if "[ sim ]" in output:
        return Verdict(False, 0, f"SURVIVES {SEEDS_MOST} seeds; only what they add up to is wrong")
    if "[  FAILED  ]" in output:
        return Verdict(True, 1, "1, without a seed")
    if status < 0 and not has_seeds:
        return Verdict(True, 1, f"1, dies of {signal.Signals(-status).name}")
    return Verdict(False, 0, f"ENDS with status {status} and says nothing")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, help="default: build/mutants")
    parser.add_argument("--compiler", default=os.environ.get("CXX", "g++"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sample", type=int, metavar="N")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("ids", nargs="*", metavar="ID")
    arguments = parser.parse_args()
    root = Path(__file__).resolve().parent.parent
    if arguments.self_test:
        return self_test()
    if arguments.check:
        found = check(root)
        print("\n".join(found))
        return 1 if found else 0

    mutants = all_mutants(root, arguments.ids)
    if not mutants:
        raise SystemExit(f"no mutant is called {' or '.join(arguments.ids)}; they are in tests/mutants")
    if arguments.sample:
        mutants = sample_of(root, mutants, arguments.sample)
    build = (arguments.build or root / "build/mutants").resolve()
    build.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    base = Base(root, build, Compiler(arguments.compiler, build), mutants, arguments.jobs)
    print(f"{len(mutants)} mutants; the library as it is: compiled in {time.monotonic() - begun:.0f} s", flush=True)

    def control(seeds: dict[tuple[str, str], int | None]) -> list[str]:
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            done = pool.map(lambda t: (t, run(base.programs[t[0]], t[1], seeds[t])), seeds)
            return [f"{t[1]} fails without a mutant, with {seeds[t] or 'no'} seeds:\n{out[-2000:]}"
                    for t, (status, out) in done if status != 0 or "[  PASSED  ] 0 tests" in out]

    tests = {(m.source, m.test) for m in mutants}
    if bad := control({t: CONTROL_SEEDS if base.has_seeds[t[0]] else None for t in sorted(tests)}):
        print("\n".join(bad))
        return 1

    def try_one(m: Mutant) -> tuple[Mutant, Verdict, float, float]:
        folder, start = build / m.name, time.monotonic()
        try:
            program = base.with_mutant(m, folder)
        except Broken as e:
            return m, Verdict(False, 0, str(e).upper()[:1] + str(e)[1:]), time.monotonic() - start, 0
        compiled = time.monotonic()
        has_seeds = base.has_seeds[m.source]
        verdict = judge(*run(program, m.test, SEEDS_MOST if has_seeds else None), has_seeds)
        if verdict.killed:
            shutil.rmtree(folder)
        return m, verdict, compiled - start, time.monotonic() - compiled

    slowest = dict.fromkeys(tests, CONTROL_SEEDS)
    survived = 0
    width = max(len(m.name) for m in mutants)
    print(f"{'mutant':{width}}  {'killed by':62}  {'compiled, ran':>15}  killed in run", flush=True)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for m, verdict, compiling, running in pool.map(try_one, mutants):
            survived += not verdict.killed
            slowest[m.source, m.test] = max(slowest[m.source, m.test], verdict.seeds)
            print(f"{m.name:{width}}  {m.test[:62]:62}  {compiling:6.1f} s {running:4.1f} s  {verdict.text}",
                  flush=True)
    bad = control({t: n for t, n in sorted(slowest.items()) if n > CONTROL_SEEDS})
    print("\n".join(bad), end="\n" if bad else "")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{len(mutants) - survived} of {len(mutants)} mutants killed, in {time.monotonic() - begun:.0f} s, "
          f"{used.ru_utime + used.ru_stime:.0f} s of processor time")
    return 1 if survived or bad else 0


def self_test() -> int:
    good = "Id:   M01\nBug:  b\nTest: tests/sim/t.cpp Suite.Name\n\n--- a/src/a.cpp\n+++ b/src/a.cpp\n" \
           "@@ -1,2 +1,2 @@\n int a;\n-int b;\n+int c;\n"
    plants = {
        "changed context": (good.replace(" int a;", " int x;"), "does not apply"),
        "no header": (good[1:], "does not begin"),
        "id of another": (good.replace("M01", "M02"), "another id"),
        "unknown id": (good.replace("M01", "Z99"), "no id"),
        "room": (good.replace("M01", "exec"), ""),
        "unknown room": (good.replace("M01", "hall"), "no room"),
        "instance": (good.replace("Suite.Name", "All/Suite.Name/one"), ""),
        "simulator": (good.replace("src/a.cpp", "src/sim/a.cpp"), "no library code"),
        "no test": (good.replace("Suite.Name", "Suite.Other"), "has no test"),
        "row of the papers": (good.replace("M01", "papers_A01").replace("Suite.Name", "Suite.A01_B02_Name"), ""),
        "unknown row": (good.replace("M01", "papers_A99"), "no row of the papers"),
        "test of another row": (good.replace("M01", "papers_A01").replace("Suite.Name", "Suite.A02_Name"), "does not show"),
        "row without a bug": (good, "no row papers_B01"),
        "good": (good, ""),
    }
    failed = 0
    for what, (text, expected) in plants.items():
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            id = next((id for id in ("Z99", "exec", "hall", "papers_A01", "papers_A99") if id in text), "M01")
            for path, content in {
                    "tests/mutants/README.md": f"| M01 | {'planted' if id == 'M01' else 'not here'} |\n"
                                               "| M02 | not here |\n"
                                               f"| papers_A01 | {'planted' if id == 'papers_A01' else 'held elsewhere'} |\n",
                    "tests/papers.tsv": "# rows\nA01\tpaper\twhat\t\n" + ("B01\tp\tw\t\n" if "without" in what else ""),
                    "tests/mutants/" + id + "_x.patch": text, "include/fairlead/exec/a.hpp": "",
                    "tests/sim/t.cpp": "TEST(Suite, Name) {}\nTEST(Suite, A01_B02_Name) {}\nTEST(Suite, A02_Name) {}\n", "src/a.cpp": "\nint a;\nint b;\n",
                    "src/sim/a.cpp": "int a;\nint b;\n"}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(content)
            found = check(root)
            first = found[0] if found else ""
            if (expected == "") != (not found) or expected not in first:
                print(f"{what}: expected \"{expected}\", found {found}")
                failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
