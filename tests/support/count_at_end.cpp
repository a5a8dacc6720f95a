// Part of builds that measure coverage. The counts of gcov are written when a process exits. Here they are written,
// too, when it is ended by an assertion, which calls abort(), or by _exit(), as processes are that a test forks.
extern "C" {
void __gcov_dump();

[[noreturn]] void __real_abort();
[[noreturn]] void __wrap_abort() {
    __gcov_dump();
    __real_abort();
}

[[noreturn]] void __real__exit(int status);
[[noreturn]] void __wrap__exit(int status) {
    __gcov_dump();
    __real__exit(status);
}
}
