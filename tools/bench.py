#!/usr/bin/env python3
"""Runs the benchmarks of bench/rows.tsv and writes report.json and report.html.

    tools/bench.py TREE[,TREE] OUTPUT [--quick | --full] [--rounds N] [NAME...]      TREE: a build tree; NAME: BM-3 ...

Each row is a program that performs so many operations. All rows of a part take turns, several rounds long, so that
whatever else the machine does meets all of them. A figure is the difference between a long and a short run, divided by
the difference of their operations: starting up does not count. CPU time is what the system accounts to the process,
user and system; instructions (user only) are counted by callgrind, where it is installed. Exit status 1: a row failed.

The last columns of bench/rows.tsv may be left out:
    compiler  "both": the row runs from every tree, and each compiler has a table of its own; otherwise from the first
    unit      what the program itself measures and prints in its last line ("208 bytes"); lines before that are notes.
              "s": one whole run as time(1) shows it, its CPU seconds and, as a note, real, user and sys
    full      operations with --full: ten rounds as in the appendix of P0162R0, pinned to one processor, each printed
Arguments may name {n}, the operations, and {redis}, the address of a server that is started for the row's part; it has
one processor, the row's program another.
"""

import argparse
import ctypes
import html
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
COUNTED_MAX = 20000  # operations under callgrind
CPU_NS = "CPU ns"
WHOLE_S = "s"
ROUNDS_MOST = {"bytes": 2, "KiB": 1, "MiB": 1, "CPU s": 3, WHOLE_S: 1}  # of units that hardly vary, or take long
OF_CARGO = {"tokio_peer"}  # what ./dev bench builds with cargo


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
             "--client-output-buffer-limit", "pubsub 0 0 0"], stdout=subprocess.DEVNULL, preexec_fn=prepare)
        for _ in range(500):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.01)
        self.stop()
        raise RuntimeError("redis-server does not listen")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


class Run:
    """One run of a program: its CPU and wall seconds and what it printed. Without a row for it, `exists` is false."""

    def __init__(self, command: list[str], pinned: bool):
        with tempfile.TemporaryFile("w+") as out:
            begun = time.monotonic()
            process = subprocess.Popen(command, stdout=out, preexec_fn=(lambda: pin_to(max)) if pinned else None)
            _, status, usage = os.wait4(process.pid, 0)
            self.wall_s = time.monotonic() - begun
            self.user_s, self.system_s = usage.ru_utime, usage.ru_stime
            self.cpu_s = self.user_s + self.system_s
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            self.lines = out.read().splitlines()
        self.exists = process.returncode != SKIPPED
        if process.returncode not in (0, SKIPPED):
            raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")


def crate_is_current() -> bool:
    """Built from the sources of now; a test may run long after the last ./dev bench."""
    program = ROOT / "build/tokio/target/release/tokio_peer"
    sources = ROOT / "bench/peers/tokio"
    return program.exists() and all(
        (copy := ROOT / "build/tokio" / f.relative_to(sources)).exists() and copy.read_bytes() == f.read_bytes()
        and copy.stat().st_mtime <= program.stat().st_mtime for f in sources.rglob("*") if f.is_file())


