// The order of handlers, under many seeds: timers against a model of them, posts in their order, busy ones that leave
// others their turn. Exceptions leave nothing behind but themselves.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/executor.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>
#include <support/scale.hpp>

#include <sim/ledger.hpp>

#include <gtest/gtest.h>

#include <fairlead/sim/seeds.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using sim::rule;
using sim::world;
using test::alive;
using test::ledger;
using test::once;
using local_socket = local::stream_protocol::socket;

std::uint64_t turn_seeds() { return test::scaled(300, 40); }

std::int64_t now_ns() { return steady_clock::now().time_since_epoch().count(); }
steady_clock::time_point at_ns(std::int64_t ns) { return steady_clock::time_point(std::chrono::nanoseconds(ns)); }

// ---- timers

/// Does at random what can be done to timers, and knows what has to come of it. In a turn of the simulator the clock
/// stands still and due timers expire first. So the model knows exactly which waits can still be cancelled.
class timers_and_model {
public:
    explicit timers_and_model(world& w)
        : account(w),
          world_(w),
          in_order_(w.choose("in_order", 0, 1) == 1),
          steps_(w.choose("steps", 1, 250)),
          spread_(static_cast<std::uint32_t>(w.choose("spread", 0, 1) ? 6 : 400)),
          timers_(w.choose("timers", 1, 50)) {
        if (in_order_)
            w.set(rule::reorder, 0);
        for (auto& t : timers_)
            t.object = std::make_unique<steady_timer>(w.context());
        co_spawn(w.context(), act_now_and_then(alive(account)), detached);
    }
    std::size_t started() const noexcept { return waits_.size(); }

    ledger account;

private:
    struct wait {
        std::int64_t deadline;
        std::uint64_t armed_in_turn;
        bool is_cancelled = false;
        bool is_over = false;
    };
    struct timer {
        std::unique_ptr<steady_timer> object;
        std::int64_t deadline = 0;
        std::vector<std::size_t> waits{}; ///< oldest first
    };

    std::uint64_t turn() { return world_.context().counters().turns; }
    std::uint32_t below(std::uint32_t n) { return world_.random().below(n); }
    bool has_expired(wait const& w) { return w.deadline <= now_ns() && w.armed_in_turn < turn(); }

    awaitable<> act_now_and_then(alive) {
        steady_timer pause(world_.context());
        while (steps_ != 0) {
            --steps_;
            act();
            if (below(3) == 0) {
                pause.expires_after(std::chrono::microseconds(below(4) * 300));
                co_await pause.async_wait();
            }
        }
    }

    /// The model's side of cancelling the oldest `most`; returns how many had not expired.
    std::size_t cancel(timer& t, std::size_t most = static_cast<std::size_t>(-1)) {
        std::size_t n = 0;
        std::erase_if(t.waits, [&](std::size_t k) {
            auto& w = waits_[k];
            if (n == most || has_expired(w))
                return false;
            w.is_cancelled = true;
            ++n;
            return true;
        });
        return n;
    }

