#include <fairlead/base/buffer.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using fairlead::buffer;
using fairlead::buffer_copy;
using fairlead::buffer_size;
using fairlead::const_buffer;
using fairlead::const_buffer_sequence;
using fairlead::mutable_buffer;
using fairlead::mutable_buffer_sequence;
using fairlead::impl::base::fill_slices;
using fairlead::impl::base::io_slice;
using fairlead::impl::base::is_single_buffer;

struct converts_to_const {
    std::string_view text;
    operator const_buffer() const { return {text.data(), text.size()}; }
};

struct converts_to_mutable {
    std::string* text;
    operator mutable_buffer() const { return {text->data(), text->size()}; }
};

struct converts_to_both {
    std::string* text;
    operator const_buffer() const { return {text->data(), 1}; }
    operator mutable_buffer() const { return {text->data(), text->size()}; }
};

struct derived : mutable_buffer {
    using mutable_buffer::mutable_buffer;
};

struct point {
    std::int32_t x, y;
};

/// A span of a program's own.
template <typename T, std::size_t Extent> struct likeness {
    T* first = nullptr;
    std::size_t count = 0;

    T* data() const { return first; }
    std::size_t size() const { return count; }
    likeness<T, static_cast<std::size_t>(-1)> subspan(std::size_t from, std::size_t n) const {
        return {first + from, n};
    }
};

/// A container that is contiguous and does not say so by data().
template <typename T> struct without_data {
    T* first = nullptr;
    std::size_t count = 0;

    std::size_t size() const { return count; }
    T* begin() { return first; }
    T const* begin() const { return first; }
    T* end() { return first + count; }
    T const* end() const { return first + count; }
};

template <typename T>
concept bufferable = requires(T&& t) { buffer(std::forward<T>(t)); };

template <typename Expected, typename T> constexpr bool gives(T&&) {
    return std::is_same_v<Expected, std::remove_cvref_t<T>>;
}

std::string text_of(const_buffer b) { return {static_cast<char const*>(b.data()), b.size()}; }

template <typename S> std::string text_of_all(S const& s) {
    std::string all;
    for (auto it = fairlead::buffer_sequence_begin(s); it != fairlead::buffer_sequence_end(s); ++it)
        all += text_of(fairlead::impl::base::as_buffer<const_buffer>(*it));
    return all;
}

// Cuts memory into `count` pieces of 0, 1, 2 or 3 bytes, in turn from `phase` on; the last piece takes what is left.
template <typename Buffer, typename Text>
std::vector<Buffer> pieces_of(Text& text, std::size_t count, std::size_t phase = 0) {
    std::vector<Buffer> pieces;
    Buffer rest = buffer(text);
    for (std::size_t i = 0; i + 1 < count; ++i) {
        pieces.push_back(buffer(rest, (i + phase) % 4));
        rest += pieces.back().size();
    }
    if (count != 0)
        pieces.push_back(rest);
    return pieces;
}

std::string counting_text(std::size_t size) {
    std::string text(size, '\0');
    std::iota(text.begin(), text.end(), 'a');
    return text;
}

TEST(Buffer, DefaultConstructedIsEmpty) {
    EXPECT_EQ(mutable_buffer().data(), nullptr);
    EXPECT_EQ(mutable_buffer().size(), 0u);
    EXPECT_EQ(const_buffer().data(), nullptr);
    EXPECT_EQ(const_buffer().size(), 0u);
}

TEST(Buffer, MutableConvertsToConstButNotBack) {
    char raw[3] = {};
    const_buffer const b = mutable_buffer(raw, 3);
    EXPECT_EQ(b.data(), raw);
    EXPECT_EQ(b.size(), 3u);
    static_assert(!std::is_convertible_v<const_buffer, mutable_buffer>);
}

TEST(Buffer, AdvancingStopsAtTheEnd) {
    char raw[3] = {};
    for (std::size_t step : {0u, 1u, 2u, 3u, 4u, ~0u}) {
        std::size_t const taken = std::min<std::size_t>(step, 3);
        mutable_buffer m(raw, 3);
        m += step;
        EXPECT_EQ(m.data(), raw + taken);
        EXPECT_EQ(m.size(), 3 - taken);
        EXPECT_EQ((const_buffer(raw, 3) + step).size(), 3 - taken);
        EXPECT_EQ((step + const_buffer(raw, 3)).data(), raw + taken);
        EXPECT_EQ((step + mutable_buffer(raw, 3)).data(), raw + taken);
    }
    EXPECT_EQ((mutable_buffer() + 1).size(), 0u);
}

