#!/usr/bin/env python3
"""Holds the deterministic figures of bench/budgets.tsv, and measures them anew.

    tools/budgets.py TREE [KIND...]             measures and compares, as the tests do; names each row that does not hold
    tools/budgets.py TREE... --write [KIND...]  writes what was measured into the table and prints the difference
    tools/budgets.py --self-test                plants figures that do not hold and expects them to be found

TREE is an optimised build tree of one of the compilers that have a column; with another one, or another version, nothing
is held: exit status 77. Rows that say "at most" are bounds that people choose: --write leaves them.

    instructions, allocations   of one operation, counted by callgrind (tests/instructions/operations.cpp), with its server of a
                                call of Redis (tests/instructions/redis_calls.cpp)
    form_instructions           of one operation in each usual way to write it (tests/instructions/forms.cpp); two where
                                two expressions stand
    form_blocks                 how many blocks such an operation takes from the recycler: none, where all of it lies in
                                the coroutine
    operation_instructions      of every operation of tests/operations.tsv, performed once in four usual ways
    operation_blocks            (tests/instructions/every_operation.cpp), and the blocks that it takes so
    frame_bytes                 of coroutine frames (tests/budgets/frames.cpp)
    header_kib                  of each public header, preprocessed with all that it includes; of those for programs of
                                Asio the whole one, what each brings, what those of I/O objects bring, and one of each
                                kind that Asio keeps small
    instructions_more           of one operation than of another; tests/instructions/count.py measures and holds them
    instructions_times          how many times as many as another one, or another form, takes; so does it with these
    system_calls                of an echoed message; tests/system_calls/check.py does
"""

import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import callgrind

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "bench/budgets.tsv"
SKIPPED = 77
OPERATIONS = 5000
# A string that crosses a page costs ten instructions more. What costs more by itself does so wherever the stack begins.
MORE_COUNTS = 4
PADDING = 272
CALL_OF_REDIS = "redis_"
WITHIN = re.compile(r"within (\d+) %")


class Row:
    def __init__(self, columns: list[str], line: str):
        self.columns = columns
        values = line.split("\t")
        self.kind, self.what, self.rule = values[:3]
        self.budgets = dict(zip(columns, values[3:]))

    def holds(self, column: str, figure: float) -> bool:
        budget = float(self.budgets[column])
        if self.rule == "at most":
            return figure <= budget
        if self.rule == "exactly":
            return figure == budget
        return abs(figure - budget) <= budget * int(WITHIN.fullmatch(self.rule)[1]) / 100

    def complaint(self, column: str, figure: float) -> str:
        return f"{self.kind}, {self.what}: {shown(figure)} with {column}; the budget is {self.rule} {self.budgets[column]}"

    def __str__(self) -> str:
        return "\t".join([self.kind, self.what, self.rule, *(self.budgets.get(c, "") for c in self.columns)])


class Table:
    def __init__(self, text: str):
        lines = text.splitlines()
        self.comments = [line for line in lines if line.startswith("#")]
        head, *rows = [line for line in lines if line and not line.startswith("#")]
        self.columns = head.split("\t")[3:]
        self.head = head
        self.rows = [Row(self.columns, line) for line in rows]

    def of(self, kind: str) -> dict[str, Row]:
        return {row.what: row for row in self.rows if row.kind == kind}

    def check(self, kind: str, column: str, figures: dict[str, float]) -> list[str]:
        """What does not hold: rows without figure and figures without row, too."""
        rows = self.of(kind)
        wrong = [f"{kind}, {what}: has a budget but is not there any more" for what in rows if what not in figures]
        for what, figure in figures.items():
            if what not in rows or not rows[what].budgets.get(column):
                wrong.append(f"{kind}, {what}: {shown(figure)} with {column}; no budget yet")
            elif not rows[what].holds(column, figure):
                wrong.append(rows[what].complaint(column, figure))
        return wrong

    def write(self, kind: str, column: str, figures: dict[str, float]) -> list[str]:
        """Takes over the figures; returns what changed."""
        changes = []
        rows = self.of(kind)
        for what, row in rows.items():
            if what not in figures and row.rule != "at most":
                self.rows.remove(row)
                changes.append(f"{kind}, {what}: gone")
        for what, figure in figures.items():
            row = rows.get(what)
            if not row:
                first = next((i for i, r in enumerate(self.rows) if r.kind == "header_kib"), len(self.rows))
                last = max((i for i, r in enumerate(self.rows) if r.kind == kind), default=first - 1)
                row = Row(self.columns, "\t".join([kind, what, RULES[kind]] + [""] * len(self.columns)))
                self.rows.insert(last + 1, row)
            before = row.budgets[column]
            if row.rule != "at most" and (not before or abs(figure - float(before)) > NOISE[row.rule] * float(before)):
                row.budgets[column] = shown(figure)
                change = f", {100 * (figure / float(before) - 1):+.1f} %" if before and float(before) else ""
                changes.append(f"{kind}, {what}, {column}: {before or 'none'} -> {shown(figure)}{change}")
        if kind == "header_kib":
            self.rows.sort(key=lambda r: (r.kind == kind, r.what if r.kind == kind else ""))
        return changes

    def __str__(self) -> str:
        return "\n".join([*self.comments, self.head, *map(str, self.rows)]) + "\n"


