#include <fairlead/exec/recycler.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace {

using fairlead::recycling_allocator;
using fairlead::this_thread_recycler_counters;
using fairlead::impl::exec::recycle_allocate;
using fairlead::impl::exec::recycle_free;
using fairlead::impl::exec::recycler;
using fairlead::impl::exec::recycler_flush;
using fairlead::impl::exec::recycler_trim;

TEST(Recycler, FreedBlockServesTheNextRequestOfItsSize) {
    void* const first = recycle_allocate(100);
    recycle_free(first);
    void* const second = recycle_allocate(100);
    EXPECT_EQ(second, first);
    recycle_free(second);
}

TEST(Recycler, NearbySizesShareABlock) {
    void* const first = recycle_allocate(recycler::payload_bytes(2));
    recycle_free(first);
    void* const second = recycle_allocate(recycler::payload_bytes(1) + 1);
    EXPECT_EQ(second, first) << "both are of the class of two steps";
    recycle_free(second);
    void* const larger = recycle_allocate(recycler::payload_bytes(2) + 1);
    EXPECT_NE(larger, first);
    recycle_free(larger);
}

TEST(Recycler, BlocksAreAlignedAndWritableToTheLastByte) {
    for (std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{15}, std::size_t{48}, std::size_t{49},
                          std::size_t{4080}, std::size_t{4081}, std::size_t{100'000}}) {
        void* const p = recycle_allocate(n);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 16, 0U);
        std::memset(p, 0xa5, n);
        recycle_free(p);
    }
}

