// The cost of an operation in each usual way to write it: in instructions, counted with callgrind, and in blocks of
// memory. A program of its own: the templates instantiated beside an operation decide which parts of it are inlined.
// Here it is as many as in a program that has many operations.
//
//   forms FORM N     N operations, which all succeed
//   forms all N      of each form three parts: one operation, N, and 2 N of them
//   forms blocks     of each form: how many blocks of the recycler an operation takes, beside those of the coroutine
//   forms            their names
#include "even_clock.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/legacy/read_until_streambuf.hpp>
#include <fairlead/legacy/streambuf.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <array>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace fairlead;
using socket_type = local::stream_protocol::socket;

struct world {
    io_context context{1};
    io_context::executor_type executor = context.get_executor();
    any_io_executor any_executor = executor;
    strand<io_context::executor_type> on_strand = make_strand(executor);
    socket_type s{context}, peer{context};
    steady_timer timer{context, steady_timer::time_point::min()};
    std::string text = "Hello, world!\r\n\r\nand a long end";
    std::string const crlf = "\r\n", long_end = "and a long end";
    dynamic_string_buffer<char, std::char_traits<char>, std::allocator<char>> kept = dynamic_buffer(text);
    lazy_buffer lazy;
    streambuf other_text;
    std::array<char, 64> from{}, into{};
    std::array<const_buffer, 2> two_from{buffer(from, 32), buffer(from, 32)};
    std::array<mutable_buffer, 2> two_into{buffer(into, 32), buffer(into) + 32};

    world() {
        connect_pair(s, peer);
        lazy.commit(buffer_copy(lazy.prepare(text.size()), buffer(text)));
        other_text.commit(buffer_copy(other_text.prepare(text.size()), buffer(text)));
    }
};

/// The limit: what searches in the same way, and nothing else.
struct find_line {
    std::string& text;
    std::size_t found = 0;
    explicit find_line(std::string& t) noexcept : text(t) {}
    bool await_ready() noexcept {
        found = text.find("\r\n");
        return found != std::string::npos;
    }
    void await_suspend(std::coroutine_handle<>) const { std::abort(); }
    std::size_t await_resume() const noexcept { return found + 2; }
};
struct bare {
    struct promise_type {
        bare get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::abort(); }
    };
};
bare find_lines(std::string& text, long n) {
    for (; n != 0; --n) {
        asm volatile("" : : "r"(text.data()) : "memory"); // The text may have changed, as far as the compiler knows.
        find_line line(text);
        co_await line;
    }
}

using byte_iterator = buffers_iterator<const_buffer>;
std::pair<byte_iterator, bool> end_of_line(byte_iterator begin, byte_iterator end) {
    for (; begin != end; ++begin)
        if (*begin == '\n')
            return {begin + 1, true};
    return {begin, false};
}

struct chain;
struct again {
    chain* of;
    template <class... Args> void operator()(Args&&...) const;
};
/// Operations with callbacks, one after the other.
struct chain {
    world& w;
    long left;
    void (*start)(world&, again);
    void next() {
        if (left-- != 0)
            start(w, again{this});
    }
};
template <class... Args> void again::operator()(Args&&...) const { of->next(); }

struct form {
    char const* name;
    awaitable<void> (*coroutine)(world&, long);
    void (*start)(world&, again) = nullptr;

    void run(world& w, long n) const {
        if (coroutine) {
            co_spawn(w.context, coroutine(w, n), rethrow);
            w.context.run();
        } else {
            chain c{w, n, start};
            post(w.context, [&c] {           // Outside of the loop nothing is immediate.
                impl::exec::recycler_trim(); // The block of this post is none of theirs.
                c.next();
            });
            w.context.run();
        }
    }
};

#define FAIRLEAD_AWAITED(...)                                                                                          \
    {#__VA_ARGS__, []([[maybe_unused]] world& w, long n) -> awaitable<void> {                                          \
         for (; n != 0; --n)                                                                                           \
             co_await __VA_ARGS__;                                                                                     \
     }}
