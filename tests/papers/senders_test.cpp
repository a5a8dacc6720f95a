// Rows D23 and D24: an algorithm that repeats a sender which completes at once, without a scheduler that unwinds
// stacks.
#include <fairlead/sender/connected_op.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/immediate.hpp>
#include <fairlead/token/post.hpp>
#include <support/repeat_sender.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace {

using namespace fairlead;
using test::repeat_sender;

/// The reader of D23 repeats a hundred million times where the test is optimised, as the essay's reader is; the others
/// a tenth of that.
#ifdef __OPTIMIZE__
std::uint64_t hundred_million() { return test::scaled(100'000'000, 20'000); }
#else
std::uint64_t hundred_million() { return test::scaled(10'000'000, 20'000); }
#endif
constexpr std::uintptr_t stack_most = 64 << 10;

/// Starts a repetition of what `make` returns inside `context`, and counts.
template <class Make> struct repetition {
    std::uint64_t left = hundred_million() / 10;
    test::stack_gauge stack;
    test::counting_ends::counts ends;
    Make make;

    explicit repetition(Make m) : make(std::move(m)) { test::this_thread_repeats.most = 0; }
    auto sender() {
        return repeat_sender{[this] {
                                 stack.look();
                                 return make();
                             },
                             [this] { return left-- == 0; }};
    }
    void expect_a_constant_stack() const {
        EXPECT_EQ(ends.values, 1);
        EXPECT_EQ(left, ~std::uint64_t(0)) << "all of them";
        EXPECT_LE(stack.bytes(), stack_most);
        EXPECT_LE(test::this_thread_repeats.most, static_cast<int>(fairness::inline_depth_most) + 1);
    }
};

TEST(Papers, D23_AReaderRepeatsOnAConstantStackWithoutATrampoline) {
    io_context context(1);
    local::stream_protocol::socket socket(context);
    std::string text = "never consumed\r\n";
    repetition r([&] { return async_read_until(socket, dynamic_buffer(text), "\r\n"); });
    r.left = hundred_million();
    auto all = r.sender().connect(test::counting_ends{&r.ends});
    post(context, [&] { all.start(); });
    context.run();
    r.expect_a_constant_stack();
}

TEST(Papers, D23_SoDoesASenderThatIsStartedOutsideItsLoop) {
    io_context context(1);
    repetition r([&] { return async_immediate(context); });
    auto all = r.sender().connect(test::counting_ends{&r.ends});
    all.start();
    EXPECT_EQ(r.ends.values, 0) << "it completes in its loop";
    context.run();
    r.expect_a_constant_stack();
}

TEST(Papers, D23_SoDoesASenderWithoutALoop) {
    repetition r([] { return deferred.values(1); });
    auto all = r.sender().connect(test::counting_ends{&r.ends});
    all.start();
    r.expect_a_constant_stack();
}

TEST(Papers, D24_SendersRepeatOnAConstantStackInAThreadPool) {
    thread_pool pool(1); // One stack to be measured.
    repetition r([&] { return async_immediate(pool); });
    auto all = r.sender().connect(test::counting_ends{&r.ends});
    post(pool, [&] { all.start(); });
    pool.join();
    r.expect_a_constant_stack();
}

TEST(Papers, D24_SendersRepeatOnAConstantStackInAStrand) {
    io_context context(1);
    auto const ex = make_strand(context);
    repetition r([&] { return async_immediate(ex); });
    auto all = r.sender().connect(test::counting_ends{&r.ends});
    post(ex, [&] { all.start(); });
    context.run();
    r.expect_a_constant_stack();
}

/// Starts inside itself: it completes before its initiating function returns.
TEST(Papers, D24_SendersThatCompleteInTheirStartRepeatOnAConstantStack) {
    io_context context(1);
    repetition r([] {
        return async_initiate<use_await_t const, void(error_code)>([](auto&& h) { std::move(h)(error_code()); },
                                                                   use_await);
    });
    auto all = r.sender().connect(test::counting_ends{&r.ends});
    post(context, [&] { all.start(); });
    context.run();
    r.expect_a_constant_stack();
}

/// How often a sender that is repeated ends between two turns of somebody else, who wants to run once in each round of
/// the queue.
template <class Make> std::uint64_t longest_monopoly(io_context& context, Make make) {
    repetition r(make);
    r.left = test::scaled(100'000, 10'000);
    auto all = r.sender().connect(test::counting_ends{&r.ends});
    std::uint64_t longest = 0;
    co_spawn(
        context,
        [](std::uint64_t const& left, std::uint64_t& most) -> awaitable<void> {
            for (std::uint64_t before = left; before != ~std::uint64_t(0);) {
                co_await this_coro::yield();
                most = std::max(most, before - left);
                before = left;
            }
        }(r.left, longest),
        detached);
    post(context, [&] { all.start(); });
    context.run();
    EXPECT_EQ(r.ends.values, 1);
    EXPECT_GE(longest, static_cast<std::uint64_t>(fairness::units_least));
    return longest;
}

TEST(Papers, D24_ARepeatedSenderDoesNotStarveOthers) {
    io_context context(1);
    local::stream_protocol::socket socket(context);
    std::string text = "never consumed\r\n";
    auto const longest =
        longest_monopoly(context, [&] { return async_read_until(socket, dynamic_buffer(text), "\r\n"); });
    EXPECT_LE(longest, static_cast<std::uint64_t>(fairness::units_most) + 1) << "one has begun and waits for its turn";
}

TEST(Papers, D24_ASenderWithoutALoopHasTheBudgetOfWhereItIsRepeated) {
    io_context context(1);
    auto const longest = longest_monopoly(context, [] { return deferred.values(1); });
    EXPECT_LE(longest, static_cast<std::uint64_t>(fairness::units_most) + 1) << "one has begun and waits for its turn";
}

} // namespace
