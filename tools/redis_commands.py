#!/usr/bin/env python3
"""The table of all commands of Redis and Valkey, src/redis/command_table.inc, made of what servers say of themselves.

    tools/redis_commands.py SERVER SERVER SERVER     writes the table; the servers are those that its head names
    tools/redis_commands.py --check SERVER           compares the table with one server; exit status 1 if they differ
    tools/redis_commands.py --self-test              merges, writes and compares commands that were made up

A SERVER is HOST:PORT, or the command line of a server (one argument, "redis-server" or one with options), which is started
on a free port of loopback and stopped again. A build needs neither this script nor a server.

It asks COMMAND and COMMAND DOCS. What servers say differently becomes one line, as docs/decisions/039-table-of-commands.md
says, and servers that say something else have a second line with their own words. A server of a version that the table
does not have is compared with the lines of all together.

To have other servers in the table, change SERVERS below and fairlead::redis::impl::servers in src/redis/command_table.hpp.
"""

import argparse
import contextlib
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

TABLE = Path("src/redis/command_table.inc")
# The names of servers in the table, the oldest first; each by its product and the beginning of its version.
SERVERS = {"redis_7_0": ("redis", "7.0."), "redis_8_0": ("redis", "8.0."), "valkey_8_1": ("valkey", "8.1.")}
FLAGS = ("write", "readonly", "denyoom", "admin", "pubsub", "noscript", "blocking", "loading", "stale", "skip_monitor",
         "skip_slowlog", "skip_commandlog", "asking", "fast", "no_auth", "may_replicate", "no_mandatory_keys",
         "no_async_loading", "no_multi", "movablekeys", "allow_busy", "module", "container")
TIPS = ("request_all_nodes", "request_all_shards", "request_multi_shard", "request_special", "response_one_succeeded",
        "response_all_succeeded", "response_agg_logical_and", "response_agg_logical_or", "response_agg_min",
        "response_agg_max", "response_agg_sum", "response_special", "nondeterministic_output",
        "nondeterministic_output_order")
ACCESS = ("ro", "rw", "ow", "rm")
KEY_FLAGS = ACCESS + ("access", "update", "insert", "deletes", "not_key", "incomplete", "variable_flags")
WIDTH = 120
TIME_LIMIT_S = 30


class Failure(Exception):
    """Something that the user has to read."""


# What a server says.

