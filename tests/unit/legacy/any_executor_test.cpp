#include <fairlead/legacy/any_executor.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/legacy/require_concept.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace fleet {

using namespace fairlead;

/// A property of a user's own, with a value.
struct priority {
    template <class T> static constexpr bool is_applicable_property_v = execution::is_executor_v<T>;
    static constexpr bool is_requirable = true;
    static constexpr bool is_preferable = true;
    using polymorphic_query_result_type = int;
    int number = 0;
    int value() const { return number; }
};
/// Another one, which can only be asked for.
struct name_t {
    template <class T> static constexpr bool is_applicable_property_v = execution::is_executor_v<T>;
    static constexpr bool is_requirable = false;
    static constexpr bool is_preferable = false;
    using polymorphic_query_result_type = std::string;
};
constexpr name_t name{};

/// Runs everything at once, and remembers how urgent it was.
class place {
public:
    explicit place(std::string& log, std::string own_name = "home") : log_(&log), name_(std::move(own_name)) {}
    template <class F> void execute(F&& f) const {
        *log_ += std::to_string(priority_);
        std::decay_t<F> function(std::forward<F>(f));
        std::move(function)();
    }
    place require(priority p) const {
        place other(*this);
        other.priority_ = p.value();
        return other;
    }
    int query(priority) const { return priority_; }
    std::string query(name_t) const { return name_; }
    friend bool operator==(place const& a, place const& b) noexcept {
        return a.log_ == b.log_ && a.priority_ == b.priority_;
    }

private:
    std::string* log_;
    std::string name_; // too large for any_io_executor to hold inside
    int priority_ = 1;
};

} // namespace fleet