    void act() {
        auto& t = timers_[below(static_cast<std::uint32_t>(timers_.size()))];
        switch (below(10)) {
        case 0:
        case 1: { // In some worlds few different deadlines, so that many are equal.
            auto const expected = cancel(t);
            t.deadline = (now_ns() / 1'000'000 + below(spread_)) * 1'000'000;
            account.check(t.object->expires_at(at_ns(t.deadline)) == expected, "expires_at() cancels another number");
            return;
        }
        case 2: {
            auto const expected = cancel(t);
            auto const d = std::chrono::microseconds(static_cast<int>(below(4000)) - 500);
            account.check(t.object->expires_after(d) == expected, "expires_after() cancels another number");
            t.deadline = now_ns() + std::chrono::nanoseconds(d).count();
            account.check(t.object->expiry() == at_ns(t.deadline), "expires_after() counts from another time");
            return;
        }
        case 3: {
            auto const expected = cancel(t);
            account.check(t.object->cancel() == expected, "cancel() cancels another number");
            return;
        }
        case 4: {
            auto const expected = cancel(t, 1);
            account.check(t.object->cancel_one() == expected, "cancel_one() cancels another number");
            return;
        }
        case 5: return renew(t);
        case 6: {
            auto& other = timers_[below(static_cast<std::uint32_t>(timers_.size()))];
            if (&other == &t) {
                auto moved = std::make_unique<steady_timer>(std::move(*t.object));
                t.object = std::move(moved);
                return;
            }
            cancel(t);
            *t.object = std::move(*other.object);
            t.deadline = other.deadline;
            t.waits.insert(t.waits.end(), other.waits.begin(), other.waits.end());
            other.waits.clear();
            return renew(other);
        }
        default: return start_wait(t);
        }
    }
    void renew(timer& t) {
        cancel(t);
        t.object.reset();
        t.object = std::make_unique<steady_timer>(world_.context());
        t.deadline = 0;
    }
    void start_wait(timer& t) {
        auto const k = waits_.size();
        waits_.push_back({t.deadline, turn()});
        t.waits.push_back(k);
        if (below(2))
            t.object->async_wait(once(account, [this, k, a = alive(account)](error_code ec) { end(k, ec); }));
        else
            co_spawn(world_.context(), await(*t.object, k, alive(account)), detached);
    }
    awaitable<> await(steady_timer& t, std::size_t k, alive) {
        auto const [ec] = co_await t.async_wait(as_tuple);
        end(k, ec);
    }
    void end(std::size_t k, error_code ec) {
        auto& w = waits_[k];
        account.check(!w.is_over, "a wait completes twice");
        w.is_over = true;
        if (w.is_cancelled) {
            account.check(ec == error::operation_aborted, "a cancelled wait has not been aborted");
        } else {
            account.check(!ec, "a wait that nobody cancelled fails");
            account.check(now_ns() >= w.deadline, "a timer is early");
            account.check(w.armed_in_turn < turn(), "a wait completes in the turn that armed it");
            if (in_order_)
                check_order(k);
        }
        for (auto& t : timers_)
            std::erase(t.waits, k);
        if (steps_ != 0 && below(3) == 0) {
            --steps_;
            act();
        }
    }
    void check_order(std::size_t k) {
        auto const& w = waits_[k];
        for (auto const& t : timers_)
            for (auto const other : t.waits) {
                auto const& o = waits_[other];
                bool const before = o.deadline != w.deadline ? o.deadline < w.deadline : other < k;
                if (other != k && before && o.armed_in_turn <= w.armed_in_turn)
                    account.fault("a later timer overtakes an earlier one");
            }
    }

    world& world_;
    bool in_order_;
    std::uint64_t steps_;
    std::uint32_t spread_;
    std::vector<timer> timers_;
    std::vector<wait> waits_;
};

TEST(CoreTurns, TimersDoWhatTheirModelSays) {
    std::size_t waits = 0;
    auto const sum = sim::for_each_seed(turn_seeds(), [&](world& w) {
        timers_and_model m(w);
        w.run();
        m.account.settle();
        EXPECT_EQ(m.account.faults(), "");
        waits += m.started();
    });
    EXPECT_GT(waits, sum.seeds * 20);
}

/// A periodic timer of the simplest kind on a host that is stopped now and then.
awaitable<> tick(steady_clock::duration period, unsigned ticks, ledger& l, alive) {
    steady_timer t(co_await this_coro::executor);
    auto last = steady_clock::now();
    for (unsigned i = 0; i != ticks; ++i) {
        t.expires_after(period);
        co_await t.async_wait();
        auto const now = steady_clock::now();
        l.check(now - last >= period, "ticks come in a burst");
        last = now;
    }
}