RULES = {"instructions": "within 3 %", "form_instructions": "within 3 %", "form_blocks": "exactly",
         "operation_instructions": "within 3 %", "operation_blocks": "exactly", "allocations": "exactly",
         "frame_bytes": "exactly", "header_kib": "within 3 %"}
COUNTED = ["instructions", "form_instructions", "operation_instructions"]  # and once more elsewhere, if that does not hold


# Header-only Asio 1.38 takes more than these, but for deferred (bench/compile/headers.py compares all): a program that
# includes but one of them shall not pay for all.
SMALL_OF_ASIO = ["any_completion_handler", "append", "associated_executor", "async_result", "basic_streambuf", "basic_streambuf_fwd",
                 "buffer", "buffered_read_stream", "cancellation_signal", "cancellation_state", "deferred", "detached",
                 "detail/brought_along", "detail/inside", "detail/signal_blocker", "detail/socket_types", "execution/bad_executor",
                 "execution/blocking_adaptation", "execution/executor", "execution/occupancy", "execution/relationship", "execution_context",
                 "experimental/as_single", "fairlead", "fwd", "ip/address", "ip/bad_address_cast", "ip/host_name",
                 "ip/resolver_query_base", "ip/v6_only", "is_executor", "packaged_task", "post", "read_until", "require_concept",
                 "socket_base", "ts/netfwd", "write"]

NOISE = {"exactly": 0, "within 3 %": 0.003}  # not worth a change of the table


def shown(figure: float) -> str:
    return f"{figure:.1f}".removesuffix(".0")


def at_most(kind: str, what: str) -> float:
    """A bound that does not depend on the compiler, for the tests that measure it themselves."""
    bound, = {float(budget) for budget in Table(TABLE.read_text()).of(kind)[what].budgets.values()}
    return bound


class Tree:
    def __init__(self, path: Path):
        self.path = path
        self.compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.+)$", (path / "CMakeCache.txt").read_text(), re.M)[1]
        name = "clang++" if "clang" in self.output(self.compiler, "--version") else "g++"
        self.column = f"{name} {self.output(self.compiler, '-dumpversion').split('.')[0].strip()}"
        self.counted: dict[str, callgrind.Count] = {}
        self.padding = 0

    @staticmethod
    def output(*command: str, text: str | None = None) -> str:
        return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout

    def program(self, name: str) -> str:
        return str(self.path / "tests" / name)

    def count_anew(self) -> None:
        self.padding += PADDING
        self.counted.clear()

    def operations(self, names: list[str]) -> dict[str, callgrind.Count]:
        def count(name: str) -> callgrind.Count:
            is_call = name.startswith(CALL_OF_REDIS)
            program = self.program("instructions_redis_calls" if is_call else "instructions_operations")
            return callgrind.count_each(lambda n: [program, name.removeprefix(CALL_OF_REDIS), str(n)], OPERATIONS, self.padding)
        missing = [name for name in names if name not in self.counted]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            self.counted |= dict(zip(missing, pool.map(count, missing)))
        return {name: self.counted[name] for name in names}

    def measure(self, kind: str, wanted: list[str]) -> dict[str, float]:
        if kind == "instructions":
            return {name: c.instructions for name, c in self.operations(wanted).items()}
        if kind == "form_instructions":
            # All in one run, because starting it takes longer than to count them.
            names = self.output(self.program("instructions_forms")).splitlines()
            parts = callgrind.count_parts([self.program("instructions_forms"), "all", str(OPERATIONS)], "end_of_part", self.padding)
            if len(parts) != 3 * len(names):
                raise SystemExit(f"{len(parts)} parts were counted of {len(names)} forms with three each")
            return {name: (parts[3 * i + 2] - parts[3 * i + 1]) / OPERATIONS for i, name in enumerate(names)}
        if kind == "operation_instructions":
            program = self.program("instructions_every_operation")
            names = self.output(program, "counted").splitlines()
            parts = callgrind.count_parts([program, "count"], "end_of_part", self.padding)
            if len(parts) != 2 * len(names):
                raise SystemExit(f"{len(parts)} parts were counted of {len(names)} operations with two each")
            return {name: parts[2 * i + 1] for i, name in enumerate(names)}
        if kind in ("form_blocks", "operation_blocks"):
            program = "instructions_forms" if kind == "form_blocks" else "instructions_every_operation"
            lines = self.output(self.program(program), "blocks").splitlines()
            return {name: float(n) for name, n in (line.split("\t") for line in lines)}
        if kind == "allocations":  # What goes past the recycler ends in malloc.
            return {name: round(c.calls_of("malloc"), 2) for name, c in self.operations(wanted).items()}
        if kind == "frame_bytes":
            lines = self.output(self.program("budgets_frames")).splitlines()
            return {name: float(n) for name, n in (line.split("\t") for line in lines)}
        include = ROOT / "include"
        headers = sorted(str(h.relative_to(include)) for h in (include / "fairlead").rglob("*.hpp"))
        headers += ["compat/asio.hpp", *(f"compat/asio/{name}.hpp" for name in SMALL_OF_ASIO)]
        def kib(header: str) -> float:
            # assert() writes the name of its file out: where the project lies must not count.
            return round(len(self.output(self.compiler, "-std=c++20", f"-I{include}", f"-I{include}/compat",
                                         f"-fmacro-prefix-map={include}=", "-E", "-P", "-x", "c++", "-",
                                         text=f"#include <{header}>\n")) / 1024)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return dict(zip(headers, pool.map(kib, headers)))


