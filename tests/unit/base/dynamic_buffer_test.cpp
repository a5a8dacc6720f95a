#include <fairlead/base/dynamic_buffer.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using fairlead::buffer;
using fairlead::const_buffer;
using fairlead::dynamic_buffer;
using fairlead::lazy_buffer;
using fairlead::lazy_buffer_options;
using fairlead::mutable_buffer;

std::string_view view(const_buffer b) { return {static_cast<char const*>(b.data()), b.size()}; }

struct string_storage {
    using type = std::string;
};
struct vector_storage {
    using type = std::vector<char>;
};
struct byte_vector_storage {
    using type = std::vector<unsigned char>;
};
struct lazy_storage {
    using type = lazy_buffer;
};

// The contract that every storage shares. A limited buffer over each of them.
template <typename T> struct storage {
    typename T::type bytes;
    std::size_t max;
    explicit storage(std::size_t max_size) : max(max_size) {}
    auto dynamic() { return dynamic_buffer(bytes, max); }
};
template <> struct storage<lazy_storage> {
    lazy_buffer bytes;
    explicit storage(std::size_t max_size) : bytes({.max_size = max_size, .offset_threshold = 4}) {}
    auto dynamic() { return dynamic_buffer(bytes); }
};

template <typename T> class DynamicBuffer : public testing::Test {};
using storages = testing::Types<string_storage, vector_storage, byte_vector_storage, lazy_storage>;
TYPED_TEST_SUITE(DynamicBuffer, storages);

template <typename D> void append_v2(D d, std::string_view text) {
    std::size_t const pos = d.size();
    d.grow(text.size());
    ASSERT_EQ(fairlead::buffer_copy(d.data(pos, text.size()), buffer(text)), text.size());
}

template <typename D> void append_v1(D& d, std::string_view text, std::size_t prepared) {
    fairlead::buffer_copy(d.prepare(prepared), buffer(text));
    d.commit(text.size());
}

TYPED_TEST(DynamicBuffer, ModelsBothVersions) {
    using dynamic = decltype(std::declval<storage<TypeParam>&>().dynamic());
    static_assert(fairlead::dynamic_buffer_v1<dynamic> && fairlead::dynamic_buffer_v2<dynamic>);
    static_assert(fairlead::is_dynamic_buffer_v1<dynamic>::value && fairlead::is_dynamic_buffer_v2<dynamic>::value);
    static_assert(fairlead::is_dynamic_buffer<dynamic>::value);
    static_assert(std::is_nothrow_copy_constructible_v<dynamic> && std::is_nothrow_move_constructible_v<dynamic>);
    static_assert(std::is_trivially_copyable_v<dynamic> && sizeof(dynamic) <= 3 * sizeof(void*));
    static_assert(!fairlead::is_dynamic_buffer<std::string>::value && !fairlead::is_dynamic_buffer<int>::value);
}

TYPED_TEST(DynamicBuffer, VersionTwoGrowsConsumesAndShrinksThroughCopies) {
    storage<TypeParam> s(100);
    auto const d = s.dynamic();
    append_v2(d, "hello ");
    append_v2(d, "world");
    EXPECT_EQ(d.size(), 11u);
    EXPECT_EQ(view(d.data(0, 100)), "hello world");
    EXPECT_EQ(view(d.data(6, 2)), "wo");
    EXPECT_EQ(view(d.data(11, 1)), "");
    EXPECT_EQ(view(d.data(12, 1)), "");

    auto copy = d;
    copy.consume(6);
    EXPECT_EQ(view(d.data(0, 100)), "world");
    copy.shrink(3);
    EXPECT_EQ(view(d.data(0, 100)), "wo");
    copy.consume(0);
    copy.shrink(0);
    EXPECT_EQ(view(d.data(0, 100)), "wo");
    copy.shrink(3);
    EXPECT_EQ(d.size(), 0u);
    append_v2(d, "x");
    copy.consume(2);
    EXPECT_EQ(d.size(), 0u);
}

