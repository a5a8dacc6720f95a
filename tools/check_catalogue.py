#!/usr/bin/env python3
"""The failure catalogue is complete and true: every mode of failure has a row, every named test exists, every test that
carries an id stands in its row, and what waits for a feature comes up again when the feature lands.

    tools/check_catalogue.py [--root DIR] [--open ID...]    prints one line per violation; exit status 1 if there is one
    tools/check_catalogue.py --self-test                    plants every kind of violation and expects it to be found

A row of tests/catalogue.tsv is: id, failure, tests, rest. Tests are names as ctest shows them, or the beginning of
some, separated by blanks; "-" when there are none. The rest is empty, "later: FEATURE, FEATURE" for what a missing
feature will have to show, or "open: WHAT" for a gap. Gaps are accepted for the ids that --open names, and no others.

Lines "# feature NAME missing|present PATTERN" (tabs between) list what rows may wait for. A pattern that matches a file
says that the feature is there.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

CATALOGUE = Path("tests/catalogue.tsv")
# How many modes each group has. The catalogue only grows: a new mode is appended to its group and counted here.
GROUPS = {"M": 15, "C": 15, "F": 12, "D": 6, "U": 21, "E": 9, "S": 8, "R": 8, "I": 18, "T": 8, "L": 18, "N": 9, "P": 25,
          "X": 18}
IDS = [f"{group}{number:02}" for group, most in GROUPS.items() for number in range(1, most + 1)]
MACRO = re.compile(r"^TEST(_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.M)
INSTANCE = re.compile(r"^INSTANTIATE_TEST_SUITE_P\(\s*(\w+),\s*(\w+),", re.M)
CARRIED = re.compile(r"(?:DISABLED_)?((?:[A-Z]\d\d_)+)")
# Tests that are no GoogleTest stand in the lists of CMake.
COMMAND = re.compile(r"add_test\(NAME\s+([\w/]+)\s")


def ctest_folder(path: Path) -> str:
    """The prefix that tests/CMakeLists.txt gives the tests of a file: one executable for each room and each suite."""
    parts = path.parts
    return "/".join(parts[:2] if parts[0] == "unit" else parts[:1])


def tests_of(root: Path) -> tuple[set[str], dict[str, str]]:
    """Names of the tests as ctest has them, without the parameter; of the disabled ones with their file."""
    names, disabled, instances, parameterised = set(), {}, {}, []
    for path in sorted((root / "tests").rglob("*.cpp")):
        relative = path.relative_to(root / "tests")
        folder, text = ctest_folder(relative), path.read_text(errors="replace")
        for instance, suite in INSTANCE.findall(text):
            instances.setdefault((folder, suite), []).append(instance)
        for kind, suite, name in MACRO.findall(text):
            if "DISABLED_" in suite + name:
                disabled[f"{folder}/{suite}.{name}"] = relative.as_posix()
            elif kind == "_P":
                parameterised.append((folder, suite, name))
            else:
                names.add(f"{folder}/{suite}.{name}")
    for folder, suite, name in parameterised:
        for instance in instances.get((folder, suite), []):
            names.add(f"{folder}/{instance}/{suite}.{name}")
    for path in [*(root / "tests").glob("*.cmake"), root / "tests/CMakeLists.txt"]:
        text = path.read_text() if path.is_file() else ""
        for name in COMMAND.findall(text):
            names.add(name)
        names.update(f"structure/{name}" for name in re.findall(r"fairlead_structure_test\((\w+)", text))
        names.update(f"system_calls/{name}" for name in re.findall(r"fairlead_injection_test\((\w+)", text))
    names.update(f"fuzz/{path.stem.removesuffix('_fuzz')}" for path in (root / "tests/fuzz").glob("*_fuzz.cpp"))
    names.update(f"structure/must_fail/{path.stem}" for path in (root / "tests/compile/must_fail").glob("*.cpp"))
    return names, disabled


def read_features(root: Path, lines: list[str], found: list[str]) -> dict[str, bool]:
    features = {}
    for number, line in enumerate(lines, 1):
        if not line.startswith("# feature\t"):
            continue
        fields = line.split("\t")
        if len(fields) != 4 or fields[2] not in ("missing", "present"):
            found.append(f"{CATALOGUE}:{number}: write # feature, name, missing or present, pattern; with tabs between")
            continue
        _, name, state, pattern = fields
        there = any(root.glob(pattern))
        if state == "missing" and there:
            found.append(f"{CATALOGUE}:{number}: {pattern} exists, so {name} is present: say so, then give the rows "
                         "that wait for it their tests")
        features[name] = state == "present" or there
    return features


def check_rest(where: str, identity: str, tests: list[str], rest: str, features: dict[str, bool], may_be_open: set[str],
               names_used: set[str]) -> list[str]:
    if not rest:
        return [] if tests else [f"{where}: {identity} has no test: write one, or say \"later: FEATURE\""]
    if rest.startswith("open: ") and len(rest) > len("open: "):
        if identity in may_be_open:
            return []
        return [f"{where}: {identity} is open: write its test, or name it after --open and say why in the row"]
    if not rest.startswith("later: "):
        return [f"{where}: {identity}: the last column is empty, \"later: FEATURE\" or \"open: WHAT\""]
    found = []
    for feature in rest.removeprefix("later: ").split(", "):
        names_used.add(feature)
        if feature not in features:
            found.append(f"{where}: {identity} waits for \"{feature}\", which no line \"# feature\" lists: use one of "
                         f"{', '.join(features)}, or add it there")
        elif features[feature]:
            found.append(f"{where}: {identity} waits for {feature}, which is present: write its test and name it here")
    return found


def check(root: Path, may_be_open: set[str]) -> list[str]:
    found: list[str] = []
    lines = (root / CATALOGUE).read_text().splitlines()
    features = read_features(root, lines, found)
    names, disabled = tests_of(root)
    shown: dict[str, list[str]] = {}
    open_rows, names_used = set(), set()
    order = []
    for number, line in enumerate(lines, 1):
        where = f"{CATALOGUE}:{number}"
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 4 or not fields[1]:
            found.append(f"{where}: a row is id, failure, tests, rest; with three tabs between")
            continue
        identity, _, tests, rest = fields
        if identity not in IDS:
            found.append(f"{where}: no mode of failure is called {identity}: count it in GROUPS of "
                         "tools/check_catalogue.py")
            continue
        order.append(identity)
        wanted = [] if tests == "-" else tests.split(" ")
        shown[identity] = wanted
        if rest.startswith("open: "):
            open_rows.add(identity)
        for test in wanted:
            if not any(name.startswith(test) for name in names):
                hint = "it is disabled" if any(name.startswith(test) for name in disabled) else "renamed or removed?"
                found.append(f"{where}: {identity} names {test or 'an empty test'}, which does not exist ({hint})")
        found += check_rest(where, identity, wanted, rest, features, may_be_open, names_used)
    found += check_order(order)
    for identity in sorted(may_be_open - open_rows):
        found.append(f"{identity} is no longer open: take it from --open in tests/structure.cmake")
    for feature in features:
        if feature not in names_used and not features[feature]:
            found.append(f"{CATALOGUE}: no row waits for {feature}: remove its line")
    return found + check_carried(names, disabled, shown, open_rows)


def check_order(order: list[str]) -> list[str]:
    found = [f"{CATALOGUE}: {identity} has no row: add it, in order" for identity in IDS if identity not in order]
    found += [f"{CATALOGUE}: {identity} has {order.count(identity)} rows: join them"
              for identity in sorted(set(order)) if order.count(identity) > 1]
    if not found and order != IDS:
        wrong = next(a for a, b in zip(order, IDS) if a != b)
        found.append(f"{CATALOGUE}: {wrong} is out of order")
    return found


def check_carried(names: set[str], disabled: dict[str, str], shown: dict[str, list[str]],
                  open_rows: set[str]) -> list[str]:
    """Tests begin with the ids that they show; those of the suite Catalogue must. The papers have ids of their own,
    and so have the facts of Asio's surface."""
    found = []
    for test in sorted(names | set(disabled)):
        folder, _, rest = test.rpartition("/")
        suite, _, name = rest.partition(".")
        if folder.split("/")[0] == "papers" or folder == "structure/must_fail" or suite.startswith(("Papers", "Facts")):
            continue
        carried = CARRIED.match(name or suite)
        if not carried:
            if suite == "Catalogue":
                found.append(f"{test} begins with no id: name it after the mode of failure, e.g. C01_...")
            continue
        for identity in carried[1].rstrip("_").split("_"):
            if identity not in IDS:
                found.append(f"{test} carries {identity}, which is no mode of failure")
            elif test in disabled:
                if identity not in open_rows:
                    found.append(f"{test} is disabled: mend it, or make row {identity} \"open: ...\"")
            elif not any(test.startswith(each) for each in shown.get(identity, [])):
                found.append(f"{CATALOGUE}: row {identity} does not name {test}: add it")
    return found


