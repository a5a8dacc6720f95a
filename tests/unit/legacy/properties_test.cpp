// Properties: require, prefer and query, what executors of the library and of users answer, and what their variants do.
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/legacy/with_properties.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using namespace fairlead;
namespace ex = fairlead::execution;
using loop_place = io_context::executor_type;
using pool_place = thread_pool::executor_type;

// ---- the properties themselves

static_assert(ex::blocking_t(ex::blocking.never) == ex::blocking.never);
static_assert(ex::blocking_t(ex::blocking.never) != ex::blocking.possibly);
static_assert(ex::blocking.never != ex::blocking.always);
static_assert(ex::blocking_t::possibly_t::value() == ex::blocking.possibly);
static_assert(ex::blocking != ex::blocking.possibly, "without a value it equals none");
static_assert(ex::relationship.fork != ex::relationship.continuation);
static_assert(ex::outstanding_work.tracked != ex::outstanding_work.untracked);
static_assert(ex::mapping.thread != ex::mapping.new_thread && ex::mapping.new_thread != ex::mapping.other);
static_assert(ex::allocator(std::allocator<int>()).value() == std::allocator<int>());
static_assert(!ex::blocking_t::is_requirable && !ex::blocking_t::always_t::is_preferable);
static_assert(is_applicable_property_v<loop_place, ex::blocking_t>);
static_assert(!is_applicable_property_v<int, ex::blocking_t>);
static_assert(ex::is_executor_v<inline_executor> && !io_executor<inline_executor>, "an executor without a context");

// ---- what can be asked of whom

template <class E> consteval bool has_the_properties_of_a_place() {
    static_assert(can_require<E, ex::blocking_t::never_t>::value &&
                  can_require_v<E const&, ex::blocking_t::possibly_t>);
    static_assert(can_require_v<E, ex::outstanding_work_t::tracked_t, ex::relationship_t::continuation_t>);
    static_assert(can_require_v<E, ex::allocator_t<std::allocator<void>>> && can_require_v<E, ex::allocator_t<void>>);
    static_assert(can_require_v<E, ex::mapping_t::thread_t> && !can_require_v<E, ex::mapping_t::new_thread_t>);
    static_assert(!can_require_v<E, ex::blocking_t> && !can_require_v<E, ex::context_t>);
    static_assert(can_prefer<E, ex::mapping_t::new_thread_t>::value, "and is what it was then");
    static_assert(!can_prefer_v<E, ex::blocking_t::always_t>);
    static_assert(can_query<E, ex::blocking_t>::value && can_query_v<E, ex::blocking_t::never_t>);
    static_assert(can_query_v<E const&, ex::context_t> && can_query_v<E, ex::context_as_t<execution_context&>>);
    static_assert(!can_query_v<E, ex::context_as_t<int&>>);
    static_assert(can_query_v<E, ex::relationship_t> && can_query_v<E, ex::outstanding_work_t>);
    static_assert(can_query_v<E, ex::mapping_t> && can_query_v<E, ex::allocator_t<void>>);
    static_assert(std::is_same_v<require_result_t<E, ex::blocking_t::never_t>, E>);
    static_assert(std::is_same_v<prefer_result_t<E, ex::outstanding_work_t::untracked_t>, E>);
    static_assert(std::is_same_v<query_result_t<E, ex::mapping_t>, ex::mapping_t>);
    static_assert(io_executor<require_result_t<E, ex::outstanding_work_t::tracked_t>>);
    return true;
}
static_assert(has_the_properties_of_a_place<loop_place>());
static_assert(has_the_properties_of_a_place<pool_place>());
static_assert(has_the_properties_of_a_place<system_executor>());
static_assert(has_the_properties_of_a_place<strand<loop_place>>());
static_assert(has_the_properties_of_a_place<strand<any_io_executor>>());
static_assert(!can_require_v<loop_place, ex::blocking_t::always_t>, "nobody may wait for a loop");
static_assert(!can_require_v<strand<pool_place>, ex::blocking_t::always_t>);
static_assert(can_require_v<pool_place, ex::blocking_t::always_t>);
static_assert(can_require_v<system_executor, ex::blocking_t::always_t>);
static_assert(!can_query_v<loop_place, ex::occupancy_t> && can_query_v<pool_place, ex::occupancy_t>);
static_assert(std::is_same_v<query_result_t<loop_place, ex::context_t>, io_context&>);
static_assert(sizeof(loop_place) == sizeof(void*) && std::is_trivially_copyable_v<loop_place>);
static_assert(sizeof(require_result_t<loop_place, ex::outstanding_work_t::tracked_t>) <= any_io_executor::storage_size);

