#!/usr/bin/env python3
"""Lets system calls fail on purpose and holds what a program sees of it: inject.py PROGRAM GROUP

Each row says: which call (or calls), with what error, at its how manieth time, in which part of
tests/system_calls/faults.cpp; and the two errors which that then prints, or the sentence with which it ends. What only a
kernel in trouble does, strace does here. A row whose call never came shows nothing, and fails.
"""
import errno
import shutil
import subprocess
import sys
import tempfile

ONCE = "1"
EVERY_OTHER = "1+2"
INTERRUPTIBLE = ("accept4", "connect", "recvfrom", "recvmsg", "sendto", "sendmsg", "poll", "epoll_wait", "epoll_pwait2")

# A call that is refused for ever may be tried again now and then, but nothing may turn around it.
CALLS_MAX = 1000
WAITING = "epoll_wait,epoll_pwait"

# The C library has calls of its own, whose number differs between versions; what it says when one of them has failed.
NOT_OURS = "The futex facility returned an unexpected error code"
LATER = ("2", "3", "4", "5")

# group: (call, error, when, program, first error, second error) or (call, error, when, program, part of the last words)
ROWS = {
    # Nobody above the call knows that there are signals. (The loader closes the first dozen of descriptors.)
    "I03_interrupted": [(call, "EINTR", when, "everything", 0, 0) for call in INTERRUPTIBLE
                        for when in (ONCE, "2", "3", EVERY_OTHER)] +
                       [("clock_nanosleep", "EINTR", when, "everything", 0, 0) for when in (ONCE, "2", EVERY_OTHER)] +
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
    # A pool has all of its threads or none. Look-ups need one; the next ones only make it quicker.
    "R08_no_threads": [("clone3", "EAGAIN", ONCE, "thread", errno.EAGAIN, 0)] +
                      [("clone3", "EAGAIN", when, "pool", errno.EAGAIN, 0) for when in (ONCE, "2", "3")] +
                      [("clone3", "EAGAIN", when, "look_ups", 0, 0) for when in ("2", "3", "2+")],
    "I10_codes_are_kept": [("recvfrom", error, ONCE, "read", getattr(errno, error), 0)
                           for error in ("ETIMEDOUT", "EHOSTUNREACH", "ECONNRESET", "ENETDOWN")] +
                          [("sendto", error, ONCE, "write", getattr(errno, error), 0)
                           for error in ("EPIPE", "EHOSTUNREACH", "ECONNRESET")] +
                          [("connect", error, ONCE, "connect", getattr(errno, error), 0)
                           for error in ("ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "ECONNREFUSED", "EADDRNOTAVAIL")],
    # Gone connections are passed over, unless the program wants to know; other errors are reported, and the acceptor is as good as before.
    "I12_acceptor_lives": [("accept4", error, ONCE, "accept", 0, 0) for error in ("ECONNABORTED", "EPROTO")] +
                          # Not for ever, however: a storm of them must not hold the loop up.
                          [("accept4", error, "1..100", "accept", getattr(errno, error), 0)
                           for error in ("ECONNABORTED", "EPROTO")] +
                          [("accept4", error, ONCE, "accept_or_say_why", getattr(errno, error), 0)
                           for error in ("ECONNABORTED", "EPROTO")] +
                          [("accept4", error, ONCE, "accept", getattr(errno, error), 0)
                           for error in ("EPERM", "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM")],
    # Before Linux 5.11 it is unknown; older profiles of seccomp answer what they do not know with any error.
    "E08_no_precise_waiting": [("epoll_pwait2", "ENOSYS", "1+", "timer", 0, 0)],
    "E08_waiting_is_refused": [("epoll_pwait2", error, "1+", part, 0, 0) for error in ("ENOSYS", "EPERM", "EACCES")
                               for part in ("timer", "watch", "everything")] +
                              [("epoll_pwait2", "EPERM", "2+", "timer", 0, 0), # a process that locks itself in later
                               ("epoll_wait", "EPERM", "1+", "everything", 0, 0),
                               (WAITING, "EPERM", "1+", "make", errno.EPERM, errno.EPERM),
                               (WAITING, "EPERM", "2+", "everything", "epoll_wait failed: Operation not permitted"),
                               ("poll", "EPERM", ONCE, "wait", errno.EPERM, 0),
                               ("poll", "ENOMEM", ONCE, "connect", errno.ENOMEM, 0),
                               ("clock_nanosleep", "EPERM", "1+", "sleep", 0, 0),
                               ("clock_nanosleep,poll", "EPERM", "1+", "sleep", errno.EOPNOTSUPP, errno.EOPNOTSUPP)],
    "E08_waking_is_refused": [("write", "EINTR", ONCE, "wake", 0, 0),
                              ("write", "EPERM", ONCE, "wake", "write (eventfd) failed: Operation not permitted"),
                              ("futex", "EPERM", ONCE, "park", "futex failed: Operation not permitted")],
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
    failed = 0
    for call, error, when, part, *expected in ROWS[group]:
        printed, said, traced = run(program, part, call, error, when)
        for later in LATER if call == "futex" else ():
            if NOT_OURS not in said:
                break
            printed, said, traced = run(program, part, call, error, later)
        wrong = []
        if len(expected) == 2:
            wanted = "{} {}".format(*expected)
            if printed != wanted:
                wrong.append(f"printed {printed!r}, expected {wanted!r}; its last words: {said!r}")
        elif printed or expected[0] not in said:
            wrong.append(f"was to end with {expected[0]!r}, printed {printed!r} and ended with {said!r}")
        injected = traced.count("(INJECTED)")
        if injected == 0:
            wrong.append("no call has failed: the program makes other calls than this row knows, or fewer")
        if injected > CALLS_MAX:
            wrong.append(f"made {injected} calls that failed: it spins")
        for what in wrong:
            print(f"{part}: {call} fails with {error} (when={when}): {what}")
        failed += bool(wrong)
    print(f"{len(ROWS[group])} rows, {failed} of them failed")
    return 1 if failed else 0


def run(program: str, part: str, call: str, error: str, when: str) -> tuple[str, str, str]:
    """What the part prints, what it says of errors, and its calls from main() on."""
    with tempfile.NamedTemporaryFile("r") as log:
        try:
            done = subprocess.run(["strace", "-f", "-qq", "-o", log.name, "-e", "trace=" + call, "-e",
                                   f"inject={call}:error={error}:when={when}", program, part],
                                  capture_output=True, text=True, timeout=30)
            printed, said = done.stdout.strip(), done.stderr.strip()
        except subprocess.TimeoutExpired:
            printed, said = "nothing: it hangs", ""
        return printed, said, log.read()


if __name__ == "__main__":
    sys.exit(main())
