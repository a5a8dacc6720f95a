"""Counts what a program does with callgrind: the same on every computer, as far as the processor's features allow."""

import os
import re
import shutil
import subprocess
import tempfile
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