#define FAIRLEAD_BOTH_AWAITED(first, second)                                                                           \
    {#first "; " #second, [](world& w, long n) -> awaitable<void> {                                                    \
         for (; n != 0; --n) {                                                                                         \
             co_await first;                                                                                           \
             co_await second;                                                                                          \
         }                                                                                                             \
     }}
#define FAIRLEAD_CALLED(...) {#__VA_ARGS__, nullptr, [](world& w, again handler) { __VA_ARGS__; }}

auto then_read(world& w, again handler) {
    return [&w, handler](error_code, std::size_t) { async_read(w.peer, buffer(w.into), handler); };
}

constexpr auto hour = std::chrono::hours(1);

form const forms[] = {
    {"a bare await_ready",
     [](world& w, long n) -> awaitable<void> {
         find_lines(w.text, n);
         co_return;
     }},
    FAIRLEAD_AWAITED(async_read_until(w.s, dynamic_buffer(w.text), '\n')),
    FAIRLEAD_AWAITED(async_read_until(w.s, w.kept, '\n')),
    FAIRLEAD_AWAITED(async_read_until(w.s, dynamic_buffer(w.text), "\n")),
    FAIRLEAD_AWAITED(async_read_until(w.s, dynamic_buffer(w.text), "\r\n")),
    FAIRLEAD_AWAITED(async_read_until(w.s, dynamic_buffer(w.text), "\r\n", deferred)),
    FAIRLEAD_AWAITED(async_read_until(w.s, dynamic_buffer(w.text), "\r\n", use_awaitable)),
    FAIRLEAD_AWAITED(async_read_until(w.s, dynamic_buffer(w.text), "\r\n", as_tuple)),
    FAIRLEAD_AWAITED(async_read_until(w.s, dynamic_buffer(w.text), "\r\n", as_tuple(use_awaitable))),
    FAIRLEAD_AWAITED(async_read_until(w.s, dynamic_buffer(w.text), "\r\n", cancel_after(hour))),
    FAIRLEAD_AWAITED(async_read_until(w.s, dynamic_buffer(w.text, 4096), "\r\n")),
    FAIRLEAD_AWAITED(async_read_until(w.s, w.kept, "\r\n")),
    FAIRLEAD_AWAITED(async_read_until(w.s, dynamic_buffer(w.lazy), "\r\n")),
    FAIRLEAD_AWAITED(async_read_until(w.s, w.other_text, "\r\n")),
    FAIRLEAD_AWAITED(async_read_until(w.s, dynamic_buffer(w.text), "\r\n\r\n")),
    FAIRLEAD_AWAITED(async_read_until(w.s, dynamic_buffer(w.text), w.crlf)),
    FAIRLEAD_AWAITED(async_read_until(w.s, dynamic_buffer(w.text), std::string_view(w.crlf))),
    FAIRLEAD_AWAITED(async_read_until(w.s, dynamic_buffer(w.text), "and a long end")),
    FAIRLEAD_AWAITED(async_read_until(w.s, dynamic_buffer(w.text), w.long_end)),
    FAIRLEAD_AWAITED(async_read_until(w.s, dynamic_buffer(w.text), end_of_line)),
    FAIRLEAD_CALLED(async_read_until(w.s, dynamic_buffer(w.text), '\n', handler)),
    FAIRLEAD_CALLED(async_read_until(w.s, dynamic_buffer(w.text), "\r\n", handler)),
    FAIRLEAD_CALLED(async_read_until(w.s, dynamic_buffer(w.text), w.crlf, handler)),
    FAIRLEAD_CALLED(async_read_until(w.s, dynamic_buffer(w.text), '\n', bind_immediate_executor(w.executor, handler))),
    FAIRLEAD_CALLED(
        async_read_until(w.s, dynamic_buffer(w.text), "\r\n", bind_immediate_executor(w.executor, handler))),
    FAIRLEAD_CALLED(
        async_read_until(w.s, dynamic_buffer(w.text), "\r\n", bind_immediate_executor(w.any_executor, handler))),
    FAIRLEAD_AWAITED(this_coro::yield()),
    FAIRLEAD_AWAITED(post()),
    FAIRLEAD_AWAITED(post(deferred)),
    FAIRLEAD_AWAITED(post(w.executor)),
    FAIRLEAD_AWAITED(post(w.executor, deferred)),
    FAIRLEAD_AWAITED(post(w.executor, use_awaitable)),
    FAIRLEAD_AWAITED(post(w.context, deferred)),
    FAIRLEAD_AWAITED(post(w.any_executor, deferred)),
    FAIRLEAD_AWAITED(post(co_await this_coro::executor, deferred)),
    FAIRLEAD_AWAITED(post(w.on_strand, deferred)),
    FAIRLEAD_AWAITED(defer(w.executor, deferred)),
    FAIRLEAD_AWAITED(dispatch(deferred)),
    FAIRLEAD_AWAITED(dispatch(w.executor, deferred)),
    FAIRLEAD_AWAITED(dispatch(w.any_executor, deferred)),
    FAIRLEAD_CALLED(post(w.executor, handler)),
    FAIRLEAD_CALLED(post(w.any_executor, handler)),
    FAIRLEAD_AWAITED(w.timer.async_wait()),
    FAIRLEAD_AWAITED(w.timer.async_wait(deferred)),
    FAIRLEAD_AWAITED(w.timer.async_wait(as_tuple)),
    FAIRLEAD_CALLED(w.timer.async_wait(handler)),
    FAIRLEAD_BOTH_AWAITED(w.s.async_write_some(buffer(w.from)), w.peer.async_read_some(buffer(w.into))),
    FAIRLEAD_BOTH_AWAITED(async_write(w.s, buffer(w.from)), w.peer.async_read_some(buffer(w.into))),
    FAIRLEAD_BOTH_AWAITED(async_write(w.s, buffer(w.from)), async_read(w.peer, buffer(w.into))),
    FAIRLEAD_BOTH_AWAITED(async_write(w.s, buffer(w.from), deferred), async_read(w.peer, buffer(w.into), deferred)),
    FAIRLEAD_BOTH_AWAITED(async_write(w.s, buffer(w.from), as_tuple), async_read(w.peer, buffer(w.into), as_tuple)),
    FAIRLEAD_BOTH_AWAITED(async_write(w.s, w.two_from), async_read(w.peer, w.two_into)),
    FAIRLEAD_BOTH_AWAITED(w.s.async_write_some(w.two_from), w.peer.async_read_some(w.two_into)),
    FAIRLEAD_CALLED(async_write(w.s, buffer(w.from), then_read(w, handler))),
};