class Tree:
    """A build tree and the compiler that it was made with."""

    def __init__(self, path: Path):
        self.path = path
        cache = path / "CMakeCache.txt"
        found = re.search(r"^CMAKE_CXX_COMPILER:\w+=.*?([^/\n]+)$", cache.read_text(), re.M) if cache.exists() else None
        self.compiler = re.sub(r"-[\d.]+$", "", found[1]) if found else "the compiler"

    def program(self, name: str) -> str | None:
        if name in OF_CARGO and not crate_is_current():
            return None
        folder = ROOT / "build/tokio" if name in OF_CARGO else self.path
        found = [p for p in folder.rglob(name) if p.is_file() and os.access(p, os.X_OK)]
        return str(found[0]) if found else None

    def why_not_built(self, program: str) -> str:
        if program in OF_CARGO:
            return "./dev bench has not built the crate, or could not" if shutil.which("cargo") else "cargo is not installed"
        return next((p.read_text().strip() for p in self.path.rglob(f"{program}.skipped")), "not built")


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
            self.skipped = "no redis-server is installed"
        self.figures: list[float] = []
        self.wall_ns: list[float] = []
        self.notes: list[str] = []
        self.instructions: float | None = None

    def command(self, n: int) -> list[str]:
        return [self.program, *self.arguments.format(n=n, redis=self.redis_address).split()]

    def run(self) -> None:
        if self.skipped:
            return
        if self.unit == CPU_NS:
            self.take_time()
        elif self.unit == WHOLE_S:
            self.take_whole()
        else:
            self.take_printed()

    def take_time(self) -> None:
        some = max(self.operations // SHORT, 1)
        short, long = (Run(self.command(n), self.is_pinned) for n in (some, self.operations))
        if not (short.exists and long.exists):
            self.skipped = "this version of the library has none"
            return
        per_operation = 1e9 / (self.operations - some)
        self.figures.append((long.cpu_s - short.cpu_s) * per_operation)
        self.wall_ns.append((long.wall_s - short.wall_s) * per_operation)
        if self.is_printed:
            print(f"    {self.name}: {long.cpu_s * 1000:.0f} ms for {self.operations:.0e} operations, which is "
                  f"{self.figures[-1]:.3f} ns per operation", flush=True)

    def take_whole(self) -> None:
        run = Run(self.command(self.operations), self.is_pinned)
        self.figures.append(run.cpu_s)
        self.notes = [f"real {run.wall_s:.3f} s, user {run.user_s:.3f} s, sys {run.system_s:.3f} s"]

    def take_printed(self) -> None:
        run = Run(self.command(self.operations), self.is_pinned)
        if not run.exists:
            self.skipped = run.lines[-1] if run.lines else "this version of the library has none"
            return
        *self.notes, last = run.lines
        self.figures.append(float(last.removesuffix(self.unit)))

    def median(self) -> float:
        return statistics.median(self.figures)


def versions() -> dict[str, str]:
    found = {"kernel": platform.release(), "machine": platform.machine()}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            found["processor"] = f"{os.cpu_count()} x {line.split(':')[1].strip()}"
            break
    commands = {"g++": ["g++", "--version"], "clang++": ["clang++-19", "--version"],
                "server": ["redis-server", "--version"]}
    for name, command in commands.items():
        if shutil.which(command[0]):
            found[name] = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0]
    for name, folder in {"Asio": Path("/usr/include"), "newer Asio": ROOT / "build/peers/usr/include"}.items():
        header = folder / "asio/version.hpp"
        if header.exists():
            n = int(re.search(r"#define ASIO_VERSION (\d+)", header.read_text())[1])
            found[name] = f"{n // 100000}.{n // 100 % 1000}.{n % 100}"
    lock = ROOT / "build/tokio/Cargo.lock"
    if lock.exists() and shutil.which("rustc"):
        found["rustc"] = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()
        found["Tokio"] = re.search(r'name = "tokio"\nversion = "([^"]+)"', lock.read_text())[1]
    boost, hiredis = ROOT / "build/peers/usr/include/boost/version.hpp", Path("/usr/include/hiredis/hiredis.h")
    if boost.exists():
        found["Boost.Redis, Boost.Cobalt"] = re.search(r'BOOST_LIB_VERSION "(.*)"', boost.read_text())[1].replace("_", ".")
    if hiredis.exists():
        found["hiredis"] = ".".join(re.findall(r"#define HIREDIS_(?:MAJOR|MINOR|PATCH) (\d+)", hiredis.read_text()))
    return found


def run_part(rows: list[Row], rounds: int, counts: bool) -> None:
    server = RedisServer() if any(row.wants_redis and not row.skipped for row in rows) else None
    try:
        for row in rows:
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
            if not row.skipped and row.unit == CPU_NS:
                row.instructions = callgrind.count_each(row.command, COUNTED_MAX).instructions


