// Scopes under many seeds. Tasks end, fail, spawn, hold permits of a semaphore and wait for an event. Meanwhile the
// scope is closed, drained or cancelled, its coroutine is asked to end, or the context ends. Each scope is held to what
// its tasks have really done.
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/scope/task_scope.hpp>
#include <fairlead/sim/seeds.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <support/scale.hpp>

#include <sim/ledger.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using sim::world;
using test::alive;
using test::ledger;

struct failure_of_a_task : std::runtime_error {
    failure_of_a_task() : std::runtime_error("failure of a task") {}
};

/// The events in one scope, counted.
struct scope_account {
    std::size_t limit = 0, running = 0, most = 0, begun = 0, gave = 0, failed = 0, aborted = 0, taken = 0;
    bool is_closed = false;
    bool began_after_the_end = false;
};

/// In the frame of a task.
class task_account {
public:
    explicit task_account(scope_account& of) noexcept : of_(of) {
        ++of_.begun;
        of_.most = std::max(of_.most, ++of_.running);
        of_.began_after_the_end |= of_.is_closed;
    }
    task_account(task_account const&) = delete;
    task_account& operator=(task_account const&) = delete;
    ~task_account() { --of_.running; }

private:
    scope_account& of_;
};

class scopes {
public:
    explicit scopes(world& w)
        : account(w),
          world_(w),
          context_(w.context()),
          permits_(context_, w.choose("permits", 1, 3)),
          gate_(context_),
          all_permits_(permits_.permits()) {
        account.stack_begins();
        auto const trees = w.choose("scopes", 1, 4);
        for (std::uint64_t i = 0; i != trees; ++i) {
            signals_.push_back(std::make_unique<cancellation_signal>());
            co_spawn(context_, one_scope(2, alive(account)),
                     bind_cancellation_slot(signals_.back()->slot(), [this](std::exception_ptr, int) { ++ended_; }));
        }
        world_.at(std::chrono::microseconds(below(4'000)), [this] { gate_.set(); });
        if (w.choose("asks", 0, 2) != 0)
            for (auto& s : signals_)
                world_.at(std::chrono::microseconds(below(6'000)), [&s] { s->emit(cancellation_type::terminal); });
        if (w.choose("destroys", 0, 7) == 0)
            world_.at(std::chrono::microseconds(below(3'000)), [this] {
                is_destroyed_ = true;
                account.end_everything();
            });
    }
    void settle() {
        account.settle();
        if (is_destroyed_)
            return;
        account.check(ended_ == signals_.size(), "a scope has not ended");
        account.check(permits_.permits() == all_permits_, "permits are lost, or there are too many");
        account.check(holders_ == 0, "a permit is held");
    }
    std::size_t tasks() const noexcept { return tasks_; }

    ledger account;

private:
    std::uint32_t below(std::uint32_t n) { return world_.random().below(n); }

    awaitable<void> sleep() {
        steady_timer t(context_, std::chrono::microseconds(below(3'000)));
        co_await t.async_wait();
    }

    /// Notes an exception that leaves a task.
    void note(scope_account& of) {
        try {
            throw;
        } catch (failure_of_a_task const&) {
            ++of.failed;
        } catch (system_error const& e) {
            account.check(e.code() == error::operation_aborted, "a task ends with an error of somebody else's");
            ++of.aborted;
        }
    }
    awaitable<int> task(scope_account& of, task_scope<int>& in, int depth, alive) {
        task_account const mine(of);
        ++tasks_;
        try {
            switch (below(7)) {
            case 0: break;
            case 1: co_await sleep(); break;
            case 2: co_await hold_a_permit(); break;
            case 3: {
                auto [ec] = co_await gate_.async_wait(cancel_after(std::chrono::microseconds(below(3'000)), as_tuple));
                account.check(!ec || ec == error::operation_aborted, "a wait ends with a strange error");
                break;
            }
            case 4:
                co_await sleep();
                if (below(3) == 0)
                    throw failure_of_a_task();
                break;
            case 5:
                co_await sleep();
                if (depth != 0)
                    in.try_spawn(&scopes::task, this, std::ref(of), std::ref(in), depth - 1, alive(account));
                break;
            default:
                if (depth != 0)
                    co_await one_scope(depth - 1, alive(account));
            }
        } catch (...) {
            note(of);
            throw;
        }
        ++of.gave;
        co_return 1;
    }
    awaitable<void> hold_a_permit() {
        auto [ec] = co_await permits_.async_acquire(cancel_after(std::chrono::microseconds(below(4'000)), as_tuple));
        if (ec)
            co_return;
        struct held {
            scopes& of;
            explicit held(scopes& s) : of(s) { ++of.holders_; }
            held(held const&) = delete;
            ~held() {
                --of.holders_;
                of.permits_.release();
            }
        } const mine(*this);
        account.check(holders_ <= all_permits_, "more hold a permit than there are permits");
        co_await sleep();
    }

    awaitable<int> one_scope(int depth, alive) {
        scope_account of;
        of.limit = below(3) == 0 ? 1 + below(3) : std::numeric_limits<std::size_t>::max();
        constexpr on_failure policies[] = {on_failure::ends_scope, on_failure::is_kept, on_failure::is_dropped};
        scope_options const options{.at_most = of.limit, .failures = policies[below(3)]};
        bool body_failed = false;
        try {
            co_await with_scope<int>(options, [&, this](task_scope<int>& s) -> awaitable<void> {
                try {
                    co_await body(of, s, depth);
                } catch (...) {
                    body_failed = true;
                    throw;
                }
            });
            account.check(!body_failed, "the failure of a body is lost");
            account.check(of.failed == 0 || options.failures == on_failure::is_dropped,
                          "the failure of a task is lost");
        } catch (failure_of_a_task const&) {
            account.check(body_failed || (of.failed != 0 && options.failures != on_failure::is_dropped),
                          "a scope throws what no task has thrown");
        } catch (multiple_exceptions const&) {
            account.check(of.failed + of.aborted > 1 && options.failures == on_failure::is_kept,
                          "a scope throws several failures that are not there");
        } catch (system_error const& e) {
            account.check(e.code() == error::operation_aborted, "a scope ends with an error of somebody else's");
        }
        account.touch_stack();
        account.check(of.running == 0, "a scope has ended before one of its tasks");
        account.check(of.most <= of.limit, "more tasks ran at once than the limit says");
        account.check(!of.began_after_the_end, "a task has begun after the scope was closed");
        co_return 1;
    }
    awaitable<void> body(scope_account& of, task_scope<int>& s, int depth) {
        for (auto n = below(6); n != 0; --n) {
            if (below(3) == 0)
                co_await sleep();
            if (below(2) == 0)
                co_await s.spawn(&scopes::task, this, std::ref(of), std::ref(s), depth, alive(account));
            else
                s.try_spawn(&scopes::task, this, std::ref(of), std::ref(s), depth, alive(account));
        }
        switch (below(6)) {
        case 0: {
            auto const late = co_await s.drain(std::chrono::microseconds(below(3'000)));
            account.check(s.running() == 0, "a drained scope has tasks");
            account.check(late <= of.begun, "more tasks were cut than there were");
            of.is_closed = true;
            break;
        }
        case 1:
            s.cancel();
            of.is_closed = true;
            co_await s.join();
            account.check(s.running() == 0, "join() has returned while a task runs");
            break;
        case 2:
            s.close();
            of.is_closed = true;
            break;
        case 3:
            while (auto const result = co_await s.next()) {
                account.check(!result->has_value() || ++of.taken <= of.gave, "a result was taken twice");
                account.touch_stack();
            }
            account.check(of.running == 0 && of.taken == of.gave, "next() has ended before all results were taken");
            break;
        case 4: throw failure_of_a_task();
        default: break;
        }
    }
    world& world_;
    io_context& context_;
    semaphore permits_;
    event gate_;
    std::size_t const all_permits_;
    std::size_t holders_ = 0;
    bool is_destroyed_ = false;
    std::vector<std::unique_ptr<cancellation_signal>> signals_;
    std::size_t ended_ = 0, tasks_ = 0;
};

TEST(CoreScopes, EachEndsWithWhatItsTasksHaveDone) {
    std::size_t tasks = 0;
    sim::for_each_seed(test::scaled(400, 40), [&tasks](world& w) {
        scopes s(w);
        w.run();
        s.settle();
        EXPECT_EQ(s.account.faults(), "");
        tasks += s.tasks();
    });
    bool const is_whole = !std::getenv("SIM_SEED") && !std::getenv("SIM_COUNT") && !std::getenv("SIM_JOBS");
    EXPECT_TRUE(tasks > 100 || !is_whole);
}

} // namespace