namespace {

using namespace fairlead;
namespace ex = fairlead::execution;
using fleet::place;
using fleet::priority;
using any_place = ex::any_executor<priority, fleet::name_t>;
using loop_place = io_context::executor_type;

static_assert(ex::is_executor_v<any_place> && io_executor<any_place>);
static_assert(sizeof(ex::any_executor<>) == sizeof(any_io_executor) + sizeof(void*));
static_assert(!std::constructible_from<any_place, loop_place>, "it has no priorities");
static_assert(std::constructible_from<ex::any_executor<ex::prefer_only<priority>>, loop_place>);
static_assert(!std::constructible_from<ex::any_executor<ex::blocking_t::always_t>, loop_place>);
static_assert(std::constructible_from<ex::any_executor<ex::blocking_t::always_t>, thread_pool::executor_type>);
static_assert(can_require_v<any_place, priority> && can_prefer_v<any_place, priority>);
static_assert(can_query_v<any_place, priority> && can_query_v<any_place, fleet::name_t>);
static_assert(!can_require_v<any_place, ex::blocking_t::never_t> && can_query_v<any_place, ex::blocking_t>);
static_assert(!can_require_v<ex::any_executor<ex::prefer_only<priority>>, priority>);
static_assert(can_prefer_v<ex::any_executor<ex::prefer_only<priority>>, priority>);
static_assert(std::is_same_v<require_result_t<any_place, priority>, any_place>);
static_assert(std::is_same_v<query_result_t<any_place, fleet::name_t>, std::string>);
static_assert(std::is_nothrow_copy_constructible_v<any_place> && std::is_nothrow_move_assignable_v<any_place>);

TEST(AnyExecutor, HasThePropertiesOfUsersThatItNames) {
    std::string log;
    any_place const any = place(log);
    EXPECT_EQ(query(any, priority()), 1);
    EXPECT_EQ(query(any, fleet::name), "home");
    any_place const urgent = require(any, priority{7});
    EXPECT_EQ(query(urgent, priority()), 7);
    EXPECT_EQ(query(prefer(any, priority{3}), priority()), 3);
    any.execute([&log] { log += 'a'; });
    urgent.execute([&log] { log += 'b'; });
    post(urgent, [&log] { log += 'c'; });
    EXPECT_EQ(log, "1a7b7c");
    EXPECT_NE(any, urgent);
    EXPECT_EQ(any, require(urgent, priority{1}));
}

TEST(AnyExecutor, EmptyItThrowsWhatAnyExecutorOfTheLibraryThrows) {
    any_place none, null(nullptr), from_empty = ex::any_executor<fleet::name_t, priority>();
    EXPECT_FALSE(none);
    EXPECT_FALSE(from_empty);
    EXPECT_EQ(none, nullptr);
    EXPECT_EQ(none, null);
    EXPECT_EQ(none.target<void>(), nullptr);
    EXPECT_EQ(none.target_type(), typeid(void));
    EXPECT_THROW(none.execute([] {}), bad_executor);
    EXPECT_THROW(query(none, priority()), bad_executor);
    EXPECT_THROW(require(none, priority{1}), bad_executor);
    EXPECT_THROW(prefer(none, priority{1}), bad_executor);
    EXPECT_THROW(none.context(), bad_executor);
    ex::any_executor<> const from_any_io = any_io_executor();
    EXPECT_FALSE(from_any_io);
}

TEST(AnyExecutor, TellsWhatIsInside) {
    std::string log;
    any_place const any = place(log);
    ASSERT_NE(any.target<place>(), nullptr);
    EXPECT_EQ(query(*any.target<place>(), priority()), 1);
    EXPECT_EQ(any.target<loop_place>(), nullptr);
    EXPECT_EQ(any.target<void>(), any.target<place>());
    EXPECT_EQ(any.target_type(), typeid(place));
    io_context context;
    ex::any_executor<> const loop = context.get_executor();
    ASSERT_NE(loop.target<loop_place>(), nullptr);
    EXPECT_EQ(*loop.target<loop_place>(), context.get_executor());
    EXPECT_EQ(&loop.context(), &context);
    EXPECT_EQ(&query(loop, ex::context), &context);
    EXPECT_TRUE(loop == context.get_executor());
    ex::any_executor<ex::context_as_t<io_context&>> const typed = context.get_executor();
    static_assert(std::is_same_v<decltype(query(typed, ex::context)), io_context&>);
    EXPECT_EQ(&query(typed, ex::context), &context);
    EXPECT_EQ(&query(typed, ex::context_as<io_context&>), &context);
}

TEST(AnyExecutor, MovesLeaveItEmptyAndCopiesAreEqual) {
    std::string log;
    any_place a = place(log);
    any_place const copy = a;
    any_place b = std::move(a);
    EXPECT_FALSE(a);
    EXPECT_EQ(b, copy);
    a = std::move(b);
    EXPECT_FALSE(b);
    swap(a, b);
    EXPECT_EQ(b, copy);
    EXPECT_FALSE(a);
    b = nullptr;
    EXPECT_EQ(b, nullptr);
    b = place(log, "elsewhere");
    EXPECT_EQ(query(b, fleet::name), "elsewhere");
    any_place const nothrow(std::nothrow, place(log));
    EXPECT_EQ(nothrow, copy);
}

TEST(AnyExecutor, BecomesOneWithFewerProperties) {
    std::string log;
    any_place const any = require(any_place(place(log)), priority{4});
    ex::any_executor<priority> less = any;
    EXPECT_EQ(query(less, priority()), 4);
    EXPECT_EQ(less.target_type(), typeid(place)) << "not the any_executor in between";
    EXPECT_NE(less.target<place>(), nullptr);
    less = require(less, priority{5});
    ex::any_executor<> const none = less;
    none.execute([&log] { log += 'x'; });
    EXPECT_EQ(log, "5x");
    EXPECT_EQ(none.target_type(), typeid(place));
    static_assert(!std::constructible_from<any_place, ex::any_executor<priority>>, "it has no name");
    ex::any_executor<ex::prefer_only<priority>> const preferring = less;
    EXPECT_EQ(query(prefer(preferring, priority{9}), priority()), 9);
}

TEST(AnyExecutor, OfALoopServesWithAllThatTheLibraryHas) {
    using any_loop = ex::any_executor<ex::context_as_t<execution_context&>, ex::blocking_t, ex::blocking_t::never_t,
                                      ex::prefer_only<ex::blocking_t::possibly_t>, ex::outstanding_work_t,
                                      ex::outstanding_work_t::tracked_t, ex::prefer_only<ex::allocator_t<void>>>;
    io_context context;
    any_loop const any = context.get_executor();
    EXPECT_EQ(query(any, ex::blocking), ex::blocking.never);
    EXPECT_EQ(query(prefer(any, ex::blocking.possibly), ex::blocking), ex::blocking.possibly);
    {
        any_loop const tracked = require(any, ex::outstanding_work.tracked);
        EXPECT_EQ(query(tracked, ex::outstanding_work), ex::outstanding_work.tracked);
        context.poll();
        EXPECT_FALSE(context.stopped());
    }
    EXPECT_EQ(require(require(any, ex::outstanding_work.tracked), ex::blocking.never),
              require(any, ex::outstanding_work.tracked));
    context.poll();
    EXPECT_TRUE(context.stopped());
    any_io_executor const back = any;
    EXPECT_EQ(back, any_io_executor(context.get_executor()));
    EXPECT_EQ(back.target_type(), typeid(loop_place)) << "the loop is recognised";

    basic_stream_socket<local::stream_protocol, any_loop> near(any), far(any);
    local::connect_pair(near, far);
    auto const body = [](auto& a, auto& b) -> awaitable<char> {
        char in = ' ';
        co_await a.async_write_some(buffer("y", 1));
        co_await b.async_read_some(buffer(&in, 1));
        co_return in;
    };
    char got = ' ';
    co_spawn(any, body(near, far), [&got](std::exception_ptr, char c) { got = c; });
    std::string order;
    dispatch(any, [&order] { order += 'd'; });
    post(make_strand(any), [&order] { order += 's'; });
    post(bind_executor(any, [&order] { order += 'b'; }));
    EXPECT_EQ(order, "");
    context.restart();
    context.run();
    EXPECT_EQ(order.size(), 3U);
    EXPECT_EQ(got, 'y');
}

/// Knows no property of the library.
struct silent {
    template <class F> void execute(F&&) const {}
    friend bool operator==(silent, silent) noexcept { return true; }
};

TEST(AnyExecutor, WhatTheTargetDoesNotKnowIsTheDefault) {
    ex::any_executor<ex::blocking_t, ex::mapping_t> const any = silent();
    EXPECT_EQ(query(any, ex::blocking), ex::blocking.possibly);
    EXPECT_EQ(query(any, ex::mapping), ex::mapping.thread);
    ex::any_executor<ex::prefer_only<priority>> const preferring = silent();
    EXPECT_EQ(prefer(preferring, priority{3}), preferring);
    EXPECT_EQ(query(preferring, priority{3}), 0);
}

TEST(AnyExecutor, OfTheLibraryTakesExecutorsWithoutAContextAndSwaps) {
    any_completion_executor none(std::nothrow, silent());
    EXPECT_NE(none.target<silent>(), nullptr);
    EXPECT_NE(none.target<void>(), nullptr);
    io_context context;
    any_io_executor a = context.get_executor(), b;
    ex::swap(a, b);
    EXPECT_FALSE(a);
    EXPECT_EQ(b, context.get_executor());
}

TEST(AnyExecutor, OfTheLibrarySwapsByItsOwnFunction) {
    io_context one, two;
    any_io_executor a = one.get_executor(), b = two.get_executor();
    static_assert(noexcept(swap(a, b)));
    swap(a, b);
    EXPECT_EQ(a, two.get_executor());
    EXPECT_EQ(b, one.get_executor());
}

TEST(AnyExecutor, ForHandlersComparesWithWhatItMayHold) {
    io_context context, other;
    any_completion_executor const a = context.get_executor(), s = silent();
    EXPECT_TRUE(a == context.get_executor());
    EXPECT_TRUE(context.get_executor() == a);
    EXPECT_TRUE(a != other.get_executor());
    EXPECT_TRUE(a != strand<io_context::executor_type>(context.get_executor()));
    EXPECT_TRUE(s == silent());
}

// ---- require_concept

struct sails {
    template <class> static constexpr bool is_applicable_property_v = true;
    static constexpr bool is_requirable_concept = true;
    template <class T> static constexpr bool static_query_v = requires { T::has_sails; };
    static constexpr bool value() { return true; }
};
struct ship {
    static constexpr bool has_sails = true;
};
struct hull {
    constexpr ship require_concept(sails) const { return {}; }
};
struct raft {
    friend constexpr ship require_concept(raft const&, sails) { return {}; }
};

TEST(RequireConcept, ByTypeByMemberAndByFunction) {
    static_assert(can_require_concept_v<ship, sails> && can_require_concept<hull const&, sails>::value);
    static_assert(can_require_concept_v<raft, sails> && !can_require_concept_v<int, sails>);
    static_assert(!can_require_concept_v<loop_place, priority>, "not that kind of property");
    static_assert(std::is_same_v<require_concept_result_t<hull, sails>, ship>);
    static_assert(std::is_same_v<decltype(fairlead::require_concept(raft(), sails())), ship>);
    ship const s;
    EXPECT_EQ(&fairlead::require_concept(s, sails()), &s);
}

} // namespace
