#include <io/run_watch.hpp>

#include <fairlead/exec/work_guard.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

namespace {

using namespace fairlead;
using io::impl::run_watch;

TEST(RunWatch, AThreadHasAPlaceInItsOwnItemsOnly) {
    io_context context;
    io_context other;
    EXPECT_FALSE(run_watch::place_of_caller(context.as_loop()));
    int places = 0;
    post(context, [&] {
        places += run_watch::place_of_caller(context.as_loop()).has_value();
        places += run_watch::place_of_caller(other.as_loop()).has_value();
    });
    context.run();
    EXPECT_EQ(places, 1);
}

TEST(RunWatch, EachItemHasAPlaceOfItsOwn) {
    io_context context;
    std::optional<io::impl::place_in_run> before;
    int same = 0;
    for (int i = 0; i != 200; ++i)
        post(context, [&] {
            auto const now = run_watch::place_of_caller(context.as_loop());
            same += now == before;
            before = now;
        });
    while (context.run_one() != 0 && context.poll() != 0) {
    }
    context.restart();
    context.run();
    EXPECT_EQ(same, 0);
}

struct item_that_goes_on {
    io_context& context;
    std::atomic<int>& ran;
    std::atomic<bool> const& is_over;
    void operator()() const {
        ++ran;
        if (!is_over)
            post(context, item_that_goes_on(*this));
    }
};

TEST(RunWatch, ThePlaceOfAThreadStaysWhileAnotherOneHasTheLoop) {
    impl::exec::shares::prepare();
    if (!impl::exec::shares::are_possible())
        GTEST_SKIP() << "the system refuses membarrier(2)";
    io_context context;
    auto guard = std::make_optional(make_work_guard(context));
    std::thread other([&] { context.run(); });
    std::atomic<int> ran = 0;
    std::atomic<bool> is_over = false;
    auto const let_it_turn = [&ran, from = 0]() mutable {
        // More than fit into a slice, in which a thread may run its share without a turn.
        for (from += 20'000; ran < from;)
            std::this_thread::yield();
        from = ran;
    };
    std::optional<io::impl::place_in_run> first;
    std::optional<io::impl::place_in_run> second;
    post(context, [&]() mutable {
        post(context, item_that_goes_on{context, ran, is_over});
        auto wait = let_it_turn;
        wait();
        first = run_watch::place_of_caller(context.as_loop());
        wait();
        second = run_watch::place_of_caller(context.as_loop());
        is_over = true;
        guard.reset();
    });
    context.run();
    other.join();
    EXPECT_TRUE(first);
    EXPECT_EQ(first, second);
}

} // namespace
