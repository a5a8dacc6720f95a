// A proxy between a client and a server on loopback, which cuts, holds and slows down what passes.
#pragma once

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sim/random.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::test {

class redis_proxy {
public:
    redis_proxy(io_context& c, ip::tcp::endpoint server, std::uint64_t seed)
        : context_(c),
          acceptor_(c, ip::tcp::endpoint(ip::make_address("127.0.0.1"), 0)),
          server_(server),
          random_(seed, 2),
          port_(acceptor_.local_endpoint().port()) {}
    redis_proxy(redis_proxy const&) = delete;
    redis_proxy& operator=(redis_proxy const&) = delete;

    std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    awaitable<void> serve() {
        for (error_code ec;;) {
            auto l = std::make_shared<link>(context_);
            auto accepting = acceptor_.async_accept(l->client, redirect_error(ec));
            co_await std::move(accepting);
            if (ec)
                co_return;
            links_.push_back(l);
            co_spawn(context_, carry(std::move(l)), detached);
        }
    }
    /// Nothing passes any more, or again.
    void hold(bool is_held) { is_held_ = is_held; }
    /// A few bytes at a time.
    void slow_down(bool is_slow) { is_slow_ = is_slow; }
    /// So many of the next pieces pass in part, and are the last of their connections.
    void cut_next(std::uint32_t n) { cuts_ = n; }
    void cut_all() {
        for (auto const& each : std::exchange(links_, {}))
            each->close();
    }
    void close() {
        error_code ignored; // It goes either way.
        acceptor_.close(ignored);
        cut_all();
    }

private:
    struct link {
        explicit link(io_context& c) : client(c), server(c) {}
        void close() {
            error_code ignored; // They are closed either way.
            client.close(ignored);
            server.close(ignored);
        }
        ip::tcp::socket client, server;
    };

    awaitable<void> carry(std::shared_ptr<link> l) {
        error_code ec;
        auto connecting = l->server.async_connect(server_, redirect_error(ec));
        co_await std::move(connecting);
        if (ec || !l->client.is_open()) {
            l->close();
            co_return;
        }
        co_spawn(context_, pass(l, l->client, l->server), detached);
        co_spawn(context_, pass(l, l->server, l->client), detached);
    }
    awaitable<void> pass(std::shared_ptr<link> l, ip::tcp::socket& from, ip::tcp::socket& to) {
        std::array<char, 4096> space;
        steady_timer pause(context_);
        for (error_code ec; !ec;) {
            auto reading = from.async_read_some(buffer(space.data(), is_slow_ ? 1 + random_.below(64) : space.size()),
                                                redirect_error(ec));
            auto n = co_await std::move(reading);
            if (ec)
                break;
            for (bool waits = is_slow_; waits || is_held_; waits = false) {
                pause.expires_after(std::chrono::milliseconds(1));
                auto resting = pause.async_wait();
                co_await std::move(resting);
            }
            bool const is_cut = cuts_ != 0;
            if (is_cut) {
                --cuts_;
                n = random_.below(static_cast<std::uint32_t>(n) + 1);
            }
            auto writing = async_write(to, buffer(space.data(), n), redirect_error(ec));
            co_await std::move(writing);
            if (is_cut)
                break;
        }
        l->close();
    }

    io_context& context_;
    ip::tcp::acceptor acceptor_;
    ip::tcp::endpoint server_;
    sim::random_stream random_;
    std::uint16_t port_;
    std::vector<std::shared_ptr<link>> links_;
    std::uint32_t cuts_ = 0;
    bool is_held_ = false, is_slow_ = false;
};

} // namespace fairlead::test
