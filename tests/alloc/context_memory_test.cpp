// That a context with an allocator takes nothing of what lasts from elsewhere. The allocator calls operator new once
// for each block, so that the two counts tell.
#include <fairlead/io/io_context.hpp>

#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/legacy/config.hpp>
#include <fairlead/net/ip.hpp>
#include <fairlead/net/signal_set.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>

#include <alloc/failing_new.hpp>
#include <support/counting_allocator.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <optional>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using test::account;
using allocator = test::counting_allocator<int>;

/// Calls of operator new since its construction, without those for the books.
class elsewhere {
public:
    explicit elsewhere(account const& books) : books_(books), before_(now()) {}
    long count() const { return now() - before_; }

private:
    long now() const { return static_cast<long>(test::allocations.load()) - books_.taken; }
    account const& books_;
    long before_;
};

class ContextMemory : public testing::Test {
    void SetUp() override {
        if (!test::new_is_replaced())
            GTEST_SKIP() << "a sanitizer keeps an operator new of its own";
    }
};

/// Makes all that is made once for the process, and the memory that operations leave to the next.
void warm_up(io_context& c) {
    signal_set signals(c, SIGUSR1);
    steady_timer timer(c, 0s);
    timer.async_wait([](error_code) {});
    ip::tcp::socket const socket(c, ip::tcp::v4());
    c.run();
}

TEST_F(ContextMemory, OfAnIoContextIsAllThatLasts) {
    {
        io_context other;
        warm_up(other);
    }
    account books;
    elsewhere const news(books);
    {
        io_context c(std::allocator_arg, allocator(&books));
        warm_up(c);
        EXPECT_GT(books.live, 0);
        c.restart();
        auto const taken = books.taken;
        warm_up(c);
        EXPECT_EQ(books.taken - taken, 1) << "the set of signals; operations take nothing from here";
    }
    EXPECT_EQ(news.count(), 0);
    EXPECT_EQ(books.live, 0);
}

TEST_F(ContextMemory, GrowsWithDescriptorsAndTimers) {
    account books;
    io_context c(std::allocator_arg, allocator(&books), 1);
    auto const bare = books.live;
    ip::tcp::socket const socket(c, ip::tcp::v4());
    EXPECT_EQ(books.live, bare + 1);
    steady_timer timer(c, 1h);
    timer.async_wait([](error_code) {});
    EXPECT_EQ(books.live, bare + 2);
}

TEST_F(ContextMemory, GoesBackWithTheLastObjectThatOutlivesTheContext) {
    account books;
    std::optional<io_context> c(std::in_place, std::allocator_arg, allocator(&books));
    std::optional<ip::tcp::socket> socket(std::in_place, *c, ip::tcp::v4());
    std::optional<steady_timer> timer(std::in_place, *c, 1h);
    c.reset();
    EXPECT_GT(books.live, 0);
    socket.reset();
    EXPECT_GT(books.live, 0);
    timer.reset();
    EXPECT_EQ(books.live, 0);
}

TEST_F(ContextMemory, OfAPoolIsAllThatLastsButItsThreads) {
    {
        thread_pool const other(2);
    }
    account books;
    elsewhere const news(books);
    {
        thread_pool const pool(std::allocator_arg, allocator(&books), 2);
    }
    EXPECT_EQ(news.count(), 2) << "what the system keeps of two threads";
    EXPECT_EQ(books.live, 0);
}

TEST_F(ContextMemory, ThatIsUsedUpLeavesNothingBehind) {
    account books;
    for (std::size_t n = 1;; ++n) {
        bool made = false;
        try {
            test::failing_new const fails = test::failing_new::only(n);
            io_context const c(std::allocator_arg, allocator(&books), config_from_string(""));
            made = true;
        } catch (std::bad_alloc const&) {
        }
        ASSERT_EQ(books.live, 0) << n;
        if (made)
            break;
    }
}

} // namespace