TYPED_TEST(DynamicBuffer, VersionOneShowsWhatWasCommittedOnly) {
    storage<TypeParam> s(100);
    auto d = s.dynamic();
    append_v1(d, "hello", 20);
    EXPECT_EQ(d.size(), 5u);
    EXPECT_EQ(view(d.data()), "hello");
    EXPECT_EQ(d.prepare(10).size(), 10u);
    EXPECT_EQ(d.size(), 5u);
    EXPECT_EQ(view(d.data()), "hello");
    d.commit(0);
    append_v1(d, "!", 1);
    EXPECT_EQ(view(d.data()), "hello!");
    d.consume(4);
    EXPECT_EQ(view(d.data()), "o!");

    auto moved = std::move(d);
    append_v1(moved, "?", 7);
    EXPECT_EQ(view(moved.data()), "o!?");
    moved.consume(100);
    EXPECT_EQ(moved.size(), 0u);
}

TYPED_TEST(DynamicBuffer, CommitTakesNoMoreThanWasPrepared) {
    storage<TypeParam> s(100);
    auto d = s.dynamic();
    fairlead::buffer_copy(d.prepare(3), buffer("abc", 3));
    d.commit(4);
    EXPECT_EQ(view(d.data()), "abc");
    d.commit(1);
    EXPECT_EQ(view(d.data()), "abc");
}

TYPED_TEST(DynamicBuffer, ThrowsLengthErrorOneByteBeyondItsLimitAndStaysAsItWas) {
    storage<TypeParam> s(8);
    auto d = s.dynamic();
    EXPECT_EQ(d.max_size(), 8u);
    EXPECT_THROW(d.grow(9), std::length_error);
    EXPECT_EQ(d.size(), 0u);
    d.grow(8);
    EXPECT_EQ(d.size(), 8u);
    EXPECT_EQ(d.capacity(), 8u);
    d.grow(0);
    EXPECT_THROW(d.grow(1), std::length_error);
    EXPECT_THROW(d.grow(std::numeric_limits<std::size_t>::max()), std::length_error);
    EXPECT_THROW((void)d.prepare(1), std::length_error);
    EXPECT_EQ(d.size(), 8u);
    d.consume(1);
    EXPECT_THROW((void)d.prepare(2), std::length_error);
    EXPECT_EQ(d.prepare(1).size(), 1u);
}

TYPED_TEST(DynamicBuffer, RefusesSizesThatCannotBe) {
    storage<TypeParam> s(std::numeric_limits<std::size_t>::max());
    auto d = s.dynamic();
    append_v2(d, "a");
    EXPECT_THROW(d.grow(std::numeric_limits<std::size_t>::max()), std::length_error);
    EXPECT_THROW((void)d.prepare(std::numeric_limits<std::size_t>::max() - 1), std::length_error);
    EXPECT_EQ(view(d.data()), "a");
}

TYPED_TEST(DynamicBuffer, BehavesAsAStringOverRandomSteps) {
    auto const seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    auto const below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    storage<TypeParam> s(5000);
    auto d = s.dynamic();
    std::string model;
    for (int step = 0; step < 20000; ++step) {
        std::string const text(below(step % 50 == 0 ? 2000 : 40), static_cast<char>('a' + step % 26));
        switch (below(5)) {
        case 0:
            if (model.size() + text.size() <= 5000) {
                append_v2(d, text);
                model += text;
            }
            break;
        case 1:
            if (model.size() + text.size() + 9 <= 5000) {
                append_v1(d, text, text.size() + 9);
                model += text;
            }
            break;
        case 2:
            d.shrink(text.size() / 4);
            model.resize(model.size() - std::min(model.size(), text.size() / 4));
            break;
        default: d.consume(text.size()); model.erase(0, text.size());
        }
        // A dynamic buffer that went into version 1 counts for itself; a fresh one shows the storage.
        d = s.dynamic();
        ASSERT_EQ(view(d.data()), model);
        ASSERT_LE(d.size(), d.capacity());
    }
}

