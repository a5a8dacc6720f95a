// How much the parser allocates. The counters replace operator new of the whole test program.
#include <fairlead/resp3/parser.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

namespace {

std::atomic<std::uint64_t> allocations{0};
std::atomic<std::uint64_t> allocated_bytes{0};

void* counted(std::size_t size) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    allocated_bytes.fetch_add(size, std::memory_order_relaxed);
    if (void* const memory = std::malloc(size == 0 ? 1 : size))
        return memory;
    throw std::bad_alloc();
}

} // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using fairlead::resp3::limits;
using fairlead::resp3::node;
using fairlead::resp3::parser;

/// The allocations of one run of a piece of code.
struct cost {
    std::uint64_t count;
    std::uint64_t bytes;
};
template <typename Code> cost cost_of(Code code) {
    std::uint64_t const count = allocations.load();
    std::uint64_t const bytes = allocated_bytes.load();
    code();
    return {allocations.load() - count, allocated_bytes.load() - bytes};
}

void ignore(node const&) {}

TEST(Resp3ParserMemory, FlatMessagesAllocateNothing) {
    std::string input;
    for (int i = 0; i != 100; ++i)
        input += "+OK\r\n:1\r\n$5\r\nhello\r\n,1.5\r\n_\r\n#t\r\n(1\r\n=5\r\ntxt:a\r\n";
    parser p;
    cost const c = cost_of([&] { p.parse(input, ignore); });
    EXPECT_EQ(c.count, 0u);
}

TEST(Resp3ParserMemory, NestedMessagesAllocateNothingOnceWarm) {
    std::string const input = "*2\r\n%1\r\n+k\r\n*1\r\n:1\r\n|1\r\n+a\r\n:1\r\n~1\r\n*1\r\n*1\r\n_\r\n";
    parser p;
    p.parse(input, ignore);
    p.reset();
    cost const c = cost_of([&] {
        for (int i = 0; i != 100; ++i)
            p.parse(input, ignore);
    });
    EXPECT_EQ(c.count, 0u);
}

TEST(Resp3ParserMemory, AnnouncedBytesAndElementsAllocateNothing) {
    // Everything that a header can promise, within the limits and beyond them.
    for (std::string_view const input : {"$536870912\r\nabc", "$9223372036854775807\r\n", "=500000000\r\n",
                                         "*1000000000\r\n", "%4611686018427387904\r\n", "|9999999999999999999\r\n"}) {
        parser p;
        cost const c = cost_of([&] { p.parse(input, ignore); });
        EXPECT_EQ(c.count, 0u) << input;
    }
    parser p;
    cost const c = cost_of([&] { p.parse("*200000000\r\n%100000000\r\n", ignore); });
    EXPECT_LE(c.bytes, 256u) << "two levels, whatever they announce";
}

TEST(Resp3ParserMemory, NestingCostsAConstantForEachByteReceived) {
    limits l;
    l.depth_max = 1'000'000;
    std::string input;
    for (int i = 0; i != 1'000'000; ++i)
        input += "*1\r\n";
    parser p(l);
    cost const c = cost_of([&] { p.parse(input, ignore); });
    // 16 bytes a level for 4 received, doubled by growing, and all earlier sizes before it: less than 4 * 4.
    EXPECT_LE(c.bytes, 16 * input.size());
}

TEST(Resp3ParserMemory, ALineThatNeverEndsIsCutOffAndAllocatesNothing) {
    std::string const line = "+" + std::string(70'000, 'a');
    parser p;
    cost const c = cost_of([&] { EXPECT_TRUE(p.parse(line, ignore).ec); });
    EXPECT_EQ(c.count, 0u);
}

TEST(Resp3ParserMemory, APartialLineIsSearchedOnlyOnce) {
    // Quadratic work would be 2 * 10^9 comparisons here and visible as a timeout; the time itself is not tested.
    limits l;
    l.line_bytes_max = 1 << 26;
    std::string const line = "+" + std::string(20'000'000, 'a') + "\r\n";
    parser p(l);
    std::uint64_t nodes = 0;
    for (std::size_t end = 0; end < line.size(); end += 400)
        p.parse(std::string_view(line).substr(0, end), ignore);
    p.parse(line, [&nodes](node const& n) {
        ++nodes;
        EXPECT_EQ(n.value.size(), 20'000'000u);
    });
    EXPECT_EQ(nodes, 1u);
}

} // namespace
