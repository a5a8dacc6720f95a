// Rows D13 to D15: handlers that ask to be run at once where their operation completes at once.
#include <fairlead/token/adapters.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/post.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace {

using namespace fairlead;
using local_socket = local::stream_protocol::socket;

/// How deep continuations are nested at the moment, and were at the most.
struct depth_gauge {
    int now = 0;
    int most = 0;
    struct level {
        depth_gauge& g;
        explicit level(depth_gauge& gauge) : g(gauge) { g.most = std::max(g.most, ++g.now); }
        ~level() { --g.now; }
    };
};

struct reader {
    local_socket& s;
    std::string& buffer;
    int left;
    int counter = 0;
    depth_gauge depth;
};

/// The essay's listing as it was meant: every sixteenth call unwinds the stack by a post.
void read_reentrant(reader& r) {
    auto cont = [&r](auto, auto) {
        depth_gauge::level const one_more(r.depth);
        if (--r.left > 0)
            read_reentrant(r);
    };
    if (++r.counter % 16 == 0) {
        post(r.s.get_executor(), [cont]() mutable { cont(error_code(), std::size_t{0}); });
        return;
    }
    async_read_until(r.s, dynamic_buffer(r.buffer), "\r\n", bind_immediate_executor(r.s.get_executor(), cont));
}

/// The same by a programmer who forgot the post.
void read_unbroken(reader& r) {
    auto cont = [&r](auto, auto) {
        depth_gauge::level const one_more(r.depth);
        if (--r.left > 0)
            read_unbroken(r);
    };
    async_read_until(r.s, dynamic_buffer(r.buffer), "\r\n", bind_immediate_executor(r.s.get_executor(), cont));
}

struct PapersImmediate : testing::Test {
    io_context context;
    local_socket a{context}, b{context};
    std::string text = "never consumed\r\n";
    PapersImmediate() { connect_pair(a, b); }
    int repeat() const { return static_cast<int>(fairlead::test::scaled(200'000, 10'000)); }
};

TEST_F(PapersImmediate, D14_ReadReentrantUnwindsItsStackEverySixteenthTime) {
    reader r{a, text, repeat(), 0, {}};
    post(context, [&] { read_reentrant(r); });
    auto const items = context.run();
    EXPECT_EQ(r.left, 0);
    EXPECT_GE(r.depth.most, 15);
    EXPECT_LE(r.depth.most, 16);
    // Where the program is slow, a sanitizer's for instance, a slice may end before the depth is reached.
    auto const cut_short = static_cast<std::size_t>(context.yields().deadline);
    EXPECT_LE(items, static_cast<std::size_t>(repeat() / 15 + 2) + cut_short) << "most completions were called inline";
}

// D15: the essay's six downsides of being called inline. Four of them belong to the defaults: without a word of the
// program nothing is nested. So nothing has to be broken, bound or chosen. Rescheduling and monopoly are left.

void read_by_default(reader& r) {
    auto const cont = [&r](auto, auto) {
        depth_gauge::level const one_more(r.depth);
        if (--r.left > 0)
            read_by_default(r);
    };
    async_read_until(r.s, dynamic_buffer(r.buffer), "\r\n", cont);
}

TEST_F(PapersImmediate, D15_DefaultsNeedNoLayerAndNeverNest) {
    reader r{a, text, repeat(), 0, {}};
    post(context, [&] { read_by_default(r); });
    context.run();
    EXPECT_EQ(r.left, 0);
    EXPECT_EQ(r.depth.most, 1) << "no call inside another, which strict guidelines forbid";
}

awaitable<void> read_in_a_row(reader& r) {
    for (; r.left > 0; --r.left)
        co_await async_read_until(r.s, dynamic_buffer(r.buffer), "\r\n");
}

TEST_F(PapersImmediate, D15_CoroutineIsRescheduledForFairnessAlone) {
    reader r{a, text, repeat(), 0, {}};
    co_spawn(context, read_in_a_row(r), detached);
    auto const items = context.run();
    EXPECT_EQ(r.left, 0);
    auto const yields = context.yields();
    EXPECT_LE(items, yields.budget + yields.deadline + yields.remote + 2) << "one item for each time it gave way";
    EXPECT_LE(items, static_cast<std::size_t>(repeat()) / fairness::units_least + 2);
    // Alone it uses its budget to the end, which is far longer than a depth that every stack can bear.
    EXPECT_LE(yields.budget, static_cast<std::size_t>(repeat()) / fairness::units_most + 1);
}

