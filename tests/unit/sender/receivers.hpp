// Receivers that note how an operation has ended, and the loops to run it in.
#pragma once

#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sender/connected_op.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <string>
#include <utility>

namespace senders {

using namespace fairlead;
using namespace std::chrono_literals;

template <class Token> struct stop_environment {
    Token token;
    Token query(execution::get_stop_token_t) const noexcept { return token; }
};

/// Writes into a log: "value 3", "error end of file", "stopped".
template <class Token = never_stop_token> struct recorder {
    using receiver_concept = execution::receiver_tag;

    std::string* log;
    Token token{};

    template <class... Values>
        requires(std::is_arithmetic_v<Values> && ...)
    void set_value(Values... values) noexcept {
        *log += "value";
        ((*log += " " + std::to_string(values)), ...);
    }
    void set_error(error_code const& ec) noexcept { *log += "error " + ec.message(); }
    void set_error(std::exception_ptr const& e) noexcept {
        try {
            std::rethrow_exception(e);
        } catch (std::exception const& thrown) {
            *log += std::string("exception ") + thrown.what();
        }
    }
    void set_stopped() noexcept { *log += "stopped"; }
    stop_environment<Token> get_env() const noexcept { return {token}; }
};
using token_recorder = recorder<inplace_stop_token>;

/// A sender for a receiver, which can be started.
template <class Sender, class Receiver> auto connected(Sender&& s, Receiver r) {
    return execution::connect(std::forward<Sender>(s), std::move(r));
}

/// An operation of a test's own.
template <class Signature, class Initiation> auto made_of(Initiation init) {
    return async_initiate<use_await_t const, Signature>(std::move(init), use_await);
}

/// A simulated world with a pair of connected sockets.
class SenderWorld : public testing::Test {
public:
    SenderWorld() { local::connect_pair(socket, peer); }
    std::chrono::seconds passed() const { return std::chrono::floor<std::chrono::seconds>(world.now() - created); }
    /// Runs `f` in the loop.
    template <class F> void run_inside(F f) {
        post(context, std::move(f));
        world.run();
    }

    sim::world world{1};
    io_context& context = world.context();
    local::stream_protocol::socket socket{context}, peer{context};
    steady_clock::time_point const created = world.now();
    std::string log;
    inplace_stop_source stop;
};

} // namespace senders