TEST(Buffer, ConstnessFollowsTheContainer) {
    char raw[4] = {};
    char const fixed[4] = {};
    std::array<char, 4> array{};
    std::array<char const, 4> const_elements{};
    std::vector<char> vector(4);
    std::string string(4, 'x');
    std::span<char> span(raw);
    std::span<char const> const_span(raw);
    std::span<char> const shallow(raw);

    EXPECT_TRUE(gives<mutable_buffer>(buffer(raw)));
    EXPECT_TRUE(gives<mutable_buffer>(buffer(raw, 2)));
    EXPECT_TRUE(gives<const_buffer>(buffer(fixed)));
    EXPECT_TRUE(gives<mutable_buffer>(buffer(array)));
    EXPECT_TRUE(gives<const_buffer>(buffer(std::as_const(array))));
    EXPECT_TRUE(gives<const_buffer>(buffer(const_elements)));
    EXPECT_TRUE(gives<mutable_buffer>(buffer(vector)));
    EXPECT_TRUE(gives<const_buffer>(buffer(std::as_const(vector))));
    EXPECT_TRUE(gives<mutable_buffer>(buffer(string, 1)));
    EXPECT_TRUE(gives<const_buffer>(buffer(std::as_const(string), 1)));
    EXPECT_TRUE(gives<const_buffer>(buffer(std::string_view("ab"))));
    EXPECT_TRUE(gives<mutable_buffer>(buffer(span)));
    EXPECT_TRUE(gives<mutable_buffer>(buffer(shallow)));
    EXPECT_TRUE(gives<mutable_buffer>(buffer(std::span<char, 4>(raw))));
    EXPECT_TRUE(gives<const_buffer>(buffer(const_span)));
    EXPECT_TRUE(gives<mutable_buffer>(buffer(static_cast<void*>(raw), 4)));
    EXPECT_TRUE(gives<const_buffer>(buffer(static_cast<void const*>(raw), 4)));
    EXPECT_TRUE(gives<mutable_buffer>(buffer(mutable_buffer())));
    EXPECT_TRUE(gives<const_buffer>(buffer(const_buffer())));
    EXPECT_TRUE(gives<mutable_buffer>(buffer(derived())));
    EXPECT_TRUE(gives<const_buffer>(buffer(converts_to_const{})));
}

TEST(Buffer, SpansOfBytesBecomeBuffersByThemselves) {
    char raw[4] = {'a', 'b', 'c', 'd'};
    char const fixed[2] = {'x', 'y'};
    auto const writable = [](mutable_buffer b) { return b; };
    auto const readable = [](const_buffer b) { return b; };
    EXPECT_EQ(writable(std::span(raw)).data(), raw);
    EXPECT_EQ(writable(std::span(raw).first(3)).size(), 3u);
    EXPECT_EQ(writable(likeness<char, 4>{raw, 2}).size(), 2u);
    EXPECT_EQ(text_of(readable(std::span(raw))), "abcd");
    EXPECT_EQ(text_of(readable(std::span(fixed))), "xy");
    EXPECT_EQ(text_of(readable(std::as_bytes(std::span(raw)))), "abcd");
    EXPECT_EQ(text_of(readable(likeness<char const, 2>{fixed, 2})), "xy");
    EXPECT_EQ(mutable_buffer(std::span(raw)).data(), raw);
    EXPECT_EQ(const_buffer(std::span(raw)).data(), raw);

    static_assert(!std::is_constructible_v<mutable_buffer, std::span<char const>>);
    static_assert(!std::is_constructible_v<mutable_buffer, likeness<char const, 1>>);
    static_assert(!std::is_constructible_v<const_buffer, std::span<std::int32_t>>);
    static_assert(!std::is_constructible_v<const_buffer, std::span<char volatile>>);
    static_assert(!std::is_constructible_v<const_buffer, std::array<char, 4>>);
    static_assert(!std::is_constructible_v<const_buffer, std::string_view>);
    static_assert(!std::is_constructible_v<const_buffer, std::string>);
    static_assert(!std::is_constructible_v<mutable_buffer, std::vector<char>&>);

    EXPECT_TRUE(gives<mutable_buffer>(buffer(likeness<char, 4>{raw, 4})));
    EXPECT_TRUE(gives<const_buffer>(buffer(likeness<char const, 2>{fixed, 2})));
    EXPECT_EQ(buffer(likeness<char, 4>{raw, 4}, 3).size(), 3u);
}

