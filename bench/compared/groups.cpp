// The cost of awaiting two operations together. One source for Fairlead (through the headers of fairlead::asio_compat) and
// for Asio.
//
//   groups ROW N
//     ROW      race           two coroutines send a byte to and fro over a UNIX pair; each read races with a timer of an
//                             hour, by the operator ||
//              race_when_any  the same by when_any; Fairlead alone
//              both           a coroutine awaits two timers that are due, by the operator &&
//              both_when_all  the same by when_all; Fairlead alone
//     N        races, or pairs of timers, in all
#include <asio.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#ifdef FAIRLEAD_VERSION_MAJOR
#include <fairlead/coro/when_any.hpp>
#endif

#include <chrono>
#include <cstdlib>
#include <cstring>

namespace {

using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;
using socket_type = asio::local::stream_protocol::socket;

struct by_operators {
    static asio::awaitable<void> race(socket_type& s, asio::mutable_buffer place, asio::steady_timer& limit) {
        co_await (s.async_read_some(place, asio::use_awaitable) || limit.async_wait(asio::use_awaitable));
    }
    static asio::awaitable<void> both(asio::steady_timer& a, asio::steady_timer& b) {
        co_await (a.async_wait(asio::use_awaitable) && b.async_wait(asio::use_awaitable));
    }
};
#ifdef FAIRLEAD_VERSION_MAJOR
struct by_functions {
    static auto race(socket_type& s, asio::mutable_buffer place, asio::steady_timer& limit) {
        return fairlead::when_any(s.async_read_some(place), limit.async_wait());
    }
    static auto both(asio::steady_timer& a, asio::steady_timer& b) {
        return fairlead::when_all(a.async_wait(), b.async_wait());
    }
};
#endif

template <class How> asio::awaitable<void> send_to_and_fro(socket_type& s, bool begins, long n) {
    asio::steady_timer limit(s.get_executor());
    char byte = 'x';
    for (; n > 0; --n) {
        if (begins)
            co_await asio::async_write(s, asio::buffer(&byte, 1), asio::use_awaitable);
        limit.expires_after(1h);
        co_await How::race(s, asio::buffer(&byte, 1), limit);
        if (!begins)
            co_await asio::async_write(s, asio::buffer(&byte, 1), asio::use_awaitable);
    }
}

template <class How> asio::awaitable<void> wait_for_both(asio::io_context& context, long n) {
    asio::steady_timer a(context), b(context);
    for (; n > 0; --n) {
        a.expires_after(0s);
        b.expires_after(0s);
        co_await How::both(a, b);
    }
}

template <class How> void race(long n) {
    asio::io_context context(1);
    socket_type a(context), b(context);
    asio::local::connect_pair(a, b);
    asio::co_spawn(context, send_to_and_fro<How>(a, true, n / 2), asio::detached);
    asio::co_spawn(context, send_to_and_fro<How>(b, false, n / 2), asio::detached);
    context.run();
}
template <class How> void both(long n) {
    asio::io_context context(1);
    asio::co_spawn(context, wait_for_both<How>(context, n), asio::detached);
    context.run();
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    auto const is = [&](char const* row) { return std::strcmp(argv[1], row) == 0; };
    long const n = std::atol(argv[2]);
    if (is("race"))
        race<by_operators>(n);
    else if (is("both"))
        both<by_operators>(n);
#ifdef FAIRLEAD_VERSION_MAJOR
    else if (is("race_when_any"))
        race<by_functions>(n);
    else if (is("both_when_all"))
        both<by_functions>(n);
#endif
    else
        return 2;
}
