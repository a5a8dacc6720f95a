#!/usr/bin/env python3
"""Compiles a file that must not compile.

    tests/compile/must_fail.py FILE COMPILER [FLAG...]

The file's first line is `// Fails: <regex>`, which the compiler's message must match. With -DGOOD the same file must
compile, so that nothing but the line under test makes it fail.
"""

import re
import subprocess
import sys
from pathlib import Path


def main() -> int:
    source, compiler, flags = sys.argv[1], sys.argv[2], sys.argv[3:]
    first = Path(source).read_text().splitlines()[0]
    expected = re.fullmatch(r"// Fails: (.+)", first)
    if not expected:
        print(f"{source}: the first line is not `// Fails: <regex>`")
        return 1
    command = [compiler, *flags, "-fsyntax-only", source]
    good = subprocess.run([*command, "-DGOOD"], capture_output=True, text=True)
    if good.returncode:
        print(f"{source}: with -DGOOD it must compile\n{good.stderr}")
        return 1
    bad = subprocess.run(command, capture_output=True, text=True)
    if not bad.returncode:
        print(f"{source}: compiles, and must not")
        return 1
    if not re.search(expected[1], bad.stderr):
        print(f"{source}: fails, but no message matches: {expected[1]}\n{bad.stderr}")
        return 1
    print("rejected as it must be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
