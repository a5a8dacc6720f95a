// Many coroutines over many sockets, under many seeds: what one end writes is what the other end reads.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sim/random.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/token/adapters.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace {

using namespace fairlead;
using sim::random_stream;
using sim::world;

unsigned char byte_at(std::uint64_t stream, std::uint64_t position) {
    return static_cast<unsigned char>((position * 0x9e3779b97f4a7c15U + stream * 0xd1342543de82ef95U) >> 37);
}

struct tally {
    std::uint64_t written = 0;
    std::uint64_t read = 0;
    std::uint64_t wrong = 0;
    int ended = 0;
};

template <class Socket>
awaitable<> write_stream(Socket& s, std::uint64_t stream, std::uint64_t total, random_stream r, tally& t) {
    std::vector<unsigned char> chunk;
    steady_timer pause(s.get_executor());
    for (std::uint64_t position = 0; position != total;) {
        auto const n = std::min<std::uint64_t>(total - position, 1 + r.below(9000));
        chunk.resize(n);
        for (std::uint64_t i = 0; i != n; ++i)
            chunk[i] = byte_at(stream, position + i);
        if (r.chance(300)) {
            co_await completion_token_transform<void(error_code, std::size_t)>(use_await,
                                                                               s.write_all_initiation(buffer(chunk)));
        } else {
            for (std::size_t done = 0; done != n;)
                done += co_await s.async_write_some(buffer(chunk.data() + done, n - done));
        }
        position += n;
        t.written += n;
        if (r.chance(50)) {
            pause.expires_after(std::chrono::microseconds(r.below(3000)));
            co_await pause.async_wait();
        }
    }
    s.shutdown(Socket::shutdown_send);
}

template <class Socket> awaitable<> read_stream(Socket& s, std::uint64_t stream, random_stream r, tally& t) {
    std::vector<unsigned char> chunk(20'000);
    for (std::uint64_t position = 0;;) {
        auto const [ec, n] = co_await s.async_read_some(buffer(chunk.data(), 1 + r.below(20'000)), as_tuple);
        for (std::size_t i = 0; i != n; ++i)
            t.wrong += chunk[i] != byte_at(stream, position + i);
        position += n;
        t.read += n;
        if (ec) {
            t.wrong += ec != error::eof;
            break;
        }
    }
    ++t.ended;
}

template <class Socket> awaitable<> echo(Socket s) {
    std::vector<unsigned char> chunk(4096);
    for (;;) {
        auto const [ec, n] = co_await s.async_read_some(buffer(chunk), as_tuple);
        if (ec)
            break;
        for (std::size_t done = 0; done != n;)
            done += co_await s.async_write_some(buffer(chunk.data() + done, n - done));
    }
    s.shutdown(Socket::shutdown_send);
}

template <class Acceptor> awaitable<> serve(Acceptor& a, int connections) {
    for (int i = 0; i != connections; ++i) {
        auto s = co_await a.async_accept();
        co_spawn(a.get_executor(), echo(std::move(s)), detached);
    }
    a.close();
}

template <class Socket, class Endpoint> awaitable<>
connect_and_talk(Socket& s, Endpoint to, std::uint64_t stream, std::uint64_t seed, std::uint64_t total, tally& t) {
    co_await s.async_connect(to);
    co_spawn(s.get_executor(), write_stream(s, stream, total, random_stream(seed, 1000 + stream), t), detached);
    co_await read_stream(s, stream, random_stream(seed, 2000 + stream), t);
}

struct outcome {
    std::uint64_t digest;
    std::int64_t end_ns;
    tally t;
    sim::counters counts;
    friend bool operator==(outcome const& a, outcome const& b) { return a.digest == b.digest && a.end_ns == b.end_ns; }
};

outcome run_echo(std::uint64_t seed, int each, std::uint32_t bytes_most) {
    world w(seed);
    auto& context = w.context();
    tally t;
    random_stream plan(seed, 99);
    std::vector<local::stream_protocol::socket> pairs;
    std::vector<ip::tcp::socket> clients;
    std::vector<local::stream_protocol::socket> local_clients;
    ip::tcp::acceptor acceptor(context, ip::tcp::endpoint(ip::tcp::v4(), 0));
    local::stream_protocol::acceptor local_acceptor(context, local::stream_protocol::endpoint("/run/echo"));
    ip::tcp::endpoint const at(ip::address_v4::loopback(), acceptor.local_endpoint().port());
    auto const n = static_cast<std::size_t>(each);
    pairs.reserve(n);
    clients.reserve(n);
    local_clients.reserve(n);
    std::uint64_t stream = 0;
    std::uint64_t expected = 0;
    for (int i = 0; i != each; ++i) {
        local::stream_protocol::socket far(context);
        auto& near = pairs.emplace_back(context);
        local::connect_pair(near, far);
        co_spawn(context, echo(std::move(far)), detached);
        auto const total = plan.below(bytes_most);
        expected += 3 * total;
        ++stream;
        co_spawn(context, write_stream(near, stream, total, random_stream(seed, 1000 + stream), t), detached);
        co_spawn(context, read_stream(near, stream, random_stream(seed, 2000 + stream), t), detached);
        ++stream;
        co_spawn(context, connect_and_talk(clients.emplace_back(context), at, stream, seed, total, t), detached);
        ++stream;
        co_spawn(context,
                 connect_and_talk(local_clients.emplace_back(context), local::stream_protocol::endpoint("/run/echo"),
                                  stream, seed, total, t),
                 detached);
    }
    co_spawn(context, serve(acceptor, each), detached);
    co_spawn(context, serve(local_acceptor, each), detached);
    w.run();
    EXPECT_EQ(t.written, expected);
    EXPECT_EQ(t.read, expected);
    EXPECT_EQ(t.ended, 3 * each);
    return {w.digest(), w.now().time_since_epoch().count(), t, w.counts()};
}

TEST(SimEcho, EveryByteComesBackInOrderUnderEverySeed) {
    auto const seeds = test::scaled(300, 40);
    sim::counters seen{};
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        auto const r = run_echo(seed, 6, 40'000);
        ASSERT_EQ(r.t.wrong, 0U);
        ASSERT_FALSE(testing::Test::HasFailure());
        for (std::size_t i = 0; i != sim::rules; ++i)
            seen.injected[i] += r.counts.injected[i];
    }
    for (auto const r : {sim::rule::reorder, sim::rule::not_ready, sim::rule::short_read, sim::rule::short_write})
        EXPECT_GT(seen.of(r), 100U) << sim::name_of(r);
}

TEST(SimEcho, SameSeedIsTheSameRun) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        EXPECT_EQ(run_echo(seed, 5, 20'000), run_echo(seed, 5, 20'000)) << "seed " << seed;
}

TEST(SimEcho, AnotherSeedIsAnotherRun) {
    std::set<std::uint64_t> digests;
    for (std::uint64_t seed = 1; seed <= 50; ++seed)
        digests.insert(run_echo(seed, 3, 3'000).digest);
    EXPECT_EQ(digests.size(), 50U);
}

TEST(SimEcho, DigestIsTheSameWithEveryCompilerAndBuildType) {
    // A change of the simulator, of the turn or of an operation's steps changes these. That is no fault, but a reason
    // to say so in the commit. A difference between two builds of one commit is a fault.
    EXPECT_EQ(run_echo(1, 8, 60'000).digest, 7300824631471442012U);
    EXPECT_EQ(run_echo(2, 8, 60'000).digest, 10514970068640105732U);
    EXPECT_EQ(run_echo(42, 8, 60'000).digest, 13947695946751208472U);
}

} // namespace