def printed(rows: list[Row]) -> list[dict]:
    """The rows as they are shown, with their ratios to the raw limit and to the best peer."""
    there = [r for r in rows if not r.skipped]
    best = max if any(r.unit.endswith("/s") for r in rows) else min
    raw = best((r.median() for r in there if r.kind == "raw"), default=None)
    peer = best((r.median() for r in there if r.kind == "peer"), default=None)
    result = []
    for r in rows:
        shown = {"row": r.name, "kind": r.kind}
        if r.skipped:
            shown["skipped"] = r.skipped
        else:
            shown.update(unit=r.unit, figure=r.median(), least=min(r.figures), most=max(r.figures), all=r.figures,
                         operations=r.operations)
            if r.wall_ns:
                shown["wall_ns"] = statistics.median(r.wall_ns)
            if r.wants_redis: # It waits for another process.
                shown["is_wall_told"] = True
            if r.notes:
                shown["notes"] = r.notes
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
    counts = any("instructions" in r for r in rows)
    tells_wall = any("is_wall_told" in r for r in rows)
    wide = max(34, *(len(r["row"]) for r in rows))
    lines = [f"  {'':{wide}} {unit:>9} {'[min .. max]':>20} {'/ raw':>7} {'/ peer':>7}" + (f" {'instr.':>8}" if counts else "")
             + (f" {'wall ns':>9}" if tells_wall else "")]
    for r in rows:
        if "skipped" in r:
            lines.append(f"  {r['row']:{wide}} skipped: {r['skipped']}")
            continue
        digits = 2 if r["figure"] < 10 else 1
        spread = f"[{r['least']:.{digits}f} .. {r['most']:.{digits}f}]"
        ratios = "".join(f" {r[k]:7.3f}" if k in r else " " * 8 for k in ("to_raw", "to_best_peer"))
        counted = f" {r['instructions']:8.1f}" if "instructions" in r else ""
        wall = f" {r['wall_ns']:9.{digits}f}" if tells_wall and "wall_ns" in r else ""
        lines.append(f"  {r['row']:{wide}} {r['figure']:9.{digits}f} {spread:>20}{ratios}{counted}{wall}".rstrip())
        lines += [f"      {note}" for note in r.get("notes", [])]
    return "\n".join(lines)


def plot_of(rows: list[dict]) -> str:
    there = [r for r in rows if "skipped" not in r]
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
<h1>Fairlead: benchmarks</h1><p>CPU time (user and system) for each operation, where no other unit is named: median of
{rounds} interleaved rounds, with range. Instructions are of user space, counted by callgrind.</p><p>{versions}</p>{body}"""


def page_of(report: dict) -> str:
    body = []
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", type=lambda s: [Tree(Path(t)) for t in s.split(",")])
    parser.add_argument("output", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("names", nargs="*")
    given = parser.parse_intermixed_args()
    rounds = given.rounds or (1 if given.quick else ROUNDS_FULL if given.full else ROUNDS)
    catalog, lines = table(ROOT / "bench/catalog.tsv"), table(ROOT / "bench/rows.tsv")
    unknown = set(given.names) - {b["id"] for b in catalog}
    if unknown:
        print(f"no benchmark is called {', '.join(sorted(unknown))}; there are {', '.join(b['id'] for b in catalog)}")
        return 2
    report = {"versions": versions(), "rounds": rounds, "benchmarks": []}
    for k, v in report["versions"].items():
        print(f"{k}: {v}")
    for b in catalog:
        if given.names and b["id"] not in given.names:
            continue
        print(f"\n{b['id']}: {b['question']}\nGoal: {b['goal']}")
        if b.get("state"):
            print(f"Missing: {b['state']}")
        shown = []
        for part, rows in parts_of(b["id"], lines, given.trees, given).items():
            print(part, flush=True)
            run_part(rows, rounds, not given.quick)
            shown.append({"part": part, "rows": printed(rows)})
            print(text_of(shown[-1]["rows"]), flush=True)
        report["benchmarks"].append({"id": b["id"], "question": b["question"], "goal": b["goal"],
                                     "missing": b.get("state", ""), "parts": shown})
    given.output.mkdir(parents=True, exist_ok=True)
    (given.output / "report.json").write_text(json.dumps(report, indent=1))
    (given.output / "report.html").write_text(page_of(report))
    print(f"\nwritten: {given.output}/report.html, report.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