TEST(CoreTurns, AfterAPauseAPeriodicTimerCatchesUpOnce) {
    sim::for_each_seed(turn_seeds(), [](world& w) {
        ledger l(w);
        auto const period = std::chrono::milliseconds(w.choose("period_ms", 1, 50));
        auto const ticks = static_cast<unsigned>(w.choose("ticks", 1, 60));
        auto const tickers = w.choose("tickers", 1, 4);
        auto& h = w.add_host("ticking", [&](io_context& c) {
            for (std::uint64_t i = 0; i != tickers; ++i)
                co_spawn(c, tick(period, ticks, l, alive(l)), detached);
        });
        auto at = 0ns;
        for (auto n = w.choose("pauses", 0, 5); n != 0; --n) {
            at += std::chrono::microseconds(w.random().below(400'000));
            w.at(at, [&h] { h.pause(); });
            at += std::chrono::microseconds(w.random().below(400'000));
            w.at(at, [&h] { h.resume(); });
        }
        l.covers(h);
        w.run();
        l.settle();
        EXPECT_EQ(l.faults(), "");
    });
}

// ---- posts

/// Everything that goes through the run queue, numbered as it was queued.
class queue_order {
public:
    explicit queue_order(world& w) : account(w), world_(w), left_(w.choose("posts", 1, 400)) {
        w.set(rule::reorder, 0); // the order of the queue is what this is about
        account.stack_begins();
        for (auto n = w.choose("roots", 1, 5); n != 0; --n)
            enqueue();
    }
    ledger account;

private:
    std::uint32_t below(std::uint32_t n) { return world_.random().below(n); }
    io_context& context() { return world_.context(); }

    void enqueue() {
        auto const number = queued_++;
        if (!context().get_executor().running_in_this_thread() || below(4))
            post(context(), once(account, [this, number, a = alive(account)] { turn_of(number); }));
        else if (below(2))
            co_spawn(context(), give_way(number, below(2) == 0, alive(account)), detached); // starts at once
        else
            context().get_executor().execute([this, number, a = alive(account)] { turn_of(number); });
    }
    awaitable<> give_way(std::uint64_t number, bool by_post, alive) {
        if (by_post)
            co_await post(context());
        else
            co_await this_coro::yield();
        turn_of(number);
    }
    void turn_of(std::uint64_t number) {
        account.touch_stack();
        account.check(number == next_, "what was queued later runs earlier");
        next_ = number + 1;
        account.check(context().get_executor().running_in_this_thread(), "a handler does not run on its executor");
        bool inside = false;
        if (below(8) == 0) {
            dispatch(context(), [&inside] { inside = true; });
            account.check(inside, "dispatch() on the executor itself is put off");
        }
        for (auto n = below(4); n != 0 && left_ != 0; --n) {
            --left_;
            enqueue();
        }
        // Handlers may run others from inside; the context stays theirs.
        if (nested_ < 3 && below(16) == 0) {
            ++nested_;
            auto const before = next_;
            auto const more_before = ran_inside_;
            bool const any = queued_ != next_;
            auto const n = below(2) ? context().poll_one() : context().poll();
            // Handlers that a run inside the nested one has run are not counted again.
            account.check(next_ - before == n + (ran_inside_ - more_before), "poll() does not tell how many it ran");
            account.check(!any || n != 0, "poll() runs nothing of what is queued");
            ran_inside_ += n;
            account.check(context().get_executor().running_in_this_thread(), "a nested run gives the context away");
            --nested_;
        }
    }

    world& world_;
    std::uint64_t left_;
    std::uint64_t queued_ = 0, next_ = 0;
    std::uint64_t ran_inside_ = 0;
    int nested_ = 0;
};

TEST(CoreTurns, WhatIsQueuedRunsInItsOrderAlsoFromInsideHandlers) {
    sim::for_each_seed(turn_seeds(), [](world& w) {
        queue_order q(w);
        w.run();
        q.account.settle();
        EXPECT_EQ(q.account.faults(), "");
    });
}

// ---- busy ones

/// Coroutines and handlers that are never kept waiting, together with some that want their turn.
class crowd {
public:
    explicit crowd(world& w)
        : account(w),
          world_(w),
          by_itself_(w.choose("context_runs_itself", 0, 3) == 0),
          yields_left_(by_itself_ ? 200 : 60),
          ticks_left_(by_itself_ ? 3 : 30),
          a_(w.context()),
          b_(w.context()) {
        local::connect_pair(a_, b_);
        auto& c = w.context();
        account.stack_begins();
        // A context that runs itself looks at its timers every 61 batches, which takes long with long items.
        auto const most = by_itself_ ? 0U : 3U;
        for (auto n = grow(w.choose("readers", 0, most)); n != 0; --n)
            co_spawn(c, read_what_is_there(alive(account)), detached);
        for (auto n = grow(w.choose("callers", 0, most)); n != 0; --n)
            co_spawn(c, call_children(alive(account)), detached);
        for (auto n = grow(w.choose("starters", 0, most)); n != 0; --n)
            co_spawn(c, start_what_is_done(alive(account)), detached);
        for (auto n = grow(w.choose("computers", 0, most)); n != 0; --n)
            co_spawn(c, compute(alive(account)), detached);
        for (auto n = grow(w.choose("posters", 0, 3)); n != 0; --n)
            post_again();
        chain_left_ = w.choose("chain", 0, by_itself_ ? 0 : 3000);
        if (grow(chain_left_ != 0))
            async_read_until(a_, dynamic_buffer(text_), "\r\n", inline_reader{this, alive(account)});
        co_spawn(c, want_a_turn(alive(account)), detached);
        co_spawn(c, want_the_time(alive(account)), detached);
        stop_after_ = w.choose("stop_after", 0, 40);
    }

    void run() {
        run_some();
        if (is_stopping_) {
            is_stopping_ = false;
            has_stopped_ = true;
            world_.context().restart();
            run_some();
        }
    }
    bool has_stopped() const noexcept { return has_stopped_; }

    ledger account;

private:
    static constexpr std::uint64_t units_most = 2'000'000; // far beyond every bound, so that a broken one ends, too

    std::uint64_t grow(std::uint64_t n) {
        size_ += n;
        return n;
    }
    void run_some() {
        if (by_itself_)
            world_.context().run();
        else
            world_.run();
    }
    bool is_over() const noexcept { return (yields_left_ == 0 && ticks_left_ == 0) || units_ > units_most; }

    /// Somebody is busy for one unit.
    void unit() {
        ++units_;
        account.check(!is_stopping_, "others still run after stop()");
        if (units_ == units_most)
            account.fault("others wait for ever");
    }
    /// Somebody begins an item of the run queue.
    void item() {
        auto const turn = world_.context().counters().turns;
        if (std::exchange(turn_, turn) != turn)
            items_ = 0;
        account.check(++items_ <= fairness::batch_items, "a batch has more items than published");
        unit();
    }

    awaitable<> read_what_is_there(alive) {
        while (!is_over()) {
            co_await async_read_until(a_, dynamic_buffer(text_), "\r\n");
            unit();
        }
    }
    awaitable<int> child(alive) { co_return 1; }
    awaitable<> call_children(alive) {
        while (!is_over()) {
            co_await child(alive(account));
            unit();
        }
    }
    awaitable<> start_what_is_done(alive) {
        while (!is_over()) {
            co_await completion_token_transform<void()>(use_await, [](auto&& h) { std::forward<decltype(h)>(h)(); });
            unit();
        }
    }
    awaitable<> compute(alive) {
        while (!is_over()) {
            co_await this_coro::yield_if_due();
            unit();
        }
    }
    void post_again() {
        post(world_.context(), once(account, [this, a = alive(account)] {
                 item();
                 if (!is_over())
                     post_again();
             }));
    }
    /// Wants to be called at once, which is granted sixteen deep.
    struct inline_reader {
        using immediate_executor_type = io_context::executor_type;
        crowd* c;
        alive a;
        immediate_executor_type get_immediate_executor() const noexcept { return c->world_.context().get_executor(); }
        void operator()(error_code, std::size_t) {
            ++c->depth_;
            c->account.check(c->depth_ <= fairness::inline_depth_most + 1, "handlers run ever deeper in one another");
            c->account.touch_stack();
            c->unit();
            if (auto* const crowd_ = c; !crowd_->is_over() && crowd_->chain_left_ != 0) {
                --crowd_->chain_left_;
                async_read_until(crowd_->a_, dynamic_buffer(crowd_->text_), "\r\n", inline_reader(*this));
            }
            --c->depth_;
        }
    };

    /// Nobody runs more than twice between two turns of this one, even if the queue is shuffled in between.
    awaitable<> want_a_turn(alive) {
        auto const bound = 2 * (size_ + 2) * static_cast<std::uint64_t>(fairness::units_most);
        for (; yields_left_ != 0; --yields_left_) {
            auto const before = units_;
            co_await this_coro::yield();
            account.check(units_ - before <= bound, "an item gets more units than published");
            unit();
            if (units_ > units_most)
                yields_left_ = 1;
            if (stop_after_ != 0 && --stop_after_ == 0)
                post(world_.context(), [this] {
                    is_stopping_ = true;
                    world_.context().stop();
                });
        }
    }
    awaitable<> want_the_time(alive) {
        steady_timer t(world_.context());
        auto const batches = by_itself_ ? fairness::batches_per_poll + 2 : 4;
        auto const bound = std::uint64_t{batches} * fairness::batch_items *
                           static_cast<std::uint64_t>(by_itself_ ? 1 : fairness::units_most);
        for (; ticks_left_ != 0; --ticks_left_) {
            auto const before = units_;
            t.expires_after(0s);
            co_await t.async_wait();
            account.check(units_ - before <= bound, "a timer waits longer than published");
            if (units_ > units_most)
                ticks_left_ = 1;
        }
    }

    world& world_;
    bool by_itself_;
    std::uint64_t yields_left_, ticks_left_;
    local_socket a_, b_;
    std::string text_ = "always there\r\n";
    std::uint64_t size_ = 0;
    std::uint64_t units_ = 0;
    std::uint64_t turn_ = 0;
    unsigned items_ = 0;
    unsigned depth_ = 0;
    std::uint64_t chain_left_ = 0;
    std::uint64_t stop_after_ = 0;
    bool is_stopping_ = false;
    bool has_stopped_ = false;
};

TEST(CoreTurns, BusyOnesLeaveOthersTheirTurnAndStopIsHeard) {
    std::uint64_t stopped = 0;
    auto const sum = sim::for_each_seed(turn_seeds(), [&](world& w) {
        crowd c(w);
        c.run();
        c.account.settle();
        EXPECT_EQ(c.account.faults(), "");
        stopped += c.has_stopped();
    });
    EXPECT_GT(stopped, sum.seeds / 4);
}

/// Accepts from a storm of connections that are there already, one unit each, and then waits for one more.
awaitable<> accept_storm(ip::tcp::acceptor& a, std::uint64_t n, std::uint64_t& units, ledger& l, alive) {
    for (;;) {
        auto const [ec, s] = co_await a.async_accept(as_tuple);
        if (ec) {
            l.check(ec == error::operation_aborted, "a connection of the storm is not accepted");
            break;
        }
        l.check(s.is_open() && ++units <= n, "a connection is accepted that nobody made");
    }
}
awaitable<> watch_storm(std::uint64_t n, std::uint64_t acceptors, std::uint64_t& units, ledger& l, alive) {
    while (units < n) {
        auto const before = units;
        co_await this_coro::yield();
        l.check(units - before <= 2 * acceptors * static_cast<std::uint64_t>(fairness::units_most),
                "the storm gets more than the published units");
    }
}

TEST(CoreTurns, StormOfConnectionsLeavesOthersTheirTurn) {
    sim::for_each_seed(test::scaled(100, 20), [](world& w) {
        ledger l(w);
        w.set(rule::not_ready, 0); // every one of them is there at once
        ip::tcp::acceptor a(w.context(), ip::tcp::endpoint(ip::address_v4::loopback(), 0));
        // One that was out of budget when there was one more may find that somebody else has taken it.
        auto const n = w.choose("connections", 1, 700), acceptors = w.choose("acceptors", 1, 3);
        std::vector<ip::tcp::socket> clients;
        for (std::uint64_t i = 0; i != n; ++i)
            clients.emplace_back(w.context()).connect(a.local_endpoint());
        std::uint64_t units = 0;
        std::uint64_t over = 0;
        steady_timer end(w.context(), 10s);
        end.async_wait(once(l, [&, k = alive(l)](error_code) { a.close(); }));
        for (std::uint64_t i = 0; i != acceptors; ++i)
            co_spawn(w.context(), accept_storm(a, n, units, l, alive(l)), [&](std::exception_ptr e) { over += !e; });
        co_spawn(w.context(), watch_storm(n, acceptors, units, l, alive(l)), detached);
        w.run();
        l.settle();
        EXPECT_EQ(l.faults(), "");
        EXPECT_EQ(units, n);
        EXPECT_EQ(over, acceptors);
    });
}

TEST(CoreTurns, ManyTimersAtOnceComeInBatches) {
    sim::for_each_seed(test::scaled(100, 20), [](world& w) {
        ledger l(w);
        auto const n = w.choose("timers", 1, 2000);
        auto const due = w.now() + 1ms;
        std::vector<steady_timer> timers;
        std::uint64_t expired = 0, turn = 0, in_turn = 0;
        for (std::uint64_t i = 0; i != n; ++i)
            timers.emplace_back(w.context(), due).async_wait(once(l, [&, a = alive(l)](error_code) {
                ++expired;
                auto const now = w.context().counters().turns;
                in_turn = std::exchange(turn, now) == now ? in_turn + 1 : 1;
                l.check(in_turn <= fairness::batch_items, "one turn takes more timers than published");
            }));
        w.run();
        l.settle();
        EXPECT_EQ(l.faults(), "");
        EXPECT_EQ(expired, n);
    });
}

// ---- exceptions

struct planned : std::runtime_error {
    planned() : std::runtime_error("planned") {}
};

/// An operation of a user that might be done at once, is not, and cannot be started either.
struct start_that_throws {
    std::optional<std::tuple<>> try_step() const { return std::nullopt; }
    template <class Handler> void operator()(Handler&&) const { throw planned(); }
};

/// All that runs handlers, and coroutines too, with some that throw.
class throwers {
public:
    explicit throwers(world& w) : account(w), world_(w), a_(w.context()), b_(w.context()) {
        local::connect_pair(a_, b_);
        for (auto n = w.choose("handlers", 1, 60); n != 0; --n)
            post(w.context(), once(account, [this, a = alive(account)] { start_one(); }));
    }
    std::uint64_t planned_to_leave = 0;
    ledger account;

private:
    std::uint32_t below(std::uint32_t n) { return world_.random().below(n); }

    void start_one() {
        bool const throws = below(2) == 0;
        planned_to_leave += throws;
        auto& c = world_.context();
        auto const leave = [throws] {
            if (throws)
                throw planned();
        };
        switch (below(6)) {
        case 0: return post(c, once(account, [leave, a = alive(account)] { leave(); }));
        case 1: {
            auto t = std::make_shared<steady_timer>(c, std::chrono::microseconds(below(3000)));
            return t->async_wait(once(account, [leave, t, a = alive(account)](error_code) { leave(); }));
        }
        case 2: {
            auto byte = std::make_shared<char>();
            b_.write_some(buffer("x", 1));
            return a_.async_read_some(buffer(byte.get(), 1), once(account, [leave, byte, a = alive(account)](
                                                                               error_code, std::size_t) { leave(); }));
        }
        case 3: // at the end of a coroutine, which may be the end of its start, too
            return co_spawn(c, pause(below(2) * below(900), alive(account)),
                            once(account, [leave, a = alive(account)](std::exception_ptr) { leave(); }));
        case 4: { // An exception inside belongs to the handler of the coroutine, which passes it on.
            auto const pass_on = [this, throws, a = alive(account)](std::exception_ptr e, int) {
                account.check(static_cast<bool>(e) == throws, "the exception of a coroutine is lost");
                if (e)
                    std::rethrow_exception(e);
            };
            return co_spawn(c, throw_from_below(throws, below(4), alive(account)), once(account, pass_on));
        }
        default: { // An operation that cannot be started: its coroutine is told, and may go on.
            planned_to_leave -= throws;
            auto const told = [this, a = alive(account)](std::exception_ptr e) {
                account.check(!e, "a failed start leaves its coroutine");
            };
            return co_spawn(c, start_in_vain(below(300), alive(account)), once(account, told));
        }
        }
    }
    awaitable<> pause(unsigned microseconds, alive) {
        if (microseconds != 0) {
            steady_timer t(world_.context(), std::chrono::microseconds(microseconds));
            co_await t.async_wait();
        }
    }
    awaitable<int> throw_from_below(bool throws, unsigned depth, alive) {
        if (depth != 0)
            co_return co_await throw_from_below(throws, depth - 1, alive(account));
        co_await pause(below(2), alive(account));
        if (throws)
            throw planned();
        co_return 1;
    }
    awaitable<> start_in_vain(unsigned times, alive) {
        unsigned caught = 0;
        for (unsigned i = 0; i != times; ++i)
            try {
                co_await completion_token_transform<void()>(use_await, start_that_throws());
            } catch (planned const&) {
                ++caught;
            }
        account.check(caught == times, "a start fails and nobody is told");
    }

    world& world_;
    local_socket a_, b_;
};

TEST(CoreTurns, ExceptionsLeaveRunAndNothingElseBehind) {
    std::uint64_t all = 0;
    auto const sum = sim::for_each_seed(turn_seeds(), [&](world& w) {
        throwers t(w);
        std::uint64_t left = 0;
        for (bool again = true; again;)
            try {
                w.run();
                again = false;
            } catch (planned const&) {
                ++left;
            }
        t.account.settle();
        EXPECT_EQ(t.account.faults(), "");
        EXPECT_EQ(left, t.planned_to_leave);
        all += left;
    });
    EXPECT_GT(all, sum.seeds);
}

} // namespace