static_assert(can_require_v<any_io_executor, ex::blocking_t::never_t>);
static_assert(!can_require_v<any_io_executor, ex::blocking_t::possibly_t>);
static_assert(!can_require_v<any_io_executor, ex::outstanding_work_t::tracked_t>);
static_assert(can_prefer_v<any_io_executor, ex::blocking_t::possibly_t, ex::outstanding_work_t::tracked_t>);
static_assert(std::is_same_v<prefer_result_t<any_io_executor, ex::relationship_t::fork_t>, any_io_executor>);
static_assert(std::is_same_v<query_result_t<any_io_executor, ex::context_t>, execution_context&>);

TEST(Properties, AnExecutorOfTheLibraryIsOneThatNeverBlocksUntilAskedOtherwise) {
    io_context context;
    auto const e = context.get_executor();
    EXPECT_EQ(query(e, ex::blocking), ex::blocking.never);
    EXPECT_EQ(query(e, ex::relationship), ex::relationship.fork);
    EXPECT_EQ(query(e, ex::outstanding_work), ex::outstanding_work.untracked);
    EXPECT_EQ(query(e, ex::mapping), ex::mapping.thread);
    EXPECT_EQ(&query(e, ex::context), &context);
    EXPECT_EQ(&query(e, ex::context_as<execution_context&>), &context);
    auto const other = require(e, ex::blocking.possibly, ex::relationship.continuation);
    EXPECT_EQ(query(other, ex::blocking), ex::blocking.possibly);
    EXPECT_EQ(query(other, ex::relationship), ex::relationship.continuation);
    EXPECT_EQ(query(other, ex::outstanding_work), ex::outstanding_work.untracked);
    EXPECT_EQ(&query(other, ex::context), &context);
    EXPECT_EQ(other.native_loop(), e.native_loop());
}

TEST(Properties, AnExecutorThereAndBackComparesEqual) {
    io_context context;
    auto const e = context.get_executor();
    auto const there = require(e, ex::outstanding_work.tracked);
    auto const back = require(there, ex::outstanding_work.untracked);
    EXPECT_EQ(back, e);
    EXPECT_FALSE(there == e);
    EXPECT_EQ(there, require(e, ex::outstanding_work.tracked));
    EXPECT_FALSE(there == back);
    EXPECT_EQ(any_io_executor(back), any_io_executor(e));
    EXPECT_NE(any_io_executor(there), any_io_executor(e));
    auto assigned = there;
    assigned = back;
    EXPECT_EQ(assigned, e);
}

TEST(Properties, APoolSaysHowManyThreadsItHasAlsoThroughAStrand) {
    thread_pool pool(3);
    EXPECT_EQ(query(pool.get_executor(), ex::occupancy), 3U);
    EXPECT_EQ(query(require(pool.get_executor(), ex::outstanding_work.tracked), ex::occupancy), 3U);
    EXPECT_EQ(query(make_strand(pool), ex::occupancy), 3U);
    EXPECT_EQ(&query(pool.get_executor(), ex::context), &pool);
    EXPECT_GE(query(system_executor(), ex::occupancy), 2U);
}

// ---- outstanding_work

TEST(OutstandingWork, ATrackedExecutorAndItsCopiesKeepRunGoing) {
    io_context context;
    {
        auto const tracked = require(context.get_executor(), ex::outstanding_work.tracked);
        EXPECT_EQ(context.poll(), 0U);
        EXPECT_FALSE(context.stopped());
        auto copy = std::make_unique<any_io_executor>(tracked);
        {
            auto const second = tracked;
            any_io_executor const third = prefer(any_io_executor(context.get_executor()), ex::outstanding_work.tracked);
            EXPECT_EQ(third, *copy);
        }
        copy.reset();
        EXPECT_EQ(context.poll(), 0U);
        EXPECT_FALSE(context.stopped());
    }
    EXPECT_EQ(context.poll(), 0U);
    EXPECT_TRUE(context.stopped());
}

