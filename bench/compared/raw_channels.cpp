// The limits of channels.cpp: coroutines with a ring between them, and a queue of those that can go on.
//
//   raw_channels ROW N
//     ROW  try, one, many  as channels.cpp says; one place is the least that such a ring has
#include "bare_coroutines.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace {

struct ring {
    long places[64];
    std::size_t capacity;
    std::size_t first = 0, size = 0;
    std::coroutine_handle<> waits = nullptr; ///< the sender or the receiver

    explicit ring(std::size_t n) : capacity(n) {}
    void wake() noexcept {
        if (waits)
            can_go_on.push_back(std::exchange(waits, nullptr));
    }
    void push(long n) noexcept {
        places[(first + size++) % 64] = n;
        wake();
    }
    long pop() noexcept {
        long const n = places[first];
        first = (first + 1) % 64;
        --size;
        wake();
        return n;
    }
    struct room {
        ring& of;
        explicit room(ring& r) noexcept : of(r) {}
        bool await_ready() const noexcept { return of.size != of.capacity; }
        void await_suspend(std::coroutine_handle<> h) const noexcept { of.waits = h; }
        void await_resume() const noexcept {}
    };
    struct message {
        ring& of;
        explicit message(ring& r) noexcept : of(r) {}
        bool await_ready() const noexcept { return of.size != 0; }
        void await_suspend(std::coroutine_handle<> h) const noexcept { of.waits = h; }
        long await_resume() const noexcept { return of.pop(); }
    };
};

started send(ring& to, long n) {
    for (long i = 1; i <= n; ++i) {
        co_await ring::room(to);
        to.push(i);
    }
}
started receive(ring& from, long n, long& sum) {
    for (; n > 0; --n)
        sum += co_await ring::message(from);
}
[[gnu::noinline]] void by_turns(ring& both, long n, long& sum) {
    for (long i = 1; i <= n; ++i) {
        both.push(i);
        sum += both.pop();
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    long const n = std::atol(argv[2]);
    long sum = 0;
    ring through(std::strcmp(argv[1], "one") == 0 ? 1 : 64);
    if (std::strcmp(argv[1], "try") == 0) {
        by_turns(through, n, sum);
    } else {
        receive(through, n, sum);
        send(through, n);
    }
    run_all();
    return sum == n * (n + 1) / 2 ? 0 : 1;
}