TEST(Buffer, ContainersNeedNoData) {
    std::uint16_t raw[3] = {};
    without_data<std::uint16_t> container{raw, 3};
    EXPECT_TRUE(gives<mutable_buffer>(buffer(container)));
    EXPECT_TRUE(gives<const_buffer>(buffer(std::as_const(container))));
    EXPECT_EQ(buffer(container).data(), raw);
    EXPECT_EQ(buffer(container).size(), 6u);
    EXPECT_EQ(buffer(std::as_const(container), 5).size(), 5u);
    EXPECT_TRUE(gives<const_buffer>(buffer(without_data<char const>{})));
    EXPECT_EQ(buffer(without_data<char const>{}).data(), nullptr);
    static_assert(std::is_same_v<decltype(buffer(without_data<char>())), const_buffer>);
    static_assert(!bufferable<without_data<std::string>&>);
    static_assert(!bufferable<without_data<char volatile>&>);
    static_assert(!bufferable<without_data<const_buffer>&>);
    static_assert(!bufferable<std::deque<char>&>);
}

TEST(Buffer, TemporaryContainersGiveConstBuffers) {
    static_assert(std::is_same_v<decltype(buffer(std::string())), const_buffer>);
    static_assert(std::is_same_v<decltype(buffer(std::vector<char>())), const_buffer>);
}

TEST(Buffer, CountsBytesNotElements) {
    std::vector<std::uint32_t> const words(3);
    std::array<point, 2> points{};
    double one[1] = {};
    EXPECT_EQ(buffer(words).size(), 12u);
    EXPECT_EQ(buffer(points).size(), 16u);
    EXPECT_EQ(buffer(one).size(), 8u);
}

TEST(Buffer, StringLiteralCountsItsNulAndStringsDoNot) {
    EXPECT_EQ(buffer("abc").size(), 4u);
    EXPECT_EQ(buffer(std::string_view("abc")).size(), 3u);
    std::string const s = "abc";
    EXPECT_EQ(buffer(s).size(), 3u);
    EXPECT_EQ(buffer(s).data(), s.data());
}

TEST(Buffer, MaxSizeLimitsInBytes) {
    std::uint16_t raw[2] = {};
    std::vector<std::uint16_t> vector(2);
    for (std::size_t max : {0u, 1u, 3u, 4u, 5u, ~0u}) {
        std::size_t const expected = std::min<std::size_t>(max, 4);
        EXPECT_EQ(buffer(raw, max).size(), expected);
        EXPECT_EQ(buffer(vector, max).size(), expected);
        EXPECT_EQ(buffer(std::span(raw), max).size(), expected);
        EXPECT_EQ(buffer(mutable_buffer(raw, 4), max).size(), expected);
        EXPECT_EQ(buffer(const_buffer(raw, 4), max).size(), expected);
    }
}

TEST(Buffer, EmptyContainersAreEmpty) {
    std::array<char, 0> array;
    EXPECT_EQ(buffer(array).size(), 0u);
    EXPECT_EQ(buffer(std::vector<char>()).size(), 0u);
    EXPECT_EQ(buffer(std::string_view()).size(), 0u);
    EXPECT_EQ(buffer(std::span<char>()).size(), 0u);
}

TEST(Buffer, RefusesElementsThatAreNotBytes) {
    static_assert(!bufferable<std::vector<std::string>&>);
    static_assert(!bufferable<std::vector<bool>&>);
    static_assert(!bufferable<std::vector<const_buffer>&>);
    static_assert(!bufferable<std::array<mutable_buffer, 2>&>);
    static_assert(!bufferable<mutable_buffer(&)[2]>);
    static_assert(!bufferable<std::list<char>&>);
    static_assert(!bufferable<int&>);
}

TEST(Buffer, WorksInConstantExpressions) {
    static constexpr char text[] = "abc";
    static_assert(buffer(text).size() == 4);
    static_assert(buffer(text, 3).size() == 3);
    static_assert(buffer_size(buffer(text)) == 4);
}

