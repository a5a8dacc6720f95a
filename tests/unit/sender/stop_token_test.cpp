// Stop states that lie where their user puts them, to the standard's text.
#include <fairlead/sender/stop_token.hpp>

#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace {

using namespace fairlead;

static_assert(stoppable_token<inplace_stop_token> && !unstoppable_token<inplace_stop_token>);
static_assert(unstoppable_token<never_stop_token>);
static_assert(stoppable_token<std::stop_token> && !unstoppable_token<std::stop_token>);
static_assert(!stoppable_token<int>);

TEST(InplaceStop, ACallbackIsCalledOnceWhenAStopIsRequested) {
    inplace_stop_source source;
    int calls = 0;
    inplace_stop_callback const counts(source.get_token(), [&] { ++calls; });
    EXPECT_FALSE(source.stop_requested());
    EXPECT_EQ(calls, 0);
    EXPECT_TRUE(source.request_stop());
    EXPECT_FALSE(source.request_stop()) << "it was requested before";
    EXPECT_TRUE(source.get_token().stop_requested());
    EXPECT_EQ(calls, 1);
}

TEST(InplaceStop, ACallbackThatComesLateIsCalledAtOnce) {
    inplace_stop_source source;
    source.request_stop();
    int calls = 0;
    inplace_stop_callback const counts(source.get_token(), [&] { ++calls; });
    EXPECT_EQ(calls, 1);
}

TEST(InplaceStop, CallbacksThatHaveGoneAreNotCalled) {
    inplace_stop_source source;
    std::string called;
    auto const notes = [&called](char name) { return [&called, name] { called += name; }; };
    std::optional<inplace_stop_callback<decltype(notes('a'))>> a, b, c;
    a.emplace(source.get_token(), notes('a'));
    b.emplace(source.get_token(), notes('b'));
    c.emplace(source.get_token(), notes('c'));
    b.reset(); // out of the middle
    source.request_stop();
    EXPECT_EQ(called.size(), 2u);
    EXPECT_EQ(called.find('b'), std::string::npos);
}

TEST(InplaceStop, ACallbackMayDestroyItselfAndOthers) {
    inplace_stop_source source;
    int calls = 0;
    struct destroys {
        int& calls;
        std::optional<inplace_stop_callback<destroys>>& own;
        std::optional<inplace_stop_callback<destroys>>& other;
        void operator()() const {
            ++calls;
            other.reset();
            own.reset();
        }
    };
    std::optional<inplace_stop_callback<destroys>> a, b;
    a.emplace(source.get_token(), destroys{calls, a, b});
    b.emplace(source.get_token(), destroys{calls, b, a});
    source.request_stop();
    EXPECT_EQ(calls, 1) << "the first has destroyed the other one";
}

TEST(InplaceStop, ATokenWithoutASourceIsNeverStopped) {
    inplace_stop_token const none;
    EXPECT_FALSE(none.stop_possible());
    EXPECT_FALSE(none.stop_requested());
    inplace_stop_callback const never(none, [] { ADD_FAILURE(); });
    EXPECT_NE(none, inplace_stop_source().get_token());
}

TEST(InplaceStopThreads, ACallbackIsWaitedForWhereItIsDestroyed) {
    for (auto rounds = test::scaled(2'000, 100); rounds != 0; --rounds) {
        inplace_stop_source source;
        std::atomic<bool> inside{false};
        auto value = std::make_unique<int>(7);
        std::thread asks([&] { source.request_stop(); });
        {
            inplace_stop_callback const reads(source.get_token(), [&] {
                inside.store(true, std::memory_order_relaxed);
                EXPECT_EQ(*value, 7);
                inside.store(false, std::memory_order_relaxed);
            });
        }
        EXPECT_FALSE(inside.load(std::memory_order_relaxed));
        value.reset();
        asks.join();
    }
}

} // namespace
