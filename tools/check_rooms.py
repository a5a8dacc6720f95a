#!/usr/bin/env python3
"""Holds the include graph of include/ and src/, and its namespaces, to the table in tools/rooms.toml.

What the files of a room share lies in the room's namespace (`impl::<room>`, or `impl` of the room's public namespace). A namespace `detail` has the secrets
of one file: nobody else names them. The header of everything, fairlead.hpp, reaches each header of the rooms that it may
see, or the table says why not.

    tools/check_rooms.py [--root DIR]     prints one line per violation; exit status 1 if there is one
    tools/check_rooms.py --self-test      plants every kind of violation and expects it to be found
"""

import argparse
import re
import sys
import tempfile
import tomllib
from fnmatch import fnmatch
from pathlib import Path

EVERYTHING = "fairlead.hpp"
FOR_PROGRAMS_ONLY = {"legacy"}  # What no room may be granted, so that nobody pays for it without asking.
SECRET = re.compile(r"(?<!asio::)(?<!asio_)\bdetail::(?:\w+::)*(\w+)")
OF_A_ROOM = re.compile(r"\b(?:fairlead::)?impl::(\w+)::")
NAMESPACE = re.compile(r"^(?:inline )?namespace ([\w:]+) \{(.*)")
SECRETS = re.compile(r"^namespace (?:\w+::)*detail \{\n((?:[^\n]*;[^\n]*\n)+(?=\}$)|.*?(?=^\} // namespace (?:\w+::)*detail$))",
                     re.S | re.M)
