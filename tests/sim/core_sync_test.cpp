// Locks, permits and meeting points under many seeds, beside models of them. They are waited for, given back, cancelled
// and destroyed at random, from between the turns and from handlers. Sometimes the context ends.
#include <fairlead/sim/seeds.hpp>
#include <support/scale.hpp>

#include <sim/ledger.hpp>
#include <sim/sync_counts.hpp>
#include <sim/sync_locks.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

using namespace fairlead;
using sim::world;

class synchronised {
public:
    explicit synchronised(world& w) : account(w), world_(w) {
        subjects_.push_back(std::make_unique<test::mutex_subject>(w, account));
        subjects_.push_back(std::make_unique<test::shared_mutex_subject>(w, account));
        subjects_.push_back(std::make_unique<test::semaphore_subject>(w, account));
        subjects_.push_back(std::make_unique<test::meeting_subject<latch>>(w, account));
        subjects_.push_back(std::make_unique<test::meeting_subject<barrier>>(w, account));
        subjects_.push_back(std::make_unique<test::limiter_subject>(w, account));
        auto const acts = w.choose("acts", 1, 1'000);
        for (std::uint64_t i = 0; i != acts; ++i)
            w.at(std::chrono::microseconds(below(5'000)), [this] {
                if (!is_abandoned_)
                    subjects_[below(static_cast<std::uint32_t>(subjects_.size()))]->act();
            });
        if (w.choose("abandons", 0, 7) == 0)
            w.at(std::chrono::microseconds(below(5'000)), [this] {
                is_abandoned_ = true;
                account.end_everything();
                for (auto const& s : subjects_)
                    s->check_abandoned();
            });
    }
    void settle() {
        for (int i = 0; i != 1'000 && !is_abandoned_ && !have_ended(); ++i) {
            for (auto const& s : subjects_)
                s->let_all_end();
            world_.run();
        }
        account.settle();
        for (auto const& s : subjects_)
            if (!is_abandoned_)
                s->settle();
    }
    std::size_t waits() const {
        std::size_t n = 0;
        for (auto const& s : subjects_)
            n += s->count();
        return n;
    }

    test::ledger account;

private:
    std::uint32_t below(std::uint32_t n) { return world_.random().below(n); }
    bool have_ended() const {
        return std::all_of(subjects_.begin(), subjects_.end(), [](auto const& s) { return s->all_have_ended(); });
    }

    world& world_;
    std::vector<std::unique_ptr<test::sync_subject>> subjects_;
    bool is_abandoned_ = false;
};

TEST(CoreSync, EveryWaitEndsAsTheModelOfItsObjectSays) {
    std::size_t waits = 0;
    sim::for_each_seed(test::scaled(300, 30), [&waits](world& w) {
        synchronised s(w);
        w.run();
        s.settle();
        EXPECT_EQ(s.account.faults(), "");
        waits += s.waits();
    });
    bool const is_whole = !std::getenv("SIM_SEED") && !std::getenv("SIM_COUNT") && !std::getenv("SIM_JOBS");
    EXPECT_TRUE(waits > 100 || !is_whole);
}

} // namespace
