// Groups of operations and coroutines, under many seeds. Trees of when_all, when_all_settled, when_any and
// when_any_success, of limits and shields are asked to end, fail, and are destroyed with their context. Each group is
// held to what its parts have really done.
#include <fairlead/coro/awaitable_operators.hpp>
#include <fairlead/coro/shield.hpp>
#include <fairlead/coro/when_any.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/scope/cancel_after.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <support/scale.hpp>

#include <sim/ledger.hpp>

#include <gtest/gtest.h>

#include <fairlead/sim/seeds.hpp>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using sim::world;
using test::alive;
using test::ledger;
using local_socket = local::stream_protocol::socket;

struct some_failure : std::runtime_error {
    some_failure() : std::runtime_error("some failure") {}
};

/// A part of a group notes here how far it has come.
struct part_state {
    enum { not_begun, running, gave_value, threw } is = not_begun;
};

/// In the frame of a part.
class part_account {
public:
    explicit part_account(part_state& s) noexcept : state_(s) { state_.is = part_state::running; }
    part_account(part_account const&) = delete;
    part_account& operator=(part_account const&) = delete;
    int gives(int value) noexcept {
        state_.is = part_state::gave_value;
        return value;
    }
    ~part_account() {
        if (state_.is == part_state::running)
            state_.is = part_state::threw; // Or it was destroyed; then nobody asks.
    }

private:
    part_state& state_;
};

