#!/usr/bin/env python3
"""Holds the number of system calls of an echoed message: check.py PROGRAM

One receive and one send for each message, epoll_wait shared by many, from the first message on, registrations
included. The bounds are in bench/budgets.tsv, also that of receives that find nothing (EAGAIN).
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tools"))
import budgets

MESSAGES = 200
CALLS_MAX = budgets.at_most("system_calls", "for a message")
EAGAIN_MAX = budgets.at_most("system_calls", "that end in EAGAIN")
TRACED = "recvfrom,sendto,recvmsg,sendmsg,read,write,readv,writev,poll,ppoll,epoll_wait,epoll_pwait,epoll_pwait2,epoll_ctl"


def main() -> int:
    if not shutil.which("strace"):
        print("skipped: strace is not installed")
        return 77
    probe = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, text=True)
    if probe.returncode != 0:
        print("skipped: strace may not trace here:", probe.stderr.strip())
        return 77
    failed = False
    for mode in ("callbacks", "coroutines"):
        for buffer_bytes in (64, 4096):
            with tempfile.NamedTemporaryFile("r") as log:
                run = subprocess.run(
                    ["strace", "-f", "-qq", "-e", "trace=" + TRACED, "-o", log.name, sys.argv[1], mode, str(MESSAGES),
                     str(buffer_bytes)], capture_output=True, text=True, timeout=100, check=True)
                lines = log.read().splitlines()
            messages = int(run.stdout)
            # Loading the program reads its libraries before the first socket is made.
            sockets = [line for line in lines if not re.search(r"\b(read|write)\(", line)]
            eagain = sum("EAGAIN" in line for line in sockets)
            calls = len(sockets) / messages
            print(f"{mode}, {buffer_bytes}-byte buffers: {messages} messages, {calls:.3f} calls and "
                  f"{eagain / messages:.4f} EAGAIN each")
            failed = failed or calls > CALLS_MAX or eagain > EAGAIN_MAX * messages
    if failed:
        print(f"more than {CALLS_MAX} calls or {EAGAIN_MAX} EAGAIN for a message")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
