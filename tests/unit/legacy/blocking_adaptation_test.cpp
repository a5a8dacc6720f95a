// blocking_adaptation: executors that do not wait for what they run are made to.
#include <fairlead/exec/inline_executor.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/legacy/any_executor.hpp>
#include <fairlead/legacy/blocking_adaptation.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>

namespace {

using namespace fairlead;
namespace ex = fairlead::execution;
using adaptation = ex::blocking_adaptation_t;
using loop_place = io_context::executor_type;
using adaptable_loop_place = require_result_t<loop_place, adaptation::allowed_t>;
using waiting_loop_place = require_result_t<adaptable_loop_place, ex::blocking_t::always_t>;

static_assert(adaptation(adaptation::allowed) == ex::blocking_adaptation.allowed);
static_assert(ex::blocking_adaptation != ex::blocking_adaptation.disallowed, "without a value it equals none");
static_assert(std::is_same_v<require_result_t<loop_place, adaptation::disallowed_t>, loop_place>, "the default");
static_assert(!can_prefer_v<loop_place, adaptation::allowed_t> && !can_require_v<loop_place, adaptation>);
static_assert(!can_require_v<loop_place, ex::blocking_t::always_t>, "nobody has allowed it");
static_assert(can_require_v<loop_place, adaptation::allowed_t, ex::blocking_t::always_t>);
static_assert(io_executor<adaptable_loop_place> && io_executor<waiting_loop_place>);
static_assert(ex::executor<require_result_t<inline_executor, adaptation::allowed_t>>);
static_assert(std::is_same_v<require_result_t<adaptable_loop_place, adaptation::allowed_t>, adaptable_loop_place>);
static_assert(std::is_same_v<require_result_t<adaptable_loop_place, adaptation::disallowed_t>, loop_place>);
static_assert(std::is_same_v<require_result_t<waiting_loop_place, ex::blocking_t::always_t>, waiting_loop_place>);
static_assert(std::is_same_v<require_result_t<waiting_loop_place, ex::blocking_t::never_t>, adaptable_loop_place>,
              "who need not wait is the one inside");

/// Gives what it runs to a pool, and knows no property.
struct plain_place {
    thread_pool* pool;
    template <class F> void execute(F f) const { pool->get_executor().execute(std::move(f)); }
    friend bool operator==(plain_place const&, plain_place const&) noexcept = default;
};
/// Of the kind that allows it of itself.
struct willing_place : plain_place {
    static constexpr adaptation query(adaptation) noexcept { return ex::blocking_adaptation.allowed; }
};
/// Runs nothing.
struct forgetful_place {
    template <class F> void execute(F) const {}
    friend bool operator==(forgetful_place, forgetful_place) noexcept = default;
};
static_assert(forgetful_place() == forgetful_place());
static_assert(!can_require_v<plain_place, ex::blocking_t::always_t>);
static_assert(std::is_same_v<require_result_t<willing_place, adaptation::allowed_t>, willing_place>);
static_assert(can_require_v<willing_place, ex::blocking_t::always_t>);
static_assert(!can_require_v<willing_place, adaptation::disallowed_t>);

struct BlockingAdaptation : testing::Test {
    template <class E> static auto waiting(E const& e) {
        return require(e, ex::blocking_adaptation.allowed, ex::blocking.always);
    }
    thread_pool pool{1};
};

TEST_F(BlockingAdaptation, ExecuteWaitsForTheEndOfTheFunction) {
    auto const me = std::this_thread::get_id();
    std::thread::id ran_on = me;
    waiting(plain_place{&pool}).execute([&] { ran_on = std::this_thread::get_id(); });
    EXPECT_NE(ran_on, me);
    ran_on = me;
    require(willing_place{&pool}, ex::blocking.always).execute([&] { ran_on = std::this_thread::get_id(); });
    EXPECT_NE(ran_on, me);
}

TEST_F(BlockingAdaptation, WhatTheFunctionThrowsLeavesExecute) {
    auto const e = waiting(plain_place{&pool});
    EXPECT_THROW(e.execute([] { throw std::runtime_error("told"); }), std::runtime_error);
    int calls = 0;
    e.execute([&] { ++calls; });
    EXPECT_EQ(calls, 1) << "the pool goes on";
}

TEST_F(BlockingAdaptation, ExecuteReturnsWhenTheFunctionIsGivenUp) {
    int calls = 0;
    waiting(forgetful_place()).execute([&] { ++calls; });
    EXPECT_EQ(calls, 0);
}

TEST_F(BlockingAdaptation, InsideTheExecutorNobodyWaitsForItself) {
    io_context context;
    auto const e = waiting(context.get_executor());
    int inside = 0;
    post(context, [&] {
        e.execute([&] { ++inside; });
        EXPECT_EQ(inside, 1);
        post(e, [&] { ++inside; });
        EXPECT_EQ(inside, 1) << "what is posted is not waited for";
    });
    context.run();
    EXPECT_EQ(inside, 2);
}

TEST_F(BlockingAdaptation, OtherPropertiesAreThoseOfTheExecutorInside) {
    io_context context;
    auto const e = waiting(context.get_executor());
    EXPECT_EQ(query(e, ex::blocking), ex::blocking.always);
    EXPECT_EQ(query(e, ex::blocking_adaptation), ex::blocking_adaptation.allowed);
    EXPECT_EQ(query(e, ex::relationship), ex::relationship.fork);
    EXPECT_EQ(&query(e, ex::context), &context);
    EXPECT_EQ(&e.context(), &context);
    EXPECT_EQ(e.get_inner_executor().get_inner_executor(), context.get_executor());
    EXPECT_EQ(e, waiting(context.get_executor()));
    auto const tracked = require(e, ex::outstanding_work.tracked);
    EXPECT_EQ(query(tracked, ex::outstanding_work), ex::outstanding_work.tracked);
    EXPECT_EQ(query(tracked, ex::blocking), ex::blocking.always);
    EXPECT_EQ(query(prefer(e, ex::relationship.continuation), ex::relationship), ex::relationship.continuation);
    EXPECT_EQ(query(prefer(e, ex::blocking.possibly), ex::blocking), ex::blocking.possibly);
    context.poll();
    EXPECT_FALSE(context.stopped()) << "tracked is work";
}

TEST_F(BlockingAdaptation, WhoCanWaitOfItselfDoes) {
    auto const e = waiting(pool.get_executor());
    EXPECT_EQ(e.get_inner_executor(), require(pool.get_executor(), ex::blocking.always));
    EXPECT_EQ(query(e, ex::blocking), ex::blocking.always);
    int calls = 0;
    e.execute([&] { ++calls; });
    EXPECT_EQ(calls, 1);
}

TEST_F(BlockingAdaptation, IsAPropertyOfAnAnyExecutorToo) {
    using any_place_to_wait = ex::any_executor<adaptation, adaptation::allowed_t, ex::blocking_t>;
    any_place_to_wait const any = plain_place{&pool};
    EXPECT_EQ(query(any, ex::blocking_adaptation), ex::blocking_adaptation.disallowed);
    any_place_to_wait const allowed = require(any, ex::blocking_adaptation.allowed);
    EXPECT_EQ(query(allowed, ex::blocking_adaptation), ex::blocking_adaptation.allowed);
    any_place_to_wait const always = waiting(plain_place{&pool});
    EXPECT_EQ(query(always, ex::blocking), ex::blocking.always);
    int calls = 0;
    always.execute([&] { ++calls; });
    EXPECT_EQ(calls, 1);
}

} // namespace
