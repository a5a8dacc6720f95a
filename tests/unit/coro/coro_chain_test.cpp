// experimental::coro as a part of a chain: the stack, its allocator, other executors, the end of its context.
#include <fairlead/coro/coro.hpp>

#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/use_future.hpp>

#include <catalogue/small_stack.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using experimental::coro;

coro<int> count_in(any_io_executor, int n) {
    for (int i = 1; i <= n; ++i)
        co_yield i;
}

TEST(CoroStack, MillionResumptionsLeaveTheStackFlat) {
    auto const n = static_cast<int>(fairlead::test::scaled(1'000'000, 20'000));
    test::on_small_stack([n] {
        io_context context;
        auto const reads = [](any_io_executor ex, int most) -> coro<void, int> {
            int count = 0;
            auto g = count_in(ex, most);
            while (co_await g)
                ++count;
            co_return count;
        };
        auto c = reads(context.get_executor(), n);
        int count = 0;
        c.async_resume([&](std::exception_ptr, int k) { count = k; });
        context.run();
        EXPECT_EQ(count, n);
    });
}

TEST(CoroExecutor, EachRunsOnItsOwnAndTheCallerGoesOnOnIts) {
    thread_pool pool(1);
    io_context context;
    auto const inner = [](any_io_executor ex) -> coro<bool> {
        auto const* const p = ex.target<thread_pool::executor_type>();
        co_yield p && p->running_in_this_thread();
        throw std::runtime_error("inner");
    };
    auto const outer = [](any_io_executor ex, coro<bool> other) -> coro<void, int> {
        auto const* const e = ex.target<io_context::executor_type>();
        auto const there = co_await other;
        int score = *there && e && e->running_in_this_thread() ? 1 : 0;
        try {
            co_await other;
        } catch (std::runtime_error const&) {
            score += 10;
        }
        co_return score;
    };
    auto c = outer(context.get_executor(), inner(pool.get_executor()));
    int seen = 0;
    c.async_resume([&](std::exception_ptr, int n) { seen = n; });
    context.run();
    EXPECT_EQ(seen, 11);
}

TEST(CoroExecutor, RequestReachesTheOneThatIsAwaitedElsewhere) {
    io_context second, first; // The coro of the second one lies in the coroutine of the first.
    auto const inner = [](io_context& ctx) -> coro<void> {
        steady_timer t(ctx, 1h);
        co_await t;
    };
    auto const outer = [](io_context&, coro<void> other) -> coro<void> { co_await other; };
    cancellation_signal signal;
    auto c = outer(first, inner(second));
    bool done = false;
    c.async_resume(bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) {
        done = true;
        EXPECT_TRUE(e);
    }));
    first.poll();
    second.poll();
    signal.emit(cancellation_type::terminal);
    second.run();
    first.run();
    EXPECT_TRUE(done);
}

TEST(CoroExecutor, HandlerWithAnotherExecutorIsWorkOfThatOne) {
    io_context first, second;
    auto const ends = [](io_context&) -> coro<void, int> { co_return 1; };
    auto c = ends(first);
    int seen = 0;
    c.async_resume(bind_executor(second, [&](std::exception_ptr, int n) {
        seen = n;
        EXPECT_TRUE(second.get_executor().running_in_this_thread());
    }));
    second.poll();
    EXPECT_FALSE(second.stopped()) << "the handler is still to come";
    first.run();
    EXPECT_EQ(seen, 0);
    second.run();
    EXPECT_EQ(seen, 1);
    EXPECT_TRUE(second.stopped());
}

struct counted_memory {
    int blocks = 0, all = 0;
};
template <class T> struct counting_allocator {
    using value_type = T;
    counted_memory* memory;
    explicit counting_allocator(counted_memory& m) noexcept : memory(&m) {}
    template <class U> counting_allocator(counting_allocator<U> const& o) noexcept : memory(o.memory) {}
    T* allocate(std::size_t n) {
        ++memory->blocks, ++memory->all;
        return std::allocator<T>().allocate(n);
    }
    void deallocate(T* p, std::size_t n) noexcept {
        --memory->blocks;
        std::allocator<T>().deallocate(p, n);
    }
    template <class U> bool operator==(counting_allocator<U> const& o) const noexcept { return memory == o.memory; }
};
using counting = counting_allocator<std::byte>;

