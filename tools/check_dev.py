#!/usr/bin/env python3
"""Every command of ./dev explains itself when it is asked with --help, and then does nothing else.

    tools/check_dev.py [--root DIR]     prints one line per violation; exit status 1 if there is one
    tools/check_dev.py --self-test      plants violations and expects them to be found

The script runs in a folder that holds it alone and a tree that was built, with no program but bash within reach: what
would install, configure, build or remove anything fails, or leaves the folder changed.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NEEDED = ("bash", "cat", "dirname", "env", "rm")  # rm, so that a command that removes the tree can be seen to do so
ASKING = (["--help"], ["-h"], ["gcc-debug", "--help"])
TIME_LIMIT_S = 20


def commands_of(script: str) -> list[str]:
    """Labels of the last case: what the script knows how to do."""
    body = script[script.index("\ncase $command in\n"):]
    return [label for label in re.findall(r"^([a-z]+)\)", body, re.M) if label != "help"]


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else b"" for p in folder.rglob("*")}


def ask(script: Path, arguments: list[str]) -> list[str]:
    """Runs the script in a folder of its own, and says what is wrong with its answer."""
    with tempfile.TemporaryDirectory() as temporary:
        programs, work = Path(temporary, "bin"), Path(temporary, "work")
        (work / "build").mkdir(parents=True)
        (work / "build" / "tree").write_text("was built\n")
        shutil.copy(script, work / "dev")
        programs.mkdir()
        for name in NEEDED:
            (programs / name).symlink_to(shutil.which(name) or f"/bin/{name}")
        before = snapshot(work)
        said = "./dev " + " ".join(arguments)
        try:
            done = subprocess.run([programs / "bash", work / "dev", *arguments], env={"PATH": str(programs)}, cwd=work,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIME_LIMIT_S)
        except subprocess.TimeoutExpired:
            return [f"{said}: does something that takes long"]
        command = arguments[1] if arguments[0] == "help" else arguments[0]
        wrong = []
        if done.returncode or done.stderr:
            wrong.append(f"{said}: fails: {(done.stderr or done.stdout).strip()[:200]}")
        elif not re.match(rf"\./dev {command}\s", done.stdout):
            wrong.append(f"{said}: does not begin with its line of the usage")
        if snapshot(work) != before:
            wrong.append(f"{said}: changes files")
        return wrong


def check(root: Path) -> list[str]:
    script = root / "dev"
    found = []
    for command in commands_of(script.read_text()):
        for arguments in ([command, *asking] for asking in ASKING):
            found += ask(script, arguments)
        found += ask(script, ["help", command])
    return found


def self_test() -> list[str]:
    good = ('set -e\ncommand=$1\nshift\n[[ $command == help ]] && command=$1\n'
            'say() { printf "./dev %s\\n" "$command"; exit; }\ncase $command in\nbuild) say ;;\nWORSEesac\n')
    planted = {
        "": None,
        "clean) rm -rf build; say ;;\n": "./dev clean --help: changes files",
        "test) ctest; say ;;\n": "./dev test --help: fails: ",
        "docs) exit 0 ;;\n": "./dev docs --help: does not begin",
    }
    wrong = []
    for worse, expected in planted.items():
        with tempfile.TemporaryDirectory() as temporary:
            Path(temporary, "dev").write_text(good.replace("WORSE", worse))
            found = check(Path(temporary))
            if expected is None and found:
                wrong.append(f"nothing was planted, and this was found: {found}")
            if expected is not None and not any(each.startswith(expected) for each in found):
                wrong.append(f"not found: {expected}; but {found}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--self-test", action="store_true")
    given = parser.parse_args()
    found = self_test() if given.self_test else check(given.root)
    print("\n".join(found) or "no violation")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
