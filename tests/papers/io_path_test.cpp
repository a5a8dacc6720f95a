// Asio's paper on performance, C1: sequences of buffers in all reads and writes. C2 and C4 are counted from outside, in
// tests/system_calls and tests/instructions.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/block.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>
#include <vector>

namespace {

using namespace fairlead;
using local_socket = local::stream_protocol::socket;

/// n buffers of one to three bytes, and what they hold one after the other.
struct pieces {
    std::string text;
    std::vector<std::size_t> sizes;
    explicit pieces(std::size_t n) {
        for (std::size_t i = 0; i != n; ++i) {
            sizes.push_back(i % 3 + 1);
            for (std::size_t k = 0; k != sizes.back(); ++k)
                text += static_cast<char>('a' + (text.size() % 26));
        }
    }
    template <class Buffer, class Bytes> std::vector<Buffer> over(Bytes& bytes) const {
        std::vector<Buffer> all;
        std::size_t at = 0;
        for (auto const size : sizes) {
            all.emplace_back(bytes.data() + at, size);
            at += size;
        }
        return all;
    }
};

struct SequencesOf : testing::TestWithParam<std::size_t> {
    SequencesOf() : a(context), b(context), out(GetParam()), in(out.text.size(), '.') { local::connect_pair(a, b); }
    std::vector<const_buffer> from() const { return out.over<const_buffer>(out.text); }
    std::vector<mutable_buffer> into() { return out.over<mutable_buffer>(in); }
    /// The buffers that one call can move: the system takes 1,024 buffers at most.
    std::size_t at_once() const {
        auto const all = from();
        std::size_t n = 0;
        for (std::size_t i = 0; i != std::min<std::size_t>(all.size(), 1024); ++i)
            n += all[i].size();
        return n;
    }
    io_context context;
    local_socket a, b;
    pieces out;
    std::string in;
};

TEST_P(SequencesOf, C01_SynchronousReadsAndWrites) {
    EXPECT_EQ(b.write_some(from()), at_once());
    EXPECT_EQ(a.read_some(into()), at_once());
    EXPECT_EQ(in.substr(0, at_once()), out.text.substr(0, at_once()));
    in.assign(in.size(), '.');
    EXPECT_EQ(write(b, from()), out.text.size());
    EXPECT_EQ(read(a, into()), out.text.size());
    EXPECT_EQ(in, out.text);
}

TEST_P(SequencesOf, C01_AsynchronousReadsAndWrites) {
    std::size_t written = 99, got = 99;
    b.async_write_some(from(), [&](error_code ec, std::size_t n) { written = ec ? 98 : n; });
    a.async_read_some(into(), [&](error_code ec, std::size_t n) { got = ec ? 98 : n; });
    context.run();
    EXPECT_EQ(written, at_once());
    EXPECT_EQ(got, at_once());
    EXPECT_EQ(in.substr(0, at_once()), out.text.substr(0, at_once()));
    in.assign(in.size(), '.');
    async_write(b, from(), [&](error_code ec, std::size_t n) { written = ec ? 98 : n; });
    async_read(a, into(), [&](error_code ec, std::size_t n) { got = ec ? 98 : n; });
    context.restart();
    context.run();
    EXPECT_EQ(written, out.text.size());
    EXPECT_EQ(got, out.text.size());
    EXPECT_EQ(in, out.text);
}

TEST_P(SequencesOf, C01_AwaitedReadsAndWrites) {
    co_spawn(
        context,
        [](SequencesOf& t) -> awaitable<void> {
            auto const from = t.from();
            auto const into = t.into();
            EXPECT_EQ(co_await async_write(t.b, from), t.out.text.size());
            EXPECT_EQ(co_await async_read(t.a, into), t.out.text.size());
            EXPECT_EQ(t.in, t.out.text);
        }(*this),
        [](std::exception_ptr e) { EXPECT_FALSE(e); });
    context.run();
    in.assign(in.size(), '.');
    EXPECT_EQ(async_write(b, from(), block), out.text.size());
    EXPECT_EQ(async_read(a, into(), block), out.text.size());
    EXPECT_EQ(in, out.text);
}

INSTANTIATE_TEST_SUITE_P(Papers, SequencesOf, testing::Values(0, 1, 2, 64, 1025));

} // namespace
