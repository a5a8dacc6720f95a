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

loop& loop_of(io_context& c) { return *impl::exec::loop_of(c.get_executor()); }

/// As the callers of a biased lock do: as the owner if possible, else with the lock.
template <class F> bool under(biased_lock& l, loop const& of, F f) {
    if (l.try_as_owner(of, f))
        return true;
    l.lock();
    f();
    l.unlock();
    return false;
}

TEST(BiasedLock, IsTakenWithoutALockUntilAnotherThreadTakesIt) {
    io_context context;
    biased_lock l;
    if (l.is_shared())
        GTEST_SKIP() << "the system refuses membarrier(2), or it was not asked in time";
    EXPECT_FALSE(l.try_as_owner(loop_of(context), [] { ADD_FAILURE() << "nobody owns the loop"; }));
    bool as_owner = false, after = true;
    post(context, [&] { as_owner = under(l, loop_of(context), [] {}); });
    context.run();
    EXPECT_TRUE(as_owner);
    EXPECT_FALSE(l.is_shared());
    std::thread([&] { under(l, loop_of(context), [] {}); }).join();
    EXPECT_TRUE(l.is_shared());
    post(context, [&] { after = under(l, loop_of(context), [] {}); });
    context.restart();
    context.run();
    EXPECT_FALSE(after);
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
    auto& mine = loop_of(context);
    std::thread owner([&] {
        post(context, [&] {
            while (!over)
                if (biased_lock* const l = next.exchange(nullptr)) {
                    for (int i = 0; i != 50; ++i)
                        under(*l, mine, [&] { ++counted; });
                    ++owners;
                }
        });
        context.run();
    });
    for (int round = 0; round != rounds; ++round) {
        biased_lock l;
        next = &l;
        for (int i = 0; i != 50; ++i)
            under(l, mine, [&] { ++counted; });
        while (owners == round)
            std::this_thread::yield();
    }
    over = true;
    context.stop();
    owner.join();
    EXPECT_EQ(counted, 100 * rounds);
}

} // namespace
