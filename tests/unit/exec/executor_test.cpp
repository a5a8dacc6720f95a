#include <fairlead/io/io_context.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>

namespace {

using namespace fairlead;

/// A user's context: runs what was executed when it is told to.
class manual_context : public execution_context {
public:
    std::deque<std::function<void()>> queue;
    int work = 0;

    std::size_t run() {
        std::size_t n = 0;
        for (; !queue.empty(); ++n) {
            auto f = std::move(queue.front());
            queue.pop_front();
            f();
        }
        return n;
    }
};

/// A user's executor that knows nothing of the library but the concept.
class manual_executor {
public:
    explicit manual_executor(manual_context& c) : context_(&c) {}
    manual_context& context() const noexcept { return *context_; }
    template <class F> void execute(F&& f) const {
        auto kept = std::make_shared<std::decay_t<F>>(std::forward<F>(f));
        context_->queue.emplace_back([kept] { std::move (*kept)(); });
    }
    friend bool operator==(manual_executor const& a, manual_executor const& b) { return a.context_ == b.context_; }

private:
    manual_context* context_;
};
static_assert(io_executor<manual_executor>);

/// The largest executor that lies inside any_io_executor; counts its living copies.
class counted_executor : public manual_executor {
public:
    static inline int alive = 0;
    explicit counted_executor(manual_context& c) : manual_executor(c), token_(std::make_shared<int>(7)) { ++alive; }
    counted_executor(counted_executor const& other) : manual_executor(other), token_(other.token_) { ++alive; }
    counted_executor& operator=(counted_executor const&) = default;
    ~counted_executor() { --alive; }
    long uses() const { return token_.use_count(); }
    friend bool operator==(counted_executor const& a, counted_executor const& b) { return a.token_ == b.token_; }

private:
    std::shared_ptr<int> token_;
};
static_assert(sizeof(counted_executor) == any_io_executor::storage_size);

TEST(AnyIoExecutor, IsThirtyTwoBytes) { static_assert(sizeof(any_io_executor) == 32); }

TEST(AnyIoExecutor, EmptyOneComparesEqualToEmptyOnesOnly) {
    io_context context;
    any_io_executor const empty, also_empty(nullptr), full(context.get_executor());
    EXPECT_FALSE(empty);
    EXPECT_TRUE(full);
    EXPECT_EQ(empty, also_empty);
    EXPECT_NE(empty, full);
    EXPECT_NE(full, empty);
    EXPECT_EQ(empty.target_type(), typeid(void));
    EXPECT_EQ(empty.target<io_context::executor_type>(), nullptr);
}

TEST(AnyIoExecutor, EmptyOneThrowsBadExecutorOnUse) {
    any_io_executor const empty;
    EXPECT_THROW(empty.execute([] {}), bad_executor);
    EXPECT_THROW((void)empty.context(), bad_executor);
    EXPECT_STRNE(bad_executor().what(), "");
}

TEST(AnyIoExecutor, EqualityIsThatOfTheTargets) {
    io_context a, b;
    EXPECT_EQ(any_io_executor(a.get_executor()), any_io_executor(a.get_executor()));
    EXPECT_NE(any_io_executor(a.get_executor()), any_io_executor(b.get_executor()));
    manual_context m;
    EXPECT_EQ(any_io_executor(manual_executor(m)), any_io_executor(manual_executor(m)));
    EXPECT_NE(any_io_executor(manual_executor(m)), any_io_executor(a.get_executor()));
}

TEST(AnyIoExecutor, TargetGivesTheExecutorBackByItsExactType) {
    manual_context m;
    any_io_executor const e{manual_executor(m)};
    ASSERT_NE(e.target<manual_executor>(), nullptr);
    EXPECT_EQ(*e.target<manual_executor>(), manual_executor(m));
    EXPECT_EQ(e.target<io_context::executor_type>(), nullptr);
    EXPECT_EQ(e.target_type(), typeid(manual_executor));
    EXPECT_EQ(&e.context(), &m);
}

TEST(AnyIoExecutor, CopiesAssignmentsAndSelfAssignmentKeepTheTarget) {
    manual_context m;
    {
        any_io_executor a{counted_executor(m)};
        any_io_executor b(a);
        any_io_executor c;
        c = b;
        auto& self = c;
        c = self;
        EXPECT_EQ(a, c);
        EXPECT_EQ(counted_executor::alive, 3);
        EXPECT_EQ(a.target<counted_executor>()->uses(), 3);
        b = nullptr;
        EXPECT_EQ(counted_executor::alive, 2);
    }
    EXPECT_EQ(counted_executor::alive, 0);
}

TEST(AnyIoExecutor, UserExecutorRunsMoveOnlyFunctions) {
    manual_context m;
    any_io_executor const e{manual_executor(m)};
    int got = 0;
    e.execute([&got, p = std::make_unique<int>(5)] { got = *p; });
    EXPECT_EQ(got, 0) << "not before the context runs";
    EXPECT_EQ(m.run(), 1U);
    EXPECT_EQ(got, 5);
}

TEST(AnyIoExecutor, FunctionThatTheUsersExecutorDropsIsDestroyedNotCalled) {
    auto watched = std::make_shared<int>();
    bool called = false;
    {
        manual_context m;
        any_io_executor{manual_executor(m)}.execute([watched, &called] { called = true; });
        EXPECT_EQ(watched.use_count(), 2);
    }
    EXPECT_FALSE(called);
    EXPECT_EQ(watched.use_count(), 1);
}

TEST(AnyIoExecutor, ContextsExecutorRunsOnTheContext) {
    io_context context;
    any_io_executor const e(context.get_executor());
    int n = 0;
    e.execute([&] { ++n; });
    EXPECT_EQ(n, 0);
    EXPECT_EQ(context.run(), 1U);
    EXPECT_EQ(n, 1);
    EXPECT_EQ(&e.context(), &context);
    EXPECT_EQ(e.native_loop(), &context.as_loop());
}

TEST(AnyIoExecutor, PostThroughAUserExecutorRunsOnIt) {
    manual_context m;
    int n = 0;
    post(manual_executor(m), [&] { ++n; });
    post(any_io_executor(manual_executor(m)), [&] { ++n; });
    defer(manual_executor(m), [&] { ++n; });
    dispatch(manual_executor(m), [&] { ++n; });
    EXPECT_EQ(n, 0);
    EXPECT_EQ(m.run(), 4U);
    EXPECT_EQ(n, 4);
}

TEST(AnyIoExecutor, PostedThrowingFunctionGivesItsBlockBackAndLetsTheExceptionOut) {
    io_context context;
    context.get_executor().execute([] { throw 42; });
    EXPECT_THROW(context.run(), int);
    EXPECT_EQ(context.run(), 0U);
}

TEST(WorkGuard, CopiesCountAndMovesDoNot) {
    io_context context;
    auto guard = make_work_guard(context);
    auto copy = guard;
    auto moved = std::move(guard);
    EXPECT_FALSE(guard.owns_work());
    EXPECT_TRUE(copy.owns_work());
    EXPECT_EQ(context.poll(), 0U);
    EXPECT_FALSE(context.stopped());
    moved.reset();
    context.poll();
    EXPECT_FALSE(context.stopped());
    copy.reset();
    copy.reset(); // twice is once
    context.poll();
    EXPECT_TRUE(context.stopped());
}

TEST(WorkGuard, OfAnExecutorOfAnyTypeKeepsTheContextToo) {
    io_context context;
    any_io_executor const e(context.get_executor());
    auto guard = make_work_guard(e);
    context.poll();
    EXPECT_FALSE(context.stopped());
    EXPECT_EQ(guard.get_executor(), e);
    guard.reset();
    context.poll();
    EXPECT_TRUE(context.stopped());
}

} // namespace
