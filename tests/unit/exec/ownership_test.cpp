// The owner of a loop while several threads are inside run().
#include <fairlead/exec/ownership.hpp>
#include <fairlead/exec/share.hpp>

#include <gtest/gtest.h>

namespace {

using namespace fairlead;
using impl::exec::ownership;
using impl::exec::owning_thread;

struct loop_of_two {
    ownership o;
    owning_thread owner, other;
    bool is_kept = true;
    loop_of_two() {
        o.join();
        o.join();
        owner.sections = 1;
        EXPECT_TRUE(o.try_take(owner));
    }
    bool is_shared() {
        return o.is_shared([this] { return is_kept; });
    }
    bool wait() {
        return o.take_or_wait(other, -1, false, [](void*) {}, nullptr);
    }
};

TEST(Ownership, IsSharedWithOthersUnlessItsOwnerKeepsIt) {
    loop_of_two l;
    EXPECT_FALSE(l.is_shared());
    l.is_kept = false;
    EXPECT_TRUE(l.is_shared());
    l.is_kept = true;
    EXPECT_FALSE(l.is_shared());
    l.o.leave();
    l.is_kept = false;
    EXPECT_FALSE(l.is_shared()) << "it is alone";
}

TEST(Ownership, ThatIsKeptIsTakenFromAnOwnerThatDoesNotGetOn) {
    if (!impl::exec::shares::are_possible())
        GTEST_SKIP() << "the system refuses membarrier(2)";
    loop_of_two l;
    EXPECT_FALSE(l.is_shared());
    l.owner.sections = 0; // inside a handler
    EXPECT_TRUE(l.wait());
    EXPECT_TRUE(l.o.is_of(l.other));
    EXPECT_EQ(l.o.revoked(), 1U);
}

TEST(Ownership, ThatIsKeptIsNotTakenFromAnOwnerInASection) {
    loop_of_two l;
    EXPECT_FALSE(l.is_shared());
    EXPECT_FALSE(l.wait());
    EXPECT_TRUE(l.o.is_of(l.owner));
}

} // namespace