DECLARATION = re.compile(r"((template <.*> ?)?((class|struct) \w+;.*)?|//.*)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


class Checker:
    def __init__(self, root: Path, table: dict):
        self.root = root
        self.rooms = table["rooms"]
        self.top = table["top"]
        self.private = table["private"]
        self.public = table["public_headers"]
        self.doors = table["doors"]
        self.left_out = table["everything"]
        self.violations: list[str] = []

    def run(self) -> list[str]:
        for room, allowed in {**self.rooms, **self.top}.items():
            self.violations += [f"tools/rooms.toml: {room} may not include {one}: programs written for Asio do that alone"
                                for one in FOR_PROGRAMS_ONLY.intersection(allowed)]
        for base, public in (("include/fairlead", True), ("src", False)):
            for path in sorted((self.root / base).rglob("*.[hc]pp")):
                self.check_file(path, path.relative_to(self.root / base), public)
        return self.violations

    def check_everything(self) -> list[str]:
        """Its own includes are sorted; what it reaches is the whole of its rooms, but for what the table leaves out."""
        folder = self.root / "include/fairlead"
        own = self.includes_of(folder / EVERYTHING)
        found = [] if own == sorted(own) else [f"include/fairlead/{EVERYTHING}: its includes are not sorted"]
        reached, ahead = set(), list(own)
        while ahead:
            name = ahead.pop()
            if name not in reached:
                reached.add(name)
                ahead += self.includes_of(folder / name)
        there = {path.relative_to(folder).as_posix() for room in self.top[EVERYTHING] for path in (folder / room).glob("*.hpp")}
        found += [f"include/fairlead/{name}: {EVERYTHING} does not reach it ([everything] of rooms.toml)"
                  for name in sorted(there - reached - set(self.left_out))]
        found += [f"tools/rooms.toml: [everything] names {name}, which {EVERYTHING} reaches or nobody has"
                  for name in sorted(self.left_out) if name in reached or name not in there]
        return found

    @staticmethod
    def includes_of(path: Path) -> list[str]:
        lines = path.read_text().splitlines() if path.is_file() else []
        targets = [found[2] for line in lines if (found := INCLUDE.match(line))]
        return [target.removeprefix("fairlead/") for target in targets if target.startswith("fairlead/")]

    def check_file(self, path: Path, inside: Path, public: bool):
        where = path.relative_to(self.root).as_posix()
        if "impl" in inside.parts or "detail" in inside.parts[:-1]:
            self.violations.append(f"{where}: no folder is called impl or detail; private headers live in src/")
        if inside.parts[0] == "compat":
            return  # Forwards to everything, by design.
        room = inside.parts[0] if len(inside.parts) > 1 else None
        if room is None:
            if not public or inside.name not in self.top:
                self.violations.append(f"{where}: belongs to no room (rooms.toml, [top])")
                return
            allowed = set(self.top[inside.name])
        elif room not in self.rooms:
            self.violations.append(f"{where}: {room} is no room of rooms.toml")
            return
        else:
            allowed = {room, *self.rooms[room]}
        self.check_namespaces(path, where, room, allowed)
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if found := INCLUDE.match(line):
                problem = self.problem(inside.as_posix(), where, room, allowed, public, found[1], found[2])
                if problem:
                    self.violations.append(f"{where}:{number}: {problem}")

    def check_namespaces(self, path: Path, where: str, room: str | None, allowed: set[str]):
        lines = path.read_text().splitlines()
        own = self.secrets_of(path)
        for number, line in enumerate(lines, 1):
            code = re.sub(r'//.*|"(?:\\.|[^"\\])*"', "", line)
            for found in SECRET.finditer(code):
                if not re.search(rf"\b{found[1]}\b", own):
                    self.violations.append(f"{where}:{number}: detail::{found[1]} is no secret of this file")
            for found in OF_A_ROOM.finditer(code):
                if found[1] in self.rooms and found[1] not in allowed | self.forward_of(lines):
                    self.violations.append(f"{where}:{number}: {room or where} may not name impl::{found[1]} (rooms.toml)")
            opened = NAMESPACE.match(code)
            if opened and (named := re.search(r"\bimpl::(\w+)$", opened[1])) and named[1] != room \
                    and not self.only_declares(lines, number):
                self.violations.append(f"{where}:{number}: {named[1]} is another room; only declarations of its types stand here")

    def secrets_of(self, path: Path) -> str:
        """The text of the namespaces `detail` of a file, and of the header that its source belongs to."""
        header = self.root / "include/fairlead" / path.relative_to(self.root).parts[1] / f"{path.stem}.hpp"
        text = path.read_text() + (header.read_text() if path.suffix == ".cpp" and header.exists() else "")
        return "\n".join(found[1] for found in SECRETS.finditer(text))

    @staticmethod
    def only_declares(lines: list[str], number: int) -> bool:
        end = next((n for n in range(number, len(lines)) if lines[n].startswith("}")), len(lines))
        return all(DECLARATION.match(line.strip()) for line in lines[number:end])

    def forward_of(self, lines: list[str]) -> set[str]:
        """The rooms above, of whose types the file has declarations."""
        opened = ((number, NAMESPACE.match(line)) for number, line in enumerate(lines, 1))
        return {found[1].rpartition("::")[2] for number, found in opened if found and self.only_declares(lines, number)}

    def problem(self, inside, where, room, allowed, public, quote, target) -> str | None:
        """Why the file at `where` must not include `target`; None when it may."""
        for pattern, users in self.doors.items():
            if fnmatch(target, pattern) and not public and not any(fnmatch(where, user) for user in users):
                return f"only {', '.join(users)} may include <{target}>"
        if target.startswith("fairlead/"):
            if not (self.root / "include" / target).exists():
                return f"<{target}> does not exist"
            parts = target.split("/")
            if len(parts) == 2:
                return self.top_problem(parts[1], room, allowed)
            if parts[1] not in allowed:
                return f"{room or inside} may not include {parts[1]} (rooms.toml)"
            return None
        if quote == '"' and not public and "/" not in target and (self.root / where).with_name(target).exists():
            return None  # A private header beside the file, hence of the same room.
        if (self.root / "src" / target).exists():
            if public:
                return f"a public header includes the private {target}"
            owner = target.split("/")[0]
            if owner != room and target not in self.private.get(room or "", []):
                return f"{target} is private to {owner}"
            return None
        if quote == '"':
            return f'"{target}" is neither below include/ or src/ nor a private header beside this file'
        if public and any(fnmatch(target, pattern) for pattern in self.public["forbidden"]):
            if target not in self.public["exceptions"].get(inside, []):
                return f"public headers do not include <{target}>"
        return None

    def top_problem(self, name, room, allowed) -> str | None:
        beyond = set(self.top.get(name, ["?"])) - allowed
        return f"{room} may not include {name}, which sees {', '.join(sorted(beyond))}" if beyond else None


def self_test(table: dict) -> list[str]:
    """Each planted line must be found where it stands, and a tree that keeps the rules must be clean."""
    table = {**table, "everything": {"io/driver_only.hpp": "for authors of drivers"}}
    everything = "include/fairlead/fairlead.hpp"
    good = {
        everything: "".join(f"#include <fairlead/{name}.hpp>\n" for name in ("exec/names", "net/a", "token/a", "token/use_future")),
        "include/fairlead/io/driver_only.hpp": "",
        "include/fairlead/fwd.hpp": "",
        "include/fairlead/base/a.hpp": "#include <cstddef>\n#include <fairlead/fwd.hpp>\n",
        "include/fairlead/exec/a.hpp": "#include <fairlead/base/a.hpp>\n",
        "include/fairlead/token/a.hpp": "#include <fairlead/exec/a.hpp>\n",
        "include/fairlead/token/use_future.hpp": "#include <future>\n",
        "include/fairlead/legacy/a.hpp": "#include <fairlead/net/a.hpp>\n",
        "include/fairlead/net/a.hpp": "#include <fairlead/io/a.hpp>\n",
        "include/fairlead/io/a.hpp": "",
        "include/fairlead/exec/names.hpp": "namespace fairlead::impl::operation {\n/// A thing.\nstruct thing;\n}\n"
                                           "namespace fairlead::impl::exec {\nimpl::operation::thing* a();\nint b();\n}\n"
                                           "namespace fairlead {\nnamespace detail {\nint c();\n} // namespace detail\nint d = detail::c();\n}\n",
        "src/exec/names.cpp": "namespace fairlead::detail {\n}\nint e = fairlead::detail::c() + asio::detail::f();\n",
        "src/io/posix.hpp": "#include <sys/socket.h>\n",
        "src/io/uring.cpp": "#include <liburing.h>\n",
        "src/io/near.cpp": '#include "posix.hpp"\n',
        "src/io/a.cpp": '#include "io/posix.hpp"\n#include <fairlead/exec/a.hpp>\n#include <thread>\n',
    }
    planted = {
        "include/fairlead/base/bad.hpp": "#include <fairlead/exec/a.hpp>\n",
        "include/fairlead/base/gone.hpp": "#include <fairlead/base/none.hpp>\n",
        "include/fairlead/exec/heavy.hpp": "  #  include <iostream>\n",
        "include/fairlead/exec/future.hpp": "#include <future>\n",
        "include/fairlead/exec/ssl.hpp": "#include <openssl/ssl.h>\n",
        "include/fairlead/exec/leak.hpp": '#include "io/posix.hpp"\n',
        "include/fairlead/exec/impl/a.hpp": "",
        "include/fairlead/lost.hpp": "",
        "include/fairlead/cellar/a.hpp": "",
        "src/io/token.cpp": "#include <fairlead/token/a.hpp>\n",
        "include/fairlead/exec/near.hpp": '#include "a.hpp"\n',
        "src/io/gone.cpp": '#include "none.hpp"\n',
        "src/io/up.cpp": '#include "../io/posix.hpp"\n',
        "src/net/raid.cpp": '#include "io/posix.hpp"\n',
        "src/net/ring.cpp": "#include <liburing.h>\n",
        "include/fairlead/net/older.hpp": "#include <fairlead/legacy/a.hpp>\n",
        "include/fairlead/exec/curious.hpp": "int f = detail::c();\n",
        "src/exec/curious.cpp": "int f = fairlead::detail::c();\n",
        "include/fairlead/exec/above.hpp": "int f = impl::token::c();\n",
        "include/fairlead/exec/guest.hpp": "namespace fairlead::impl::base {\nint g();\n}\n",
    }
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in good.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        checker = Checker(root, table)
        failures += [f"wrongly found: {v}" for v in checker.run() + checker.check_everything()]
        for text, expected in (("", 7), (good[everything] + "#include <fairlead/exec/a.hpp>\n", 1),
                               (good[everything] + "#include <fairlead/io/driver_only.hpp>\n", 2)):
            (root / everything).write_text(text)
            if len(found := Checker(root, table).check_everything()) != expected:
                failures.append(f"{everything} was changed, found {found}")
        (root / everything).write_text(good[everything])
        for name, text in planted.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            found = Checker(root, table).run()
            if len(found) != 1 or not found[0].startswith(name):
                failures.append(f"planted {name}, found {found}")
            path.unlink()
        granted = {**table, "rooms": {**table["rooms"], "redis": [*table["rooms"]["redis"], "legacy"]}}
        if len(Checker(root, granted).run()) != 1:
            failures.append("a room was granted legacy, and nothing found")
    return failures


def of_tree(root: Path, table: dict) -> list[str]:
    checker = Checker(root, table)
    return checker.run() + checker.check_everything()


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    arguments.add_argument("--self-test", action="store_true")
    options = arguments.parse_args()
    table = tomllib.loads((options.root / "tools/rooms.toml").read_text())
    problems = self_test(table) if options.self_test else of_tree(options.root, table)
    print("\n".join(problems) or "no violation")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