TEST(DynamicStringBuffer, StartsWithWhatTheStringHoldsUpToTheLimit) {
    std::string text = "hello";
    EXPECT_EQ(view(dynamic_buffer(text).data()), "hello");
    auto limited = dynamic_buffer(text, 3);
    EXPECT_EQ(limited.size(), 3u);
    EXPECT_EQ(view(limited.data()), "hel");
    EXPECT_EQ(view(limited.data(1, 9)), "el");
    EXPECT_THROW(limited.grow(1), std::length_error);
    limited.consume(2);
    EXPECT_EQ(text, "llo");
}

TEST(DynamicStringBuffer, GrowthIsVisibleInTheString) {
    std::string text;
    auto d = dynamic_buffer(text);
    append_v2(d, "PING\r\n");
    EXPECT_EQ(text, "PING\r\n");
    d.consume(4);
    EXPECT_EQ(text, "\r\n");
}

// ---- lazy_buffer ----------------------------------------------------------------------------------------------------

// A RESP3 map of two pairs, read line by line: each line consumed is one rotation for a string.
constexpr std::string_view two_pairs = "%2\r\n$4\r\nkey1\r\n$6\r\nvalue1\r\n$4\r\nkey2\r\n$6\r\nvalue2\r\n";

std::size_t consume_lines(lazy_buffer& b, std::size_t until_size) {
    std::size_t lines = 0;
    while (b.size() > until_size) {
        b.consume(view(b.data()).find("\r\n") + 2);
        ++lines;
    }
    return lines;
}

TEST(LazyBuffer, WithoutThresholdAMapOfTwoPairsRotatesAtEveryLine) {
    lazy_buffer b({.offset_threshold = 0});
    append_v2(dynamic_buffer(b), two_pairs);
    append_v2(dynamic_buffer(b), "+OK\r\n");
    std::size_t const lines = consume_lines(b, 5);
    EXPECT_EQ(lines, 9u);
    EXPECT_EQ(b.rotations(), lines);
    EXPECT_EQ(view(b.data()), "+OK\r\n");
}

TEST(LazyBuffer, RotatesOnceWhenTheOffsetIsBeyondTheThreshold) {
    lazy_buffer b({.offset_threshold = 10});
    append_v2(dynamic_buffer(b), "0123456789abcdef");
    void const* const front = b.data().data();

    b.consume(10);
    EXPECT_EQ(b.rotations(), 0u);
    EXPECT_EQ(b.data().data(), static_cast<char const*>(front) + 10);
    b.consume(1);
    EXPECT_EQ(b.rotations(), 1u);
    EXPECT_EQ(b.data().data(), front);
    EXPECT_EQ(view(b.data()), "bcdef");
}

TEST(LazyBuffer, ConsumingEverythingMovesNothing) {
    lazy_buffer b({.offset_threshold = 0});
    append_v2(dynamic_buffer(b), "0123456789");
    void const* const front = b.data().data();
    b.consume(10);
    EXPECT_EQ(b.rotations(), 0u);
    append_v2(dynamic_buffer(b), "x");
    EXPECT_EQ(b.data().data(), front);
}

TEST(LazyBuffer, ThresholdCanBeSetLater) {
    lazy_buffer b;
    EXPECT_EQ(b.offset_threshold(), lazy_buffer_options{}.offset_threshold);
    append_v2(dynamic_buffer(b), "0123456789");
    b.consume(3);
    b.offset_threshold(2);
    EXPECT_EQ(b.rotations(), 0u);
    b.consume(0);
    EXPECT_EQ(b.rotations(), 1u);
    EXPECT_EQ(view(b.data()), "3456789");
}

