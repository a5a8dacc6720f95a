// Callers of one client whose calls carry tokens, in simulated worlds. The server is killed, frozen and loses power.
// The way to it is cut, slow or broken, and every read and write may fail. No answer may be another's, none may be
// missing. No command that counts may be executed twice. The same callers meet a real server in tests/stress/redis.cpp.
#include <gtest/gtest.h>

#include <stress/redis_token.hpp>

#include <fairlead/redis_server/server.hpp>
#include <fairlead/sim/seeds.hpp>
#include <fairlead/sim/world.hpp>
#include <support/scale.hpp>

#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;

/// A host that serves, and the keys that outlive each of its processes.
class simulated_surroundings : public token_surroundings {
public:
    /// Without HELLO its clients speak RESP2.
    simulated_surroundings(sim::world& w, bool has_hello)
        : world_(w),
          server_(w.add_server("redis",
                               [this, has_hello](sim::host& h) { return serve(h.context(), data_, has_hello); })) {}

    std::string address() const override { return "redis:6379"; }
    void reached_from(sim::host& h) { app_ = &h; }
    /// Beside what disturb() does.
    void allow_more() {
        for (auto const r : drastic)
            world_.allow(r);
    }
    void disturb(sim::random_stream& random) override {
        switch (random.below(9)) {
        case 0: std::exchange(runs_, !runs_) ? server_.kill() : server_.restart(); break;
        case 1: std::exchange(runs_, !runs_) ? server_.crash() : server_.restart(); break;
        case 2: server_.pause(); break;
        case 3: world_.partition(*app_, server_); break;
        case 4: world_.partition_one_way(server_, *app_); break;
        case 5: world_.set_link(*app_, server_, {.latency = 1ms, .jitter = 20ms, .bytes_per_second = 2'000}); break;
        default: mend(); break;
        }
    }
    void heal() override {
        mend();
        for (auto const r : drastic)
            world_.set(r, 0);
    }

private:
    static constexpr sim::rule drastic[] = {sim::rule::reset, sim::rule::refuse, sim::rule::unreachable,
                                            sim::rule::unanswered, sim::rule::accept_error};

    static awaitable<void> serve(io_context& context, std::shared_ptr<redis::server_data> data, bool has_hello) {
        redis::server_options options("0.0.0.0", 6379);
        options.engine.data = std::move(data);
        options.engine.has_hello = has_hello;
        redis::server server(context, std::move(options));
        add_scripts(server);
        steady_timer never(context, steady_clock::time_point::max());
        auto waiting = never.async_wait();
        co_await std::move(waiting);
    }
    static void add_scripts(redis::server& server) {
        auto const count = [](redis::server_script_run& s) {
            auto const token = s.arguments()[0];
            return redis::server_value({std::string(token), s.run({"HINCRBY", s.keys()[0], token, "1"})});
        };
        server.add_script(token_count_script, count);
        server.add_script(token_store_script, [count](redis::server_script_run& s) {
            s.run({"SET", s.keys()[1], s.arguments()[1]});
            return count(s);
        });
    }
    void mend() {
        world_.heal();
        world_.set_link(*app_, server_, {});
        server_.resume();
        if (!std::exchange(runs_, true))
            server_.restart();
    }

    sim::world& world_;
    std::shared_ptr<redis::server_data> data_ = std::make_shared<redis::server_data>();
    sim::host& server_;
    sim::host* app_ = nullptr;
    bool runs_ = true; ///< the process
};

awaitable<void> play(io_context& context, simulated_surroundings& around, token_round& round) {
    auto playing = play_tokens(context, round, around);
    bool const is_whole = co_await std::move(playing);
    if (!is_whole)
        throw std::runtime_error("calls do not end");
    auto settling = settle_tokens(context, round, around.address());
    co_await std::move(settling);
}

TEST(RedisTokens, EveryCallEndsWithItsOwnAnswerAndCountsOnce) {
    token_tally all;
    sim::for_each_seed(scaled(300, 20), [&](sim::world& w) {
        w.step_limit(60'000);
        token_round round(w.seed());
        round.is_resp2 = w.choose("resp2", 0, 3) == 0;
        simulated_surroundings around(w, !round.is_resp2);
        if (w.choose("more_faults", 0, 1) != 0)
            around.allow_more();
        around.reached_from(w.add_host("app", [&](sim::host& h) { return play(h.context(), around, round); }));
        w.run();
        auto const t = round.ledger.tally();
        for (auto const& what : round.ledger.complaints())
            ADD_FAILURE() << "seed " << w.seed() << ": " << what;
        if (!t.is_good())
            throw std::runtime_error("a promise was broken");
        all.add(t);
    });
    if (all.calls == 0)
        return; // The worlds ran in processes of their own, which have kept their promises. This one counted nothing.
    EXPECT_EQ(all.wrong + all.unended + all.doubled, 0U);
    // Otherwise nothing was at stake.
    EXPECT_GT(all.ends[static_cast<std::size_t>(token_end::answered)], all.calls / 4);
    EXPECT_GT(all.ends[static_cast<std::size_t>(token_end::not_executed)], 0U);
    EXPECT_GT(all.ends[static_cast<std::size_t>(token_end::perhaps)], 0U);
    EXPECT_GT(all.counted, all.calls / 4);
    if (all.calls > 2'000) { // in more than the world of one seed
        EXPECT_GT(all.unknown_scripts, 0U);
        EXPECT_GT(all.handled, 0U);
        EXPECT_GT(all.resp2, 0U);
    }
    std::fputs(all.text("").c_str(), stdout);
}

} // namespace
} // namespace fairlead::test