TEST(OutstandingWork, AnUntrackedVariantGivesItBack) {
    io_context context;
    auto tracked = prefer(any_io_executor(context.get_executor()), ex::outstanding_work.tracked);
    EXPECT_EQ(query(tracked, ex::outstanding_work), ex::outstanding_work.tracked);
    context.poll();
    EXPECT_FALSE(context.stopped());
    tracked = prefer(tracked, ex::outstanding_work.untracked);
    EXPECT_EQ(tracked, any_io_executor(context.get_executor()));
    context.poll();
    EXPECT_TRUE(context.stopped());
}

TEST(OutstandingWork, ATrackedExecutorOfAPoolIsWaitedFor) {
    thread_pool pool(1);
    std::atomic<bool> ended{false};
    auto tracked = std::make_unique<any_io_executor>(require(pool.get_executor(), ex::outstanding_work.tracked));
    std::jthread const other([&] {
        auto held = std::move(tracked);
        held->execute([&] { ended = true; });
    });
    pool.join();
    EXPECT_TRUE(ended);
}

// ---- blocking

TEST(Blocking, PossiblyRunsAtOnceWhoeverIsInsideAndQueuesForOthers) {
    io_context context;
    auto const possibly = require(context.get_executor(), ex::blocking.possibly);
    auto const never = require(possibly, ex::blocking.never);
    any_io_executor const any = prefer(any_io_executor(context.get_executor()), ex::blocking.possibly);
    std::vector<int> order;
    possibly.execute([&] {
        possibly.execute([&] { order.push_back(1); });
        never.execute([&] { order.push_back(5); });
        any.execute([&] { order.push_back(2); });
        require(any, ex::blocking.never).execute([&] { order.push_back(6); });
        order.push_back(3);
    });
    EXPECT_TRUE(order.empty());
    context.run();
    EXPECT_EQ(order, (std::vector{1, 2, 3, 5, 6}));
}

template <class E> void post_is_never_inline(io_context& context, E const& e) {
    int posted = 0;
    post(context, [&] {
        post(e, [&] { ++posted; });
        defer(e, [&] { ++posted; });
        post(e, bind_executor(context.get_executor(), [&] { ++posted; }));
        EXPECT_EQ(posted, 0);
        dispatch(e, [&] { ++posted; });
        EXPECT_EQ(posted, 1);
    });
    context.run();
    context.restart();
    EXPECT_EQ(posted, 4);
}

TEST(Blocking, PostIsNeverInlineWhateverTheExecutorAllows) {
    io_context context;
    post_is_never_inline(context, require(context.get_executor(), ex::blocking.possibly));
    post_is_never_inline(context, prefer(any_io_executor(context.get_executor()), ex::blocking.possibly));
    strand<any_io_executor> const s(any_io_executor(require(context.get_executor(), ex::blocking.possibly)));
    int n = 0;
    post(s, [&] {
        post(require(s, ex::blocking.possibly), [&] { ++n; });
        EXPECT_EQ(n, 0);
        prefer(any_io_executor(s), ex::blocking.possibly).execute([&] { ++n; });
        EXPECT_EQ(n, 1);
    });
    context.run();
    EXPECT_EQ(n, 2);
}

TEST(Blocking, AlwaysReturnsWhenTheFunctionHasEndedAlsoByAnException) {
    thread_pool pool(1);
    auto const always = require(pool.get_executor(), ex::blocking.always);
    EXPECT_EQ(query(always, ex::blocking), ex::blocking.always);
    std::thread::id where;
    always.execute([&] { where = std::this_thread::get_id(); });
    EXPECT_NE(where, std::this_thread::get_id());
    EXPECT_NE(where, std::thread::id());
    EXPECT_THROW(always.execute([] { throw std::runtime_error("of the function"); }), std::runtime_error);
    int depth = 0; // Inside the pool's only thread, which must not wait for itself.
    always.execute([&] { always.execute([&] { depth = 2; }); });
    EXPECT_EQ(depth, 2);
    any_io_executor const any(always);
    any.execute([&] { depth = 3; });
    EXPECT_EQ(depth, 3);
}

/// As an executor of the library whose context gives up everything.
struct dropping_executor {
    using takes_properties = void;
    static constexpr bool can_be_waited_for = true;
    thread_pool* pool;
    thread_pool& context() const noexcept { return *pool; }
    template <class F> void execute(F&& f) const { [[maybe_unused]] std::decay_t<F> const dropped(std::forward<F>(f)); }
    void on_work_started() const noexcept {}
    void on_work_finished() const noexcept {}
    friend bool operator==(dropping_executor, dropping_executor) noexcept = default;
};

