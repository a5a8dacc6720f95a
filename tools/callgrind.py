"""Counts what a program does with callgrind: the same on every machine, as far as the processor's features allow."""

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


def count(command: list[str], padding: int = 0) -> Count:
    """One run of a program. Where its stack begins depends on its environment and its name, and what strings cost depends
    on where they lie: both are the same each time, and another padding gives another place."""
    path = Path(command[0]).resolve()
    environment = {"PATH": os.environ.get("PATH", os.defpath), "PADDING": "." * padding}
    with tempfile.NamedTemporaryFile("r") as out:
        subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", "--compress-strings=no",
                        f"./{path.name}", *command[1:]], check=True, timeout=TIME_LIMIT_S, capture_output=True,
                       cwd=path.parent, env=environment)
        text = out.read()
    calls: dict[str, float] = {}
    # A call is three lines: cfn=NAME, calls=COUNT POSITION, cost.
    for name, n in re.findall(r"^cfn=(.*)\n(?:c[a-z]+=.*\n)*calls=(\d+)", text, re.M):
        calls[name] = calls.get(name, 0) + int(n)
    return Count(int(re.search(r"^(?:summary|totals): (\d+)", text, re.M)[1]), calls)


def count_each(command, n: int, padding: int = 0) -> Count:
    """One operation: the difference between n and 2 n of them, so that starting up does not count."""
    some, more = count(command(n), padding), count(command(2 * n), padding)
    return Count((more.instructions - some.instructions) / n,
                 {name: (more.calls[name] - some.calls.get(name, 0)) / n for name in more.calls})
