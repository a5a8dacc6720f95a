#!/usr/bin/env python3
"""What including each header of Asio costs here and there: headers.py --asio INCLUDE_FOLDER [--compiler g++] [NAME...]

Compiles every header of include/compat that INCLUDE_FOLDER has too, alone and at -O0, and prints the CPU seconds of both
(the best of three, in turns). Times within 8 % of each other say little on most computers: there the instructions of g++ are
counted under callgrind as well, a minute for each header, and decide. Ends with 1 if any header costs more here.
"""
import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
OURS = [f"-I{ROOT}/include/compat", f"-I{ROOT}/include"]
FLAGS = ["-std=c++20", "-O0", "-x", "c++", "-", "-o", "/dev/null"]


def cpu_seconds(compiler: str, header: str, folders: list[str]) -> float:
    process = subprocess.Popen([compiler, "-c", *folders, *FLAGS], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdin.write(f"#include <{header}>\n".encode())
    process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        return float("nan")  # Some of Asio's forward declarations rely on what was included before.
    return usage.ru_utime + usage.ru_stime


def instructions(compiler: str, header: str, folders: list[str]) -> int:
    """Of the compiler proper, which the driver starts as a process of its own."""
    shown = subprocess.run([compiler, "-###", "-S", *folders, *FLAGS], input="", capture_output=True, text=True).stderr
    command = [word.strip('"') for word in next(l for l in shown.splitlines() if "cc1plus" in l).split()]
    counted = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command],
                             input=f"#include <{header}>\n", capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", counted.stderr)[1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--asio", required=True, type=Path)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    theirs = [f"-I{given.asio}"]
    worse = 0
    for path in sorted((ROOT / "include/compat").rglob("*.hpp")):
        header = str(path.relative_to(ROOT / "include/compat"))
        if given.names and not any(name in header for name in given.names):
            continue
        if not (given.asio / header).exists() or "\n#error" in path.read_text():
            continue
        pairs = [(cpu_seconds(given.compiler, header, OURS), cpu_seconds(given.compiler, header, theirs)) for _ in range(3)]
        here, there = (min(side) for side in zip(*pairs))
        if here != here or there != there:
            print(f"{header:48} does not compile alone {'here' if here != here else 'there'}", flush=True)
            continue
        ratio, counted = here / there, ""
        if 0.92 < ratio < 1.08 and "clang" not in given.compiler:
            ratio = instructions(given.compiler, header, OURS) / instructions(given.compiler, header, theirs)
            counted = "counted"
        worse += ratio > 1
        print(f"{header:48} {here:6.3f} {there:6.3f} {ratio:6.2f} {counted:8} {'MORE' if ratio > 1 else ''}".rstrip(), flush=True)
    print(f"{worse} headers cost more here")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
