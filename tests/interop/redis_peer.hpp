// The peers of the Redis connection in tests: servers that a test plays byte by byte.
#pragma once

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/redis/connection.hpp>
#include <fairlead/token/adapters.hpp>
#include <support/deadline.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace fairlead::test {

/// Runs until nothing is left to do; fails the test instead of hanging.
inline void run_all(io_context& ctx, std::chrono::seconds limit = std::chrono::seconds(60)) {
    waiting_for const w("the end of all work (run_all)");
    ctx.restart();
    ctx.run_for(limit);
    EXPECT_TRUE(ctx.stopped()) << "something still waits";
}

/// A completion handler for co_spawn: an exception of the coroutine fails the test.
struct rethrow_to_test {
    void operator()(std::exception_ptr e) const {
        if (!e)
            return;
        try {
            std::rethrow_exception(e);
        } catch (std::exception const& x) {
            ADD_FAILURE() << x.what();
        }
    }
};

inline constexpr std::string_view hello_reply = "%2\r\n+server\r\n+scripted\r\n+proto\r\n:3\r\n";

/// One accepted connection of a scripted server.
class scripted_peer {
public:
    explicit scripted_peer(ip::tcp::socket s) : socket_(std::move(s)) {}

    /// Reads until so many bytes have come in all; returns all of them.
    awaitable<std::string> receive(std::size_t total) {
        char piece[4096];
        while (received_.size() < total) {
            auto reading = socket_.async_read_some(buffer(piece), as_tuple);
            auto const [ec, n] = co_await std::move(reading);
            if (ec)
                break;
            received_.append(piece, n);
        }
        co_return received_;
    }
    /// Reads until `text` has come.
    awaitable<bool> receive_text(std::string_view text) {
        while (received_.find(text) == received_.npos) {
            auto const before = received_.size();
            auto reading = receive(before + 1);
            co_await std::move(reading);
            if (received_.size() == before)
                co_return false;
        }
        co_return true;
    }
    awaitable<void> send(std::string_view bytes) {
        while (!bytes.empty()) {
            auto writing = socket_.async_write_some(buffer(bytes), as_tuple);
            auto const [ec, n] = co_await std::move(writing);
            if (ec)
                co_return;
            bytes.remove_prefix(n);
        }
    }
    /// Until the client closes.
    awaitable<void> drain() {
        auto reading = receive(static_cast<std::size_t>(-1));
        co_await std::move(reading);
    }
    ip::tcp::socket& socket() noexcept { return socket_; }

private:
    ip::tcp::socket socket_;
    std::string received_;
};

/// Accepts one connection and plays `script` on it.
class scripted_server {
public:
    using script_function = std::function<awaitable<void>(scripted_peer&)>;

    scripted_server(io_context& ctx, script_function script)
        : acceptor_(ctx, ip::tcp::endpoint(ip::make_address("127.0.0.1"), 0)),
          script_(std::move(script)) {
        co_spawn(ctx, play(*this, ctx), rethrow_to_test{});
    }
    std::string address() const {
        return "127.0.0.1:" + std::to_string(const_cast<ip::tcp::acceptor&>(acceptor_).local_endpoint().port());
    }

private:
    static awaitable<void> play(scripted_server& self, io_context& ctx) {
        ip::tcp::socket socket(ctx);
        auto accepting = self.acceptor_.async_accept(socket);
        co_await std::move(accepting);
        scripted_peer peer(std::move(socket));
        auto playing = self.script_(peer);
        co_await std::move(playing);
    }
    ip::tcp::acceptor acceptor_;
    script_function script_;
};

/// The result of async_run or async_exec.
struct outcome {
    error_code ec;
    std::size_t n = 0;
    int times = 0;
    auto handler() {
        return [this](error_code e, std::size_t count = 0) {
            ec = e;
            n = count;
            ++times;
        };
    }
};

} // namespace fairlead::test
