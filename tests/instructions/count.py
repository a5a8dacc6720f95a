#!/usr/bin/env python3
"""Counts what the papers compare, in instructions instead of time: count.py PROGRAM A13|C04

A13  an operation with the library's own memory takes few instructions more than one with the best hand-written
     allocator, which serves one chain from one slot: those of taking a block and giving it back
C04  operations that succeed leave errno alone: no call of __errno_location is due to any of them

callgrind counts; each figure is the difference between N and 2 N operations, so that starting up does not count.
"""
import re
import shutil
import subprocess
import sys
import tempfile

N = 5000
MORE_MAX = 48


def run(program: str, mode: str, n: int) -> tuple[int, int]:
    """Instructions, and calls of __errno_location."""
    with tempfile.NamedTemporaryFile("r") as out:
        subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", "--compress-strings=no",
                        program, mode, str(n)], check=True, timeout=200, capture_output=True, text=True)
        text = out.read()
    instructions = int(re.search(r"^(?:summary|totals): (\d+)", text, re.M)[1])
    # A call is three lines: cfn=NAME, calls=COUNT POSITION, cost.
    calls = sum(int(count) for name, count in re.findall(r"^cfn=(.*)\n(?:c[a-z]+=.*\n)*calls=(\d+)", text, re.M)
                if "errno_location" in name)
    return instructions, calls


def per_operation(program: str, mode: str) -> tuple[float, float]:
    some, more = run(program, mode, N), run(program, mode, 2 * N)
    return (more[0] - some[0]) / N, (more[1] - some[1]) / N


def main() -> int:
    program, row = sys.argv[1:]
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed")
        return 77
    if row == "A13":
        default, _ = per_operation(program, "default_memory")
        own, _ = per_operation(program, "own_memory")
        print(f"default memory: {default:.1f} instructions for an operation, own memory: {own:.1f}, "
              f"{default - own:.1f} more")
        return 0 if default - own <= MORE_MAX else 1
    instructions, errno = per_operation(program, "read_write")
    print(f"{2 * N} writes and reads more: {instructions:.1f} instructions and {errno:.4f} looks at errno for two")
    return 0 if errno == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
