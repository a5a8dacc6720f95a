#!/usr/bin/env python3
"""What has to be built before the tests that a filter names can run.

    tools/test_targets.py BUILD FILTER     prints targets, one in a line; "all" where that is not known
    tools/test_targets.py --self-test      plants a small build and asks for its tests

The tests of a program that uses GoogleTest are known from the sources, for ctest lists them once the program is built.
Every other test is known to ctest, and needs the files of the build that its command names; but for headers, which another
test writes that ctest runs before. Where nothing is needed, build.ninja is: that is up to date after the step before.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

from check_catalogue import tests_of

ROOT = Path(__file__).resolve().parent.parent


def targets(of_sources: set[str], of_ctest: dict[str, list[str]], build: Path, wanted: re.Pattern) -> list[str]:
    found = set()
    matched = False
    programs = {Path(command[0]).name for command in of_ctest.values() if command}
    programs |= {name.removesuffix("_NOT_BUILT") for name in of_ctest if name.endswith("_NOT_BUILT")}
    for name in of_sources:
        if wanted.search(name):
            folder = name.split("/")[:2] if name.startswith("unit/") else name.split("/")[:1]
            program = "test_" + "_".join(folder)
            if program in programs:  # Otherwise this build has none, or the test is no GoogleTest's and comes below.
                found.add(program)
    of_programs = {f"{build}/tests/{program}" for program in found}
    for name, command in of_ctest.items():
        if not wanted.search(name) or not command or command[0] in of_programs:
            continue
        matched = True
        if "--build" in command:  # It builds what it needs by itself.
            continue
        for word in command:
            path = Path(word.removeprefix("@"))
            if path == build:
                return ["all"]
            if build in path.parents and path.suffix not in (".txt", ".hpp") and not path.is_dir():
                found.add(path.relative_to(build).as_posix())
    return sorted(found) or ["build.ninja" if matched else "all"]


def commands_in(testfile: str) -> dict[str, list[str]]:
    """The commands of tests in a file that CMake wrote for ctest."""
    return {name: [re.sub(r"\\(.)", r"\1", word) for word in re.findall(r'"((?:[^"\\]|\\.)*)"', words)]
            for name, words in re.findall(r'^add_test\(\[=+\[(.*?)\]=+\] +(".*")\)$', testfile, re.MULTILINE)}


def of_ctest(build: Path) -> dict[str, list[str]]:
    shown = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True, text=True)
    written = {}  # ctest shows no command while its program is not built.
    for file in build.rglob("CTestTestfile.cmake"):
        written |= commands_in(file.read_text())
    tests = json.loads(shown.stdout)["tests"]
    return {test["name"]: test.get("command") or written.get(test["name"], []) for test in tests}


def self_test() -> list[str]:
    build = Path("/checkout/build")
    sources = {"unit/net/Socket.Reads", "sim/Worlds.End", "conformance/All/Streams.Read", "structure/rooms"}
    known = {"unit/net/Socket.Reads": ["/checkout/build/tests/test_unit_net", "--gtest_filter=Socket.Reads"],
             "test_sim_NOT_BUILT": [], "test_conformance_NOT_BUILT": [], "examples/echo": ["/checkout/build/example_echo"],
             "structure/rooms": ["python3", "tools/check_rooms.py"],
             "structure/headers_alone": ["cmake", "--build", "/checkout/build"],
             "papers/A13_counts": ["python3", "/checkout/count.py", "/checkout/build/tests/operations"],
             "structure/must_fail/literal": ["python3", "must_fail.py", "/checkout/build/tests/must_fail/common.hpp"],
             "package": ["/checkout/tests/package/run", "/checkout/build", "c++"]}
    wrong = []
    for wanted, expected in {"Socket": ["test_unit_net"], "Streams.Read": ["test_conformance"],
                             "End|Reads": ["test_sim", "test_unit_net"], "examples/": ["example_echo"],
                             "A13": ["tests/operations"], "package": ["all"], "nothing": ["all"],
                             "structure": ["build.ninja"], "literal": ["build.ninja"], "Socket|headers": ["test_unit_net"],
                             "Socket|rooms": ["test_unit_net"]}.items():
        found = targets(sources, known, build, re.compile(wanted))
        if found != expected:
            wrong.append(f"{wanted}: {found}, expected {expected}")
    text = ('add_test([=[examples/echo]=] "/the checkout/build/example_echo" "a \\"quoted\\" word")\n'
            'set_tests_properties([=[examples/echo]=] PROPERTIES  LABELS "examples")\nsubdirs("tests")\n')
    if commands_in(text) != {"examples/echo": ["/the checkout/build/example_echo", 'a "quoted" word']}:
        wrong.append(f"a file for ctest: {commands_in(text)}")
    return wrong


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--self-test", action="store_true")
    arguments.add_argument("build", nargs="?", type=Path)
    arguments.add_argument("filter", nargs="?")
    given = arguments.parse_args()
    if given.self_test:
        wrong = self_test()
        print("\n".join(wrong) or "all targets were found")
        return 1 if wrong else 0
    build = given.build.resolve()
    print("\n".join(targets(tests_of(ROOT)[0], of_ctest(build), build, re.compile(given.filter))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