def self_test() -> list[str]:
    head = "kind\twhat\trule\tg++ 12"
    table = Table(f"{head}\ninstructions\tpost\twithin 3 %\t100\nframe_bytes\techo\texactly\t448\n"
                  "system_calls\tcalls\tat most\t2.1\n")
    c, wrong = "g++ 12", []
    for kind, what, figure, right in (("instructions", "post", 103, True), ("instructions", "post", 97, True),
                                      ("instructions", "post", 103.2, False), ("instructions", "post", 96.8, False),
                                      ("frame_bytes", "echo", 448, True), ("frame_bytes", "echo", 449, False),
                                      ("system_calls", "calls", 2.1, True), ("system_calls", "calls", 2.2, False),
                                      ("instructions", "yield", 10, False)):
        found = table.check(kind, c, {what: figure})
        if any(f"{what}: {shown(figure)}" in f for f in found) == right:
            wrong.append(f"{kind}, {what}, {figure}: found {found}")
    if not table.check("frame_bytes", c, {}):
        wrong.append("a row without figure was not found")
    changes = table.write("instructions", c, {"post": 110, "yield": 7})
    if len(changes) != 2 or table.check("instructions", c, {"post": 110, "yield": 7}):
        wrong.append(f"writing did not take over the figures: {changes}")
    if table.write("system_calls", c, {"calls": 1}) or "at most\t2.1" not in str(table):
        wrong.append("writing changed a bound")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("given", nargs="*", metavar="TREE or KIND")
    given = parser.parse_intermixed_args()
    if given.self_test:
        wrong = self_test()
        print("\n".join(wrong) or "all planted figures were found")
        return 1 if wrong else 0
    kinds = [g for g in given.given if g in RULES] or list(RULES)
    table, wrong, held = Table(TABLE.read_text()), [], 0
    for tree in (Tree(Path(g)) for g in given.given if g not in RULES):
        if tree.column not in table.columns:
            print(f"skipped: the budgets are for {' and '.join(table.columns)}, this is {tree.column}")
            continue
        for kind in kinds:
            if kind in (*COUNTED, "allocations") and not callgrind.is_there():
                print(f"skipped: {kind} need valgrind")
                continue
            figures = tree.measure(kind, list(table.of(kind)))
            found = (table.write if given.write else table.check)(kind, tree.column, figures)
            more = MORE_COUNTS if kind in COUNTED and not given.write else 0
            while found and more:
                more -= 1
                tree.count_anew()
                figures = tree.measure(kind, list(table.of(kind)))
                found = table.check(kind, tree.column, figures)
            wrong += found
            held += len(figures)
    if given.write:
        TABLE.write_text(str(table))
    print("\n".join(wrong) or f"{held} figures, all as the budgets say")
    if given.write or (held and not wrong):
        return 0
    return 1 if wrong else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