def planted(folder: Path, tests: str, change=lambda text: text, lines: str = "") -> list[str]:
    """Violations in a small project whose catalogue is right but for `change`."""
    features = "# feature\tTLS\tmissing\tinclude/tls/*\n# feature\tcluster\tpresent\tinclude/cluster/*\n"
    rows = [f"{identity}\tfails\t-\tlater: TLS" for identity in IDS]
    tests_of_first = ("catalogue/Catalogue.M01_Holds unit/net/All/Param.Holds fuzz/some structure/text "
                      "system_calls/M01_")
    rows[0] = f"M01\tfails\t{tests_of_first}\t"
    (folder / "tests/catalogue").mkdir(parents=True)
    (folder / "tests/unit/net").mkdir(parents=True)
    (folder / "tests/fuzz").mkdir()
    (folder / "tests/fuzz/some_fuzz.cpp").write_text("")
    (folder / "tests/structure.cmake").write_text(
        "fairlead_structure_test(text tool)\nfairlead_injection_test(M01_strace)\n")
    (folder / "tests/catalogue/a_test.cpp").write_text("TEST(Catalogue, M01_HoldsWell) {\n}\n" + tests)
    (folder / "tests/unit/net/b_test.cpp").write_text(
        "TEST_P(Param, Holds) {\n}\nINSTANTIATE_TEST_SUITE_P(\n    All, Param, testing::Values(1));\n")
    (folder / CATALOGUE).write_text(change(features + lines + "\n".join(rows) + "\n"))
    return check(folder, {"M02"} if "open:" in (folder / CATALOGUE).read_text() else set())


