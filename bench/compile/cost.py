#!/usr/bin/env python3
"""What compiling a program costs, for tools/bench.py: cost.py OPTIONS WHAT LIBRARY SOURCE LEVEL QUICK

    WHAT     cpu: compiles, prints CPU seconds and keeps the rest for the other three; memory: the compiler's peak, MiB;
             object: KiB; program: KiB, linked and stripped
    LIBRARY  floor (the standard headers that Fairlead's own headers include for this source, and an empty main), fairlead
             (through the headers for programs of Asio), fairlead_own (through its own), asio, asio_separate
             (ASIO_SEPARATE_COMPILATION), newer_asio, newer_asio_separate; with + at its end: asio.hpp whole
    SOURCE   callback or coroutine
    LEVEL    0 or 2, of optimisation
    QUICK    0: only preprocess, once for the four, to see that it could be compiled

OPTIONS say where things are; CMake writes them into the program compile_cost of a build tree.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SKIPPED = 77
STANDARD_INCLUDE = re.compile(r"^\s*#\s*include\s*<([a-z_0-9/.]+)>", re.M)


def skip(why: str) -> None:
    print(why)
    sys.exit(SKIPPED)


class Compiler:
    def __init__(self, given: argparse.Namespace, library: str):
        self.whole = library.endswith("+")
        self.library = library.rstrip("+")
        self.given = given
        self.flags = ["-std=c++20", "-pthread"]
        if self.whole:
            self.flags.append("-DWHOLE")
        self.link = ["-pthread"]
        if self.library in ("fairlead", "fairlead_own", "floor"):
            self.flags += [f"-I{ROOT}/include", f"-I{ROOT}/include/compat", "-Dasio=fairlead"]
            if self.library != "fairlead":  # What is brought along for programs of Asio would raise the floor, too.
                self.flags.append("-DOWN_HEADERS")
            if self.library != "floor":
                self.link.append(given.archive)
            return
        separate = self.library.endswith("_separate")
        folder = Path(given.peers) if self.library.startswith("newer") else Path("/usr/include")
        if not (folder / "asio.hpp").exists():
            skip("these headers of Asio are not there")
        if folder != Path("/usr/include"):
            self.flags += ["-isystem", str(folder)]
        else:  # Older versions do not find the coroutines of clang with libstdc++ by themselves.
            self.flags += ["-DASIO_HAS_CO_AWAIT=1", "-DASIO_HAS_STD_COROUTINE=1"]
        if separate:
            self.flags.append("-DASIO_SEPARATE_COMPILATION")
            self.asio_object = Path(given.store) / f"{self.library}.o"
            self.link.append(str(self.asio_object))

    def run(self, *arguments: str, text: str | None = None) -> subprocess.CompletedProcess:
        return subprocess.run([self.given.compiler, *self.flags, *arguments], input=text, check=True, text=True,
                              capture_output=True)

    def source_text(self, name: str) -> str:
        source = ROOT / f"bench/compile/echo_{name}.cpp"
        if self.library != "floor":
            return source.read_text()
        used = self.run("-M", str(source)).stdout.replace("\\\n", " ").split()
        ours = [Path(f) for f in used if f.startswith(str(ROOT))]
        included = tuple(f for f in used if not f.startswith(str(ROOT)))  # not what an #if leaves out
        standard = {h for f in ours for h in STANDARD_INCLUDE.findall(f.read_text())
                    if any(f.endswith("/" + h) for f in included)}
        return "".join(f"#include <{h}>\n" for h in sorted(standard)) + "int main() {}\n"

    def cost(self, name: str, level: str) -> dict[str, float]:
        with tempfile.TemporaryDirectory() as folder:
            source, out, program = (Path(folder) / f for f in ("echo.cpp", "echo.o", "echo"))
            source.write_text(self.source_text(name))
            process = subprocess.Popen([self.given.compiler, *self.flags, level, "-c", str(source), "-o", str(out)])
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                raise RuntimeError("it does not compile")
            for needed in self.link:
                if needed.endswith("_separate.o") and not Path(needed).exists():
                    self.run("-O2", "-x", "c++", "-c", "-", "-o", needed, text="#include <asio/impl/src.hpp>\n")
            subprocess.run([self.given.compiler, str(out), *self.link, "-o", str(program)], check=True)
            subprocess.run(["strip", str(program)], check=True)
            return {"cpu": usage.ru_utime + usage.ru_stime, "memory": usage.ru_maxrss / 1024,
                    "object": out.stat().st_size / 1024, "program": program.stat().st_size / 1024}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("compiler", "archive", "peers", "store"):
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("what", choices=("cpu", "memory", "object", "program"))
    parser.add_argument("library")
    parser.add_argument("source")
    parser.add_argument("level", type=lambda n: f"-O{n}")
    parser.add_argument("quick", type=int)
    given = parser.parse_args()
    units = {"cpu": "CPU s", "memory": "MiB", "object": "KiB", "program": "KiB"}
    c = Compiler(given, given.library)
    if given.quick == 0:
        if given.what == "cpu":
            c.run("-E", "-x", "c++", "-", text=c.source_text(given.source))
        print(f"0 {units[given.what]}")
        return 0
    kept = Path(given.store) / f"{given.library}_{given.source}{given.level}.json"
    if given.what == "cpu" or not kept.exists():
        kept.write_text(json.dumps(c.cost(given.source, given.level)))
    print(f"{json.loads(kept.read_text())[given.what]:.3f} {units[given.what]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
