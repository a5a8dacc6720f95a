"""Counts what a program does with callgrind: the same on every computer, as far as the processor's features allow."""

import functools
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

TIME_LIMIT_S = 300


def is_there() -> bool:
    return shutil.which("valgrind") is not None


@dataclass
class Count:
    instructions: float
    calls: dict[str, float]  # by the name of the function

    def calls_of(self, part_of_name: str) -> float:
        return sum(n for name, n in self.calls.items() if part_of_name in name)


def outputs(command: list[str], padding: int, *options: str) -> list[str]:
    """What callgrind wrote of one run of a program, part by part. Where its stack begins depends on its environment and
    its name, and what strings cost depends on where they lie: both are the same each time, and another padding gives
    another place."""
    path = Path(command[0]).resolve()
    environment = {"PATH": os.environ.get("PATH", os.defpath), "PADDING": "." * padding}
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={place}/out", "--compress-strings=no", *options,
                        f"./{path.name}", *command[1:]], check=True, timeout=TIME_LIMIT_S, capture_output=True,
                       cwd=path.parent, env=environment)
        part = lambda p: int(p.suffix[1:] or 1 << 30)  # noqa: E731  (the last part has no number)
        return [p.read_text() for p in sorted(Path(place).iterdir(), key=part)]


def total(text: str) -> int:
    return int(re.search(r"^(?:summary|totals): (\d+)", text, re.M)[1])


def count(command: list[str], padding: int = 0) -> Count:
    """One run of a program."""
    text, = outputs(command, padding)
    calls: dict[str, float] = {}
    # A call is three lines: cfn=NAME, calls=COUNT POSITION, cost.
    for name, n in re.findall(r"^cfn=(.*)\n(?:c[a-z]+=.*\n)*calls=(\d+)", text, re.M):
        calls[name] = calls.get(name, 0) + int(n)
    return Count(total(text), calls)


def count_parts(command: list[str], end_of_part: str, padding: int = 0) -> list[int]:
    """The instructions of one run between its calls of the function `end_of_part`."""
    parts = outputs(command, padding, f"--dump-before={end_of_part}", "--combine-dumps=no")
    return [total(text) for text in parts[:-1]]


def count_each(command, n: int, padding: int = 0) -> Count:
    """One operation: the difference between n and 2 n of them, so that starting up does not count."""
    some, more = count(command(n), padding), count(command(2 * n), padding)
    return Count((more.instructions - some.instructions) / n,
                 {name: (more.calls[name] - some.calls.get(name, 0)) / n for name in more.calls})


# What other processors have to be asked for: read-modify-write, and fences. Loads and stores of atomics are plain ones here.
LOCKED = re.compile(r"\s+([0-9a-f]+):\t(?:lock\b|xchg\b.*\(|mfence)")


@functools.cache
def locked_instructions(file: str) -> dict[int, str]:
    """Those of a program or library for x86-64, each with the name of its function as the linker has it."""
    found, function = {}, ""
    for line in subprocess.run(["objdump", "-d", "--no-show-raw-insn", file], check=True, capture_output=True,
                               text=True).stdout.splitlines():
        if line.endswith(">:"):
            function = line[line.index("<") + 1:-2]
        elif match := LOCKED.match(line):
            found[int(match[1], 16)] = function
    return found


def count_locked(command: list[str]) -> Counter[str]:
    """How many of them one run executes, function by function."""
    text, = outputs(command, 0, "--dump-instr=yes", "--compress-pos=no")
    executed: Counter[str] = Counter()
    file, is_call = "", False
    for line in text.splitlines():
        if line.startswith("ob="):
            file = line[3:]
        elif line.startswith("calls="):
            is_call = True  # The next line has the cost of what is called.
        elif match := re.match(r"0x([0-9a-f]+) \S+ (\d+)$", line):
            if not is_call and Path(file).is_file():
                if function := locked_instructions(file).get(int(match[1], 16)):
                    executed[function] += int(match[2])
            is_call = False
    return executed


def count_locked_each(command, n: int) -> dict[str, float]:
    """Those of one operation: the difference between n and 2 n of them."""
    some, more = count_locked(command(n)), count_locked(command(2 * n))
    return {function: (more[function] - some[function]) / n for function in more if more[function] != some[function]}
