#!/usr/bin/env python3
"""Holds that one buffer goes to the system as one: one_buffer.py PROGRAM

The kernel copies no list of buffers for a single one: neither recvmsg nor sendmsg nor readv nor writev is called. Two
buffers are handed over as a list, which shows that this looks at the right calls.
"""
import shutil
import subprocess
import sys
import tempfile

LISTS = ("recvmsg(", "sendmsg(", "readv(", "writev(")
TRACED = "recvfrom,sendto,recvmsg,sendmsg,readv,writev"
MESSAGES = 50


def calls(program: str, kind: str, mode: str) -> list[str]:
    with tempfile.NamedTemporaryFile("r") as log:
        subprocess.run(["strace", "-f", "-qq", "-e", "trace=" + TRACED, "-o", log.name, program, kind, mode,
                        str(MESSAGES)],
                       check=True, timeout=100)
        return log.read().splitlines()


def main() -> int:
    if not shutil.which("strace"):
        print("skipped: strace is not installed")
        return 77
    probe = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, text=True)
    if probe.returncode != 0:
        print("skipped: strace may not trace here:", probe.stderr.strip())
        return 77
    failed = False
    for kind in ("tcp", "unix"):
        single, sequence = (calls(sys.argv[1], kind, mode) for mode in ("single", "sequence"))
        with_list = [line for line in single if any(call in line for call in LISTS)]
        without_list = [line for line in sequence if not any(call in line for call in LISTS)]
        print(f"{kind}: {len(single)} calls for one buffer, {len(with_list)} with a list; "
              f"{len(sequence)} for two, {len(without_list)} without a list")
        failed = failed or with_list or without_list or min(len(single), len(sequence)) < 8 * MESSAGES
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