class Connection:
    """Sends commands, one at a time, and reads their replies in RESP2: arrays are lists, and so are maps."""

    def __init__(self, host: str, port: int):
        self.socket = socket.create_connection((host, port), timeout=TIME_LIMIT_S)
        self.file = self.socket.makefile("rb")

    def close(self) -> None:
        self.file.close()
        self.socket.close()

    def ask(self, *words: str):
        encoded = [word.encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in encoded))
        return self.read()

    def read(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise Failure("the server has closed the connection")
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b"*":
            return [self.read() for _ in range(int(rest))]
        if kind == b"$":
            return None if rest == "-1" else self.file.read(int(rest) + 2)[:-2].decode()
        if kind == b":":
            return int(rest)
        if kind == b"+":
            return rest
        raise Failure(f"the server answered {line!r}")


def pairs(flat: list) -> dict:
    return dict(zip(flat[::2], flat[1::2]))


@contextlib.contextmanager
def connected(server: str):
    """A connection to HOST:PORT, or to a server that is started for it."""
    host, colon, port = server.rpartition(":")
    if colon and port.isdigit() and "/" not in server:
        connection = Connection(host, int(port))
        try:
            yield connection
        finally:
            connection.close()
        return
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number = probe.getsockname()[1]
        probe.close()
        command = [*shlex.split(server), "--port", str(number), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                   "--dir", folder]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            connection = wait_for(number, process)
            yield connection
            connection.close()
        finally:
            process.kill()
            process.wait()


def wait_for(port: int, process: subprocess.Popen) -> Connection:
    for _ in range(TIME_LIMIT_S * 20):
        if process.poll() is not None:
            raise Failure(f"the server ended with {process.returncode}")
        with contextlib.suppress(ConnectionRefusedError):
            return Connection("127.0.0.1", port)
        time.sleep(0.05)
    raise Failure("the server does not listen")


# A command, as the table has it.

@dataclass(frozen=True)
class Spec:
    where: str  # all but the flags, as it is written into the table
    flags: frozenset[str]

    def text(self) -> str:
        return f"{self.where}{', ' if not self.where.endswith('(') else ''}{words(self.flags, KEY_FLAGS)})"


@dataclass(frozen=True)
class Command:
    name: str
    arity: int
    group: str
    since: str
    flags: frozenset[str]
    tips: frozenset[str]
    keys: tuple[Spec, ...] = field(default=())

    def facts(self) -> list[str]:
        since = "{" + self.since.replace(".", ", ") + "}"
        return [f'"{self.name}"', str(self.arity), f"group::{self.group}", since, words(self.flags, FLAGS), words(self.tips, TIPS),
                *(spec.text() for spec in self.keys)]


def words(some: frozenset[str], known: tuple[str, ...]) -> str:
    if strange := some - set(known):
        raise Failure(f"neither this script nor src/redis/command_table.hpp knows {', '.join(sorted(strange))}")
    return " | ".join(word for word in known if word in some) or "0"


def spec_of(said: dict) -> Spec:
    begin, find = pairs(said["begin_search"]), pairs(said["find_keys"])
    from_, to = pairs(begin["spec"]), pairs(find["spec"])
    flags = frozenset("deletes" if flag == "delete" else flag.lower() for flag in said["flags"])
    if begin["type"] == "unknown" or find["type"] == "unknown":
        return Spec("somewhere(", flags)
    if find["type"] == "keynum":
        place = f"keynum({to['keynumidx']}, {to['firstkey']}, {to['keystep']})"
    else:
        numbers = [to["lastkey"], to["keystep"], to["limit"]]
        while numbers[-1] == (1 if len(numbers) == 2 else 0) and len(numbers) > 1:
            numbers.pop()
        place = "one()" if numbers == [0] else f"range({', '.join(map(str, numbers))})"
    if begin["type"] == "index":
        return Spec(f"at({from_['index']}, {place}", flags)
    return Spec(f"behind(keyword::{from_['keyword']}, {from_['startfrom']}, {place}", flags)


def commands_of(connection: Connection) -> dict[str, Command]:
    docs: dict[str, dict] = {}

    def read_docs(said: dict) -> None:
        for name, doc in said.items():
            docs[name.lower()] = pairs(doc)
            read_docs(pairs(docs[name.lower()].get("subcommands", [])))

    found: dict[str, Command] = {}

    def read_command(said: list) -> None:
        name, arity, flags, _, _, _, _, tips, specs, subcommands = said
        doc = docs.get(name.lower(), {})
        command = Command(
            name=name.upper().replace("|", " "), arity=arity, group=doc["group"].replace("-", "_"),
            since=doc.get("since", "0.0.0"),  # Modules say nothing of it.
            flags=frozenset(flags) | ({"container"} if subcommands else set()),
            tips=frozenset(tip.replace("_policy:", "_") for tip in tips), keys=tuple(spec_of(pairs(spec)) for spec in specs))
        found[command.name] = command
        for each in subcommands:
            read_command(each)

    read_docs(pairs(connection.ask("COMMAND", "DOCS")))
    for each in connection.ask("COMMAND"):
        read_command(each)
    return found


def identity_of(connection: Connection) -> tuple[str, str]:
    """Product and version."""
    info = dict(line.split(":", 1) for line in connection.ask("INFO", "server").splitlines() if ":" in line)
    if info.get("server_name") == "valkey":
        return "valkey", info["valkey_version"]
    return "redis", info["redis_version"]


def name_of(product: str, version: str) -> str:
    """Of a server in the table; empty if it is none of those."""
    return next((name for name, (p, v) in SERVERS.items() if p == product and version.startswith(v)), "")


# Several servers become one table.

def merge_specs(all_: list[Spec]) -> Spec:
    """One place may have more flags than each server says, but one kind of access, and that is of the newest."""
    newest = all_[-1]
    flags = frozenset().union(*(spec.flags for spec in all_)) - set(ACCESS) | newest.flags & set(ACCESS)
    return replace(newest, flags=flags)


def merge(all_: list[Command]) -> Command:
    """Of the oldest server first. Flags are those of all, and the arity allows what any allows. Otherwise the newest Redis
    decides: a policy is one, and two would contradict each other."""
    newest = all_[-1]
    arity = newest.arity
    if len({command.arity for command in all_}) > 1:
        arity = -min(abs(command.arity) for command in all_)
    tips = frozenset().union(*(command.tips for command in all_))
    tips = frozenset(tip for tip in tips if tip.startswith("nondeterministic") or tip in newest.tips)
    keys = newest.keys
    if len({tuple(spec.where for spec in command.keys) for command in all_}) == 1:
        keys = tuple(merge_specs(list(specs)) for specs in zip(*(command.keys for command in all_)))
    return replace(newest, arity=arity, flags=frozenset().union(*(c.flags for c in all_)), tips=tips, keys=keys)


def wrapped(macro: str, first: str, facts: list[str]) -> str:
    """One command: a line, or several that break between its facts."""
    out, line = [], f"{macro}({first}"
    for fact in facts:
        if len(line) + len(fact) + 3 > WIDTH:
            out.append(line + ",")
            line = "    " + fact
        else:
            line += ", " + fact
    return "\n".join([*out, line + ")"])


def lines_of(command: dict[str, Command]) -> list[str]:
    """Of one command: by the names of the servers that have it."""
    # Redis decides where it has the command, so Valkey is put before it.
    order = sorted(command, key=lambda server: (SERVERS[server][0] == "redis", list(SERVERS).index(server)))
    merged = merge([command[server] for server in order])
    on = "each" if len(command) == len(SERVERS) else " | ".join(server for server in SERVERS if server in command)
    others: dict[Command, list[str]] = {}
    for server in SERVERS:
        if server in command and command[server] != merged:
            others.setdefault(command[server], []).append(server)
    return [wrapped("FAIRLEAD_COMMAND", on, merged.facts()),
            *(wrapped("FAIRLEAD_COMMAND_OF", " | ".join(servers), one.facts()) for one, servers in others.items())]


def table_of(said: dict[str, dict[str, Command]], versions: dict[str, str]) -> str:
    names = sorted(set().union(*(commands.keys() for commands in said.values())))
    head = f"""\
// Made by tools/redis_commands.py; not to be edited. The commands of {', '.join(versions[s] for s in SERVERS)},
// sorted by name, with those of containers. FAIRLEAD_COMMAND(servers, name, arity, group, since, flags, tips, keys...) has
// the facts of all these servers together. FAIRLEAD_COMMAND_OF(servers, ...) has those of servers that say something else.
"""
    return head + "".join(
        line + "\n" for name in names
        for line in lines_of({server: commands[name] for server, commands in said.items() if name in commands}))


# The table is compared as text: nothing has to read C++.

def entries(table: str) -> list[tuple[str, str, str, str]]:
    """Macro, servers, name and facts of each command."""
    found = []
    body = "\n".join(line for line in table.splitlines() if not line.startswith("//"))
    for entry in body.replace("\n    ", " ").splitlines():
        macro, inside = entry.removesuffix(")").split("(", 1)
        servers, facts = inside.split(", ", 1)
        found.append((macro, servers, facts.split('"')[1], facts))
    return found


def kept_of(table: str, server: str) -> dict[str, str]:
    """What the table has of one server, by the names of the commands; of no server: of all together."""
    kept = {}
    for macro, servers, name, facts in entries(table):
        is_all = macro == "FAIRLEAD_COMMAND" and (not server or servers == "each" or server in servers.split(" | "))
        if is_all or (macro == "FAIRLEAD_COMMAND_OF" and server in servers.split(" | ")):
            kept[name] = facts
    return kept


def compare(table: str, server: str, commands: dict[str, Command]) -> list[str]:
    kept = kept_of(table, server)
    said = {name: ", ".join(command.facts()) for name, command in commands.items()}
    return [f"{name}\n    table  {kept.get(name, 'does not have it')}\n    server {said.get(name, 'does not have it')}"
            for name in sorted(kept.keys() | said.keys()) if kept.get(name) != said.get(name)]


def check(path: Path, server: str) -> int:
    with connected(server) as connection:
        product, version = identity_of(connection)
        name = name_of(product, version)
        found = compare(path.read_text(), name, commands_of(connection))
    print("\n".join([*found, f"{product} {version}: {len(found)} commands differ from the table"
                     + ("" if name else ", which has no server of this version")]))
    return 1 if found else 0


def write(path: Path, servers: list[str]) -> int:
    said, versions = {}, {}
    for server in servers:
        with connected(server) as connection:
            product, version = identity_of(connection)
            name = name_of(product, version)
            if not name or name in said:
                raise Failure(f"{server} is {product} {version}: wanted is one of each of {', '.join(SERVERS)}")
            said[name], versions[name] = commands_of(connection), f"{product} {version}"
    if missing := SERVERS.keys() - said.keys():
        raise Failure(f"missing: {', '.join(sorted(missing))}")
    path.write_text(table_of({name: said[name] for name in SERVERS}, versions))
    return 0


def self_test() -> int:
    get = Command("GET", 2, "string", "1.0.0", frozenset({"readonly"}), frozenset(),
                  (Spec("at(1, one()", frozenset({"ro", "access"})),))
    older = replace(get, arity=3, flags=frozenset({"readonly", "fast"}), tips=frozenset({"request_all_nodes"}),
                    keys=(Spec("at(1, one()", frozenset({"rw", "incomplete"})),))
    said = {"redis_7_0": {"GET": older}, "redis_8_0": {"GET": get}, "valkey_8_1": {"GET": get, "NEW": replace(get, name="NEW")}}
    table = table_of(said, dict.fromkeys(SERVERS, "a server"))
    assert 'FAIRLEAD_COMMAND(each, "GET", -2, group::string, {1, 0, 0}, readonly | fast, 0, ' \
           'at(1, one(), ro | access | incomplete))\n' in table, table
    assert 'FAIRLEAD_COMMAND(valkey_8_1, "NEW"' in table, table
    assert 'FAIRLEAD_COMMAND_OF(redis_7_0, "GET", 3, ' in table, table
    assert 'FAIRLEAD_COMMAND_OF(redis_8_0 | valkey_8_1, "GET", 2, ' in table, table
    for server in SERVERS:
        assert compare(table, server, said[server]) == [], server
    assert len(compare(table, "redis_7_0", said["redis_8_0"])) == 1
    assert len(compare(table, "redis_8_0", said["valkey_8_1"])) == 1  # NEW
    assert len(compare(table, "valkey_8_1", said["redis_8_0"])) == 1
    assert len(compare(table, "", said["valkey_8_1"])) == 1  # GET: all together say something else
    assert name_of("valkey", "8.1.1") == "valkey_8_1" and name_of("redis", "8.1.1") == ""
    try:
        words(frozenset({"strange"}), FLAGS)
    except Failure:
        print("self-test passed")
        return 0
    return 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("servers", nargs="*", metavar="SERVER")
    parser.add_argument("--check", metavar="SERVER")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    try:
        if options.self_test:
            return self_test()
        if options.check:
            return check(options.root / TABLE, options.check)
        if options.servers:
            return write(options.root / TABLE, options.servers)
    except (Failure, OSError) as failure:
        print(failure, file=sys.stderr)
        return 2
    parser.print_help()
    return 2


if __name__ == "__main__":
    sys.exit(main())