def self_test() -> list[str]:
    wrong = {
        "": ("", lambda t: t),
        "M03 has no row": ("", lambda t: t.replace("M03\tfails\t-\tlater: TLS\n", "")),
        "M03 has 2 rows": ("", lambda t: t + "M03\tfails\t-\tlater: TLS\n"),
        "M03 is out of order": ("", lambda t: t.replace("M02\t", "Q\t").replace("M03\t", "M02\t").replace(
            "Q\t", "M03\t")),
        "no mode of failure is called Z01": ("", lambda t: t + "Z01\tfails\t-\tlater: TLS\n"),
        "three tabs": ("", lambda t: t + "M02\tfails\n"),
        "which does not exist (renamed": ("", lambda t: t.replace("unit/net/All", "unit/net/Each")),
        "which does not exist (it is disabled": ("TEST(Some, DISABLED_Old) {\n}\n",
                                                 lambda t: t.replace("fuzz/some", "fuzz/some catalogue/Some.DIS")),
        "M02 has no test": ("", lambda t: t.replace("M02\tfails\t-\tlater: TLS", "M02\tfails\t-\t")),
        "the last column": ("", lambda t: t.replace("M02\tfails\t-\tlater: TLS", "M02\tfails\t-\tsoon")),
        "no line \"# feature\" lists": ("", lambda t: t.replace("M02\tfails\t-\tlater: TLS",
                                                               "M02\tfails\t-\tlater: tea")),
        "which is present": ("", lambda t: t.replace("M02\tfails\t-\tlater: TLS", "M02\tfails\t-\tlater: cluster")),
        "C01 is open": ("", lambda t: t.replace("M02\tfails\t-\tlater: TLS", "M02\tfails\t-\topen: why").replace(
            "C01\tfails\t-\tlater: TLS", "C01\tfails\t-\topen: why")),
        "M02 is no longer open": ("", lambda t: t.replace("C01\tfails", "C01\tfails open:")),
        "does not name catalogue/Catalogue.M01_M02_Both": ("TEST(Catalogue, M01_M02_Both) {\n}\n", lambda t: t.replace(
            "M01_Holds ", "M01_Holds catalogue/Catalogue.M01_M02_Both ")),
        "does not name system_calls/M01_strace": ("", lambda t: t.replace(" system_calls/M01_", "")),
        "begins with no id": ("TEST(Catalogue, Holds) {\n}\n", lambda t: t),
        "does not name catalogue/Sim.M01_Elsewhere": ("TEST(Sim, M01_Elsewhere) {\n}\nTEST(Papers, M02_Other) {\n}\n",
                                                      lambda t: t),
        "carries M99": ("TEST(Catalogue, M99_Holds) {\n}\n", lambda t: t),
        "is disabled: mend it": ("TEST(Catalogue, DISABLED_M02_Fails) {\n}\n", lambda t: t),
        "no row waits for tea": ("", lambda t: "# feature\ttea\tmissing\tinclude/tea/*\n" + t),
        "write # feature": ("", lambda t: "# feature\ttea\tsoon\tinclude/tea/*\n" + t),
        "exists, so coffee is present": ("", lambda t: "# feature\tcoffee\tmissing\ttests/fuzz/*\n" + t),
    }
    failures = []
    for expected, (tests, change) in wrong.items():
        with tempfile.TemporaryDirectory() as folder:
            found = planted(Path(folder), tests, change)
        if len(found) != (1 if expected else 0) or any(expected not in each for each in found):
            failures.append(f"planted \"{expected}\", found {found}")
    return failures


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    arguments.add_argument("--self-test", action="store_true")
    arguments.add_argument("--open", nargs="*", default=[], metavar="ID", help="rows that may be open")
    options = arguments.parse_args()
    problems = self_test() if options.self_test else check(options.root, set(options.open))
    print("\n".join(problems) or "no violation")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
