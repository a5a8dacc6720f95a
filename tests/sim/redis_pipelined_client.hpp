// The workload by which simulators are compared: one connection, 500 requests of many callers, cancels, short reads and
// writes, resets, reconnects. It counts as little as it can, so that seeds are cheap. It counts two faults that
// clients really had: a cancelled request's reply goes to the next one, or old requests survive a
// reconnect.
//
// Shared by a test and a benchmark.
#pragma once

#include "redis_world.hpp"

#include <fairlead/redis/connection.hpp>
#include <fairlead/sim/world.hpp>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace fairlead::test {

struct pipelined_counts {
    std::uint64_t replies = 0;
    std::uint64_t not_executed = 0;
    std::uint64_t unknown = 0;
    std::uint64_t cancelled = 0; ///< among the two above
    std::uint64_t connections = 0;
};

class pipelined_client : public shadow_listener {
public:
    static constexpr std::uint32_t requests = 500;

    explicit pipelined_client(sim::world& w)
        : server(w.seed(), this),
          world_(w),
          draws_(w.seed(), 5000),
          callers_(w.choose("callers", 1, 100)),
          calls_left_(static_cast<std::uint32_t>(w.choose("requests", requests, requests))),
          records_(calls_left_ + 1) {
        constexpr std::uint32_t patience_us[] = {1'000, 5'000, 50'000, 1'000'000};
        patience_us_ = patience_us[w.choose("patience", 0, 3)];
    }

    awaitable<void> run(io_context& context) {
        redis::connection connection(context);
        std::vector<std::unique_ptr<caller>> all;
        live_ = static_cast<std::uint32_t>(callers_);
        running_ = true;
        steady_timer over(context, steady_clock::time_point::max());
        spawn(context, keep_connected(context, connection));
        for (std::uint64_t i = 0; i != callers_; ++i) {
            all.push_back(std::make_unique<caller>());
            spawn(context, call(connection, *all.back(), over));
        }
        spawn(context, give_up(context, connection, all));
        while (live_ != 0) {
            over.expires_at(steady_clock::time_point::max());
            auto waiting = over.async_wait(as_tuple);
            co_await std::move(waiting);
        }
        connection.cancel();
        while (running_ || cancelling_) {
            over.expires_after(std::chrono::milliseconds(1));
            auto waiting = over.async_wait(as_tuple);
            co_await std::move(waiting);
        }
        if (connection.pending() != 0)
            fail("requests are pending although nobody waits");
        is_done_ = true;
    }

    /// After the world's run: nothing is missing.
    void audit() {
        if (!is_done_)
            fail("not done");
        if (counts.replies + counts.not_executed + counts.unknown + calls_left_ != records_.size() - 1)
            fail("requests are missing");
        counts.connections = server.connections();
    }

    shadow_redis server;
    pipelined_counts counts;

private:
    enum class fate : std::uint8_t { unknown, not_executed, done };
    struct record {
        std::uint8_t executed = 0;
        fate known = fate::unknown;
        bool is_over = false;
    };
    struct caller {
        redis::request request;
        std::string reply;
        bool waits = false;
    };

    [[noreturn]] static void fail(std::string const& what) { throw std::runtime_error(what); }

    void executed(std::uint32_t, tag t) override {
        auto& r = records_.at(t.request);
        if (++r.executed != 1)
            fail("executed twice: " + std::to_string(t.request));
        if (r.is_over && r.known == fate::not_executed)
            fail("reported as not executed, but sent: " + std::to_string(t.request));
    }
    void answered(std::uint32_t session, tag t, std::string_view) override {
        if (session == last_session_ && t.request < last_request_)
            fail("out of order: " + std::to_string(t.request));
        last_session_ = session;
        last_request_ = t.request;
    }
    void offended(std::uint32_t, std::string_view what) override { fail("the client " + std::string(what)); }

    awaitable<void> call(redis::connection& connection, caller& c, steady_timer& over) {
        while (calls_left_ != 0) {
            std::uint32_t const id = static_cast<std::uint32_t>(records_.size()) - calls_left_--;
            auto const text = tag_text(id, 0);
            c.request.clear();
            c.request.push("ECHO", text);
            c.waits = true;
            error_code ec;
            auto executing = connection.async_exec(c.request, c.reply, redirect_error(ec));
            co_await std::move(executing);
            c.waits = false;
            auto& r = records_[id];
            if (std::exchange(r.is_over, true))
                fail("completed twice: " + std::to_string(id));
            if (!ec) {
                ++counts.replies;
                r.known = fate::done;
                if (c.reply != text)
                    fail("somebody else's reply: " + c.reply + " for " + text);
                if (r.executed == 0)
                    fail("answered, but not executed: " + text);
            } else if (ec == redis::error::maybe_executed) {
                ++counts.unknown;
            } else if (ec == redis::condition::not_executed) {
                ++counts.not_executed;
                r.known = fate::not_executed;
                if (r.executed != 0)
                    fail("reported as not executed: " + text);
            } else {
                fail("an unexpected end: " + ec.message());
            }
        }
        if (--live_ == 0)
            over.cancel();
    }

    awaitable<void> keep_connected(io_context& context, redis::connection& connection) {
        redis::config config;
        config.address = "10.0.0.1";
        config.keep_unsent = world_.choose("keep_unsent", 0, 1) != 0;
        steady_timer pause(context);
        while (live_ != 0) {
            error_code ec;
            auto running = connection.async_run(config, redirect_error(ec));
            co_await std::move(running);
            if (live_ == 0)
                break;
            pause.expires_after(std::chrono::microseconds(draws_.below(2'000)));
            auto waiting = pause.async_wait(as_tuple);
            co_await std::move(waiting);
        }
        running_ = false;
    }

    /// Now and then somebody loses patience.
    awaitable<void> give_up(io_context& context, redis::connection& connection,
                            std::vector<std::unique_ptr<caller>> const& all) {
        cancelling_ = true;
        steady_timer pause(context);
        while (live_ != 0) {
            pause.expires_after(std::chrono::microseconds(draws_.below(patience_us_)));
            auto waiting = pause.async_wait(as_tuple);
            co_await std::move(waiting);
            auto const& c = *all[draws_.below(static_cast<std::uint32_t>(all.size()))];
            if (c.waits)
                counts.cancelled += connection.cancel(c.request);
        }
        cancelling_ = false;
    }

    sim::world& world_;
    sim::random_stream draws_;
    std::uint64_t callers_;
    std::uint32_t calls_left_;
    std::uint32_t patience_us_;
    std::uint32_t live_ = 0;
    bool running_ = false, cancelling_ = false, is_done_ = false;
    std::vector<record> records_;
    std::uint32_t last_session_ = 0;
    std::uint64_t last_request_ = 0;
};

/// One seed's worth.
inline pipelined_counts run_pipelined_client(sim::world& w) {
    auto const c = std::make_shared<pipelined_client>(w); // Kept by the hosts, whose frames refer to it.
    w.allow(sim::rule::reset);
    w.add_server("redis", [c](sim::host& h) { return c->server.serve(h.context()); });
    w.add_host("app", [c](sim::host& h) { return c->run(h.context()); });
    if (!w.run_for(std::chrono::minutes(10)))
        throw std::runtime_error("not done after ten minutes");
    c->audit();
    return c->counts;
}

} // namespace fairlead::test
