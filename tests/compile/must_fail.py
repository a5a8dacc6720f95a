#!/usr/bin/env python3
"""Compiles a file that must not compile, and reads what the compiler says.

    tests/compile/must_fail.py FILE COMPILER [FLAG...]
    tests/compile/must_fail.py --good FOLDER COMPILER [FLAG...]
    tests/compile/must_fail.py --common HEADER FOLDER COMPILER [FLAG...]
    tests/compile/must_fail.py --self-test

The file's first line is `// Fails: <regex>`. The first error must match it: it says what is wrong and what to write. All
that the compiler says fits into 15 lines, and each mistake has one error of at most 600 characters, the file's name not
counted: it is longer in one folder than in another. (From g++ 13 on a compiler quotes the source at each step: quotes
at a `required from` are not counted.) A second line
`// Errors: <number>` says how many mistakes there are. A second line `// Clang: <flag>` says that only clang notices, by a
warning that the flag makes an error; any other compiler then has nothing to say. With -DGOOD the same file must compile,
so that nothing but the line under test makes it fail: --good tries that with all files of a folder at once, each in a
namespace of its own.

With --common it writes HEADER, which includes what the headers below FOLDER include of the standard library, and compiles
it: with `-include HEADER` among the flags a file takes half the time, and what the compiler says is the same.
"""

import re
import subprocess
import sys
from pathlib import Path

ERROR_SIZE_MAX = 600
LINES_MAX = 15
QUOTE = re.compile(r" *\d* \|")
STEP = ":   required "
STANDARD_INCLUDE = re.compile(r"#include <[a-z_]+>$")


def without_quotes_of_steps(output: str) -> list[str]:
    """Only where an error or a note is said g++ 12 quotes the source; its successors do so at each step that led there."""
    lines = []
    at_a_step = False
    for line in output.splitlines():
        is_quote = QUOTE.match(line)
        if not is_quote:
            at_a_step = STEP in line
        if not (is_quote and at_a_step):
            lines.append(line)
    return lines


def complaints(expected: str, errors_max: int, output: str) -> list[str]:
    """What is wrong with what the compiler said."""
    errors = [line for line in output.splitlines() if "error: " in line]
    wrong = []
    if not errors or not re.search(expected, errors[0].split("error: ", 1)[1]):
        wrong.append(f"the first error does not match: {expected}")
    places = {error.split("error: ", 1)[0] for error in errors}  # Compilers repeat some.
    if len(places) > errors_max:
        wrong.append(f"{len(places)} errors for {errors_max} mistake(s)")
    sizes = [len(error.split("error: ", 1)[1]) for error in errors]
    wrong += [f"an error of {size} characters" for size in sizes if size > ERROR_SIZE_MAX]
    if (lines := len(without_quotes_of_steps(output))) > LINES_MAX:
        wrong.append(f"{lines} lines, more than {LINES_MAX}")
    return wrong


def self_test() -> int:
    said = "a.cpp:1:1: error: write b\n"
    cases = (
        ("write b", said, []),
        ("write b", "a.cpp:1:1: error: something else\na.cpp:1:1: note: write b\n", ["the first error"]),
        ("write b", said + said, []),
        ("write b", said + said.replace("1:1", "2:1"), ["2 errors"]),
        ("write b", said + "note\n" * LINES_MAX, ["16 lines"]),
        ("write b", f"a.cpp:1:1: error: write b{'b' * ERROR_SIZE_MAX}\n", ["an error of"]),
        ("write b", f"{'folder/' * ERROR_SIZE_MAX}{said}", []),
        ("a.cpp", said, ["the first error"]),
        ("write b", said + "b.hpp:1:1:   required from here\n" * 7 + "    1 | quoted\n      | ^~\n" * 9, []),
        ("write b", said + "b.hpp:1:1: note: why\n" + "    1 | quoted\n      | ^~\n" * 9, ["20 lines"]),
    )
    for expected, output, starts in cases:
        found = complaints(expected, 1, output)
        if len(found) != len(starts) or any(not f.startswith(s) for f, s in zip(found, starts)):
            print(f"self-test: of {output[:60]!r} it says {found}, not {starts}")
            return 1
    text = "#ifdef GOOD\n#include <a>\n#else\n#include <b>\n#endif\n#include <c>\n"
    if (includes := good_includes(text)) != ["#include <a>", "#include <c>"]:
        print(f"self-test: with -DGOOD it includes {includes}")
        return 1
    print(f"self-test: {len(cases)} cases")
    return 0