class forest {
public:
    explicit forest(world& w)
        : account(w),
          world_(w),
          context_(w.context()),
          may_fail_(w.choose("may_fail", 0, 1) == 1) {
        account.stack_begins();
        auto const trees = w.choose("trees", 1, 6);
        for (std::uint64_t i = 0; i != trees; ++i) {
            signals_.push_back(std::make_unique<cancellation_signal>());
            states_.push_back(std::make_unique<part_state>());
            co_spawn(context_, grow(3, *states_.back(), alive(account)),
                     bind_cancellation_slot(signals_.back()->slot(), [this](std::exception_ptr, int) { ++ended_; }));
        }
        if (w.choose("asks", 0, 2) != 0)
            for (auto& s : signals_)
                world_.at(std::chrono::microseconds(below(4'000)), [&s] { s->emit(cancellation_type::terminal); });
        if (w.choose("destroys", 0, 7) == 0)
            world_.at(std::chrono::microseconds(below(3'000)), [this] {
                is_destroyed_ = true;
                account.end_everything();
            });
    }
    void settle() {
        account.settle();
        if (!is_destroyed_)
            account.check(ended_ == signals_.size(), "a tree has not ended");
    }
    std::size_t groups() const noexcept { return groups_; }

    ledger account;

private:
    std::uint32_t below(std::uint32_t n) { return world_.random().below(n); }

    // ---- leaves

    awaitable<int> wait(part_state& s, alive) {
        part_account mine(s);
        steady_timer t(context_, std::chrono::microseconds(below(5'000)));
        co_await t.async_wait();
        co_return mine.gives(1);
    }
    awaitable<int> fail(part_state& s, alive) {
        part_account const mine(s);
        steady_timer t(context_, std::chrono::microseconds(below(5'000)));
        co_await t.async_wait();
        throw some_failure();
    }
    awaitable<int> give_at_once(part_state& s, alive) {
        part_account mine(s);
        co_return mine.gives(1);
    }
    awaitable<int> insist(part_state& s, alive) {
        part_account mine(s);
        co_await this_coro::reset_cancellation_state(disable_cancellation());
        steady_timer t(context_, std::chrono::microseconds(below(2'000)));
        co_await t.async_wait();
        co_return mine.gives(1);
    }
    /// Its bytes are those that were sent, whatever races with the reads.
    awaitable<int> receive(part_state& s, alive) {
        part_account mine(s);
        local_socket near(context_), far(context_);
        local::connect_pair(near, far);
        std::string const sent = "some bytes";
        std::string received;
        steady_timer limit(context_);
        char place[4];
        bool is_sent = false;
        while (received.size() != sent.size()) {
            limit.expires_after(std::chrono::microseconds(below(300)));
            if (!is_sent) {
                is_sent = true;
                co_await async_write(far, buffer(sent));
            }
            auto won = co_await when_any(limit.async_wait(), near.async_read_some(buffer(place)));
            account.touch_stack();
            if (won.get<1>())
                received.append(place, won.get<1>().value());
        }
        account.check(received == sent, "a race has lost or repeated bytes");
        co_return mine.gives(1);
    }

    // ---- inner nodes

    awaitable<int> grow(int depth, part_state& s, alive a) {
        auto const leaf = below(may_fail_ ? 6 : 5);
        if (depth != 0 && below(4) != 0)
            return make_group(depth, s, a);
        switch (leaf) {
        case 0:
        case 1: return wait(s, a);
        case 2: return give_at_once(s, a);
        case 3: return insist(s, a);
        case 4: return receive(s, a);
        default: return fail(s, a);
        }
    }
    struct parts {
        std::vector<awaitable<int>> all;
        std::vector<std::unique_ptr<part_state>> states;
    };
    parts make_parts(int depth) {
        parts p;
        for (auto n = below(5); n != 0; --n) {
            p.states.push_back(std::make_unique<part_state>());
            p.all.push_back(grow(depth - 1, *p.states.back(), alive(account)));
        }
        return p;
    }
    void check_ended(parts const& p) {
        account.touch_stack();
        for (auto const& s : p.states)
            account.check(s->is != part_state::running, "a group has ended before one of its parts");
    }
    template <class Outcome> void check_outcome(part_state const& s, Outcome const& o) {
        account.check(o.has_value() == (s.is == part_state::gave_value),
                      "an outcome has a value that is not its part's");
        account.check((o.error() != nullptr) == (s.is == part_state::threw),
                      "an outcome has an error that is not its part's");
    }
    template <class Won> void check_won(parts const& p, Won const& won) {
        for (std::size_t i = 0; i != won.size(); ++i)
            check_outcome(*p.states[i], won[i]);
        account.check(won.size() == 0 || won[won.index()].has_value(), "the winner has no value");
    }
    void check_nobody_won(parts const& p) {
        for (auto const& each : p.states)
            account.check(each->is != part_state::gave_value, "a race throws although a part has a value");
        check_ended(p);
    }
    awaitable<int> make_group(int depth, part_state& s, alive) {
        part_account mine(s);
        ++groups_;
        auto p = make_parts(depth);
        switch (below(8)) {
        case 0:
            try {
                auto const values = co_await when_all(std::move(p.all));
                for (auto const& each : p.states)
                    account.check(each->is == part_state::gave_value, "when_all gives values of a part that has none");
                account.check(values.size() == p.states.size(), "when_all loses a value");
            } catch (std::exception const&) {
                check_ended(p);
                throw;
            }
            break;
        case 1: {
            auto const outcomes = co_await when_all_settled(std::move(p.all));
            for (std::size_t i = 0; i != outcomes.size(); ++i)
                check_outcome(*p.states[i], outcomes[i]);
            break;
        }
        case 2: try { check_won(p, co_await when_any(std::move(p.all)));
            } catch (std::exception const&) {
                check_nobody_won(p);
                throw;
            }
            break;
        case 3: try { check_won(p, co_await when_any_success(std::move(p.all)));
            } catch (std::exception const&) {
                check_nobody_won(p);
                throw;
            }
            break;
        case 4:
        case 5: { // an inner limit beside those outside
            part_state one;
            auto limited = cancel_after(std::chrono::microseconds(below(4'000)), grow(depth - 1, one, alive(account)));
            try {
                co_await std::move(limited);
                account.check(one.is == part_state::gave_value, "a limit gives a value that its part has not given");
            } catch (std::exception const&) {
                account.check(one.is == part_state::threw || one.is == part_state::not_begun,
                              "a limit has ended before its part, or has lost its value");
                throw;
            }
            break;
        }
        case 6: { // It waits for nobody but the clock.
            part_state one;
            auto shielded = shield(wait(one, alive(account)));
            co_await std::move(shielded);
            account.check(one.is == part_state::gave_value, "a request has passed a shield");
            break;
        }
        default: {
            using namespace experimental::awaitable_operators;
            part_state left, right;
            p.states.clear();
            steady_timer t(context_, std::chrono::microseconds(below(3'000)));
            auto const won = co_await (grow(depth - 1, left, alive(account)) ||
                                       grow(depth - 1, right, alive(account)) || t.async_wait());
            account.check(left.is != part_state::running && right.is != part_state::running,
                          "an operator has ended before one of its sides");
            account.check(won.index() != 0 || left.is == part_state::gave_value,
                          "the left side has won without a value");
            account.check(won.index() != 1 || right.is == part_state::gave_value,
                          "the right side has won without a value");
            break;
        }
        }
        check_ended(p);
        co_return mine.gives(1);
    }

    world& world_;
    io_context& context_;
    bool may_fail_;
    bool is_destroyed_ = false;
    std::vector<std::unique_ptr<cancellation_signal>> signals_;
    std::vector<std::unique_ptr<part_state>> states_;
    std::size_t ended_ = 0, groups_ = 0;
};

TEST(CoreGroups, EachEndsWithWhatItsPartsHaveDone) {
    std::size_t groups = 0;
    sim::for_each_seed(test::scaled(400, 40), [&groups](world& w) {
        forest f(w);
        w.run();
        f.settle();
        EXPECT_EQ(f.account.faults(), "");
        groups += f.groups();
    });
    bool const is_whole = !std::getenv("SIM_SEED") && !std::getenv("SIM_COUNT") && !std::getenv("SIM_JOBS");
    EXPECT_TRUE(groups > 100 || !is_whole);
}

} // namespace
