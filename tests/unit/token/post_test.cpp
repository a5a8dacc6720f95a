#include <fairlead/token/post.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/legacy/with_properties.hpp>
#include <fairlead/operation/cancellation_signal.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/any_completion_handler.hpp>
#include <fairlead/token/append.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/post_function.hpp>
#include <fairlead/token/use_future.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace fairlead;

TEST(Post, TakesAContextAnExecutorAndAnAnyIoExecutor) {
    io_context context;
    int n = 0;
    post(context, [&] { ++n; });
    post(context.get_executor(), [&] { ++n; });
    post(any_io_executor(context.get_executor()), [&] { ++n; });
    defer(context, [&] { ++n; });
    dispatch(context.get_executor(), [&] { ++n; });
    EXPECT_EQ(context.run(), 5U);
    EXPECT_EQ(n, 5);
}

TEST(Post, WithoutAnExecutorRunsOnTheHandlersOwn) {
    io_context context;
    int n = 0;
    post(bind_executor(context, [&] { ++n; }));
    defer(bind_executor(context, [&] { ++n; }));
    dispatch(bind_executor(context, [&] { ++n; }));
    EXPECT_EQ(n, 0);
    EXPECT_EQ(context.run(), 3U);
    EXPECT_EQ(n, 3);
}

/// As the handlers of Boost.Lambda.
struct no_address {
    int* calls;
    void operator()() const { ++*calls; }
    void operator&() const = delete;
};

TEST(Post, HandlerNeedNotHaveAnAddressThatIsItsOwn) {
    io_context context;
    int n = 0;
    post(context, no_address{&n});
    post(any_io_executor(context.get_executor()), no_address{&n});
    post(context, deferred)(no_address{&n});
    post(context, any_completion_handler<void()>(no_address{&n}));
    context.run();
    EXPECT_EQ(n, 4);
}

struct with_a_slot {
    using cancellation_slot_type = cancellation_slot;
    cancellation_slot slot;
    int* calls;
    cancellation_slot_type get_cancellation_slot() const noexcept { return slot; }
    void operator()(auto&&...) const { ++*calls; }
};

TEST(Post, X5_HandlerMayHaveASlotWhichWaitsForItsTurnAlone) {
    io_context context, other;
    cancellation_signal signal;
    int n = 0;
    with_a_slot const h{signal.slot(), &n};
    post(context, h);
    post(context, bind_executor(other, h));
    post(context, as_tuple(h));
    post(any_io_executor(make_strand(context)), h);
    defer(context, append(h, 1));
    dispatch(context, deferred)(h);
    post(context, deferred)(h);
    post(context, bind_executor(other, any_completion_handler<void()>(h)));
    context.run();
    other.run();
    EXPECT_EQ(n, 8);
}

/// Runs functions inside the call unless blocking.never has been required of it: then it keeps them.
struct inline_or_kept {
    std::vector<std::function<void()>>* kept;
    io_context* home;
    bool keeps = false;

    execution_context& context() const { return *home; }
    template <class F> void execute(F f) const {
        if (keeps)
            kept->push_back([g = std::make_shared<F>(std::move(f))] { std::move (*g)(); });
        else
            f();
    }
    inline_or_kept require(execution::blocking_t::never_t) const { return {kept, home, true}; }
    static constexpr execution::blocking_t query(execution::blocking_t) { return execution::blocking.possibly; }
    bool operator==(inline_or_kept const&) const = default;
};

TEST(Post, DispatchIsInlineOnAUsersExecutorThatRunsFunctionsInsideTheCall) {
    io_context context;
    std::vector<std::function<void()>> kept;
    inline_or_kept const ex{&kept, &context};
    int n = 0;
    dispatch(ex, [&] { ++n; });
    dispatch(any_io_executor(ex), [&] { ++n; });
    dispatch(bind_executor(ex, [&] { ++n; }));
    dispatch(ex, bind_executor(ex, [&] { ++n; }));
    dispatch([&] { ++n; }, ex, detached);
    EXPECT_EQ(n, 5);
    EXPECT_TRUE(kept.empty());

    post(ex, [&] { ++n; });
    post(any_io_executor(ex), [&] { ++n; });
    defer(ex, [&] { ++n; });
    post(bind_executor(ex, [&] { ++n; }));
    EXPECT_EQ(n, 5);
    ASSERT_EQ(kept.size(), 4U);
    for (auto& f : kept)
        f();
    EXPECT_EQ(n, 9);
}