// g++ 12 takes an operator new with the arguments of the coroutine and its operator delete for no pair, without
// optimisation.
#pragma GCC diagnostic push
#if !FAIRLEAD_COMPILER_CLANG
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif
coro<int, void, any_io_executor, counting> counted(any_io_executor, std::string text, std::allocator_arg_t, counting) {
    for (;;)
        co_yield static_cast<int>(text.size());
}
#pragma GCC diagnostic pop

TEST(CoroMemory, FrameComesFromTheAllocatorAmongItsArguments) {
    counted_memory memory;
    io_context context;
    {
        auto c = counted(context.get_executor(), "text", std::allocator_arg, counting(memory));
        EXPECT_EQ(memory.blocks, 1);
        EXPECT_EQ(c.get_allocator(), counting(memory));
        int seen = 0;
        for (int i = 0; i != 3; ++i) {
            c.async_resume([&](std::exception_ptr, std::optional<int> n) { seen = *n; });
            context.restart();
            context.run();
        }
        EXPECT_EQ(seen, 4);
    }
    context.restart();
    context.run();
    EXPECT_EQ(memory.blocks, 0);
    EXPECT_EQ(memory.all, 1);
}

TEST(CoroEnd, ContextDestroyedUnderItsOperationDestroysAllFrames) {
    auto const alive = std::make_shared<int>(0);
    {
        io_context context;
        auto const inner = [](io_context& ctx, std::shared_ptr<int>) -> coro<void> {
            steady_timer t(ctx, 1h);
            co_await t;
        };
        auto const outer = [](io_context&, std::shared_ptr<int>, coro<void> i) -> coro<void> { co_await i; };
        auto c = outer(context, alive, inner(context, alive));
        c.async_resume([alive](std::exception_ptr) { ADD_FAILURE() << "it does not end"; });
        context.poll();
        EXPECT_GT(alive.use_count(), 3);
    }
    EXPECT_EQ(alive.use_count(), 1);
}

TEST(CoroEnd, OneThatHasEndedIsNotResumed) {
    io_context context;
    auto c = count_in(context.get_executor(), 0);
    error_code last;
    for (int i = 0; i != 2; ++i) {
        c.async_resume([&](std::exception_ptr e, std::optional<int> v) {
            EXPECT_FALSE(v);
            try {
                if (e)
                    std::rethrow_exception(e);
            } catch (system_error const& s) {
                last = s.code();
            }
        });
        EXPECT_FALSE(last);
        context.restart();
        context.run();
    }
    EXPECT_EQ(last, error::broken_pipe);
}

TEST(CoroEnd, RequestDoesNotKeepOneThatThrowsNothingFromItsNextOperation) {
    io_context context;
    auto const waits = [](io_context& ctx) noexcept -> coro<void() noexcept, std::string> {
        steady_timer t(ctx, 1h);
        error_code const first = co_await t;
        t.expires_after(0s);
        error_code const second = co_await t.async_wait(deferred);
        co_return first == error::operation_aborted && !second ? "aborted, waited" : "?";
    };
    cancellation_signal signal;
    std::string seen;
    auto c = waits(context);
    c.async_resume(bind_cancellation_slot(signal.slot(), [&](std::string s) { seen = s; }));
    context.poll();
    signal.emit(cancellation_type::terminal);
    context.run();
    EXPECT_EQ(seen, "aborted, waited");
}

TEST(CoroDeathTest, SecondResumptionAtATimeIsABug) {
    EXPECT_DEATH(
        {
            io_context context;
            auto const waits = [](io_context& ctx) -> coro<void> {
                steady_timer t(ctx, 1h);
                co_await t;
            };
            auto c = waits(context);
            c.async_resume([](std::exception_ptr) {});
            c.async_resume([](std::exception_ptr) {});
            context.poll();
        },
        "this coro has been resumed already");
}

} // namespace
