#!/usr/bin/env python3
"""Runs a program with the address of a real server of its own as its only argument, and ends with its status.

    tests/interop/with_redis.py PROGRAM

Status 77 says that no server is installed. The server has a free port of the loopback interface, and no data.
"""

import shutil
import socket
import subprocess
import sys
import time

LIMIT_S = 60
SKIPPED = 77


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_until_it_listens(port: int) -> None:
    limit = time.monotonic() + LIMIT_S
    while time.monotonic() < limit:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    sys.exit("the server does not listen")


def main() -> int:
    program = sys.argv[1]
    server = shutil.which("redis-server") or shutil.which("valkey-server")
    if not server:
        print("neither redis-server nor valkey-server is installed")
        return SKIPPED
    port = free_port()
    process = subprocess.Popen([server, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                                "--dbfilename", "nothing.rdb"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until_it_listens(port)
        return subprocess.run([program, f"127.0.0.1:{port}"], stdin=subprocess.DEVNULL, timeout=LIMIT_S).returncode
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    sys.exit(main())