def compile_common(header: Path, folder: Path, compiler: str, flags: list[str]) -> int:
    """Both compilers find the result beside the header that -include names, each under its own ending."""
    lines = {line for file in folder.rglob("*.hpp") for line in file.read_text().splitlines()}
    header.parent.mkdir(parents=True, exist_ok=True)
    header.write_text("#pragma once\n" + "".join(f"{line}\n" for line in sorted(lines) if STANDARD_INCLUDE.match(line)))
    ending = ".pch" if "clang" in compiler else ".gch"
    # g++ says that the pragma is in a file that nobody includes.
    return subprocess.run([compiler, *flags, "-w", "-x", "c++-header", header, "-o", f"{header}{ending}"]).returncode


def all_good(files: list[Path]) -> str:
    """One source of all files, with what they include at its beginning: inside the namespaces it is there already."""
    texts = {file: file.read_text() for file in files}
    includes = sorted({line for text in texts.values() for line in good_includes(text)})
    parts = [f"namespace {file.stem} {{\n#line 1 \"{file}\"\n{text}}}\n" for file, text in texts.items()]
    return "".join(f"{line}\n" for line in includes) + "".join(parts)


def good_includes(text: str) -> list[str]:
    """What a file includes with -DGOOD."""
    found = []
    bad = False
    for line in text.splitlines():
        if line.startswith("#else"):
            bad = True
        elif line.startswith("#endif"):
            bad = False
        elif line.startswith("#include") and not bad:
            found.append(line)
    return found


def compile_good(folder: Path, compiler: str, flags: list[str]) -> int:
    command = [compiler, *flags, "-DGOOD", "-fsyntax-only", "-x", "c++", "-"]
    files = sorted(folder.glob("*.cpp"))
    good = subprocess.run(command, input=all_good(files), capture_output=True, text=True)
    if good.returncode or good.stderr or not files:
        print(f"{folder}: with -DGOOD its files must compile without a word\n{good.stderr}")
        return 1
    print(f"with -DGOOD {len(files)} files compile")
    return 0


def main() -> int:
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1] == "--common":
        return compile_common(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], sys.argv[5:])
    if sys.argv[1] == "--good":
        return compile_good(Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
    source, compiler, flags = sys.argv[1], sys.argv[2], sys.argv[3:]
    first, second = Path(source).read_text().splitlines()[:2]
    expected = re.fullmatch(r"// Fails: (.+)", first)
    if not expected:
        print(f"{source}: the first line is not `// Fails: <regex>`")
        return 1
    more = re.fullmatch(r"// Errors: (\d+)", second)
    if clangs := re.fullmatch(r"// Clang: (\S+)", second):
        if "clang" not in compiler:
            silent = subprocess.run([compiler, *flags, "-fsyntax-only", source], capture_output=True, text=True)
            print(silent.stderr or "nothing is said, as expected of this compiler")
            return 1 if silent.returncode or silent.stderr else 0
        flags = [*flags, clangs[1]]
    bad = subprocess.run([compiler, *flags, "-fsyntax-only", source], capture_output=True, text=True)
    if not bad.returncode:
        print(f"{source}: compiles, and must not")
        return 1
    wrong = complaints(expected[1], int(more[1]) if more else 1, bad.stderr)
    for each in wrong:
        print(f"{source}: fails, but {each}")
    lines = bad.stderr.count("\n")
    print(bad.stderr if wrong else f"rejected as it must be, in {lines} lines")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