TEST(LazyBuffer, MovingBytesIsPaidForByConsumedBytes) {
    lazy_buffer b({.offset_threshold = 1 << 20});
    std::size_t consumed = 0;
    std::string const block(700, 'x');
    append_v2(dynamic_buffer(b), std::string(10000, 'y'));
    for (int i = 0; i < 10000; ++i) {
        append_v2(dynamic_buffer(b), block);
        b.consume(block.size());
        consumed += block.size();
    }
    EXPECT_EQ(b.size(), 10000u);
    EXPECT_LE(b.capacity(), 64u * 1024);
    EXPECT_LE(b.rotations() * b.size(), consumed * 4);
}

TEST(LazyBuffer, NearlyFullStorageGrowsInsteadOfMovingAtEveryByte) {
    lazy_buffer b({.offset_threshold = 1 << 20});
    b.grow(10000);
    b.shrink(1);
    for (int i = 0; i < 10000; ++i) {
        b.grow(1);
        b.consume(1);
    }
    EXPECT_LE(b.rotations(), 4u);
    EXPECT_LE(b.capacity(), 40000u);
}

TEST(LazyBuffer, StorageDoublesSoThatGrowingCostsLittlePerByte) {
    lazy_buffer b;
    int moves = 0;
    for (std::size_t capacity = 0; b.size() < 1000000; b.grow(100))
        moves += std::exchange(capacity, b.capacity()) != b.capacity();
    EXPECT_LE(moves, 12);
}

TEST(LazyBuffer, SteadyTrafficNeedsNoNewStorage) {
    lazy_buffer b({.offset_threshold = 1000});
    auto d = dynamic_buffer(b);
    auto const run_and_drain = [&](int messages) {
        append_v2(d, "bonus");
        for (int i = 0; i < messages; ++i) {
            append_v2(d, std::string(300, 'r'));
            b.consume(300);
        }
        b.consume(b.size());
        return b.capacity();
    };
    std::size_t const warm = run_and_drain(100);
    EXPECT_EQ(run_and_drain(10000), warm);
    EXPECT_LE(warm, 4096u);
}

TEST(LazyBuffer, GrowLeavesTheStorageAsItIs) {
    lazy_buffer b;
    append_v2(dynamic_buffer(b), "0123456789");
    b.shrink(5);
    b.grow(5);
    EXPECT_EQ(view(b.data()), "0123456789"); // A fill would have overwritten them.
}

TEST(LazyBuffer, MovesItsBytesAndLeavesAnEmptyBufferWithTheSameLimits) {
    lazy_buffer a({.max_size = 100, .offset_threshold = 7});
    append_v2(dynamic_buffer(a), "hello");
    lazy_buffer b(std::move(a));
    EXPECT_EQ(view(b.data()), "hello");
    EXPECT_EQ(b.max_size(), 100u);
    EXPECT_EQ(a.size(), 0u);     // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(a.capacity(), 0u); // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(a.max_size(), 100u);
    EXPECT_EQ(a.offset_threshold(), 7u);
    append_v2(dynamic_buffer(a), "again");
    EXPECT_EQ(view(a.data()), "again");

    lazy_buffer c;
    c = std::move(a);
    EXPECT_EQ(view(c.data()), "again");
    EXPECT_EQ(c.max_size(), 100u);
    static_assert(!std::is_copy_constructible_v<lazy_buffer>);
    static_assert(std::is_nothrow_move_constructible_v<lazy_buffer> && std::is_nothrow_move_assignable_v<lazy_buffer>);
}

TEST(LazyBuffer, AnUnusedOneOwnsNothingAndMayBeAsked) {
    lazy_buffer b;
    EXPECT_EQ(b.size(), 0u);
    EXPECT_EQ(b.capacity(), 0u);
    EXPECT_EQ(b.data().size(), 0u);
    EXPECT_EQ(b.data(0, 1).size(), 0u);
    b.consume(1);
    b.shrink(1);
    b.commit(1);
    b.grow(0);
    EXPECT_EQ(b.prepare(0).size(), 0u);
    EXPECT_EQ(b.size(), 0u);
    EXPECT_EQ(b.rotations(), 0u);
}

} // namespace
