#!/usr/bin/env python3
"""Runs the benchmarks of bench/rows.tsv and writes report.json and report.html.

    tools/bench.py TREE[,TREE] OUTPUT [--build] [--quick | --full] [--rounds N] [NAME...]      NAME: BM-3 ...
    tools/bench.py --self-test      runs rows that are fine, missing, broken and interrupted, and reads the report

TREE is a build tree; with --build its benchmarks are built first, which a quick build does not do by itself.

Each row is a program that performs so many operations. All rows of a part take turns, several rounds long, so that
whatever else the machine does meets all of them. A figure is the difference between a long and a short run, divided by
the difference of their operations: starting up does not count. CPU time is what the system accounts to the process,
user and system; beside it stands wall time. Instructions (user only) are counted by callgrind, where it is installed;
it is some 50 times slower, so what waits for a server or the clock may come in other portions than when it is timed.

A row that fails says so in its place, and the others go on. The report is written after each part: one that is
interrupted has what was measured until then. Exit status 1: a row failed, or the run was interrupted.

Columns of bench/rows.tsv, of which the last may be left out:
    quick     operations with --quick; 0: the row is then built and not run
    compiler  "both": the row runs from every tree, and each compiler has a table of its own; otherwise from the first
    unit      what the program itself measures and prints in its last line ("208 bytes"); lines before that are notes.
              "s": one whole run as time(1) shows it, its CPU seconds and, as a note, real, user and sys
    full      operations with --full: ten rounds as in the appendix of P0162R0, each printed and kept in the report; a
              row that has it is always pinned to one processor
Arguments may name {n}, the operations, and {redis}, the address of a server that is started for the row's part; it has
one processor, the row's program another.
"""

import argparse
import contextlib
import ctypes
import html
import io
import json
import os
import platform
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import callgrind

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = 77  # what a program ends with when a row does not exist for it
ROUNDS, ROUNDS_FULL = 7, 10
SHORT = 10  # the short run does a tenth
COUNTED_MOST = 20000  # operations under callgrind, unless one block has more
CPU_NS = "CPU ns"
WHOLE_S = "s"
ROUNDS_MOST = {"bytes": 2, "KiB": 1, "MiB": 1, "CPU s": 3, WHOLE_S: 1}  # of units that hardly vary, or take long
# What ./dev bench builds with tools of other languages: where, and with which one.
OF_OTHERS = {"tokio_peer": ("tokio", "cargo"), "tokio_tls_peer": ("tokio_tls", "cargo"),
             "redis_rs_peer": ("redis_rs", "cargo"), "rueidis_peer": ("rueidis", "go")}
FAILURES = (RuntimeError, OSError, subprocess.SubprocessError)  # of a row, not of this program


def table(path: Path) -> list[dict[str, str]]:
    head, *lines = path.read_text().splitlines()
    names = head.split("\t")
    return [dict(zip(names, line.split("\t"))) for line in lines if line]


def pin_to(processor) -> None:
    """`processor` chooses: min or max."""
    os.sched_setaffinity(0, {processor(os.sched_getaffinity(0))})


class RedisServer:
    """A real server with no data on a free port of loopback, for as long as this program runs or until stop()."""

    program = shutil.which("redis-server") or shutil.which("valkey-server")

    def __init__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.address = f"127.0.0.1:{port}"

        def prepare() -> None:
            pin_to(min)
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it never outlives this program
        self.process = subprocess.Popen(
            [self.program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
             "--dbfilename", "nothing.rdb", "--client-output-buffer-limit", "pubsub 0 0 0"],
            stdout=subprocess.DEVNULL, preexec_fn=prepare)
        for _ in range(500):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.01)
        self.stop()
        raise RuntimeError(f"{self.program} does not listen")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