TEST(Blocking, AlwaysAlsoReturnsWhenTheContextGivesTheFunctionUp) {
    thread_pool pool(0);
    bool called = false;
    dropping_executor const dropping{&pool};
    EXPECT_EQ(require(dropping, ex::blocking.never), dropping);
    require(dropping, ex::blocking.always).execute([&] { called = true; });
    EXPECT_FALSE(called);
}

TEST(Blocking, TheSystemExecutorRunsAtOnceUnlessNever) {
    bool called = false;
    require(system_executor(), ex::blocking.possibly).execute([&] { called = true; });
    EXPECT_TRUE(called);
    called = false;
    require(system_executor(), ex::blocking.always).execute([&] { called = true; });
    EXPECT_TRUE(called);
}

// ---- allocator

template <class T> struct counting {
    using value_type = T;
    int* out;
    int* all;
    counting(int& o, int& a) noexcept : out(&o), all(&a) {}
    template <class U> counting(counting<U> const& other) noexcept : out(other.out), all(other.all) {}
    T* allocate(std::size_t n) {
        ++*out;
        ++*all;
        return std::allocator<T>().allocate(n);
    }
    void deallocate(T* p, std::size_t n) noexcept {
        --*out;
        std::allocator<T>().deallocate(p, n);
    }
    template <class U> friend bool operator==(counting const& a, counting<U> const& b) noexcept {
        return a.out == b.out;
    }
};

TEST(AllocatorOfAnExecutor, ServesWhatExecuteNeedsAndIsFreeBeforeTheFunctionRuns) {
    io_context context;
    int out = 0, all = 0;
    auto const e = require(context.get_executor(), ex::allocator(counting<void>(out, all)));
    EXPECT_EQ(query(e, ex::allocator), counting<void>(out, all));
    e.execute([&] { EXPECT_EQ(out, 0); });
    EXPECT_EQ(out, 1);
    context.run();
    {
        io_context given_up;
        require(given_up.get_executor(), ex::allocator(counting<void>(out, all))).execute([] { FAIL(); });
        EXPECT_EQ(out, 1);
    }
    EXPECT_EQ(out, 0);
    EXPECT_EQ(all, 2);
    auto const plain = require(e, ex::allocator);
    EXPECT_EQ(plain, context.get_executor());
    plain.execute([] {});
    EXPECT_EQ(all, 2);
    EXPECT_NE(e, require(e, ex::outstanding_work.tracked));
}

// ---- any_io_executor

TEST(AnyIoExecutor, AnswersForItsTarget) {
    io_context context;
    thread_pool pool(1);
    any_io_executor const a(context.get_executor()), b(require(pool.get_executor(), ex::blocking.always));
    EXPECT_EQ(query(a, ex::blocking), ex::blocking.never);
    EXPECT_EQ(query(b, ex::blocking), ex::blocking.always);
    EXPECT_EQ(query(a, ex::mapping), ex::mapping.thread);
    EXPECT_EQ(query(a, ex::relationship), ex::relationship.fork);
    EXPECT_EQ(query(prefer(a, ex::relationship.continuation), ex::relationship), ex::relationship.continuation);
    EXPECT_EQ(prefer(a, ex::relationship.fork), a);
    EXPECT_EQ(require(a, ex::blocking.never), a);
    EXPECT_EQ(&query(b, ex::context), &pool);
    EXPECT_EQ(&query(a, ex::context_as<execution_context&>), &context);
    EXPECT_THROW((void)query(any_io_executor(), ex::blocking), bad_executor);
    EXPECT_THROW((void)require(any_io_executor(), ex::blocking.never), bad_executor);
    EXPECT_THROW((void)prefer(any_io_executor(), ex::outstanding_work.tracked), bad_executor);
}

