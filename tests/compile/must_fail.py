#!/usr/bin/env python3
"""Compiles a file that must not compile, and reads what the compiler says.

    tests/compile/must_fail.py FILE COMPILER [FLAG...]

The file's first line is `// Fails: <regex>`, which the compiler's message must match: the sentence that helps, or the name
of the concept that is not satisfied. The message has one error, of at most 400 characters, and at most 60 lines; a second
line `// Lines: <number>` allows more where overloads are listed. With -DGOOD the same file must compile, so that nothing
but the line under test makes it fail.
"""

import re
import subprocess
import sys
from pathlib import Path

ERRORS_MAX = 1
ERROR_SIZE_MAX = 400
LINES_MAX = 60


def main() -> int:
    source, compiler, flags = sys.argv[1], sys.argv[2], sys.argv[3:]
    first, second = Path(source).read_text().splitlines()[:2]
    expected = re.fullmatch(r"// Fails: (.+)", first)
    if not expected:
        print(f"{source}: the first line is not `// Fails: <regex>`")
        return 1
    more = re.fullmatch(r"// Lines: (\d+)", second)
    lines_max = int(more[1]) if more else LINES_MAX
    command = [compiler, *flags, "-fsyntax-only", source]
    good = subprocess.run([*command, "-DGOOD"], capture_output=True, text=True)
    if good.returncode:
        print(f"{source}: with -DGOOD it must compile\n{good.stderr}")
        return 1
    bad = subprocess.run(command, capture_output=True, text=True)
    if not bad.returncode:
        print(f"{source}: compiles, and must not")
        return 1
    wrong = []
    if not re.search(expected[1], bad.stderr):
        wrong.append(f"no message matches: {expected[1]}")
    errors = [line for line in bad.stderr.splitlines() if "error: " in line]
    if len(errors) > ERRORS_MAX:
        wrong.append(f"{len(errors)} errors for one mistake")
    wrong += [f"an error of {len(error)} characters" for error in errors if len(error) > ERROR_SIZE_MAX]
    if (lines := bad.stderr.count("\n")) > lines_max:
        wrong.append(f"{lines} lines for one mistake")
    for each in wrong:
        print(f"{source}: fails, but {each}")
    print(bad.stderr if wrong else f"rejected as it must be, in {lines} lines")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