TEST(BufferSequence, IsOneBufferOrARangeOfThem) {
    static_assert(const_buffer_sequence<const_buffer> && const_buffer_sequence<mutable_buffer>);
    static_assert(const_buffer_sequence<derived> && mutable_buffer_sequence<derived>);
    static_assert(const_buffer_sequence<converts_to_const> && !mutable_buffer_sequence<converts_to_const>);
    static_assert(const_buffer_sequence<converts_to_mutable> && mutable_buffer_sequence<converts_to_mutable>);
    static_assert(const_buffer_sequence<converts_to_both> && mutable_buffer_sequence<converts_to_both>);
    static_assert(mutable_buffer_sequence<mutable_buffer> && !mutable_buffer_sequence<const_buffer>);
    static_assert(mutable_buffer_sequence<std::vector<mutable_buffer>>);
    static_assert(const_buffer_sequence<std::vector<mutable_buffer>>);
    static_assert(!mutable_buffer_sequence<std::vector<const_buffer>>);
    static_assert(const_buffer_sequence<std::list<const_buffer>> && const_buffer_sequence<std::deque<derived>>);
    static_assert(const_buffer_sequence<std::span<converts_to_mutable const>>);
    static_assert(const_buffer_sequence<std::vector<const_buffer> const&>);
    static_assert(mutable_buffer_sequence<std::span<char>> && const_buffer_sequence<std::span<std::byte, 3>>);
    static_assert(const_buffer_sequence<std::span<char const>> && !mutable_buffer_sequence<std::span<char const>>);
    static_assert(!const_buffer_sequence<std::span<int>> && !const_buffer_sequence<std::string_view>);
    static_assert(!const_buffer_sequence<std::string> && !const_buffer_sequence<std::vector<char>>);
    static_assert(!const_buffer_sequence<int> && !const_buffer_sequence<void*> && !const_buffer_sequence<char[4]>);
    static_assert(fairlead::is_const_buffer_sequence<std::list<mutable_buffer>>::value);
    static_assert(!fairlead::is_mutable_buffer_sequence<std::list<const_buffer>>::value);
}

TEST(BufferSequence, OneBufferIsKnownAtCompileTime) {
    static_assert(is_single_buffer<const_buffer> && is_single_buffer<mutable_buffer const&>);
    static_assert(is_single_buffer<derived> && is_single_buffer<converts_to_const>);
    static_assert(is_single_buffer<converts_to_mutable> && is_single_buffer<converts_to_both>);
    static_assert(is_single_buffer<std::array<mutable_buffer, 1>>);
    static_assert(is_single_buffer<std::span<const_buffer const, 1>>);
    static_assert(!is_single_buffer<std::array<mutable_buffer, 0>> && !is_single_buffer<std::array<const_buffer, 2>>);
    static_assert(!is_single_buffer<std::vector<const_buffer>> && !is_single_buffer<std::span<const_buffer>>);
    static_assert(!is_single_buffer<std::string> && !is_single_buffer<int>);
    static_assert(is_single_buffer<std::span<char>> && is_single_buffer<std::span<std::byte const, 3>>);

    std::string text = "abc";
    using fairlead::impl::base::single_buffer;
    EXPECT_EQ(text_of(single_buffer<const_buffer>(std::array{buffer(text)})), "abc");
    EXPECT_EQ(text_of(single_buffer<mutable_buffer>(buffer(text))), "abc");
    EXPECT_EQ(text_of(single_buffer<const_buffer>(converts_to_mutable{&text})), "abc");
    EXPECT_EQ(text_of(single_buffer<const_buffer>(converts_to_const{"xy"})), "xy");
}

TEST(BufferSequence, WhatConvertsIsASequenceOfOne) {
    std::string text = "abc";
    EXPECT_EQ(text_of_all(converts_to_const{"abc"}), "abc");
    EXPECT_EQ(text_of_all(converts_to_mutable{&text}), "abc");
    EXPECT_EQ(text_of_all(converts_to_both{&text}), "a") << "it is to be read";
    EXPECT_EQ(text_of_all(derived(text.data(), 2)), "ab");
    EXPECT_EQ(text_of_all(std::span(text)), "abc");
    EXPECT_EQ(text_of_all(std::span(std::as_const(text))), "abc");
    converts_to_const const value{"abc"};
    converts_to_const const* const begin = fairlead::buffer_sequence_begin(value);
    EXPECT_EQ(begin, &value);
    auto it = begin;
    EXPECT_EQ(it++, begin);
    EXPECT_EQ(it, fairlead::buffer_sequence_end(value));
    EXPECT_EQ(--it, begin);
    static_assert(std::bidirectional_iterator<decltype(it)>);
}

TEST(BufferSequence, SizeIsTheSumOfZeroOneTwoManyEntries) {
    std::string const text = counting_text(4096);
    for (std::size_t count : {1u, 2u, 64u, 1025u})
        EXPECT_EQ(buffer_size(pieces_of<const_buffer>(text, count)), 4096u) << count;
    EXPECT_EQ(buffer_size(std::vector<const_buffer>()), 0u);
    EXPECT_EQ(buffer_size(std::array<mutable_buffer, 0>()), 0u);
    EXPECT_EQ(buffer_size(converts_to_const{"abc"}), 3u);
    EXPECT_EQ(buffer_size(std::list<const_buffer>{buffer("ab"), const_buffer(), buffer("c")}), 5u);
}

