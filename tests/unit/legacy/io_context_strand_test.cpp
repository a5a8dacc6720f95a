#include <fairlead/legacy/io_context_strand.hpp>

#include <fairlead/legacy/ts_members.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

namespace {

using namespace fairlead;

static_assert(io_executor<io_context::strand>);

TEST(IoContextStrand, IsAStrandOnItsContext) {
    io_context context;
    io_context::strand const s(context), other(context), copy(s);
    EXPECT_EQ(&s.context(), &context);
    EXPECT_TRUE(s == copy);
    EXPECT_FALSE(s == other);
    EXPECT_FALSE(s.running_in_this_thread());
    std::string log;
    post(s, [&] {
        EXPECT_TRUE(s.running_in_this_thread());
        EXPECT_FALSE(other.running_in_this_thread());
        dispatch(copy, [&log] { log += 'a'; });
        post(s, [&log] { log += 'c'; });
        s.post([&log] { log += 'd'; }, std::allocator<void>());
        log += 'b';
    });
    steady_timer timer(context, std::chrono::seconds(0));
    timer.async_wait(bind_executor(s, [&](error_code) { log += s.running_in_this_thread() ? 't' : '?'; }));
    EXPECT_EQ(log, "");
    context.run();
    EXPECT_EQ(log.substr(0, 2), "ab");
    EXPECT_EQ(log.size(), 5U);
    EXPECT_NE(log.find('t'), std::string::npos);
    EXPECT_LT(log.find('c'), log.find('d'));
}

TEST(IoContextStrand, AWrappedHandlerRunsOnTheStrandWhoeverCallsIt) {
    io_context context;
    io_context::strand const s(context);
    std::string log;
    auto const append = [&](char const* text, char c) {
        EXPECT_TRUE(s.running_in_this_thread());
        (log += text) += c;
    };
    auto const wrapped = s.wrap(append);
    wrapped("a", 'b');
    s.wrap(std::bind(append, "c", 'd'))();
    EXPECT_EQ(log, "");
    post(context, s.wrap([&, only = std::make_unique<char>('f')] { append("e", *only); }));
    steady_timer timer(context, std::chrono::seconds(0));
    timer.async_wait(s.wrap([&](error_code) {
        EXPECT_TRUE(s.running_in_this_thread());
        auto const before = log.size();
        wrapped("g", 'h'); // at once: this is the strand
        EXPECT_EQ(log.size(), before + 2);
    }));
    context.run();
    EXPECT_EQ(log.size(), 8U);
    EXPECT_EQ(log.substr(0, 4), "abcd");
}

TEST(IoContextStrand, GoesWithWhatIsQueued) {
    auto const alive = std::make_shared<int>();
    {
        io_context context;
        io_context::strand s(context);
        post(s, [alive] {});
        any_io_executor const any = s;
        EXPECT_EQ(&any.context(), &context);
    }
    EXPECT_EQ(alive.use_count(), 1);
}

} // namespace
