#!/usr/bin/env python3
"""Holds commits to STYLE.md: `room: what changes`, then a blank line and the reason.

    tools/check_commits.py [--root DIR]    prints one line per violation; exit status 1 if there is one
    tools/check_commits.py --self-test     plants every kind of violation

Commits count from the one that brought this check on. Without git, or without a repository, there is nothing to check.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

COLUMNS_MAX = 100
ROOMS = {"base", "exec", "resp3", "io", "operation", "token", "coro", "net", "stream", "sync", "scope", "sender", "legacy", "sim", "redis", "tls", "compat", "bench", "budgets", "build",
         "ci", "demo", "dev", "docs", "examples", "log", "style", "tests", "tools"}
SUBJECT = re.compile(r"([a-z0-9, ]+): \S")


def violations(message: str) -> list[str]:
    subject, _, rest = message.rstrip("\n").partition("\n")
    found = []
    begin = SUBJECT.match(subject)
    rooms = {room.strip() for room in begin[1].split(",")} if begin else set()
    if not rooms or rooms - ROOMS:
        found.append("begins with no room, as in \"net: ...\" or \"io, net: ...\"; rooms are " + " ".join(sorted(ROOMS)))
    if len(subject) > COLUMNS_MAX:
        found.append(f"has a subject of {len(subject)} columns; {COLUMNS_MAX} are enough")
    if subject.endswith("."):
        found.append("has a full stop behind its subject")
    if not rest.strip():
        found.append("gives no reason; write it below a blank line")
    elif not rest.startswith("\n"):
        found.append("has no blank line below its subject")
    return found


def git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


def check(root: Path) -> list[str] | None:
    """None: nothing to check."""
    first = git(root, "log", "--diff-filter=A", "--format=%H", "--", "tools/check_commits.py")
    if not first or not first.split():
        return None
    log = git(root, "log", "--no-merges", "--format=%h%n%B%x00", f"{first.split()[-1]}..HEAD")
    found = []
    for entry in (log or "").split("\0"):
        name, _, message = entry.lstrip("\n").partition("\n")
        if name:
            found += [f"commit {name}: {why}" for why in violations(message)]
    return found


def self_test() -> list[str]:
    good = "io, net: something changes\n\nFor a reason.\n"
    planted = {good: 0, "io: a\n\nb\nc\n": 0, "an idea\n\nb\n": 1, "Net: a\n\nb\n": 1, "cellar: a\n\nb\n": 1, "net: a.\n\nb\n": 1,
               "net: a\nb\n": 1, "net: a\n": 1, "net: " + "a" * 96 + "\n\nb\n": 1, "a.": 3}
    return [f"{text!r}: {violations(text)}" for text, n in planted.items() if len(violations(text)) != n]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    arguments.add_argument("--self-test", action="store_true")
    given = arguments.parse_args()
    found = self_test() if given.self_test else check(given.root)
    if found is None:
        print("no repository here: nothing to check")
        return 0
    print("\n".join(found) or "no violation")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
