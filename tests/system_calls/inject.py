#!/usr/bin/env python3
"""Lets system calls fail on purpose and holds what a program sees of it: inject.py PROGRAM GROUP

Each row says: which call, with what error, at its how manieth time, in which part of tests/system_calls/faults.cpp; and
the two errors which that then prints. What only a kernel in trouble does, strace does here.
"""
import errno
import shutil
import subprocess
import sys
import tempfile

ONCE = "1"
EVERY_OTHER = "1+2"
INTERRUPTIBLE = ("accept4", "connect", "recvfrom", "recvmsg", "sendto", "sendmsg", "poll", "epoll_wait", "epoll_pwait2",
                 "clock_nanosleep", "getrandom")

# group: (call, error, when, program, first error, second error)
ROWS = {
    # Nobody above the call knows that there are signals. (The loader closes the first dozen of descriptors.)
    "I03_interrupted": [(call, "EINTR", when, "everything", 0, 0) for call in INTERRUPTIBLE
                        for when in (ONCE, "2", "3", EVERY_OTHER)] +
                       [("close", "EINTR", when, "everything", 0, 0) for when in ("15", "16", "15+2")],
    # Room to write that is not there after all is waited for.
    "I04_not_ready_after_all": [("sendto", "EAGAIN", ONCE, "write", 0, 0)],
    "R03_no_buffers": [("sendto", error, ONCE, "write", getattr(errno, error), 0) for error in ("ENOBUFS", "ENOMEM")] +
                      [("recvfrom", "ENOMEM", ONCE, "read", errno.ENOMEM, 0)],
    # The first call is for the eventfd, the second for the socket.
    "E06_not_watched": [("epoll_ctl", error, "2", "watch", getattr(errno, error), 0)
                        for error in ("ENOSPC", "ENOMEM", "EPERM")],
    "R02_no_descriptors": [(call, error, ONCE, "make", getattr(errno, error), 0)
                           for call in ("epoll_create1", "eventfd2", "epoll_ctl", "socket")
                           for error in ("EMFILE", "ENFILE", "ENOMEM")],
    "R08_no_threads": [("clone3", "EAGAIN", ONCE, "thread", errno.EAGAIN, 0)],
    "I10_codes_are_kept": [("recvfrom", error, ONCE, "read", getattr(errno, error), 0)
                           for error in ("ETIMEDOUT", "EHOSTUNREACH", "ECONNRESET", "ENETDOWN")] +
                          [("sendto", error, ONCE, "write", getattr(errno, error), 0)
                           for error in ("EPIPE", "EHOSTUNREACH", "ECONNRESET")] +
                          [("connect", error, ONCE, "connect", getattr(errno, error), 0)
                           for error in ("ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "ECONNREFUSED", "EADDRNOTAVAIL")],
    # Gone connections are passed over; other errors are reported, and the acceptor is as good as before.
    "I12_acceptor_lives": [("accept4", error, ONCE, "accept", 0, 0) for error in ("ECONNABORTED", "EPROTO")] +
                          [("accept4", error, ONCE, "accept", getattr(errno, error), 0)
                           for error in ("EPERM", "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM")],
    # Before Linux 5.11.
    "E08_no_precise_waiting": [("epoll_pwait2", "ENOSYS", "1+", "timer", 0, 0)],
}


def main() -> int:
    if not shutil.which("strace"):
        print("skipped: strace is not installed")
        return 77
    probe = subprocess.run(["strace", "-o", "/dev/null", "-e", "inject=getppid:error=EPERM", "true"],
                           capture_output=True, text=True)
    if probe.returncode != 0:
        print("skipped: strace may not trace here, or cannot inject:", probe.stderr.strip())
        return 77
    program, group = sys.argv[1:]
    failed = injected = 0
    for call, error, when, part, first, second in ROWS[group]:
        with tempfile.NamedTemporaryFile("r") as log:
            try:
                run = subprocess.run(["strace", "-f", "-qq", "-o", log.name, "-e", "trace=" + call, "-e",
                                      f"inject={call}:error={error}:when={when}", program, part],
                                     capture_output=True, text=True, timeout=30)
                printed = run.stdout.strip()
            except subprocess.TimeoutExpired:
                printed = "nothing: it hangs"
            # Libraries are loaded before main(): calls that only they make prove nothing.
            injected += "INJECTED" in log.read()
        if printed != f"{first} {second}":
            failed += 1
            print(f"{part}: {call} fails with {error} (when={when}): printed {printed!r}, expected '{first} {second}'")
    print(f"{len(ROWS[group])} rows, {injected} of them with a call that failed")
    if injected == 0:
        print("no call has failed: the program makes other calls than these rows know")
    return 1 if failed or injected == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
