#!/usr/bin/env python3
"""Counts what the papers compare, in instructions instead of time: count.py PROGRAM A13|post|any|C04|B07|C03|limit|slot|stop|asked|until|group|next|redis

A13   in the program of P0162 (bench/emulated/library.cpp) an operation with the library's own memory takes as many
      instructions as with an allocator as there: a block for one flow, which knows whether it is taken. Of times the
      paper's ratio is at most 1.02; where the code lies moves a time by more
post  a post with the library's own memory takes few instructions more than with such an allocator
any   a read and a write through any_stream take few times as many instructions as those of the socket in it
limit a read with a time limit that completes at once takes few more instructions than one without
slot  a read with a cancellation slot that completes at once takes few more, too
stop  so does one with a stop token
asked a read that waits takes few more instructions in a coroutine that can be asked to end
until async_read_until that finds "\\r\\n" in the buffer takes few times as many as a bare await_ready that does
group operations that are awaited together take few times as many instructions as they do one by one
redis a GET of a client that nobody looks at takes as many instructions as one of a connection, and few more when its calls
      are counted, or when there are hooks; a typed one with a limit takes at most a tenth more than one without
next  a value of a generator takes fewer instructions than a call of a coroutine that returns one
C04   operations that succeed leave errno alone: no call of __errno_location is due to any of them
B07   starting an operation takes no atomic read-modify-write and no fence; what the loop does when it sleeps, or the budget
      when it has been used up, is no part of a start
C03   copies of a context's executor take none either

callgrind counts; each figure is the difference between N and 2 N operations, so that starting up does not count.
"""
import platform
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tools"))
import budgets
import callgrind

N = 5000
MOST_TIMES = 1.02  # row A13
# Of these functions the loop calls the first two around a wait for the system, and an item the third when it has used up its
# units. An operation pays for none of them when it starts.
NO_START = ("4loop11fall_asleepE", "4loop5awakeE", "10spend_slowE")


def takes_no_atomic(program: str, operations: tuple[str, ...], other: str) -> bool:
    """Whether none of the operations executes a locked instruction. The other one does, which shows that they are seen."""
    held = True
    for name in (*operations, other):
        found = {function: n for function, n in callgrind.count_locked_each(lambda n: [program, name, str(n)], N).items()
                 if not any(part in function for part in NO_START)}
        print(f"{name}: {sum(found.values()):.3f} atomic read-modify-writes and fences for one", *found)
        held &= bool(found) == (name == other)
    return held