/// The expression that stands in the program, without the name of the world.
std::string name_of(form const& f) {
    std::string name = f.name;
    for (std::size_t at; (at = name.find("w.")) != std::string::npos;)
        name.erase(at, 2);
    return name;
}
std::uint64_t blocks_of(form const& f, long n) {
    world w;
    impl::exec::recycler_trim();
    auto const first = this_thread_recycler_counters().fresh;
    f.run(w, n);
    return this_thread_recycler_counters().fresh - first;
}

void run(form const& f, long n) {
    world w;
    f.run(w, n);
}

} // namespace

/// Where callgrind is to count anew.
extern "C" FAIRLEAD_NOINLINE void end_of_part() noexcept { asm volatile(""); }

int main(int argc, char** argv) {
    bool const is_all = argc > 1 && std::string_view(argv[1]) == "all";
    for (auto const& f : forms) {
        if (is_all) {
            for (long const n : {1L, std::atol(argv[2]), 2 * std::atol(argv[2])}) {
                run(f, n);
                end_of_part();
            }
        } else if (argc == 1)
            std::printf("%s\n", name_of(f).c_str());
        else if (std::string_view(argv[1]) == "blocks")
            std::printf("%s\t%d\n", name_of(f).c_str(), static_cast<int>(blocks_of(f, 1) - blocks_of(f, 0)));
        else if (argv[1] == name_of(f)) {
            run(f, std::atol(argv[2]));
            return 0;
        }
    }
    return argc > 1 && !is_all && std::string_view(argv[1]) != "blocks" ? 2 : 0;
}