TEST(AnyIoExecutor, KnowsVariantsOfAnyOtherExecutorOfTheLibrary) {
    io_context context;
    auto const below = require(context.get_executor(), ex::relationship.continuation);
    any_io_executor const plain(make_strand(below));
    any_io_executor tracked = prefer(plain, ex::outstanding_work.tracked, ex::blocking.possibly);
    EXPECT_EQ(query(tracked, ex::outstanding_work), ex::outstanding_work.tracked);
    EXPECT_EQ(query(tracked, ex::blocking), ex::blocking.possibly);
    EXPECT_NE(tracked, plain);
    context.poll();
    EXPECT_FALSE(context.stopped());
    bool inside = false;
    plain.execute([&] { tracked.execute([&] { inside = plain.running_in_this_thread(); }); });
    context.poll();
    EXPECT_TRUE(inside);
    tracked = prefer(tracked, ex::outstanding_work.untracked, ex::blocking.never);
    EXPECT_EQ(tracked, plain);
    context.poll();
    EXPECT_TRUE(context.stopped());
}

TEST(AnyIoExecutor, AVariantOfALoopsExecutorIsStillKnownForALoop) {
    io_context context;
    any_io_executor const a = prefer(any_io_executor(context.get_executor()), ex::relationship.continuation);
    EXPECT_EQ(a.native_loop(), context.get_executor().native_loop());
    int n = 0;
    steady_timer timer(a);
    timer.expires_after(std::chrono::milliseconds(1));
    timer.async_wait([&](std::error_code ec) { n += !ec; });
    basic_waitable_timer<steady_clock, wait_traits<steady_clock>,
                         require_result_t<loop_place, ex::outstanding_work_t::tracked_t>>
        typed(require(context.get_executor(), ex::outstanding_work.tracked));
    typed.expires_after(std::chrono::milliseconds(2));
    typed.async_wait(bind_executor(prefer(a, ex::blocking.possibly), [&](std::error_code ec) {
        n += !ec;
        context.stop();
    }));
    context.run();
    EXPECT_EQ(n, 2);
}

// ---- executors and properties of users

/// A user's executor in Asio's own words: no member context(), values that its type knows, one that it takes.
class asios_executor {
public:
    explicit asios_executor(io_context& c, bool tracked = false) noexcept : context_(&c), tracked_(tracked) {}
    execution_context& query(ex::context_t) const noexcept { return *context_; }
    static constexpr ex::blocking_t query(ex::blocking_t) noexcept { return ex::blocking.never; }
    ex::outstanding_work_t query(ex::outstanding_work_t) const noexcept {
        return tracked_ ? ex::outstanding_work_t(ex::outstanding_work.tracked) : ex::outstanding_work.untracked;
    }
    asios_executor require(ex::outstanding_work_t::tracked_t) const noexcept { return asios_executor(*context_, true); }
    template <class F> void execute(F f) const { context_->get_executor().execute(std::move(f)); }
    friend bool operator==(asios_executor const& a, asios_executor const& b) noexcept = default;

private:
    io_context* context_;
    bool tracked_;
};
static_assert(io_executor<asios_executor>);
static_assert(can_require_v<asios_executor, ex::blocking_t::never_t>, "by its type");
static_assert(!can_require_v<asios_executor, ex::blocking_t::possibly_t>);
static_assert(can_require_v<asios_executor, ex::outstanding_work_t::tracked_t>);

TEST(ExecutorsOfUsers, ThoseThatKnowPropertiesOnlyServeEverything) {
    io_context context;
    asios_executor const e(context);
    any_io_executor const any(e);
    EXPECT_EQ(&any.context(), &context);
    EXPECT_EQ(&query(e, ex::context_as<execution_context&>), &context);
    EXPECT_EQ(query(any, ex::blocking), ex::blocking.never);
    EXPECT_EQ(query(any, ex::mapping), ex::mapping.thread) << "it does not say";
    any_io_executor const tracked = prefer(any, ex::outstanding_work.tracked);
    ASSERT_NE(tracked.target<asios_executor>(), nullptr);
    EXPECT_EQ(*tracked.target<asios_executor>(), asios_executor(context, true));
    EXPECT_EQ(prefer(any, ex::relationship.continuation), any);
    EXPECT_EQ(prefer(e, ex::mapping.other), e);
    int n = 0;
    post(e, [&] { ++n; });
    post(make_strand(e), [&] { ++n; });
    steady_timer timer{any_io_executor(e)};
    timer.expires_after(std::chrono::milliseconds(1));
    timer.async_wait([&](std::error_code ec) { n += !ec; });
    basic_waitable_timer<steady_clock, wait_traits<steady_clock>, asios_executor> typed(e);
    typed.expires_after(std::chrono::milliseconds(1));
    typed.async_wait([&](std::error_code ec) { n += !ec; });
    context.run();
    EXPECT_EQ(n, 4);
}