TEST(Recycler, WarmChainTakesNothingFromGlobalNew) {
    recycle_free(recycle_allocate(200));
    auto const before = this_thread_recycler_counters().fresh;
    for (int i = 0; i != 10'000; ++i)
        recycle_free(recycle_allocate(200));
    EXPECT_EQ(this_thread_recycler_counters().fresh, before);
}

TEST(Recycler, LargestRecycledSizeIsKeptAndOneMoreIsNot) {
    constexpr std::size_t largest = recycler::payload_bytes(recycler::classes - 1);
    recycle_free(recycle_allocate(largest));
    auto const before = this_thread_recycler_counters();
    recycle_free(recycle_allocate(largest));
    EXPECT_EQ(this_thread_recycler_counters().fresh, before.fresh);
    recycle_free(recycle_allocate(largest + 1));
    EXPECT_EQ(this_thread_recycler_counters().cached, before.cached) << "goes straight back to global delete";
}

TEST(Recycler, CacheOfOneSizeIsBounded) {
    std::size_t const bytes = 4000;
    std::uint64_t const most = recycler::cached_bytes_max / bytes;
    std::vector<void*> blocks(most + 100);
    for (auto& p : blocks)
        p = recycle_allocate(bytes);
    auto const before = this_thread_recycler_counters().cached;
    for (auto* p : blocks)
        recycle_free(p);
    auto const kept = this_thread_recycler_counters().cached - before;
    EXPECT_LE(kept, most);
    EXPECT_GT(kept, most * 9 / 10);
    recycler_trim();
    EXPECT_EQ(this_thread_recycler_counters().cached, 0U);
}

TEST(Recycler, BurstOfAHundredThousandSmallBlocksIsKept) {
    std::vector<void*> blocks(100'000);
    auto const burst = [&] {
        for (auto& p : blocks)
            p = recycle_allocate(120);
        for (auto* p : blocks)
            recycle_free(p);
    };
    burst();
    auto const before = this_thread_recycler_counters().fresh;
    burst();
    EXPECT_EQ(this_thread_recycler_counters().fresh, before);
    recycler_trim();
}

TEST(Recycler, BlockFreedOnAnotherThreadComesHome) {
    constexpr std::size_t size = 1500; // of a class that no other test of this file uses
    void* const p = recycle_allocate(size);
    std::thread([p] {
        recycle_free(p);
        recycler_flush();
    }).join();
    auto const before = this_thread_recycler_counters().fresh;
    void* const again = recycle_allocate(size);
    EXPECT_EQ(again, p);
    EXPECT_EQ(this_thread_recycler_counters().fresh, before);
    recycle_free(again);
}

TEST(Recycler, OneWayTrafficBetweenTwoThreadsStopsAllocating) {
    // One thread takes, the other frees: without homecoming this would allocate for ever.
    constexpr std::size_t size = 1700;
    constexpr int rounds = 50;
    constexpr int blocks_each = 64;
    std::uint64_t fresh_after_first = 0;
    for (int round = 0; round != rounds; ++round) {
        std::vector<void*> blocks;
        for (int i = 0; i != blocks_each; ++i)
            blocks.push_back(recycle_allocate(size));
        std::thread([&] {
            for (void* p : blocks)
                recycle_free(p);
            recycler_flush();
        }).join();
        if (round == 0)
            fresh_after_first = this_thread_recycler_counters().fresh;
    }
    EXPECT_EQ(this_thread_recycler_counters().fresh, fresh_after_first);
}

TEST(Recycler, ThreadThatEndsSendsHomeWhatItStillHeldBack) {
    constexpr std::size_t size = 1900;
    void* const p = recycle_allocate(size);
    std::thread([p] { recycle_free(p); }).join(); // one block is less than a batch
    void* const again = recycle_allocate(size);
    EXPECT_EQ(again, p);
    recycle_free(again);
}

TEST(Recycler, CacheOfAnEndedThreadGoesToTheNextNewThread) {
    constexpr std::size_t size = 2100;
    std::set<void*> first;
    std::thread([&] {
        std::vector<void*> blocks;
        for (int i = 0; i != 8; ++i)
            blocks.push_back(recycle_allocate(size));
        first.insert(blocks.begin(), blocks.end());
        for (void* p : blocks)
            recycle_free(p);
    }).join();
    std::thread([&] {
        void* const p = recycle_allocate(size);
        EXPECT_EQ(first.count(p), 1U);
        recycle_free(p);
    }).join();
}

TEST(Recycler, BlockOfAnEndedThreadCanBeFreedByALivingOne) {
    constexpr std::size_t size = 2300;
    void* p = nullptr;
    std::thread([&] { p = recycle_allocate(size); }).join();
    recycle_free(p);
    recycler_flush();
    std::thread([&] { // takes over the ended thread's cache, where the block has come home
        void* const again = recycle_allocate(size);
        EXPECT_EQ(again, p);
        recycle_free(again);
    })
        .join();
}

struct frees_at_thread_end {
    void* block = nullptr;
    ~frees_at_thread_end() {
        if (block)
            recycle_free(block);
        recycle_free(recycle_allocate(64)); // also takes, after the cache is gone
    }
};

TEST(Recycler, ThreadLocalDestructorsMayStillFreeAndTake) {
    std::thread([] {
        // Constructed before the cache, hence destroyed after it.
        static thread_local frees_at_thread_end last;
        last.block = recycle_allocate(64);
    }).join();
}

TEST(Recycler, ManyThreadsPassBlocksAround) {
    constexpr int threads = 4;
    constexpr int each = 2000;
    std::vector<void*> passed[threads];
    for (int round = 0; round != 5; ++round) {
        std::vector<std::thread> all;
        for (int t = 0; t != threads; ++t)
            all.emplace_back([&, t] {
                for (void* p : passed[t]) {
                    std::memset(p, t, 300);
                    recycle_free(p);
                }
                passed[t].clear();
                for (int i = 0; i != each; ++i) {
                    passed[t].push_back(recycle_allocate(300));
                    std::memset(passed[t].back(), i, 300);
                }
            });
        for (auto& t : all)
            t.join();
        std::swap(passed[0], passed[1]);
        std::swap(passed[2], passed[3]);
        std::swap(passed[1], passed[2]);
    }
    std::set<void*> distinct;
    for (auto& blocks : passed)
        for (void* p : blocks) {
            EXPECT_TRUE(distinct.insert(p).second) << "one block was handed out twice";
            recycle_free(p);
        }
}

TEST(RecyclingAllocator, IsStatelessAndServesContainers) {
    std::vector<int, recycling_allocator<int>> v;
    for (int i = 0; i != 1000; ++i)
        v.push_back(i);
    EXPECT_EQ(v[999], 999);
    EXPECT_TRUE(recycling_allocator<int>() == recycling_allocator<int>(recycling_allocator<void>()));
}

} // namespace
