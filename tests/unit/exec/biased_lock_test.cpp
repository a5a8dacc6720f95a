#include <fairlead/exec/biased_lock.hpp>

#include <fairlead/io/io_context.hpp>
#include <fairlead/token/post.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace {

using namespace fairlead;
using impl::exec::biased_lock;

/// As the callers of a biased lock do: as the thread that it is biased to if possible, else with the lock.
template <class F> bool under(biased_lock& l, bool bias, F f) {
    if (l.try_as_biased(f))
        return true;
    l.lock(bias);
    f();
    l.unlock();
    return false;
}
/// Calls f() where the thread owns a loop.
template <class F> void in_a_loop(F f) {
    io_context context;
    post(context, f);
    context.run();
}

TEST(BiasedLock, IsTakenWithoutALockUntilAnotherThreadTakesIt) {
    biased_lock l;
    if (l.is_for_all())
        GTEST_SKIP() << "the system refuses membarrier(2), or it was not asked in time";
    EXPECT_FALSE(l.try_as_biased([] { ADD_FAILURE() << "it is biased to nobody"; }));
    in_a_loop([&l] {
        EXPECT_FALSE(under(l, false, [] {})) << "nobody has asked for the bias";
        EXPECT_FALSE(under(l, true, [] {}));
        EXPECT_TRUE(under(l, true, [] {}));
    });
    EXPECT_FALSE(l.is_for_all());
    std::thread([&l] { EXPECT_FALSE(under(l, false, [] {})); }).join();
    EXPECT_TRUE(l.is_for_all());
    in_a_loop([&l] {
        EXPECT_FALSE(under(l, true, [] {}));
        EXPECT_FALSE(under(l, true, [] {})) << "it is a lock for all now";
    });
}

TEST(BiasedLock, IsLeftToTheNextThreadByTheOneThatGivesItUp) {
    biased_lock l;
    if (l.is_for_all())
        GTEST_SKIP() << "the system refuses membarrier(2), or it was not asked in time";
    auto const take_and_leave = [&l] {
        in_a_loop([&l] {
            under(l, true, [] {});
            EXPECT_TRUE(under(l, true, [] {}));
            l.give_up_bias();
            EXPECT_FALSE(under(l, false, [] {}));
        });
    };
    take_and_leave();
    std::thread(take_and_leave).join();
    EXPECT_FALSE(l.is_for_all());
    std::thread([&l] { l.give_up_bias(); }).join();
    in_a_loop([&l] { under(l, true, [] {}); });
    std::thread([&l] { l.give_up_bias(); }).join();
    EXPECT_TRUE(under(l, false, [] {})) << "only the thread that has it gives it up";
}

TEST(BiasedLock, IsNotTakenWhileItsThreadIsInside) {
    biased_lock l;
    if (l.is_for_all())
        GTEST_SKIP() << "the system refuses membarrier(2), or it was not asked in time";
    std::atomic<bool> wants{false}, has{false};
    std::thread other;
    bool has_waited = false;
    in_a_loop([&] {
        under(l, true, [] {});
        EXPECT_TRUE(under(l, true, [&] {
            other = std::thread([&] {
                wants = true;
                under(l, false, [&] { has = true; });
            });
            while (!wants)
                std::this_thread::yield();
            for (int i = 0; i != 2'000 && !has; ++i) // It asks for the barrier meanwhile.
                std::this_thread::yield();
            has_waited = !has;
        }));
    });
    other.join();
    EXPECT_TRUE(has_waited);
    EXPECT_TRUE(has);
}

// The first time that another thread takes it is the one that the owner does not know of.
TEST(BiasedLock, NeverLetsTwoThreadsIn) {
    auto const rounds = static_cast<int>(test::scaled(2'000, 100));
    io_context context;
    auto const guard = make_work_guard(context);
    std::atomic<biased_lock*> next{nullptr};
    std::atomic<int> owners{0};
    int counted = 0; // under the current lock
    std::atomic<bool> over{false};
    std::thread owner([&] {
        post(context, [&] {
            while (!over)
                if (biased_lock* const l = next.exchange(nullptr)) {
                    for (int i = 0; i != 50; ++i)
                        under(*l, true, [&] { ++counted; });
                    ++owners;
                }
        });
        context.run();
    });
    for (int round = 0; round != rounds; ++round) {
        biased_lock l;
        next = &l;
        for (int i = 0; i != 50; ++i)
            under(l, false, [&] { ++counted; });
        while (owners == round)
            std::this_thread::yield();
    }
    over = true;
    context.stop();
    owner.join();
    EXPECT_EQ(counted, 100 * rounds);
}

} // namespace
