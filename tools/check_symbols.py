#!/usr/bin/env python3
"""Holds the library's objects to tools/syscall_denylist.txt: only the room io and exec/park* reach the kernel.

    tools/check_symbols.py OBJECT... | @LIST      prints one line per violation; exit status 1 if there is one
    tools/check_symbols.py --self-test COMPILER   plants violations in freshly compiled objects

An object's room is read from its path: .../src/<room>/<file>.o, whatever the folders above are called.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from fnmatch import fnmatchcase
from pathlib import Path

HOME = ("io/*", "exec/park*")
DENYLIST = Path(__file__).with_name("syscall_denylist.txt")


def read_denylist(text: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The denied patterns and the exceptions (source pattern, symbol pattern)."""
    denied, allowed = [], []
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if len(words) == 3 and words[0] == "allow":
            allowed.append((words[1], words[2]))
        elif len(words) == 1:
            denied.append(words[0])
        elif words:
            raise SystemExit(f"{DENYLIST}: cannot read: {line}")
    return denied, allowed


def undefined(path: Path) -> list[str]:
    """The symbols that an object refers to, without their versions."""
    lines = subprocess.run(["nm", "-u", path], check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted({line.split()[-1].split("@")[0] for line in lines if line.split()})


def check(objects: list[Path], denied: list[str], allowed: list[tuple[str, str]]) -> list[str]:
    violations = []
    for path in objects:
        source = re.search(r".*/src/(\w+/.+)\.o$", path.as_posix())
        if not source:
            raise SystemExit(f"{path}: not an object of src/<room>/")
        if any(fnmatchcase(source[1], home) for home in HOME):
            continue
        exceptions = [symbol for pattern, symbol in allowed if fnmatchcase(source[1], pattern)]
        for symbol in undefined(path):
            if any(fnmatchcase(symbol, d) for d in denied) and not any(fnmatchcase(symbol, e) for e in exceptions):
                violations.append(f"src/{source[1]}: refers to {symbol}; only io and exec/park* may")
    return violations


def self_test(compiler: str) -> list[str]:
    denied, _ = read_denylist(DENYLIST.read_text())
    planted = {
        "net/a": ("#include <sys/socket.h>\nint f() { return ::socket(1, 1, 0); }", "socket"),
        "sim/b": ("#include <chrono>\nlong f() { return std::chrono::steady_clock::now().time_since_epoch().count(); }",
                  "_ZNSt6chrono3_V212steady_clock3nowEv"),
        "exec/c": ("#include <thread>\nvoid f() { std::thread([] {}).detach(); }",
                   "_ZNSt6thread15_M_start_thread*"),
        "redis/d": ("#include <random>\nunsigned f() { return std::random_device{}(); }", "_ZNSt13random_device*"),
        "io/fine": ("#include <unistd.h>\nint f() { return ::close(3); }", None),
        "exec/park": ("#include <unistd.h>\nlong f() { return ::syscall(1); }", None),
        "net/fine": ("int f() { return 1; }", None),
    }
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, symbol) in planted.items():
            path = Path(folder) / "src" / "checkout" / "src" / f"{name}.cpp.o"
            path.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run([compiler, "-std=c++20", "-xc++", "-c", "-o", path, "-"], input=text, text=True, check=True)
            found = check([path], denied, [])
            if bool(found) != bool(symbol) or (symbol and not fnmatchcase(found[0].split()[3].rstrip(";"), symbol)):
                failures.append(f"planted {symbol} in {name}, found {found}")
            if check([path], denied, [("*", "*")]):
                failures.append(f"{name}: an exception was not honoured")
    return failures


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--self-test", metavar="COMPILER")
    arguments.add_argument("objects", nargs="*")
    options = arguments.parse_args()
    if options.self_test:
        problems = self_test(options.self_test)
    else:
        names = [line for o in options.objects
                 for line in (Path(o[1:]).read_text().split("\n") if o.startswith("@") else [o]) if line]
        problems = check([Path(name) for name in names], *read_denylist(DENYLIST.read_text()))
    print("\n".join(problems) or "no violation")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
