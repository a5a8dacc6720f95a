#!/usr/bin/env python3
"""Explores the models of our lock-free protocols with Spin: every interleaving, to the end.

    tools/check_models.py [MODEL...]    prints one line for each model; exit status 1 if one does not hold

Each model in tests/models holds as it is, and fails with -DBROKEN and each other flag that its comment names as
"spin -a -DFLAG:". A model that cannot fail shows nothing.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MODELS = Path(__file__).resolve().parent.parent / "tests" / "models"
TIME_LIMIT_S = 300


def explore(model: Path, *flags: str) -> tuple[int, int]:
    """How many errors (Spin stops at the first), and how many states."""
    with tempfile.TemporaryDirectory() as place:
        run = lambda *command: subprocess.run(  # noqa: E731
            command, cwd=place, check=True, capture_output=True, text=True, timeout=TIME_LIMIT_S
        ).stdout
        run("spin", *flags, "-a", str(model))
        run("gcc", "-O1", "-DSAFETY", "-DMEMLIM=2048", "-o", "pan", "pan.c")
        report = subprocess.run(
            ["./pan", "-m1000000"], cwd=place, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False
        ).stdout
    errors = re.search(r"errors: (\d+)", report)
    states = re.search(r"(\d+) states, stored", report)
    if not errors or not states or "max search depth too small" in report:
        raise SystemExit(f"{model.name}: Spin did not finish:\n{report}")
    return int(errors[1]), int(states[1])


def main() -> int:
    if not shutil.which("spin"):
        raise SystemExit("spin is missing: install the package spin")
    models = [Path(m).resolve() for m in sys.argv[1:]] or sorted(MODELS.glob("*.pml"))
    if not models:
        raise SystemExit(f"no model in {MODELS}")
    bad = 0
    for model in models:
        errors, states = explore(model)
        flags = sorted({"-DBROKEN", *re.findall(r"^// spin -a (-D\w+):", model.read_text(), re.MULTILINE)})
        unbroken = [f for f in flags if not explore(model, f)[0]]
        verdict = "holds" if not errors else "FAILS"
        for flag in unbroken:
            verdict += f", and cannot fail: {flag} holds, too"
        bad += bool(errors or unbroken)
        print(f"{model.stem:12} {verdict}, {states} states")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
