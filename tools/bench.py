#!/usr/bin/env python3
"""Runs the benchmarks of bench/rows.tsv and writes report.json and report.html.

    tools/bench.py PROGRAMS OUTPUT [--quick] [--rounds N] [NAME...]    PROGRAMS: the build tree; NAME: BM-3 ...

Each row is a program that performs so many operations. All rows of a part take turns, several rounds long, so that
whatever else the machine does meets all of them. A figure is the difference between a long and a short run, divided by
the difference of their operations: starting up does not count. CPU time is what the system accounts to the process,
user and system; instructions (user only) are counted by callgrind, where it is installed. Exit status 1: a row failed.
"""

import argparse
import html
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = 77  # what a program ends with when a row does not exist for it
ROUNDS = 7
SHORT = 10  # the short run does a tenth
TIME_LIMIT_S = 300
COUNTED_MAX = 20000  # operations under callgrind


def table(path: Path) -> list[dict[str, str]]:
    head, *lines = path.read_text().splitlines()
    names = head.split("\t")
    return [dict(zip(names, line.split("\t"))) for line in lines if line]


def measured(command: list[str]) -> tuple[float, float] | None:
    """CPU and wall seconds of one run; None if the program has no such row."""
    begun = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode == SKIPPED:
        return None
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - begun


def instructions(command) -> float:
    """For one operation."""
    def total(n: int) -> int:
        with tempfile.NamedTemporaryFile() as out:
            subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", *command(n)], check=True,
                           capture_output=True, timeout=TIME_LIMIT_S)
            return int(re.search(r"^(?:summary|totals): (\d+)", Path(out.name).read_text(), re.M)[1])
    return (total(2 * COUNTED_MAX) - total(COUNTED_MAX)) / COUNTED_MAX


class Row:
    def __init__(self, line: dict[str, str], programs: Path, quick: bool):
        self.name, self.kind = line["row"], line["kind"]
        self.arguments = line["arguments"]
        self.operations = int(line["quick" if quick else "operations"])
        found = [p for p in programs.rglob(line["program"]) if p.is_file() and os.access(p, os.X_OK)]
        self.program = str(found[0]) if found else None
        self.skipped = None if found else "not built: the library it compares with is not installed"
        self.cpu_ns: list[float] = []
        self.wall_ns: list[float] = []
        self.instructions: float | None = None

    def command(self, n: int) -> list[str]:
        return [self.program, *self.arguments.format(n=n).split()]

    def run(self) -> None:
        if self.skipped:
            return
        some = max(self.operations // SHORT, 1)
        short, long = measured(self.command(some)), measured(self.command(self.operations))
        if short is None or long is None:
            self.skipped = "this version of the library has none"
            return
        per_operation = 1e9 / (self.operations - some)
        self.cpu_ns.append((long[0] - short[0]) * per_operation)
        self.wall_ns.append((long[1] - short[1]) * per_operation)

    def median(self) -> float:
        return statistics.median(self.cpu_ns)


def versions() -> dict[str, str]:
    found = {"kernel": platform.release(), "machine": platform.machine()}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            found["processor"] = f"{os.cpu_count()} x {line.split(':')[1].strip()}"
            break
    for name, command in {"g++": ["g++", "--version"], "clang++": ["clang++-19", "--version"]}.items():
        if shutil.which(command[0]):
            found[name] = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0]
    header = Path("/usr/include/asio/version.hpp")
    if header.exists():
        n = int(re.search(r"#define ASIO_VERSION (\d+)", header.read_text())[1])
        found["Asio"] = f"{n // 100000}.{n // 100 % 1000}.{n % 100}"
    return found


def run_part(rows: list[Row], rounds: int, counts: bool) -> None:
    for _ in range(rounds):
        for row in rows:
            row.run()
    if counts and shutil.which("valgrind"):
        for row in rows:
            if not row.skipped:
                row.instructions = instructions(row.command)


