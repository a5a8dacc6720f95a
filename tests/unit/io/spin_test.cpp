// A loop looks out for the posts of other threads before it sleeps (exec/adaptive_spin.hpp).
#include <fairlead/exec/work_guard.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/io/metrics.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/post.hpp>

#include <catalogue/bent_driver.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;

/// Time is what the test adds. A sleep ends at once, after the test has done what happens meanwhile.
class Spin : public testing::Test {
protected:
    void SetUp() override {
        if (std::thread::hardware_concurrency() < 2)
            GTEST_SKIP() << "With one processor another thread posts only while this one sleeps.";
    }
    /// Calls asleep() in each sleep, and spinning() at each look at the clock before one.
    template <class Asleep, class Spinning> void run(Asleep asleep, Spinning spinning) {
        bend.poll = [asleep](std::int64_t until_ns) {
            if (until_ns == 0)
                return false; // only a look
            asleep();
            return true;
        };
        bend.look_at_clock = [this, spinning] {
            auto const m = context.metrics();
            if (std::exchange(spins_seen, m.spins) != m.spins)
                is_spinning = true;
            else if (m.sleeps != sleeps_seen)
                is_spinning = false;
            sleeps_seen = m.sleeps;
            if (is_spinning)
                spinning();
        };
        context.run();
        bend.poll = nullptr;
        bend.look_at_clock = nullptr;
    }
    /// Another thread posts a handler, which stops the loop as the last one.
    void post_from_another_thread() {
        if (std::exchange(is_on_its_way, true))
            return;
        std::thread([this] {
            post(context, [this] {
                is_spinning = is_on_its_way = false;
                if (++posts == posts_most)
                    context.stop();
            });
        }).join();
    }
    void add(std::chrono::nanoseconds time) { bend.ahead_ns += time.count(); }

    test::bend bend{.stands = true};
    io_context context{std::make_unique<test::bent_driver>(bend)};
    executor_work_guard<io_context::executor_type> is_waited_for = make_work_guard(context);
    unsigned posts = 0;
    unsigned posts_most = 0;

private:
    std::uint64_t spins_seen = 0;
    std::uint64_t sleeps_seen = 0;
    bool is_spinning = false;
    bool is_on_its_way = false;
};

TEST_F(Spin, FindsAPostThatComesSoonAfterOneThatHasWokenTheLoop) {
    posts_most = 4;
    run([this] { post_from_another_thread(); }, [this] { post_from_another_thread(); });
    auto const m = context.metrics();
    EXPECT_EQ(m.sleeps, 1U);
    EXPECT_EQ(m.spins, 3U);
    EXPECT_EQ(m.spins_in_vain, 0U);
    EXPECT_EQ(posts, 4U);
}

TEST_F(Spin, InVainIsFollowedBySleepsWithoutOne) {
    posts_most = 8;
    run([this] { post_from_another_thread(); }, [this] { add(10us); });
    auto const m = context.metrics();
    EXPECT_EQ(m.sleeps, 8U);
    EXPECT_EQ(m.spins, 3U); // before the second sleep, the fourth and the eighth
    EXPECT_EQ(m.spins_in_vain, 3U);
    EXPECT_EQ(bend.ahead_ns, 3 * 50'000);
}

TEST_F(Spin, EndsWhereAClockStandsStill) {
    posts_most = 2;
    run([this] { post_from_another_thread(); }, [] {});
    EXPECT_EQ(context.metrics().spins_in_vain, 1U);
    EXPECT_EQ(context.metrics().sleeps, 2U);
}

TEST_F(Spin, IsNotDoneAfterATimer) {
    steady_timer timer(context, 1h);
    timer.async_wait([this](error_code) { context.stop(); });
    bool first = true;
    run([&] { first ? add(30min) : add(31min), first = false; }, [] {});
    EXPECT_EQ(context.metrics().sleeps, 2U);
    EXPECT_EQ(context.metrics().spins, 0U);
}

TEST_F(Spin, IsNotDoneBeforeATimerThatIsDueSoon) {
    steady_timer timer(context);
    bool is_due = false;
    posts_most = 100;
    run(
        [&] {
            if (posts != 0) {
                add(40us);
                return;
            }
            timer.expires_after(40us);
            timer.async_wait([&](error_code) {
                is_due = true;
                context.stop();
            });
            post_from_another_thread();
        },
        [] {});
    EXPECT_TRUE(is_due);
    EXPECT_EQ(context.metrics().spins, 0U);
}

TEST_F(Spin, HearsAnEventMeanwhile) {
    local::stream_protocol::socket one(context);
    local::stream_protocol::socket other(context);
    local::connect_pair(one, other);
    char byte = 0;
    std::uint64_t sleeps_then = 0;
    one.async_read_some(buffer(&byte, 1), [&](error_code, std::size_t) {
        sleeps_then = context.metrics().sleeps;
        context.stop();
    });
    posts_most = 100;
    run([this] { post_from_another_thread(); },
        [&] {
            if (bend.ahead_ns == 0)
                other.write_some(buffer("x", 1));
            add(10us);
        });
    EXPECT_EQ(byte, 'x');
    EXPECT_EQ(sleeps_then, 1U);
    EXPECT_EQ(context.metrics().spins, 1U);
    EXPECT_LE(bend.ahead_ns, 20'000);
}

/// A look at the driver may have taken the wake-up that tells of it: who slept then would sleep for ever.
TEST_F(Spin, IsFollowedByNoSleepWhenAnotherThreadHasEndedTheLastWork) {
    posts_most = 100;
    run([this] { post_from_another_thread(); },
        [this] {
            std::thread([this] { is_waited_for.reset(); }).join();
            add(10us);
        });
    EXPECT_EQ(context.metrics().spins, 1U);
    EXPECT_EQ(context.metrics().sleeps, 1U);
    EXPECT_EQ(posts, 1U);
}

TEST_F(Spin, EndsWhenAnotherThreadStopsTheLoop) {
    posts_most = 100;
    run([this] { post_from_another_thread(); },
        [this] {
            std::thread([this] { context.stop(); }).join();
            add(10us);
        });
    EXPECT_EQ(context.metrics().spins, 1U);
    EXPECT_LE(bend.ahead_ns, 10'000);
}

} // namespace