def main() -> int:
    program, row = sys.argv[1:]
    if not callgrind.is_there():
        print("skipped: valgrind is not installed")
        return 77

    def operation(name: str) -> callgrind.Count:
        return callgrind.count_each(lambda n: [program, name, str(n)], N)
    if row == "A13":
        default, own = (callgrind.count_each(lambda n: [program, row, "endless", str(n)], N).instructions
                        for row in ("callback_default", "callback_custom"))
        print(f"default memory: {default:.1f} instructions for an operation, custom memory: {own:.1f}; "
              f"{default / own:.3f} times as many, of at most {MOST_TIMES}")
        return 0 if default <= MOST_TIMES * own else 1
    if row == "post":
        default, own = operation("post").instructions, operation("post_own_memory").instructions
        most = budgets.at_most("instructions_more", "post than post_own_memory")
        print(f"default memory: {default:.1f} instructions for an operation, own memory: {own:.1f}, "
              f"{default - own:.1f} more; the budget is {most}")
        return 0 if default - own <= most else 1
    if row == "any":
        plain, erased = operation("echo").instructions, operation("echo_any").instructions
        most = budgets.at_most("instructions_times", "echo_any than echo")
        print(f"a write and a read of a socket: {plain:.1f} instructions, through any_stream: {erased:.1f}, "
              f"{erased / plain:.2f} times as many; the budget is {most}")
        return 0 if erased <= most * plain else 1
    if row == "repeated":
        awaited, repeated = operation("read_until").instructions, operation("read_until_repeated").instructions
        most = budgets.at_most("instructions_times", "read_until_repeated than read_until")
        print(f"async_read_until, awaited: {awaited:.1f} instructions, by repeat_until(): {repeated:.1f}, "
              f"{repeated / awaited:.3f} times as many; the budget is {most}")
        return 0 if repeated <= most * awaited else 1
    if row in ("limit", "slot", "stop"):
        other = {"limit": "read_limited", "slot": "read_slotted", "stop": "read_stoppable"}[row]
        plain, more = operation("read").instructions, operation(other).instructions
        most = budgets.at_most("instructions_times", f"{other} than read")
        print(f"a read: {plain:.1f} instructions, with a {row} {more:.1f}, {more / plain:.2f} times as many; the budget is {most}")
        return 0 if more <= most * plain else 1
    if row == "asked":
        plain, asked = operation("exchange").instructions, operation("exchange_asked").instructions
        most = budgets.at_most("instructions_more", "exchange_asked than exchange")
        print(f"two reads that wait and two writes: {plain:.1f} instructions, in coroutines that can be asked {asked:.1f}, "
              f"{asked - plain:.1f} more; the budget is {most}")
        return 0 if asked - plain <= most else 1
    if row == "redis":
        connection = operation("get_connection").instructions
        held = True
        for other in ("get_client", "get_counted", "get_hooked"):
            more = operation(other).instructions - connection
            most = budgets.at_most("instructions_more", f"{other} than get_connection")
            print(f"GET: {connection:.1f} instructions with its server, {other}: {more:+.1f}; the budget is {most}")
            held &= more <= most
        for plain, limited in (("get_typed", "get_within"), ("get_typed", "get_typed_cancel_after"),
                               ("get_client", "get_cancel_after")):
            without, more = operation(plain).instructions, operation(limited).instructions
            most = budgets.at_most("instructions_times", f"{limited} than {plain}")
            print(f"{plain}: {without:.1f} instructions, {limited}: {more:.1f}, {more / without:.3f} times as many; the budget is "
                  f"{most}")
            held &= more <= most * without
        return 0 if held else 1
    if row == "next":
        call, value = operation("call").instructions, operation("next").instructions
        most = budgets.at_most("instructions_times", "next than call")
        print(f"a call: {call:.1f} instructions, a value of a generator: {value:.1f}, {value / call:.2f} times as many; the budget is "
              f"{most}")
        return 0 if value <= most * call else 1
    if row == "until":
        form = 'async_read_until(s, dynamic_buffer(text), "\\r\\n")'
        bare, found = operation("a bare await_ready").instructions, operation(form).instructions
        most = budgets.at_most("instructions_times", f"{form} than a bare await_ready")
        print(f"a bare await_ready: {bare:.1f} instructions, {form}: {found:.1f}, {found / bare:.2f} times as many; the budget is "
              f"{most}")
        return 0 if found <= most * bare else 1
    if row == "group":
        held = True
        for alone in ("read", "exchange", "due"):
            together = f"{'all' if alone == 'due' else 'any'}_{alone}"
            plain, group = operation(alone).instructions, operation(together).instructions
            most = budgets.at_most("instructions_times", f"{together} than {alone}")
            print(f"{alone}: {plain:.1f} instructions, {together}: {group:.1f}, {group / plain:.2f} times as many; the budget is "
                  f"{most}")
            held &= group <= most * plain
        return 0 if held else 1
    if row in ("B07", "C03"):
        if platform.machine() != "x86_64" or not shutil.which("objdump"):
            print("skipped: this counts instructions of x86-64 with objdump")
            return 77
        subjects = {"B07": (("echo", "echo_callbacks", "timer", "yield", "read_until", "read_until_sender", "try_step"), "strand"),
                    "C03": (("context",), "strand")}
        return 0 if takes_no_atomic(program, *subjects[row]) else 1
    one = operation("echo")
    errno = one.calls_of("errno_location")
    print(f"{2 * N} writes and reads more: {one.instructions:.1f} instructions and {errno:.4f} looks at errno for two")
    return 0 if errno == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
