// Senders of C++26 and this library, in both directions and without another library. A receiver that is written here
// reads from a socket and hears a stop. A coroutine awaits a sender that is written here, and is asked to end.
//
// Run as a test:
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/scope/cancel_after.hpp>
#include <fairlead/sender/await_sender.hpp>
#include <fairlead/sender/connected_op.hpp>
#include <fairlead/sender/scheduler.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>
#include <utility>

namespace ex = fairlead::execution;
using fairlead::awaitable;
using namespace std::chrono_literals;

// ---- our operations as senders

/// The environment in which an operation finds its stop token.
struct stop_environment {
    fairlead::inplace_stop_token token;
    fairlead::inplace_stop_token query(ex::get_stop_token_t) const noexcept { return token; }
};

/// Says how an operation has ended.
struct printing_receiver {
    using receiver_concept = ex::receiver_tag;

    char const* what;
    fairlead::inplace_stop_token token;

    void set_value(std::size_t n) noexcept { std::printf("%s: %zu bytes\n", what, n); }
    void set_error(fairlead::error_code const& ec) noexcept { std::printf("%s: %s\n", what, ec.message().c_str()); }
    void set_error(std::exception_ptr const&) noexcept { std::printf("%s: an exception\n", what); }
    void set_stopped() noexcept { std::printf("%s: stopped\n", what); }
    stop_environment get_env() const noexcept { return {token}; }
};

void read_as_sender(fairlead::io_context& ctx) {
    fairlead::local::stream_protocol::socket near(ctx), far(ctx);
    fairlead::local::connect_pair(near, far);
    fairlead::inplace_stop_source stop;
    char bytes[16];

    // The operation lies in the state, which stays here until it has ended. Nothing is allocated.
    auto first =
        ex::connect(near.async_read_some(fairlead::buffer(bytes)), printing_receiver{"first read", stop.get_token()});
    ex::start(first);
    far.write_some(fairlead::buffer("hello", 5));
    ctx.run();
    ctx.restart();

    auto second =
        ex::connect(near.async_read_some(fairlead::buffer(bytes)), printing_receiver{"second read", stop.get_token()});
    ex::start(second);
    stop.request_stop(); // By any thread.
    ctx.run();
    ctx.restart();
}

// ---- senders in our coroutines

/// A sender of somebody else's, which knows the protocol and nothing of this library. It ends when a stop is requested.
struct until_stopped {
    using sender_concept = ex::sender_tag;
    using completion_signatures = ex::completion_signatures<ex::set_value_t(), ex::set_stopped_t()>;

    template <class Receiver> struct state {
        using operation_state_concept = ex::operation_state_tag;
        struct on_stop {
            state* of;
            void operator()() noexcept { std::move(of->receiver).set_stopped(); }
        };
        using token = ex::stop_token_of_t<ex::env_of_t<Receiver>>;

        Receiver receiver;
        std::optional<fairlead::stop_callback_for_t<token, on_stop>> callback{};

        void start() noexcept { callback.emplace(ex::get_stop_token(ex::get_env(receiver)), on_stop{this}); }
    };
    template <class Receiver> state<Receiver> connect(Receiver r) const { return {std::move(r)}; }
};

awaitable<void> await_senders(fairlead::io_context& ctx) {
    co_await ctx.get_executor().schedule();
    std::puts("coroutine: its turn has come");
    auto waits = []() -> awaitable<void> { co_await until_stopped(); };
    try {
        co_await fairlead::cancel_after(5ms, waits());
    } catch (fairlead::system_error const& e) {
        std::printf("coroutine: %s\n", e.code() == fairlead::error::operation_aborted ? "stopped" : e.what());
    }
}

int main() {
    fairlead::io_context ctx(1);
    read_as_sender(ctx);
    co_spawn(ctx, await_senders(ctx), fairlead::rethrow);
    ctx.run();
}