TEST(Post, HandlerOnAUsersExecutorEndsItsOperationInTheWayOfThatExecutor) {
    io_context context;
    std::vector<std::function<void()>> kept;
    inline_or_kept const ex{&kept, &context};
    bool ended = false;
    post(context, bind_executor(ex, [&] { ended = true; }));
    EXPECT_FALSE(ended);
    context.run();
    EXPECT_TRUE(ended);
    EXPECT_TRUE(kept.empty());
}

/// As older programs keep what is to be run: copied.
struct in_functions {
    std::deque<std::function<void()>>* queue;

    template <class F> void execute(F const& f) const { queue->push_back(f); }
    bool operator==(in_functions const&) const = default;
    static void run(std::deque<std::function<void()>>& q) {
        while (!q.empty()) {
            auto const f = q.front();
            q.pop_front();
            f();
        }
    }
};

TEST(Post, UsersExecutorMayCopyWhatItRuns) {
    io_context context;
    std::deque<std::function<void()>> queue;
    in_functions const ex{&queue};
    int n = 0;
    auto const witness = std::make_shared<int>();
    post(context, bind_executor(ex, [&n, witness] { ++n; }));
    post(ex, [&n, witness] { ++n; });
    dispatch(ex, [&n, witness] { ++n; });
    context.run();
    EXPECT_EQ(n, 0);
    ASSERT_EQ(queue.size(), 3U);
    in_functions::run(queue);
    EXPECT_EQ(n, 3);
    EXPECT_EQ(witness.use_count(), 1);

    post(ex, [&n, witness] { ++n; });
    auto const copies = queue;
    queue.clear();
    EXPECT_EQ(witness.use_count(), 2);
    copies.front()();
    EXPECT_EQ(n, 4);
    post(ex, [&n, witness] { ++n; });
    queue.clear();
    EXPECT_EQ(n, 4);
    EXPECT_EQ(witness.use_count(), 1) << "never called: destroyed with the last copy";
}

TEST(Post, DispatchToTheHandlersOwnExecutorIsInlineInsideIt) {
    io_context context;
    std::string order;
    post(context, [&] {
        dispatch(bind_executor(context, [&] { order += 'a'; }));
        order += 'b';
    });
    context.run();
    EXPECT_EQ(order, "ab");
}

TEST(Post, AwaitedItGoesThroughTheQueue) {
    io_context context;
    std::string order;
    co_spawn(
        context,
        [](io_context& c, std::string& out) -> awaitable<void> {
            post(c, [&] { out += 'a'; });
            co_await post(c);
            out += 'b';
            post(c, [&] { out += 'c'; });
            co_await defer(c, use_await);
            out += 'd';
            co_await dispatch(c);
            out += 'e';
        }(context, order),
        detached);
    context.run();
    EXPECT_EQ(order, "abcde");
}

TEST(Post, Y4_AwaitedOnAPoolItGoesOnAtHome) {
    thread_pool pool(1);
    io_context context;
    std::thread::id after;
    co_spawn(
        context,
        [](thread_pool& p, std::thread::id& out) -> awaitable<void> {
            co_await post(p);
            out = std::this_thread::get_id();
        }(pool, after),
        rethrow);
    context.run();
    EXPECT_EQ(after, std::this_thread::get_id());
}

TEST(Post, FutureOfItIsReadyOnceItRan) {
    io_context context;
    std::future<void> future = post(context, use_future);
    EXPECT_EQ(future.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
    context.run();
    EXPECT_NO_THROW(future.get());
}

TEST(Post, FutureOfAnAbandonedPostIsBroken) {
    std::future<void> future;
    {
        io_context context;
        future = post(context, use_future);
    }
    EXPECT_THROW(future.get(), std::future_error);
}

/// An executor whose moved-from state is empty: whoever asks the handler after moving it finds nothing.
struct shared_executor {
    std::shared_ptr<io_context> c;
    io_context& context() const { return *c; }
    template <class F> void execute(F&& f) const { c->get_executor().execute(std::forward<F>(f)); }
    void on_work_started() const {
        if (c)
            c->get_executor().on_work_started();
    }
    void on_work_finished() const {
        if (c)
            c->get_executor().on_work_finished();
    }
    bool operator==(shared_executor const&) const = default;
};

TEST(Post, ExecutorWithSharedStateSurvivesTheMoveOfItsHandler) {
    io_context through;
    auto const own = std::make_shared<io_context>();
    int n = 0;
    post(any_io_executor(shared_executor{std::shared_ptr<io_context>(&through, [](io_context*) {})}),
         bind_executor(shared_executor{own}, [&] { ++n; }));
    own->poll();
    EXPECT_FALSE(own->stopped()) << "a handler for it is on its way";
    through.run();
    own->run();
    EXPECT_EQ(n, 1);
}

} // namespace