/// Knows no property.
struct silent_executor {
    template <class F> void execute(F f) const { std::move(f)(); }
    friend bool operator==(silent_executor, silent_executor) noexcept = default;
};
/// Answers for one value only, and not by its type.
struct waiting_executor : silent_executor {
    ex::blocking_t query(ex::blocking_t::always_t) const noexcept { return ex::blocking.always; }
};
/// Does something else than others have.
struct other_executor : silent_executor {
    io_context* context_;
    io_context& context() const noexcept { return *context_; }
    static constexpr ex::mapping_t query(ex::mapping_t) noexcept { return ex::mapping.new_thread; }
    ex::inline_exception_handling_t query(ex::inline_exception_handling_t) const noexcept {
        return ex::inline_exception_handling.terminate;
    }
};
/// Takes the default without answering for the property.
struct taking_executor {
    bool taken = false;
    template <class F> void execute(F f) const { std::move(f)(); }
    taking_executor require(ex::blocking_t::possibly_t) const noexcept { return {true}; }
    taking_executor prefer(ex::mapping_t::thread_t) const noexcept { return {true}; }
    friend bool operator==(taking_executor, taking_executor) noexcept = default;
};

/// The whole, the value that holds for whoever is silent, and one that does not.
template <class Default, class Other> consteval bool is_default() {
    using whole = typename Default::polymorphic_query_result_type;
    using e = silent_executor;
    static_assert(query(e(), whole()) == Default() && query(e(), Default()) == Default());
    static_assert(std::is_same_v<query_result_t<e, whole>, whole>);
    static_assert(!can_query_v<e, Other> && !can_require_v<e, Other> && !can_require_v<e, whole>);
    static_assert(std::is_same_v<require_result_t<e const&, Default>, e> && require(e(), Default()) == e());
    static_assert(prefer(e(), Default()) == e() && !can_query_v<int, whole>);
    return true;
}
static_assert(is_default<ex::blocking_t::possibly_t, ex::blocking_t::never_t>());
static_assert(is_default<ex::blocking_t::possibly_t, ex::blocking_t::always_t>());
static_assert(is_default<ex::relationship_t::fork_t, ex::relationship_t::continuation_t>());
static_assert(is_default<ex::outstanding_work_t::untracked_t, ex::outstanding_work_t::tracked_t>());
static_assert(is_default<ex::mapping_t::thread_t, ex::mapping_t::new_thread_t>());
static_assert(is_default<ex::mapping_t::thread_t, ex::mapping_t::other_t>());
static_assert(is_default<ex::inline_exception_handling_t::propagate_t, ex::inline_exception_handling_t::terminate_t>());

static_assert(can_query_v<waiting_executor, ex::blocking_t::always_t> &&
              !can_query_v<waiting_executor, ex::blocking_t::possibly_t> &&
              !can_query_v<waiting_executor, ex::blocking_t::never_t>);
static_assert(!can_require_v<waiting_executor, ex::blocking_t::possibly_t>, "that is not what it is");
static_assert(!can_require_v<other_executor, ex::mapping_t::thread_t>);
static_assert(!can_require_v<strand<other_executor>, ex::mapping_t::thread_t>, "as the one below");
static_assert(!can_require_v<strand<other_executor>, ex::inline_exception_handling_t::propagate_t>);

TEST(ExecutorsOfUsers, ThoseThatAnswerForOneValueAnswerForTheProperty) {
    EXPECT_EQ(query(waiting_executor(), ex::blocking), ex::blocking.always);
    EXPECT_EQ(query(any_completion_executor(waiting_executor()), ex::blocking), ex::blocking.always);
}

TEST(ExecutorsOfUsers, ThoseThatDoNotAnswerHaveTheDefaultsAlsoInsideOthers) {
    any_completion_executor const any = silent_executor();
    EXPECT_EQ(query(any, ex::blocking), ex::blocking.possibly);
    EXPECT_EQ(query(any, ex::relationship), ex::relationship.fork);
    EXPECT_EQ(query(any, ex::outstanding_work), ex::outstanding_work.untracked);
    EXPECT_EQ(query(any, ex::inline_exception_handling), ex::inline_exception_handling.propagate);
    bool inside = false;
    post(any, [&inside] { inside = true; });
    EXPECT_TRUE(inside) << "who does not know blocking.never is taken at its word";
}