// Every shape of source against every shape of target, with every interesting limit.
TEST(BufferCopy, FillsEachBufferBeforeTheNextWhateverTheShapes) {
    std::string const source = counting_text(2500);
    for (std::size_t from_count : {0u, 1u, 2u, 64u, 1025u})
        for (std::size_t to_count : {0u, 1u, 2u, 64u, 1025u})
            for (std::size_t max : {0u, 1u, 2u, 2499u, 2500u, 2501u, ~0u})
                for (std::size_t target_size : {0u, 1u, 2000u, 2500u, 3000u}) {
                    std::string target(target_size, '-');
                    auto const from = pieces_of<const_buffer>(source, from_count);
                    auto const to = pieces_of<mutable_buffer>(target, to_count, 2);
                    std::size_t const expected = std::min({buffer_size(from), buffer_size(to), std::size_t{max}});

                    ASSERT_EQ(buffer_copy(to, from, max), expected);

                    ASSERT_EQ(target, source.substr(0, expected) + std::string(target_size - expected, '-'));
                }
}

TEST(BufferCopy, TakesSingleBuffersOnEitherSide) {
    std::string target = "------";
    EXPECT_EQ(buffer_copy(buffer(target), buffer("ab", 2)), 2u);
    EXPECT_EQ(buffer_copy(buffer(target) + 2, std::array{buffer("c", 1), buffer("d", 1)}), 2u);
    EXPECT_EQ(buffer_copy(std::array{buffer(target) + 4, mutable_buffer()}, converts_to_const{"efgh"}), 2u);
    EXPECT_EQ(target, "abcdef");
    EXPECT_EQ(buffer_copy(converts_to_both{&target}, buffer("xyz", 3), 1), 1u);
    EXPECT_EQ(target, "xbcdef");
    EXPECT_EQ(buffer_copy(mutable_buffer(), const_buffer()), 0u);
    EXPECT_EQ(buffer_copy(std::span(target).last(2), std::span("yz", 2)), 2u);
    EXPECT_EQ(target, "xbcdyz");
}

TEST(BufferSlices, SkipWhatWasSentAndEmptyBuffers) {
    std::string const text = counting_text(2500);
    for (std::size_t count : {0u, 1u, 2u, 64u, 1025u}) {
        auto const pieces = pieces_of<const_buffer>(text, count);
        for (std::size_t skip : {0u, 1u, 2u, 3u, 94u, 2499u, 2500u, 2501u}) {
            std::vector<io_slice> slices(1025);
            std::size_t const n = fill_slices(pieces, slices.data(), slices.size(), skip);
            std::string sent;
            for (std::size_t i = 0; i < n; ++i) {
                ASSERT_NE(slices[i].size, 0u);
                sent.append(static_cast<char const*>(slices[i].base), slices[i].size);
            }
            ASSERT_EQ(sent, count == 0 || skip >= text.size() ? "" : text.substr(skip)) << count << ' ' << skip;
        }
    }
}

TEST(BufferSlices, StopAtTheLimitAndGoOnFromThere) {
    std::string const text = counting_text(2500);
    auto const pieces = pieces_of<const_buffer>(text, 1025);
    std::string sent;
    int calls = 0;
    for (std::array<io_slice, 16> slices; std::size_t const n = fill_slices(pieces, slices.data(), 16, sent.size());
         ++calls)
        for (std::size_t i = 0; i < n; ++i)
            sent.append(static_cast<char const*>(slices[i].base), slices[i].size);
    EXPECT_EQ(sent, text);
    EXPECT_EQ(calls, (768 + 1 + 15) / 16); // Of 1024 short pieces every fourth is empty; the last piece is long.
    EXPECT_EQ(fill_slices(pieces, nullptr, 0), 0u);
}

TEST(BufferCopy, RandomShapesGiveTheSamePrefix) {
    auto const seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    auto const below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    for (int round = 0; round < 500; ++round) {
        std::string const source = counting_text(below(300));
        std::string target(below(300), '-');
        auto const cut = [&](auto whole) {
            std::vector<decltype(whole)> pieces;
            while (whole.size() != 0 && pieces.size() < 60) {
                pieces.push_back(buffer(whole, below(12)));
                whole += pieces.back().size();
            }
            return pieces;
        };
        auto const from = cut(buffer(source));
        auto const to = cut(buffer(target));
        std::size_t const n = buffer_copy(to, from);
        ASSERT_EQ(n, std::min(buffer_size(from), buffer_size(to)));
        ASSERT_EQ(target.substr(0, n), source.substr(0, n));
        ASSERT_EQ(target.find_first_not_of('-', n), std::string::npos);
    }
}

} // namespace
