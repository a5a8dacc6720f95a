#!/usr/bin/env python3
"""Runs the examples and README's programs where production would hurt them, and holds that none ends without a word.

    tests/system_calls/programs.py FOLDER CASE

FOLDER has the programs. In each case a program goes on, or ends with a sentence and a status that is not 0:

    X15_few_descriptors     16 descriptors, and more peers than that
    X15_port_in_use         somebody else has the port
    X15_peer_resets         a peer resets its connection
    X15_no_server           nobody listens where a client connects to, or the server hangs up on it

Ports are free ones of the loopback interface; every wait has a limit and says what it waited for.
"""

import contextlib
import os
import resource
import shutil
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

LIMIT_S = 60
DESCRIPTORS = 16
SKIPPED = 77


class Failed(Exception):
    pass


def few_descriptors() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def running(program: Path, *arguments: str, limited: bool = False, **environment: str):
    """The program, killed at the end if it still runs."""
    process = subprocess.Popen([program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, env={**os.environ, **environment},
                               preexec_fn=few_descriptors if limited else None)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def must_say_why(program: Path, *arguments: str, limited: bool = False, sentence: str = "", **environment: str) -> None:
    """It ends by itself: with status 0 having done its work, or with another one and a sentence."""
    with running(program, *arguments, limited=limited, **environment) as process:
        try:
            said, _ = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            raise Failed(f"{program.name}: waited {LIMIT_S} s for its end") from None
    print(f"{program.name} {' '.join(arguments)}: status {process.returncode}, says: {said.strip()[-200:]!r}")
    if sentence and process.returncode == 0:
        raise Failed(f"{program.name}: status 0 after a failure")
    if sentence not in said or not said.strip():
        raise Failed(f"{program.name}: does not say {sentence or 'anything'!r}")


def connect(port: int, process: subprocess.Popen) -> socket.socket:
    """A connection to a program that may still be starting."""
    until = time.monotonic() + LIMIT_S
    while True:
        try:
            peer = socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S)
            if peer.getsockname() != peer.getpeername():
                return peer
            peer.close()  # Nobody listens yet, and the system gave us the port itself: we met ourselves.
        except ConnectionRefusedError:
            if process.poll() is not None:
                raise Failed(f"ended with status {process.returncode}: {process.stdout.read().strip()!r}") from None
            if time.monotonic() > until:
                raise Failed(f"waited {LIMIT_S} s for a listener at port {port}") from None


def reset(peer: socket.socket) -> None:
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()


def must_echo(peer: socket.socket, what: str) -> None:
    try:
        peer.sendall(b"ping")
        answer = peer.recv(4)
    except OSError as e:
        raise Failed(f"{what}: {e}") from None
    if answer != b"ping":
        raise Failed(f"{what}: answered {answer!r}")


def echo_servers(folder: Path):
    port = free_port()
    yield port, lambda limited: running(folder / "readme_echo", limited=limited, PORT=str(port))
    other = free_port()
    yield other, lambda limited: running(folder / "example_echo_server", str(other), limited=limited)


def x15_few_descriptors(folder: Path) -> None:
    for port, start in echo_servers(folder):
        with start(True) as process:
            peers = [connect(port, process) for _ in range(2 * DESCRIPTORS)]
            must_echo(peers[0], "the first peer, while others wait")
            for peer in peers[:-1]:
                peer.close()
            must_echo(peers[-1], "the last peer, once the others have gone")
            if process.poll() is not None:
                raise Failed(f"ended with status {process.returncode}: {process.stdout.read().strip()!r}")
    for name, *arguments in (["example_echo_server", "0", "100"], ["example_udp_echo", "0", "100"],
                             ["example_hello_timer"], ["example_own_operation"], ["example_chat_server", "1", "2"],
                             ["example_redis_quickstart"], ["example_testing_with_sim"], ["example_simulated_outage"],
                             ["example_simulated_shutdown"]):
        must_say_why(folder / name, *arguments, limited=True)
    must_say_why(folder / "example_chat_server", "3", "8", limited=True, sentence="Too many open files")


def x15_port_in_use(folder: Path) -> None:
    with socket.socket() as taken, socket.socket(type=socket.SOCK_DGRAM) as taken_udp:
        taken.bind(("0.0.0.0", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        sentence = f"bind to 0.0.0.0:{port}: Address already in use"
        must_say_why(folder / "readme_echo", sentence=sentence, PORT=port)
        must_say_why(folder / "example_echo_server", port, sentence=sentence)
        taken_udp.bind(("0.0.0.0", 0))
        port = str(taken_udp.getsockname()[1])
        must_say_why(folder / "example_udp_echo", port, sentence=f"bind to 0.0.0.0:{port}: Address already in use")


def x15_peer_resets(folder: Path) -> None:
    for port, start in echo_servers(folder):
        with start(False) as process:
            for bytes_sent in (0, 4, 1 << 20):
                peer = connect(port, process)
                peer.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    peer.send(b"x" * bytes_sent)
                reset(peer)
            with connect(port, process) as peer:
                must_echo(peer, "a peer after three that were reset")


def x15_no_server(folder: Path) -> None:
    port = free_port()
    with running(folder / "readme_redis", ADDRESS=f"127.0.0.1:{port}") as process:
        # It may have been refused before: the port has no listener until now.
        with socket.create_server(("127.0.0.1", port)) as listener:
            must_come_again(listener, process, 3)
    if not (server := shutil.which("redis-server")):
        print("no redis-server: README's client is not run against one")
        return
    port = free_port()
    with running(Path(server), "--port", str(port), "--save", "", "--appendonly", "no", "--dbfilename", "nothing.rdb",
                 "--bind", "127.0.0.1") as redis:
        connect(port, redis).close()
        must_say_why(folder / "readme_redis", ADDRESS=f"127.0.0.1:{port}")


def must_come_again(listener: socket.socket, process: subprocess.Popen, times: int) -> None:
    """A client whose every connection is reset tries again, or has said why not."""
    until = time.monotonic() + LIMIT_S
    listener.settimeout(0.2)
    while times:
        with contextlib.suppress(TimeoutError):
            peer, _ = listener.accept()
            reset(peer)
            times -= 1
        if process.poll() is not None:
            said = process.stdout.read().strip()
            print(f"it ended with status {process.returncode}, and says: {said[-200:]!r}")
            if not said:
                raise Failed(f"it ended without a word, status {process.returncode}")
            return
        if time.monotonic() > until:
            raise Failed(f"waited {LIMIT_S} s for {times} more connection(s)")
    print("it goes on")


def main() -> int:
    folder, case = Path(sys.argv[1]), sys.argv[2]
    cases = {"X15_few_descriptors": x15_few_descriptors, "X15_port_in_use": x15_port_in_use,
             "X15_peer_resets": x15_peer_resets, "X15_no_server": x15_no_server}
    try:
        cases[case](folder)
    except Failed as e:
        print(f"{case}: {e}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