class Run:
    """One run of a program: its CPU and wall seconds and what it printed. Without a row for it, `exists` is false."""

    def __init__(self, command: list[str], pinned: bool):
        with tempfile.TemporaryFile("w+", errors="replace") as out, tempfile.TemporaryFile("w+", errors="replace") as err:
            begun = time.monotonic()
            process = subprocess.Popen(command, stdout=out, stderr=err,
                                       preexec_fn=(lambda: pin_to(max)) if pinned else None)
            try:
                _, status, usage = os.wait4(process.pid, 0)
            except KeyboardInterrupt:
                process.kill()
                process.wait()
                raise
            self.wall_s = time.monotonic() - begun
            self.user_s, self.system_s = usage.ru_utime, usage.ru_stime
            self.cpu_s = self.user_s + self.system_s
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            self.lines, complaints = out.read().splitlines(), err.read().splitlines()
        for line in complaints:
            print(line, file=sys.stderr)
        self.exists = process.returncode != SKIPPED
        self.last_line = next((said[-1].strip() for said in (self.lines, complaints) if said), "")
        if process.returncode not in (0, SKIPPED):
            end = (f"ended with {process.returncode}" if process.returncode > 0
                   else f"was killed ({signal.strsignal(-process.returncode)})")
            reason = complaints[-1].strip() if complaints else self.last_line
            raise RuntimeError(f"{' '.join(command)} {end}" + (f": {reason}" if reason else ""))


def program_of_others(name: str) -> Path:
    folder, tool = OF_OTHERS[name]
    return ROOT / "build" / folder / ("target/release" if tool == "cargo" else "") / name


def is_current(name: str) -> bool:
    """Built from the sources of now; a test may run long after the last ./dev bench."""
    program, folder = program_of_others(name), OF_OTHERS[name][0]
    sources = ROOT / "bench/peers" / folder
    return program.exists() and all(
        (copy := ROOT / "build" / folder / f.relative_to(sources)).exists() and copy.read_bytes() == f.read_bytes()
        and copy.stat().st_mtime <= program.stat().st_mtime for f in sources.rglob("*") if f.is_file())


class Tree:
    """A build tree and the compiler that it was made with. Rows' programs are in it or below its bench/; the rest of it
    is not searched, because tests may run beside this program, and make and remove folders there."""

    def __init__(self, path: Path):
        self.path = path
        cache = path / "CMakeCache.txt"
        found = re.search(r"^CMAKE_CXX_COMPILER:\w+=.*?([^/\n]+)$", cache.read_text(), re.M) if cache.exists() else None
        self.compiler = re.sub(r"-[\d.]+$", "", found[1]) if found else "the compiler"

    def program(self, name: str) -> str | None:
        if name in OF_OTHERS and not is_current(name):
            return None
        places = [program_of_others(name)] if name in OF_OTHERS else self.places(name)
        return next((str(p) for p in places if p.is_file() and os.access(p, os.X_OK)), None)

    def places(self, name: str) -> list[Path]:
        return [self.path / name, *(self.path / "bench").rglob(name)]

    def why_not_built(self, program: str) -> str:
        if program in OF_OTHERS:
            tool = OF_OTHERS[program][1]
            return "./dev bench has not built it, or could not" if shutil.which(tool) else f"{tool} is not installed"
        return next((p.read_text().strip() for p in self.places(f"{program}.skipped") if p.is_file()), "not built")