def printed(rows: list[Row]) -> list[dict]:
    """The rows as they are shown, with their ratios to the raw limit and to the best peer."""
    there = [r for r in rows if not r.skipped]
    raw = min((r.median() for r in there if r.kind == "raw"), default=None)
    peer = min((r.median() for r in there if r.kind == "peer"), default=None)
    result = []
    for r in rows:
        shown = {"row": r.name, "kind": r.kind}
        if r.skipped:
            shown["skipped"] = r.skipped
        else:
            shown.update(cpu_ns=r.median(), cpu_ns_min=min(r.cpu_ns), cpu_ns_max=max(r.cpu_ns),
                         wall_ns=statistics.median(r.wall_ns), all_cpu_ns=r.cpu_ns, operations=r.operations)
            if raw:
                shown["to_raw"] = r.median() / raw
            if peer and r.kind == "ours":
                shown["to_best_peer"] = r.median() / peer
            if r.instructions is not None:
                shown["instructions"] = r.instructions
        result.append(shown)
    return result


def text_of(rows: list[dict]) -> str:
    lines = [f"  {'':34} {'CPU ns':>9} {'[min .. max]':>20} {'/ raw':>7} {'/ peer':>7} {'instr.':>8}"]
    for r in rows:
        if "skipped" in r:
            lines.append(f"  {r['row']:34} skipped: {r['skipped']}")
            continue
        spread = f"[{r['cpu_ns_min']:.1f} .. {r['cpu_ns_max']:.1f}]"
        ratios = "".join(f" {r[k]:7.3f}" if k in r else " " * 8 for k in ("to_raw", "to_best_peer"))
        counted = f" {r['instructions']:8.1f}" if "instructions" in r else ""
        lines.append(f"  {r['row']:34} {r['cpu_ns']:9.1f} {spread:>20}{ratios}{counted}")
    return "\n".join(lines)


def plot_of(rows: list[dict]) -> str:
    there = [r for r in rows if "skipped" not in r]
    if not there:
        return ""
    most = max(r["cpu_ns_max"] for r in there)
    height, left, width = 22, 230, 520
    parts = [f'<svg width="{left + width + 90}" height="{height * len(there)}" font-size="12" font-family="sans-serif">']
    for i, r in enumerate(there):
        y, scale = i * height, width / most
        parts.append(f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{html.escape(r["row"])}</text>'
                     f'<rect class="{r["kind"]}" x="{left}" y="{y + 4}" width="{r["cpu_ns"] * scale:.1f}" height="14"/>'
                     f'<line x1="{left + r["cpu_ns_min"] * scale:.1f}" x2="{left + r["cpu_ns_max"] * scale:.1f}" '
                     f'y1="{y + 11}" y2="{y + 11}" stroke="black"/>'
                     f'<text x="{left + r["cpu_ns_max"] * scale + 6:.1f}" y="{y + 15}">{r["cpu_ns"]:.1f} ns</text>')
    return "".join(parts) + "</svg>"


PAGE = """<!doctype html><meta charset="utf-8"><title>Fairlead: benchmarks</title>
<style>body{{font-family:sans-serif;max-width:60em;margin:2em auto}}pre{{background:#f4f4f4;padding:1em}}
.ours{{fill:#2a6f97}}.peer{{fill:#bbb}}.raw{{fill:#e09f3e}}</style>
<h1>Fairlead: benchmarks</h1><p>CPU time (user and system) for each operation: median of {rounds} interleaved rounds, with
range. Instructions are of user space, counted by callgrind.</p><p>{versions}</p>{body}"""


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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("names", nargs="*")
    given = parser.parse_intermixed_args()
    rounds = given.rounds or (1 if given.quick else ROUNDS)
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
        parts: dict[str, list[Row]] = {}
        for line in lines:
            if line["benchmark"] == b["id"]:
                parts.setdefault(line["part"], []).append(Row(line, given.programs, given.quick))
        shown = []
        for part, rows in parts.items():
            run_part(rows, rounds, not given.quick)
            shown.append({"part": part, "rows": printed(rows)})
            print(f"{part}\n{text_of(shown[-1]['rows'])}", flush=True)
        report["benchmarks"].append({"id": b["id"], "question": b["question"], "goal": b["goal"],
                                     "missing": b.get("state", ""), "parts": shown})
    given.output.mkdir(parents=True, exist_ok=True)
    (given.output / "report.json").write_text(json.dumps(report, indent=1))
    (given.output / "report.html").write_text(page_of(report))
    print(f"\nwritten: {given.output}/report.html, report.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