TEST(ExecutorsOfUsers, WhatOneSaysIsHeardThroughAStrandButNotThroughAnAnyIoExecutor) {
    io_context context;
    other_executor const e{{}, &context};
    EXPECT_EQ(query(make_strand(e), ex::mapping), ex::mapping.new_thread);
    EXPECT_EQ(query(make_strand(e), ex::inline_exception_handling), ex::inline_exception_handling.terminate);
    EXPECT_EQ(query(any_io_executor(e), ex::mapping), ex::mapping.thread) << "it names no mapping";
}

TEST(ExecutorsOfUsers, AMemberThatTakesTheDefaultIsCalled) {
    EXPECT_TRUE(require(taking_executor(), ex::blocking.possibly).taken);
    EXPECT_TRUE(prefer(taking_executor(), ex::mapping.thread).taken);
    EXPECT_TRUE(require(taking_executor(), ex::mapping.thread) == taking_executor()) << "there is none for it";
}

/// Runs inline, unless it is told not to.
class eager_executor {
public:
    explicit eager_executor(io_context& c, ex::blocking_t b = ex::blocking.possibly) noexcept
        : context_(&c),
          blocking_(b) {}
    io_context& context() const noexcept { return *context_; }
    ex::blocking_t query(ex::blocking_t) const noexcept { return blocking_; }
    eager_executor require(ex::blocking_t::never_t p) const noexcept { return eager_executor(*context_, p); }
    template <class F> void execute(F f) const {
        if (blocking_ == ex::blocking.never)
            context_->get_executor().execute(std::move(f));
        else
            std::move(f)();
    }
    friend bool operator==(eager_executor const&, eager_executor const&) noexcept = default;

private:
    io_context* context_;
    ex::blocking_t blocking_;
};

TEST(ExecutorsOfUsers, PostAsksAnEagerOneNotToRunAnythingInside) {
    io_context context;
    eager_executor const e(context);
    int n = 0;
    e.execute([&] { ++n; });
    any_io_executor(e).execute([&] { ++n; });
    EXPECT_EQ(n, 2);
    post(e, [&] { ++n; });
    post(any_io_executor(e), [&] { ++n; });
    require(any_io_executor(e), ex::blocking.never).execute([&] { ++n; });
    EXPECT_EQ(n, 2);
    context.run();
    EXPECT_EQ(n, 5);
}

} // namespace

/// A property of a user, and an executor that takes it by functions of its namespace.
namespace users {

struct priority {
    template <class T> static constexpr bool is_applicable_property_v = fairlead::execution::is_executor_v<T>;
    static constexpr bool is_requirable = true;
    static constexpr bool is_preferable = true;
    using polymorphic_query_result_type = int;
    int level = 0;
    constexpr int value() const { return level; }
};

struct ranked_executor {
    int level = 0;
    template <class F> void execute(F f) const { f(); }
    friend bool operator==(ranked_executor, ranked_executor) noexcept = default;
    friend ranked_executor require(ranked_executor, priority p) { return {p.level}; }
    friend int query(ranked_executor e, priority) { return e.level; }
};

/// Prefers, and promises nothing.
struct hinted_executor {
    int level = 0;
    template <class F> void execute(F f) const { f(); }
    friend bool operator==(hinted_executor, hinted_executor) noexcept = default;
    hinted_executor prefer(priority p) const { return {p.level}; }
};

} // namespace users

namespace {

static_assert(can_require_v<users::ranked_executor, users::priority>);
static_assert(!can_require_v<users::hinted_executor, users::priority>);
static_assert(!can_require_v<loop_place, users::priority> && can_prefer_v<loop_place, users::priority>);
static_assert(!can_query_v<loop_place, users::priority>);

TEST(PropertiesOfUsers, AreTakenByMembersAndByFunctionsOfTheirNamespace) {
    users::ranked_executor const e;
    EXPECT_EQ(query(require(e, users::priority{3}), users::priority()), 3);
    EXPECT_EQ(query(prefer(e, users::priority{4}), users::priority()), 4);
    EXPECT_EQ(prefer(users::hinted_executor(), users::priority{5}).level, 5);
    io_context context;
    EXPECT_EQ(prefer(context.get_executor(), users::priority{1}), context.get_executor());
}

} // namespace
