// The cost of a time limit, a slot or a stop token around an awaited read, counted with callgrind: N reads, all of which
// succeed. A program of its own: the templates instantiated beside an operation decide which parts of it are inlined.
//
//   limits read N              one byte of many that are there
//   limits read_limited N      the same with a time limit
//   limits read_slotted N      the same with a cancellation slot
//   limits read_stoppable N    the same with a stop token
//   limits exchange N          two coroutines that send a byte to and fro, so that each read waits: 2 N reads
//   limits exchange_limited N  the same with time limits around the reads
//   limits exchange_asked N    the same without limits, in coroutines that can be asked to end
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/bind_stop_token.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>

#include <chrono>
#include <cstdlib>
#include <stop_token>
#include <string>
#include <string_view>

namespace {

using namespace fairlead;
using socket_type = local::stream_protocol::socket;

struct no_limit {
    static auto token() { return use_await; }
};
cancellation_signal never_emitted;
struct own_slot {
    static auto token() { return bind_cancellation_slot(never_emitted.slot()); }
};
std::stop_source never_requested;
struct stop_token_of_its_own {
    static auto token() { return bind_stop_token(never_requested.get_token()); }
};
struct hour_long_limit {
    static auto token() { return cancel_after(std::chrono::hours(1)); }
};

template <class Limit> awaitable<void> read_bytes(socket_type& from, socket_type& to, std::size_t n) {
    std::string const all(n, 'x');
    co_await async_write(to, buffer(all));
    char byte;
    for (std::size_t i = 0; i != n; ++i)
        co_await from.async_read_some(buffer(&byte, 1), Limit::token());
}

template <class Limit> awaitable<void> send_to_and_fro(socket_type& s, bool begins, std::size_t n) {
    char byte = 'x';
    for (std::size_t i = 0; i != n; ++i) {
        if (begins)
            co_await async_write(s, buffer(&byte, 1));
        co_await s.async_read_some(buffer(&byte, 1), Limit::token());
        if (!begins)
            co_await async_write(s, buffer(&byte, 1));
    }
}

template <class Limit> void start(io_context& context, socket_type& a, socket_type& b, bool waits, std::size_t n) {
    if (waits) {
        co_spawn(context, send_to_and_fro<Limit>(a, true, n), detached);
        co_spawn(context, send_to_and_fro<Limit>(b, false, n), detached);
    } else {
        co_spawn(context, read_bytes<Limit>(a, b, n), detached);
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    std::string_view const mode = argv[1];
    auto const n = static_cast<std::size_t>(std::atol(argv[2]));
    io_context context(1);
    socket_type a(context), b(context);
    connect_pair(a, b);
    bool const waits = mode.starts_with("exchange");
    cancellation_signal ends_a, ends_b;
    if (mode.ends_with("_asked")) {
        co_spawn(context, send_to_and_fro<no_limit>(a, true, n), bind_cancellation_slot(ends_a.slot(), detached));
        co_spawn(context, send_to_and_fro<no_limit>(b, false, n), bind_cancellation_slot(ends_b.slot(), detached));
    } else if (mode.ends_with("_limited"))
        start<hour_long_limit>(context, a, b, waits, n);
    else if (mode.ends_with("_slotted"))
        start<own_slot>(context, a, b, waits, n);
    else if (mode.ends_with("_stoppable"))
        start<stop_token_of_its_own>(context, a, b, waits, n);
    else
        start<no_limit>(context, a, b, waits, n);
    context.run();
}