/// Two chains that go over into each other, none of which breaks the stack: a bound for each function were too large.
struct two_chains {
    reader& r;
    void one() {
        async_read_until(r.s, dynamic_buffer(r.buffer), "\r\n",
                         bind_immediate_executor(r.s.get_executor(), [this](auto, auto) {
                             depth_gauge::level const one_more(r.depth);
                             if (--r.left > 0)
                                 other();
                         }));
    }
    void other() {
        async_write(r.s, const_buffer(), bind_immediate_executor(r.s.get_executor(), [this](auto, auto) {
                        depth_gauge::level const one_more(r.depth);
                        if (--r.left > 0)
                            one();
                    }));
    }
};

TEST_F(PapersImmediate, D15_OneBoundHoldsForAllChainsTogetherAndNobodyChoosesIt) {
    reader r{a, text, repeat(), 0, {}};
    two_chains chains{r};
    post(context, [&] { chains.one(); });
    context.run();
    EXPECT_LE(r.left, 0);
    EXPECT_GT(r.depth.most, 1);
    EXPECT_LE(r.depth.most, static_cast<int>(fairness::inline_depth_most) + 1);
}

TEST_F(PapersImmediate, D15_StackIsBoundedAlsoWhenTheProgramForgetsToBreakIt) {
    reader r{a, text, repeat(), 0, {}};
    post(context, [&] { read_unbroken(r); });
    context.run();
    EXPECT_EQ(r.left, 0);
    EXPECT_LE(r.depth.most, static_cast<int>(fairness::inline_depth_most) + 1);
}

TEST_F(PapersImmediate, D13_ImmediateCompletionRunsInsideTheInitiatingFunction) {
    std::string order;
    post(context, [&] {
        async_read_until(
            a, dynamic_buffer(text), "\r\n",
            bind_immediate_executor(context.get_executor(), [&](error_code, std::size_t) { order += 'r'; }));
        async_write(a, buffer("x", 1),
                    bind_immediate_executor(context.get_executor(), [&](error_code, std::size_t) { order += 'w'; }));
        order += '.';
    });
    context.run();
    EXPECT_EQ(order, "rw.");
}

TEST_F(PapersImmediate, D13_OtherCompletionsAreUnaffected) {
    std::string order;
    char byte = 0;
    post(context, [&] {
        a.async_read_some(buffer(&byte, 1), bind_immediate_executor(context.get_executor(),
                                                                    [&](error_code, std::size_t) { order += 'r'; }));
        order += '.';
        b.write_some(buffer("x", 1));
    });
    context.run();
    EXPECT_EQ(order, ".r");
    EXPECT_EQ(byte, 'x');
}

TEST_F(PapersImmediate, D13_FromOutsideTheExecutorItIsQueued) {
    bool done = false;
    async_read_until(a, dynamic_buffer(text), "\r\n",
                     bind_immediate_executor(context.get_executor(), [&](error_code, std::size_t) { done = true; }));
    EXPECT_FALSE(done) << "nobody is inside run()";
    context.run();
    EXPECT_TRUE(done);
}

TEST_F(PapersImmediate, D13_WriteThatOnlyBeginsAtOnceLosesNothing) {
    std::string const large(4'000'000, 'x');
    std::size_t written = 0, got = 0;
    std::string into(large.size(), 0);
    post(context, [&] {
        async_write(a, buffer(large),
                    bind_immediate_executor(context.get_executor(), [&](error_code, std::size_t n) { written = n; }));
        EXPECT_EQ(written, 0U) << "the socket cannot have taken all of it";
        async_read(b, buffer(into), [&](error_code, std::size_t n) { got = n; });
    });
    context.run();
    EXPECT_EQ(written, large.size());
    EXPECT_EQ(got, large.size());
    EXPECT_EQ(into, large);
}

} // namespace