class Row:
    def __init__(self, line: dict[str, str], tree: Tree, given: argparse.Namespace):
        self.name, self.kind = line["row"], line["kind"]
        self.arguments = line["arguments"]
        self.unit = line.get("unit") or CPU_NS
        full = line.get("full", "")
        self.wants_redis = "{redis}" in self.arguments
        self.redis_address = ""
        self.is_pinned = bool(full) or self.wants_redis
        self.is_printed = bool(full) and given.full
        self.operations = int(line["quick"] if given.quick else full if self.is_printed else line["operations"])
        self.program = tree.program(line["program"])
        self.skipped = None if self.program else tree.why_not_built(line["program"])
        if not self.skipped and self.wants_redis and not RedisServer.program:
            self.skipped = "neither redis-server nor valkey-server is installed"
        if not self.skipped and not self.operations:
            self.skipped = "it is not to be had in small; it is built"
        self.failed: str | None = None
        self.figures: list[float] = []
        self.wall_ns: list[float] = []
        self.notes: list[str] = []
        self.runs: list[str] = []
        self.instructions: float | None = None

    def command(self, n: int) -> list[str]:
        return [self.program, *self.arguments.format(n=n, redis=self.redis_address).split()]

    def is_there(self) -> bool:
        return bool(self.figures) and not self.skipped and not self.failed

    def run(self) -> None:
        if self.skipped or self.failed:
            return
        try:
            if self.unit == CPU_NS:
                self.take_time()
            elif self.unit == WHOLE_S:
                self.take_whole()
            else:
                self.take_printed()
        except FAILURES as e:
            self.failed = f"in round {len(self.figures) + 1}: {e}"

    def run_once(self, n: int) -> Run | None:
        run = Run(self.command(n), self.is_pinned)
        if run.exists:
            return run
        self.skipped = run.last_line or "this version of the library has none"
        return None

    def keep_run(self, what: str) -> None:
        if self.is_printed:
            self.runs.append(f"run {len(self.figures)}: {what}")
            print(f"    {self.name}, {self.runs[-1]}", flush=True)

    def take_time(self) -> None:
        some = max(self.operations // SHORT, 1)
        short = self.run_once(some)
        long = self.run_once(self.operations) if short else None
        if not long:
            return
        per_operation = 1e9 / (self.operations - some)
        self.figures.append((long.cpu_s - short.cpu_s) * per_operation)
        self.wall_ns.append((long.wall_s - short.wall_s) * per_operation)
        self.keep_run(f"{long.cpu_s * 1000:.0f} ms for {self.operations:.0e} operations, which is {self.figures[-1]:.3f} ns "
                      f"per operation; {long.wall_s * 1000:.0f} ms by the clock, {self.wall_ns[-1]:.3f} ns")

    def take_whole(self) -> None:
        if run := self.run_once(self.operations):
            self.figures.append(run.cpu_s)
            self.notes = [f"real {run.wall_s:.3f} s, user {run.user_s:.3f} s, sys {run.system_s:.3f} s"]
            self.keep_run(self.notes[0])

    def take_printed(self) -> None:
        if run := self.run_once(self.operations):
            try:
                figure = float(run.last_line.removesuffix(self.unit))
            except ValueError:
                raise RuntimeError(f"the last line is no figure in {self.unit}: '{run.last_line}'") from None
            self.notes = run.lines[:-1]
            self.figures.append(figure)
            self.keep_run(run.last_line)

    def counted_operations(self) -> int:
        """Whole blocks: a row that does so many at a time has their number among its arguments, and less is other work."""
        block = max([1, *map(int, re.findall(r"\b\d+\b", self.arguments))])
        return -(-min(self.operations, COUNTED_MOST) // block) * block

    def count(self) -> None:
        try:
            self.instructions = callgrind.count_each(self.command, self.counted_operations()).instructions
        except subprocess.TimeoutExpired as e:
            self.notes.append(f"no instructions: more than {e.timeout:.0f} s under callgrind")
        except subprocess.CalledProcessError as e:
            self.notes.append(f"no instructions: ended with {e.returncode} under callgrind")

    def median(self) -> float:
        return statistics.median(self.figures)


def said_by(*command: str) -> str | None:
    """The first line; None where the program is not installed, or prints none."""
    if not shutil.which(command[0]):
        return None
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else None


def own_version() -> str:
    header = (ROOT / "include/fairlead/base/config.hpp").read_text()
    version = ".".join(re.findall(r"define FAIRLEAD_VERSION_(?:MAJOR|MINOR|PATCH) +(\d+)", header))
    git = ["git", "--no-optional-locks", "-C", str(ROOT)]
    commit = said_by(*git, "rev-parse", "--short", "HEAD") if (ROOT / ".git").exists() else None
    if not commit:
        return version
    return f"{version}, commit {commit}{'+changes' if said_by(*git, 'status', '--porcelain') else ''}"


def versions() -> dict[str, str]:
    found = {"Fairlead": own_version(), "kernel": platform.release(), "machine": platform.machine()}
    with contextlib.suppress(OSError):
        found["distribution"] = platform.freedesktop_os_release()["PRETTY_NAME"]
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            found["processor"] = f"{os.cpu_count()} x {line.split(':')[1].strip()}"
            break
    library, version = platform.libc_ver()
    if version:
        found[library] = version
    programs = {"g++": "g++", "clang++": "clang++-19", "valgrind": "valgrind", "server": RedisServer.program}
    for name, program in programs.items():
        if program and (said := said_by(program, "--version")):
            found[name] = said
    for name, folder in {"Asio": Path("/usr/include"), "newer Asio": ROOT / "build/peers/usr/include"}.items():
        header = folder / "asio/version.hpp"
        if header.exists():
            n = int(re.search(r"#define ASIO_VERSION (\d+)", header.read_text())[1])
            found[name] = f"{n // 100000}.{n // 100 % 1000}.{n % 100}"
    lock = ROOT / "build/tokio/Cargo.lock"
    if lock.exists() and shutil.which("rustc"):
        found["rustc"] = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()
        found["Tokio"] = re.search(r'name = "tokio"\nversion = "([^"]+)"', lock.read_text())[1]
    for name, crate, folder in (("rustls", "rustls", "tokio_tls"), ("redis-rs", "redis", "redis_rs")):
        lock = ROOT / "build" / folder / "Cargo.lock"
        if lock.exists():
            found[name] = re.search(rf'name = "{crate}"\nversion = "([^"]+)"', lock.read_text())[1]
    if (ROOT / "build/rueidis/go.mod").exists() and (said := said_by("go", "version")):
        found["go"] = said
        found["rueidis"] = re.search(r"rueidis v(\S+)", (ROOT / "build/rueidis/go.mod").read_text())[1]
    if said := said_by("openssl", "version"):
        found["OpenSSL"] = said.removeprefix("OpenSSL ")
    boost, hiredis = ROOT / "build/peers/usr/include/boost/version.hpp", Path("/usr/include/hiredis/hiredis.h")
    if boost.exists():
        found["Boost.Redis, Boost.Cobalt"] = re.search(r'BOOST_LIB_VERSION "(.*)"', boost.read_text())[1].replace("_", ".")
    if hiredis.exists():
        found["hiredis"] = ".".join(re.findall(r"#define HIREDIS_(?:MAJOR|MINOR|PATCH) (\d+)", hiredis.read_text()))
    return found


def run_part(rows: list[Row], rounds: int, counts: bool) -> None:
    server = None
    clients = [row for row in rows if row.wants_redis and not row.skipped]
    try:
        if clients:
            server = RedisServer()
    except FAILURES as e:
        for row in clients:
            row.failed = str(e)
    try:
        for row in clients:
            row.redis_address = server.address if server else ""
        run_rows(rows, rounds, counts)
    finally:
        if server:
            server.stop()


def run_rows(rows: list[Row], rounds: int, counts: bool) -> None:
    for _ in range(min(rounds, *(ROUNDS_MOST.get(row.unit, rounds) for row in rows))):
        for row in rows:
            row.run()
    if counts and callgrind.is_there():
        for row in rows:
            if row.is_there() and row.unit == CPU_NS:
                row.count()


def printed(rows: list[Row]) -> list[dict]:
    """The rows as they are shown, with their ratios to the raw limit and to the best peer."""
    there = [r for r in rows if r.is_there()]
    best = max if any(r.unit.endswith("/s") for r in rows) else min
    raw = best((r.median() for r in there if r.kind == "raw"), default=None)
    peer = best((r.median() for r in there if r.kind == "peer"), default=None)
    result = []
    for r in rows:
        shown = {"row": r.name, "kind": r.kind}
        if r.failed:
            shown.update(failed=r.failed, all=r.figures)
        elif not r.is_there():
            shown["skipped"] = r.skipped or "interrupted before it ran"
        else:
            shown.update(unit=r.unit, figure=r.median(), least=min(r.figures), most=max(r.figures), all=r.figures,
                         operations=r.operations)
            if r.wall_ns:
                shown["wall_ns"] = statistics.median(r.wall_ns)
            if r.notes or r.runs:
                shown["notes"] = r.notes + r.runs
            if raw:
                shown["to_raw"] = r.median() / raw
            if peer and r.kind == "ours":
                shown["to_best_peer"] = r.median() / peer
            if r.instructions is not None:
                shown["instructions"] = r.instructions
        result.append(shown)
    return result


def text_of(rows: list[dict]) -> str:
    unit = next((r["unit"] for r in rows if "unit" in r), CPU_NS)
    last = [(key, name, width) for key, name, width in (("instructions", "instr.", 8), ("wall_ns", "wall ns", 9))
            if any(key in r for r in rows)]
    wide = max(34, *(len(r["row"]) for r in rows))
    lines = [f"  {'':{wide}} {unit:>9} {'[min .. max]':>20} {'/ raw':>7} {'/ peer':>7}"
             + "".join(f" {name:>{width}}" for _, name, width in last)]
    for r in rows:
        if "figure" not in r:
            lines.append(f"  {r['row']:{wide}} " + (f"failed {r['failed']}" if "failed" in r else f"skipped: {r['skipped']}"))
            continue
        digits = 2 if r["figure"] < 10 else 1
        spread = f"[{r['least']:.{digits}f} .. {r['most']:.{digits}f}]"
        ratios = "".join(f" {r[k]:7.3f}" if k in r else " " * 8 for k in ("to_raw", "to_best_peer"))
        others = "".join(f" {r[key]:{width}.{2 if key == 'wall_ns' and r[key] < 10 else 1}f}" if key in r else " " * (width + 1)
                         for key, _, width in last)
        lines.append(f"  {r['row']:{wide}} {r['figure']:9.{digits}f} {spread:>20}{ratios}{others}".rstrip())
        lines += [f"      {note}" for note in r.get("notes", [])]
    return "\n".join(lines)


def plot_of(rows: list[dict]) -> str:
    there = [r for r in rows if "figure" in r]
    if not there:
        return ""
    longest = max(r["most"] for r in there) or 1
    height, left, width = 22, 280, 480
    parts = [f'<svg width="{left + width + 110}" height="{height * len(there)}" font-size="12" font-family="sans-serif">']
    for i, r in enumerate(there):
        y, scale = i * height, width / longest
        parts.append(f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{html.escape(r["row"])}</text>'
                     f'<rect class="{r["kind"]}" x="{left}" y="{y + 4}" width="{r["figure"] * scale:.1f}" height="14"/>'
                     f'<line x1="{left + r["least"] * scale:.1f}" x2="{left + r["most"] * scale:.1f}" '
                     f'y1="{y + 11}" y2="{y + 11}" stroke="black"/>'
                     f'<text x="{left + r["most"] * scale + 6:.1f}" y="{y + 15}">{r["figure"]:.1f} '
                     f'{r["unit"].removeprefix("CPU ")}</text>')
    return "".join(parts) + "</svg>"


PAGE = """<!doctype html><meta charset="utf-8"><title>Fairlead: benchmarks</title>
<style>body{{font-family:sans-serif;max-width:60em;margin:2em auto}}pre{{background:#f4f4f4;padding:1em}}
.ours{{fill:#2a6f97}}.peer{{fill:#bbb}}.raw{{fill:#e09f3e}}.noise{{fill:#ddd}}</style>
<h1>Fairlead: benchmarks</h1><p>CPU time (user and system) and wall time for each operation, where no other unit is named:
median of {rounds} interleaved rounds, with the range of the former. Instructions are of user space, counted by
callgrind.</p><p>{versions}</p>{body}"""


def failures_of(report: dict) -> list[str]:
    return [f"{b['id']}, {part['part']}, {r['row']}: failed {r['failed']}"
            for b in report["benchmarks"] for part in b["parts"] for r in part["rows"] if "failed" in r]


def page_of(report: dict) -> str:
    body = [f"<p>{html.escape(failure)}</p>" for failure in failures_of(report)]
    if not report["is_complete"]:
        body.insert(0, "<p>Not complete: what is missing had not run when this was written.</p>")
    for b in report["benchmarks"]:
        body.append(f"<h2>{b['id']}: {html.escape(b['question'])}</h2><p>Goal: {html.escape(b['goal'])}</p>")
        if b["missing"]:
            body.append(f"<p>Missing: {html.escape(b['missing'])}</p>")
        for part in b["parts"]:
            body.append(f"<h3>{html.escape(part['part'])}</h3>{plot_of(part['rows'])}"
                        f"<pre>{html.escape(text_of(part['rows']))}</pre>")
    shown = "<br>".join(f"{html.escape(k)}: {html.escape(v)}" for k, v in report["versions"].items())
    return PAGE.format(rounds=report["rounds"], versions=shown, body="".join(body))


def parts_of(benchmark: str, lines: list[dict[str, str]], trees: list[Tree],
             given: argparse.Namespace) -> dict[str, list[Row]]:
    """The rows of each table; those that are for both compilers make one for each tree."""
    parts: dict[str, list[Row]] = {}
    for i, tree in enumerate(trees):
        for line in lines:
            if line["benchmark"] != benchmark:
                continue
            both = line.get("compiler") == "both"
            if both or i == 0:
                title = f"{line['part']}, {tree.compiler}" if both else line["part"]
                parts.setdefault(title, []).append(Row(line, tree, given))
    return parts


def write(report: dict, output: Path) -> None:
    output.mkdir(parents=True, exist_ok=True)
    (output / "report.json").write_text(json.dumps(report, indent=1))
    (output / "report.html").write_text(page_of(report))


def measure(benchmark: dict[str, str], lines: list[dict[str, str]], given: argparse.Namespace, report: dict) -> None:
    missing = benchmark.get("state", "")
    print(f"\n{benchmark['id']}: {benchmark['question']}\nGoal: {benchmark['goal']}")
    if missing:
        print(f"Missing: {missing}")
    parts: list[dict] = []
    report["benchmarks"].append({"id": benchmark["id"], "question": benchmark["question"], "goal": benchmark["goal"],
                                 "missing": missing, "parts": parts})
    for part, rows in parts_of(benchmark["id"], lines, given.trees, given).items():
        print(part, flush=True)
        try:
            run_part(rows, report["rounds"], not given.quick)
        finally:  # An interrupted part has rows, too.
            parts.append({"part": part, "rows": printed(rows)})
            print(text_of(parts[-1]["rows"]), flush=True)
            write(report, given.output)


def run_all(given: argparse.Namespace, benchmarks: list[dict[str, str]], lines: list[dict[str, str]]) -> int:
    rounds = given.rounds or (1 if given.quick else ROUNDS_FULL if given.full else ROUNDS)
    report = {"versions": versions(), "rounds": rounds, "is_complete": False, "benchmarks": []}
    for k, v in report["versions"].items():
        print(f"{k}: {v}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for b in benchmarks:
            if not given.names or b["id"] in given.names:
                measure(b, lines, given, report)
        report["is_complete"] = True
    except KeyboardInterrupt:
        print("\ninterrupted")
    write(report, given.output)
    print(f"\nwritten: {given.output}/report.html, report.json")
    failures = failures_of(report)
    for failure in failures:
        print(failure)
    return 0 if report["is_complete"] and not failures else 1


PLANTED = {  # a program, and what is said of it
    "fine": ("i=0; while [ $i -lt $1 ]; do i=$((i + 1)); done", "run 2: "),
    "measured": ("echo a note; echo 208 bytes", "[208.0 .. 208.0]\n      a note"),
    "garbled": ("echo many bytes", "failed in round 1: the last line is no figure in bytes: 'many bytes'"),
    "absent": ("echo needs a newer one; exit 77", "skipped: needs a newer one"),
    "absent_silently": ("exit 77", "skipped: this version of the library has none"),
    "broken": ("echo out of luck >&2; exit 3", "ended with 3: out of luck"),
    "killed": ("kill -KILL $$", "was killed (Killed)"),
    "interrupting": ("kill -TERM $PPID; sleep 9", "skipped: interrupted before it ran"),
}


def self_test() -> list[str]:
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        tree, output, said = Path(folder), Path(folder) / "output", io.StringIO()
        for name, (script, _) in PLANTED.items():
            (tree / name).write_text(f"#!/bin/sh\n{script}\n")
            (tree / name).chmod(0o755)
        lines = [{"benchmark": f"of {name}", "part": f"part of {name}", "row": f"row of {name}", "kind": "ours",
                  "program": name, "arguments": "{n}", "operations": "200", "quick": "100", "full": "2000",
                  "unit": "bytes" if name in ("measured", "garbled") else ""} for name in PLANTED]
        benchmarks = [{"id": line["benchmark"], "question": "?", "goal": "!"} for line in lines]
        given = parser().parse_intermixed_args([folder, str(output), "--full", "--rounds", "2"])
        for is_interrupted in (False, True):
            chosen = benchmarks if is_interrupted else benchmarks[:-1]
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                status = run_all(given, chosen, lines)
            page, report = (output / "report.html").read_text(), json.loads((output / "report.json").read_text())
            if status != 1 or report["is_complete"] == is_interrupted or len(report["benchmarks"]) != len(chosen):
                wrong.append(f"exit status {status}, is_complete: {report['is_complete']}, {len(report['benchmarks'])} benchmarks")
            if [name for name in PLANTED if f"row of {name}: failed" in page] != ["garbled", "broken", "killed"]:
                wrong.append(f"the rows that failed are not those at the top of {page}")
        for b in report["benchmarks"]:
            name, text = b["id"].removeprefix("of "), text_of(b["parts"][0]["rows"])
            if PLANTED[name][1] not in text or html.escape(text) not in page or ("wall ns" in text) != (name == "fine"):
                wrong.append(f"{name}: expected '{PLANTED[name][1]}', found\n{text}")
        for place in ("tests/package", "bench/inner"):
            (tree / place).mkdir(parents=True)
            (tree / place / "deep").touch(mode=0o755)
            found = Tree(tree).program("deep")
            if (found is not None) != place.startswith("bench"):
                wrong.append(f"of a program in {place} is found: {found}")
        row = parts_of("of fine", lines, given.trees, given)["part of fine"][0]
        for arguments, operations, counted in (("{n}", 10**6, 20000), ("{n} 0", 200, 200), ("many {n} 100000", 10**6, 100000),
                                               ("calls {n} 16 {redis}", 6000, 6000), ("echo {n} unix 300", 10**6, 20100)):
            row.arguments, row.operations = arguments, operations
            if row.counted_operations() != counted:
                wrong.append(f"{arguments}: {row.counted_operations()} operations would be counted, not {counted}")
    return wrong


class SelfTest(argparse.Action):
    def __call__(self, parser, *_):
        wrong = self_test()
        print("\n".join(wrong) or "all planted rows were reported")
        parser.exit(1 if wrong else 0)


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("trees", type=lambda s: [Tree(Path(t)) for t in s.split(",")])
    result.add_argument("output", type=Path)
    result.add_argument("--build", action="store_true")
    extent = result.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true")
    extent.add_argument("--full", action="store_true")
    result.add_argument("--rounds", type=int)
    result.add_argument("--self-test", action=SelfTest, nargs=0)
    result.add_argument("names", nargs="*")
    return result


def main() -> int:
    given = parser().parse_intermixed_args()
    benchmarks, lines = table(ROOT / "bench/benchmarks.tsv"), table(ROOT / "bench/rows.tsv")
    unknown = set(given.names) - {b["id"] for b in benchmarks}
    if unknown:
        print(f"no benchmark is called {', '.join(sorted(unknown))}; there are {', '.join(b['id'] for b in benchmarks)}")
        return 2
    for tree in given.trees if given.build else []:
        status = subprocess.run(["cmake", "--build", tree.path, "--target", "fairlead_benchmarks"]).returncode
        if status:
            print(f"the benchmarks of {tree.path} could not be built, so none was run")
            return status
    return run_all(given, benchmarks, lines)


if __name__ == "__main__":
    sys.exit(main())
