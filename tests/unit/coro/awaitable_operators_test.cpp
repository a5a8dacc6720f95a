// The operators && and || of awaitables: results, failures and requests as in Asio.
#include <fairlead/coro/awaitable_operators.hpp>

#include <fairlead/net/timer.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/token/detached.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace {

using namespace fairlead;
using namespace fairlead::experimental::awaitable_operators;
using namespace std::chrono_literals;

struct some_failure : std::runtime_error {
    some_failure() : std::runtime_error("some failure") {}
};
struct no_default {
    int n;
    explicit no_default(int i) : n(i) {}
};

class AwaitableOperators : public testing::Test {
public:
    template <class T> awaitable<T> after(steady_clock::duration d, T value) {
        steady_timer t(context, d);
        co_await t.async_wait();
        co_return value;
    }
    awaitable<void> pass(steady_clock::duration d) {
        steady_timer t(context, d);
        co_await t.async_wait();
    }
    awaitable<int> fail_after(steady_clock::duration d) {
        steady_timer t(context, d);
        co_await t.async_wait();
        throw some_failure();
    }
    template <class F> void run(F f) {
        bool done = false;
        co_spawn(context, std::move(f), [&](std::exception_ptr e) {
            done = true;
            if (e)
                std::rethrow_exception(e);
        });
        world.run();
        EXPECT_TRUE(done);
    }
    std::chrono::seconds passed() const { return std::chrono::floor<std::chrono::seconds>(world.now() - created); }

    sim::world world{1};
    io_context& context = world.context();
    steady_clock::time_point const created = world.now();
};

TEST_F(AwaitableOperators, AndGivesTheValuesThatAreNotVoid) {
    run([this]() -> awaitable<void> {
        co_await (pass(1s) && pass(2s));
        EXPECT_EQ(passed(), 2s);
        EXPECT_EQ(co_await (after(1s, 7) && pass(2s)), 7);
        EXPECT_EQ(co_await (pass(2s) && after(1s, 7)), 7);
        auto const [a, b, c] = co_await (after(1s, 1) && after(3s, std::string("two")) && after(2s, no_default(3)));
        EXPECT_EQ(a, 1);
        EXPECT_EQ(b, "two");
        EXPECT_EQ(c.n, 3);
        auto const with_void = co_await (after(1s, 1) && after(1s, 2) && pass(1s));
        EXPECT_EQ(with_void, std::tuple(1, 2, std::monostate()));
    });
}

TEST_F(AwaitableOperators, AndFailsWithTheSideThatFailedOrWithBoth) {
    run([this]() -> awaitable<void> {
        // The side that is asked to end fails, too: so both have.
        try {
            co_await (fail_after(1s) && pass(1h));
            ADD_FAILURE() << "nothing was thrown";
        } catch (multiple_exceptions const& both) {
            EXPECT_THROW(std::rethrow_exception(both.first_exception()), some_failure);
        }
        EXPECT_EQ(passed(), 1s);
        EXPECT_THROW(co_await (fail_after(2s) && pass(1s)), some_failure);
        EXPECT_THROW(co_await (pass(1s) && fail_after(2s)), some_failure);
    });
}

TEST_F(AwaitableOperators, OrGivesTheFirstToSucceedAndEndsTheOther) {
    run([this]() -> awaitable<void> {
        auto const first = co_await (after(1s, 7) || pass(1h));
        EXPECT_EQ(first.index(), 0U);
        EXPECT_EQ(std::get<0>(first), 7);
        EXPECT_EQ(passed(), 1s);
        auto const second = co_await (after(1h, no_default(1)) || after(1s, no_default(2)));
        EXPECT_EQ(second.index(), 1U);
        EXPECT_EQ(std::get<1>(second).n, 2);
        auto const third = co_await (after(1h, 1) || after(1h, 1) || after(1s, 3));
        EXPECT_EQ(third.index(), 2U);
        auto const of_three = co_await (after(1h, 1) || after(1s, 2) || pass(1h));
        EXPECT_EQ(of_three.index(), 1U);
        EXPECT_EQ(std::get<1>(of_three), 2);
    });
}

TEST_F(AwaitableOperators, OrWaitsForASuccess) {
    run([this]() -> awaitable<void> {
        auto const won = co_await (fail_after(1s) || pass(3s));
        EXPECT_EQ(won.index(), 1U);
        EXPECT_EQ(passed(), 3s);
        EXPECT_THROW(co_await (fail_after(1s) || fail_after(2s)), multiple_exceptions);
        EXPECT_EQ(passed(), 5s);
    });
}

TEST_F(AwaitableOperators, SidesAreOperationsToo) {
    run([this]() -> awaitable<void> {
        steady_timer limit(context, 1s), other(context, 1h);
        auto const won = co_await (after(1h, std::make_unique<int>(1)) || limit.async_wait());
        EXPECT_EQ(won.index(), 1U);
        limit.expires_after(2s);
        auto const another = co_await ((limit.async_wait() && pass(1s)) || other.async_wait(use_awaitable));
        EXPECT_EQ(another.index(), 0U);
        EXPECT_EQ(passed(), 3s);
    });
}

TEST_F(AwaitableOperators, LeaveOtherTypesAlone) {
    error_code const none, aborted = error::make_error_code(error::operation_aborted);
    EXPECT_TRUE(none || aborted);
    EXPECT_FALSE(none && aborted);
}

} // namespace
