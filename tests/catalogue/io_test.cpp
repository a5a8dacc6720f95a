// Descriptors, epoll, peers and streams: rows E, I, R and S of the failure catalogue that hold today.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/recycler.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/block.hpp>
#include <fairlead/token/post.hpp>
#include <support/scale.hpp>

#include <catalogue/small_stack.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;
using ip::tcp;

struct local_pair {
    local_pair() : a(context), b(context) { local::connect_pair(a, b); }
    io_context context;
    local_socket a, b;
};
struct tcp_pair {
    tcp_pair() : a(context), b(context) {
        tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
        a.connect(acceptor.local_endpoint());
        acceptor.accept(b);
    }
    io_context context;
    tcp::socket a, b;
};

/// Reads with `Size`-byte buffers until the end, and says how it ended.
template <std::size_t Size, class Socket> struct reader {
    Socket& socket;
    std::string got;
    error_code end;
    char bytes[Size];
    explicit reader(Socket& s) : socket(s) { next(); }
    void next() {
        socket.async_read_some(buffer(bytes), [this](error_code ec, std::size_t n) {
            got.append(bytes, n);
            if (ec)
                end = ec;
            else
                next();
        });
    }
};

/// Runs for as long as anything happens: 20 looks at the world without an event are the end.
void settle(io_context& context) {
    int idle = 0;
    while (idle != 20) {
        context.restart();
        idle = context.run_one_for(1ms) ? 0 : idle + 1;
    }
}

// ---- the hang of the exact fill

TEST(Catalogue, E03_ReadsThatFillTheirBufferExactlyLoseNothingAndDoNotHang) {
    local_pair p;
    reader<64, local_socket> r(p.a);
    std::string sent;
    auto const send = [&](std::size_t n) {
        std::string message;
        while (message.size() != n)
            message += static_cast<char>('a' + (sent.size() + message.size()) % 26);
        sent += message;
        EXPECT_EQ(p.b.write_some(buffer(message)), n);
    };
    for (int i = 0; i != 20; ++i) {
        send(64);
        p.context.poll();
    }
    for (int i = 0; i != 100; ++i) {
        send(192);
        if (i % 3)
            p.context.poll();
    }
    p.b.close();
    p.context.run(); // a failure shows as the test's time-out
    EXPECT_EQ(r.got, sent);
    EXPECT_EQ(r.end, error::eof);
}

TEST(Catalogue, E03_SameWithASleepBetweenBursts) {
    local_pair p;
    std::size_t got = 0;
    std::size_t const rounds = 50;
    co_spawn(
        p.context,
        [](local_pair& q, std::size_t& n, std::size_t most) -> awaitable<void> {
            char bytes[64];
            while (n != most * 192)
                n += co_await q.a.async_read_some(buffer(bytes));
        }(p, got, rounds),
        detached);
    co_spawn(
        p.context,
        [](local_pair& q, std::size_t most) -> awaitable<void> {
            char const bytes[192] = {};
            steady_timer timer(q.context);
            for (std::size_t i = 0; i != most; ++i) {
                co_await async_write(q.b, buffer(bytes));
                timer.expires_after(50us); // lets the loop go to sleep with the reader waiting
                co_await timer.async_wait();
            }
        }(p, rounds),
        detached);
    p.context.run();
    EXPECT_EQ(got, rounds * 192);
}

TEST(Catalogue, E03_PeekLeavesTheBytesForTheNextRead) {
    local_pair p;
    char bytes[64];
    std::string order;
    p.b.write_some(buffer("x", 1));
    p.a.async_receive(buffer(bytes), socket_base::message_peek, [&](error_code, std::size_t) {
        order += 'p';
        p.a.async_read_some(buffer(bytes), [&](error_code, std::size_t) { order += 'r'; });
    });
    settle(p.context);
    EXPECT_EQ(order, "pr");
}

/// Three pieces, and a descriptor with the second: a read ends there, and the rest makes no event.
void send_around_a_descriptor(int fd) {
    char one = 'd';
    iovec v{&one, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr m{};
    m.msg_iov = &v;
    m.msg_iovlen = 1;
    m.msg_control = control;
    m.msg_controllen = sizeof control;
    auto* const h = CMSG_FIRSTHDR(&m);
    h->cmsg_level = SOL_SOCKET;
    h->cmsg_type = SCM_RIGHTS;
    h->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(h), &fd, sizeof fd);
    ASSERT_EQ(::send(fd, "abc", 3, 0), 3);
    ASSERT_EQ(::sendmsg(fd, &m, 0), 1);
    ASSERT_EQ(::send(fd, "efg", 3, 0), 3);
}

TEST(Catalogue, E03_ShortReadAtAPassedDescriptorLeavesTheRestReadable) {
    local_pair p;
    send_around_a_descriptor(p.b.native_handle());
    reader<64, local_socket> r(p.a);
    while (r.got.size() < 7)
        p.context.run_one(); // sleeps without an end
    EXPECT_EQ(r.got, "abcdefg");
    send_around_a_descriptor(p.b.native_handle());
    settle(p.context); // sleeps for a moment only
    EXPECT_EQ(r.got, "abcdefgabcdefg");
    p.a.cancel();
    settle(p.context);
}

TEST(Catalogue, E03_WholeReadGoesOnBehindAPassedDescriptor) {
    local_pair p;
    std::string got(14, ' ');
    bool done = false;
    async_read(p.a, buffer(got), [&](error_code ec, std::size_t n) {
        EXPECT_FALSE(ec);
        EXPECT_EQ(n, 14U);
        done = true;
    });
    send_around_a_descriptor(p.b.native_handle());
    send_around_a_descriptor(p.b.native_handle());
    while (!done)
        p.context.run_one();
    EXPECT_EQ(got, "abcdefgabcdefg");
}

// A loop that never sleeps must come to it, too.
TEST(Catalogue, E03_BusyLoopReadsOnBehindAPassedDescriptor) {
    local_pair p;
    send_around_a_descriptor(p.b.native_handle());
    reader<64, local_socket> r(p.a);
    std::function<void()> const busy = [&] {
        if (r.got.size() < 7)
            post(p.context, busy);
    };
    busy();
    while (r.got.size() < 7)
        p.context.run_one();
    EXPECT_EQ(r.got, "abcdefg");
}

// The cost of a doubt: one call for each socket once it is quiet, and then none.
TEST(Catalogue, E03_QuietSocketIsDoubtedOnce) {
    local_pair p;
    reader<64, local_socket> r(p.a);
    ASSERT_EQ(::send(p.b.native_handle(), "abc", 3, 0), 3);
    settle(p.context);
    EXPECT_EQ(r.got, "abc");
    EXPECT_EQ(p.context.counters().verifications, 1U);
    p.a.cancel();
    settle(p.context);
}

TEST(Catalogue, E03_ShortReadAtUrgentDataLeavesTheRestReadable) {
    tcp_pair p;
    int const fd = p.b.native_handle();
    ASSERT_EQ(::send(fd, "abc", 3, 0), 3);
    ASSERT_EQ(::send(fd, "!", 1, MSG_OOB), 1);
    ASSERT_EQ(::send(fd, "def", 3, 0), 3);
    while (p.a.available() < 3) { // what stands before the mark; the rest came with it
    }
    reader<64, tcp::socket> r(p.a);
    settle(p.context);
    EXPECT_EQ(r.got, "abcdef");
    p.a.cancel();
    settle(p.context);
}

TEST(Catalogue, E03_WholeReadGoesOnBehindUrgentData) {
    tcp_pair p;
    int const fd = p.b.native_handle();
    std::string got(6, ' ');
    std::size_t n = 0;
    async_read(p.a, buffer(got), [&](error_code, std::size_t k) { n = k; });
    settle(p.context);
    ASSERT_EQ(::send(fd, "abc", 3, 0), 3);
    ASSERT_EQ(::send(fd, "!", 1, MSG_OOB), 1);
    ASSERT_EQ(::send(fd, "def", 3, 0), 3);
    while (p.a.available() < 3) {
    }
    settle(p.context);
    EXPECT_EQ(got.substr(0, n), "abcdef");
    p.a.cancel();
    settle(p.context);
}

TEST(Catalogue, E03_WaitForAnErrorDoesNotHoldUpReads) {
    local_pair p;
    char bytes[4];
    bool read = false;
    p.a.async_wait(socket_base::wait_error, [](error_code) {});
    p.a.async_read_some(buffer(bytes), [&](error_code, std::size_t) { read = true; });
    p.b.write_some(buffer("x", 1));
    settle(p.context);
    EXPECT_TRUE(read);
    p.a.cancel();
    settle(p.context);
}

TEST(Catalogue, E03_SynchronousReadsBetweenAsynchronousOnesUpsetNothing) {
    local_pair p;
    std::string got;
    char bytes[4];
    for (int round = 0; round != 50; ++round) {
        p.b.write_some(buffer("abcdefgh", 8));
        p.a.async_read_some(buffer(bytes), [&](error_code, std::size_t n) { got.append(bytes, n); });
        settle(p.context);
        got.append(bytes, p.a.read_some(buffer(bytes)));
        ASSERT_EQ(got.size(), static_cast<std::size_t>(round + 1) * 8);
    }
}

// ---- E: epoll

TEST(Catalogue, E01_DescriptorClosedAndReopenedInsideABatchGetsNoStaleEvent) {
    io_context context;
    constexpr std::size_t n = 32;
    std::vector<std::unique_ptr<local_socket>> mine, peers;
    for (std::size_t i = 0; i != n; ++i) {
        mine.push_back(std::make_unique<local_socket>(context));
        peers.push_back(std::make_unique<local_socket>(context));
        local::connect_pair(*mine[i], *peers[i]);
    }
    char bytes[n][4];
    std::size_t reopened_read = 0, first = 0;
    for (std::size_t i = 0; i != n; ++i)
        mine[i]->async_read_some(buffer(bytes[i]), [&, i](error_code ec, std::size_t) {
            if (ec || first++)
                return;
            // All sockets are readable in this batch. Close the others, reopen them: the same descriptors, new pairs.
            for (std::size_t k = 0; k != n; ++k) {
                if (k == i)
                    continue;
                mine[k]->close();
                peers[k]->close();
            }
            for (std::size_t k = 0; k != n; ++k) {
                if (k == i)
                    continue;
                local::connect_pair(*mine[k], *peers[k]);
                mine[k]->async_read_some(buffer(bytes[k]), [&](error_code e, std::size_t) { reopened_read += !e; });
            }
        });
    context.poll();
    for (auto& s : peers)
        s->write_some(buffer("x", 1));
    settle(context);
    EXPECT_EQ(first, n) << "each of the first reads had completed when the first handler ran";
    EXPECT_EQ(reopened_read, 0U) << "nobody has written to the new pairs";
    for (auto& s : mine)
        s->close();
    settle(context);
}

TEST(Catalogue, E02_CopyOfADescriptorElsewhereKeepsNoRegistrationAlive) {
    local_pair p;
    char bytes[4];
    p.a.async_read_some(buffer(bytes), [](error_code, std::size_t) {});
    p.context.poll();
    int const copy = ::dup(p.a.native_handle());
    ASSERT_GE(copy, 0);
    p.a.close();
    p.context.poll();
    auto const before = p.context.counters().turns;
    p.context.restart();
    auto guard = make_work_guard(p.context);
    p.b.write_some(buffer("x", 1));
    p.context.run_for(2ms);
    EXPECT_LE(p.context.counters().turns - before, 10U);
    ::close(copy);
}

TEST(Catalogue, E04_HangUpWithNobodyWaitingDoesNotSpin) {
    tcp_pair p;
    char bytes[4];
    p.a.async_read_some(buffer(bytes), [](error_code, std::size_t) {});
    p.b.write_some(buffer("x", 1));
    p.context.run(); // registered now
    p.b.close();
    p.context.restart();
    auto guard = make_work_guard(p.context);
    auto const before = p.context.counters();
    p.context.run_for(20ms);
    EXPECT_LE(p.context.counters().polls - before.polls, 10U);
    EXPECT_LE(p.context.counters().turns - before.turns, 10U);
}

TEST(Catalogue, E05_DataBeforeTheHangUpArrivesBeforeTheEnd) {
    for (bool const waits_first : {false, true}) {
        tcp_pair p;
        auto r = waits_first ? std::make_unique<reader<3, tcp::socket>>(p.a) : nullptr;
        p.context.poll();
        p.b.write_some(buffer("eight by", 8));
        p.b.close();
        if (!r)
            r = std::make_unique<reader<3, tcp::socket>>(p.a);
        p.context.restart();
        p.context.run();
        EXPECT_EQ(r->got, "eight by");
        EXPECT_EQ(r->end, error::eof);
    }
}

TEST(Catalogue, E05_EndIsReportedEachTime) {
    local_pair p;
    p.b.close();
    char bytes[4];
    int ends = 0;
    for (int i = 0; i != 3; ++i)
        p.a.async_read_some(buffer(bytes), [&](error_code ec, std::size_t) { ends += ec == error::eof; });
    p.context.run();
    EXPECT_EQ(ends, 3);
}

// ---- I: streams and peers

TEST(Catalogue, I01_I02_OneByteAtATimeGivesTheSameResult) {
    tcp_pair p;
    std::string const text = "the same line, byte for byte\n";
    std::string got;
    std::size_t n = 0;
    co_spawn(
        p.context,
        [](tcp::socket& s, std::string& out, std::size_t& end) -> awaitable<void> {
            end = co_await async_read_until(s, dynamic_buffer(out), '\n');
        }(p.a, got, n),
        detached);
    co_spawn(
        p.context,
        [](tcp::socket& s, std::string const& t) -> awaitable<void> {
            for (char const& c : t) {
                co_await s.async_write_some(buffer(&c, 1));
                co_await this_coro::yield();
            }
        }(p.b, text),
        detached);
    p.context.run();
    EXPECT_EQ(got, text);
    EXPECT_EQ(n, text.size());
}

TEST(Catalogue, I05_EmptyBuffersCompleteAtOnceWithNothing) {
    local_pair p;
    std::vector<mutable_buffer> const none;
    char bytes[1];
    std::array<mutable_buffer, 2> const empty{buffer(bytes, 0), buffer(bytes, 0)};
    int done = 0;
    auto const nothing = [&](error_code ec, std::size_t n) {
        EXPECT_FALSE(ec);
        EXPECT_EQ(n, 0U);
        ++done;
    };
    p.a.async_read_some(buffer(bytes, 0), nothing);
    p.a.async_read_some(none, nothing);
    p.a.async_read_some(empty, nothing);
    p.a.async_write_some(buffer(bytes, 0), nothing);
    p.a.async_write_some(none, nothing);
    async_read(p.a, buffer(bytes, 0), nothing);
    async_read(p.a, none, nothing);
    async_write(p.a, buffer(bytes, 0), nothing);
    async_write(p.a, empty, nothing);
    p.b.close();
    async_read(p.a, buffer(bytes, 0), nothing); // also at the end of the stream
    p.context.run();
    EXPECT_EQ(done, 10);
    EXPECT_EQ(p.a.read_some(buffer(bytes, 0)), 0U);
}

TEST(Catalogue, I06_SizesBeyondTwoGigabytesAreNotCutOff) {
    if constexpr (fairlead::test::sanitized)
        GTEST_SKIP() << "sanitizers look at every byte of a buffer at each call: hours, and memory that nobody has";
    constexpr std::size_t size = (std::size_t{2} << 30) + (1 << 20) + 7;
    // Pages that are only read are all the one page of zeros: the sender needs no memory for them.
    void* const zeros = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(zeros, MAP_FAILED);
    // The receiver fills the same megabyte again and again.
    std::string window(1 << 20, 'x');
    std::vector<mutable_buffer> into(size / window.size(), buffer(window));
    into.push_back(buffer(window.data(), size % window.size()));
    local_pair p;
    std::size_t written = 0, read = 0;
    async_write(p.b, const_buffer(zeros, size), [&](error_code ec, std::size_t n) {
        EXPECT_FALSE(ec);
        written = n;
    });
    async_read(p.a, into, [&](error_code ec, std::size_t n) {
        EXPECT_FALSE(ec);
        read = n;
    });
    p.context.run();
    EXPECT_EQ(written, size);
    EXPECT_EQ(read, size);
    EXPECT_EQ(window, std::string(window.size(), '\0'));
    ::munmap(zeros, size);
}

TEST(Catalogue, I07_MoreBuffersThanTheSystemTakesAreServedInTurn) {
    local_pair p;
    for (std::size_t const n : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{64}, std::size_t{1024},
                                std::size_t{1025}, std::size_t{3000}}) {
        std::string out(n * 3, ' '), in(n * 3, ' ');
        std::vector<const_buffer> from;
        std::vector<mutable_buffer> into;
        for (std::size_t i = 0; i != n; ++i) {
            out[i * 3] = static_cast<char>('a' + i % 26);
            from.push_back(buffer(&out[i * 3], 3));
            into.push_back(buffer(&in[i * 3], 3));
            if (i % 7 == 0)
                from.push_back(const_buffer());
        }
        std::size_t written = 0, read = 0;
        async_write(p.b, from, [&](error_code, std::size_t k) { written = k; });
        async_read(p.a, into, [&](error_code, std::size_t k) { read = k; });
        p.context.restart();
        p.context.run();
        EXPECT_EQ(written, n * 3);
        EXPECT_EQ(read, n * 3);
        EXPECT_EQ(in, out);
        EXPECT_GE(p.b.write_some(from), 1U);
        EXPECT_GE(p.a.read_some(into), 1U);
        char drain[16384];
        p.a.non_blocking(true);
        error_code ec;
        while (p.a.read_some(buffer(drain), ec) != 0) {
        }
    }
}

TEST(Catalogue, I08_ResetIsReportedToReadersAndWriters) {
    tcp_pair p;
    error_code read_end;
    char bytes[8];
    p.a.async_read_some(buffer(bytes), [&](error_code ec, std::size_t) { read_end = ec; });
    p.context.poll();
    p.b.set_option(socket_base::linger(true, 0));
    p.b.close();
    p.context.run();
    EXPECT_EQ(read_end, error::connection_reset);
    error_code write_end;
    p.a.write_some(buffer("x", 1), write_end);
    EXPECT_EQ(write_end, error::broken_pipe);
}

TEST(Catalogue, I09_HalfClosedConnectionStillCarriesTheOtherDirection) {
    tcp_pair p;
    reader<16, tcp::socket> at_b(p.b);
    p.a.write_some(buffer("question", 8));
    p.a.shutdown(socket_base::shutdown_send);
    p.context.run();
    EXPECT_EQ(at_b.got, "question");
    EXPECT_EQ(at_b.end, error::eof);
    reader<16, tcp::socket> at_a(p.a);
    async_write(p.b, buffer("answer", 6), [&](error_code ec, std::size_t) {
        EXPECT_FALSE(ec);
        p.b.close();
    });
    p.context.restart();
    p.context.run();
    EXPECT_EQ(at_a.got, "answer");
    EXPECT_EQ(at_a.end, error::eof);
}

TEST(Catalogue, I10_RefusedConnectionKeepsItsCode) {
    io_context context;
    tcp::endpoint nobody;
    {
        tcp::acceptor const gone(context, tcp::endpoint(ip::address_v4::loopback(), 0));
        nobody = gone.local_endpoint();
    }
    tcp::socket s(context);
    error_code got;
    s.async_connect(nobody, [&](error_code ec) { got = ec; });
    context.run();
    EXPECT_EQ(got, error::connection_refused);
    error_code sync;
    tcp::socket t(context);
    t.connect(nobody, sync);
    EXPECT_EQ(sync, error::connection_refused);
}

TEST(Catalogue, I11_SocketThatWouldConnectToItselfIsRefused) {
    io_context context;
    tcp::socket s(context, tcp::v4());
    s.bind(tcp::endpoint(ip::address_v4::loopback(), 0));
    auto const own = s.local_endpoint();
    error_code got;
    s.async_connect(own, [&](error_code ec) { got = ec; });
    context.run();
    EXPECT_EQ(got, error::connection_refused);
    tcp::socket t(context, tcp::v4());
    t.bind(tcp::endpoint(ip::address_v4::loopback(), 0));
    error_code sync;
    t.connect(t.local_endpoint(), sync);
    EXPECT_EQ(sync, error::connection_refused);
}

TEST(Catalogue, I12_AcceptorSurvivesConnectionsThatAreGoneBeforeItAccepts) {
    io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    for (int i = 0; i != 5; ++i) {
        tcp::socket s(context);
        s.connect(acceptor.local_endpoint());
        s.set_option(socket_base::linger(true, 0)); // a reset while it waits to be accepted
    }
    tcp::socket good(context);
    good.connect(acceptor.local_endpoint());
    good.write_some(buffer("good", 4));
    bool found = false;
    co_spawn(
        context,
        [](tcp::acceptor& a, bool& out) -> awaitable<void> {
            for (int i = 0; i != 6 && !out; ++i) {
                auto s = co_await a.async_accept();
                char bytes[8];
                auto [ec, n] = co_await s.async_read_some(buffer(bytes), as_tuple);
                out = !ec && n == 4;
            }
        }(acceptor, found),
        [](std::exception_ptr e) { EXPECT_FALSE(e); });
    context.run();
    EXPECT_TRUE(found);
}

TEST(Catalogue, I14_WriterWhosePeerNeverReadsWaitsAndGoesOnWhenItDoes) {
    local_pair p;
    std::string const much(4 << 20, 'm');
    std::size_t written = 0;
    async_write(p.a, buffer(much), [&](error_code, std::size_t n) { written = n; });
    settle(p.context);
    EXPECT_EQ(written, 0U);
    auto const before = p.context.counters().polls;
    p.context.restart();
    p.context.run_for(10ms);
    EXPECT_LE(p.context.counters().polls - before, 10U) << "waits without spinning";
    std::string in(much.size(), ' ');
    std::size_t read = 0;
    async_read(p.b, buffer(in), [&](error_code, std::size_t n) { read = n; });
    p.context.restart();
    p.context.run();
    EXPECT_EQ(written, much.size());
    EXPECT_EQ(read, much.size());
    EXPECT_EQ(in, much);
}

TEST(Catalogue, I14_WriterWithALimitGivesUpAndSaysHowMuchWasTaken) {
    local_pair p;
    std::string const much(4 << 20, 'm');
    error_code ec;
    std::size_t written = 0;
    async_write(p.a, buffer(much), cancel_after(5ms, [&](error_code e, std::size_t n) {
                    ec = e;
                    written = n;
                }));
    p.context.run();
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_GT(written, 0U);
    EXPECT_LT(written, much.size());
    p.a.close();
    std::string in(much.size(), ' ');
    std::size_t read = 0;
    async_read(p.b, buffer(in), [&](error_code, std::size_t n) { read = n; });
    p.context.restart();
    p.context.run();
    EXPECT_EQ(read, written) << "the peer has just what the writer was told";
}

TEST(Catalogue, I14_BothSidesWriteMuchAtOnceWithoutADeadlock) {
    tcp_pair p;
    std::string const much(1 << 20, 'm');
    auto const side = [](tcp::socket& s, std::string const& out) -> awaitable<void> {
        auto const writer = [](tcp::socket& t, std::string const& o) -> awaitable<void> {
            EXPECT_EQ(co_await async_write(t, buffer(o)), o.size());
        };
        co_spawn(s.get_executor(), writer(s, out), detached);
        std::string in(out.size(), ' ');
        EXPECT_EQ(co_await async_read(s, buffer(in)), out.size());
        EXPECT_EQ(in, out);
    };
    co_spawn(p.context, side(p.a, much), [](std::exception_ptr e) { EXPECT_FALSE(e); });
    co_spawn(p.context, side(p.b, much), [](std::exception_ptr e) { EXPECT_FALSE(e); });
    p.context.run();
}

// ---- R: descriptors

/// Lowers the limit of descriptors for as long as it lives.
struct few_descriptors {
    rlimit old{};
    explicit few_descriptors(rlim_t n) {
        ::getrlimit(RLIMIT_NOFILE, &old);
        rlimit low = old;
        low.rlim_cur = n;
        ::setrlimit(RLIMIT_NOFILE, &low);
    }
    ~few_descriptors() { ::setrlimit(RLIMIT_NOFILE, &old); }
};

TEST(Catalogue, R01_AcceptingAgainAtOnceDoesNotSpin) {
#ifdef FAIRLEAD_ASAN
    GTEST_SKIP() << "the undefined-behaviour sanitizer needs descriptors itself, to look at memory";
#endif
    io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    tcp::socket client(context), second_client(context), spare(context, tcp::v4()), peer(context);
    client.connect(acceptor.local_endpoint());
    int const lowest_free = ::dup(0);
    ::close(lowest_free);
    auto const limit = std::make_unique<few_descriptors>(static_cast<rlim_t>(lowest_free));
    int errors = 0;
    bool accepted = false;
    std::function<void()> const again = [&] {
        acceptor.async_accept(peer, [&](error_code ec) {
            accepted = !ec;
            if (ec) {
                EXPECT_EQ(ec, error::no_descriptors);
                ++errors;
                again();
            }
        });
    };
    again();
    for (int i = 0; i != 10'000; ++i)
        context.poll();
    EXPECT_GE(errors, 1) << "the program hears of it";
    EXPECT_LT(errors, 1'000) << "it was tried again as often as the loop turned";
    int const before = errors;
    while (errors == before) // until a pause has just begun
        context.run_one();
    spare.close(); // space for one: no reason to wait for its end
    context.poll();
    EXPECT_TRUE(accepted);
    EXPECT_TRUE(peer.is_open());
}

TEST(Catalogue, R01_AnAcceptorThatPausesCanBeCancelledAndClosed) {
#ifdef FAIRLEAD_ASAN
    GTEST_SKIP() << "the undefined-behaviour sanitizer needs descriptors itself, to look at memory";
#endif
    io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    tcp::socket client(context), peer(context);
    client.connect(acceptor.local_endpoint());
    int const lowest_free = ::dup(0);
    ::close(lowest_free);
    auto limit = std::make_unique<few_descriptors>(static_cast<rlim_t>(lowest_free));
    std::vector<error_code> ends;
    auto const note = [&](error_code ec) { ends.push_back(ec); };
    acceptor.async_accept(peer, note);
    context.run();
    acceptor.async_accept(peer, note);
    acceptor.cancel();
    context.restart();
    context.run();
    acceptor.async_accept(peer, note);
    acceptor.close();
    context.restart();
    context.run();
    EXPECT_EQ(ends,
              (std::vector<error_code>{error::no_descriptors, error::operation_aborted, error::operation_aborted}));
    limit.reset();
    steady_timer timer(context, 1us); // a loop that nobody waits in any more ends
    timer.async_wait([](error_code) {});
    context.restart();
    EXPECT_EQ(context.run(), 1U);
}

TEST(Catalogue, R01_AcceptWithoutDescriptorsSaysSoAndGoesOnWhenThereAreSome) {
#ifdef FAIRLEAD_ASAN
    GTEST_SKIP() << "the undefined-behaviour sanitizer needs descriptors itself, to look at memory";
#endif
    io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    tcp::socket client(context);
    client.connect(acceptor.local_endpoint());
    int const lowest_free = ::dup(0);
    ::close(lowest_free);
    int errors = 0;
    bool accepted = false;
    auto limit = std::make_unique<few_descriptors>(static_cast<rlim_t>(lowest_free));
    co_spawn(
        context,
        [](tcp::acceptor& a, std::unique_ptr<few_descriptors>& l, int& failed, bool& done) -> awaitable<void> {
            while (!done) {
                tcp::socket s(a.get_executor());
                auto [ec] = co_await a.async_accept(s, as_tuple);
                if (ec) {
                    EXPECT_EQ(ec, error::no_descriptors);
                    if (++failed == 3)
                        l.reset(); // somebody has closed something
                    steady_timer pause(a.get_executor(), 10us);
                    co_await pause.async_wait();
                } else {
                    done = s.is_open();
                }
            }
        }(acceptor, limit, errors, accepted),
        [](std::exception_ptr e) { EXPECT_FALSE(e); });
    context.run();
    EXPECT_EQ(errors, 3);
    EXPECT_TRUE(accepted);
}

TEST(Catalogue, R02_SocketsAndContextsWithoutDescriptorsFailWithACode) {
#ifdef FAIRLEAD_ASAN
    GTEST_SKIP() << "the undefined-behaviour sanitizer needs descriptors itself, to look at memory";
#endif
    io_context context;
    tcp::socket s(context);
    error_code ec, async_ec;
    {
        int const lowest_free = ::dup(0);
        ::close(lowest_free);
        few_descriptors const limit(static_cast<rlim_t>(lowest_free));
        s.open(tcp::v4(), ec);
        EXPECT_EQ(ec, error::no_descriptors);
        EXPECT_THROW(io_context(), system_error);
        local_socket a(context), b(context);
        local::connect_pair(a, b, ec);
        EXPECT_EQ(ec, error::no_descriptors);
        s.async_connect(tcp::endpoint(ip::address_v4::loopback(), 1), [&](error_code e) { async_ec = e; });
    }
    context.run();
    EXPECT_EQ(async_ec, error::no_descriptors);
    s.open(tcp::v4());
    EXPECT_TRUE(s.is_open());
}

// ---- S: signals, exec

TEST(Catalogue, S03_WritingToAPeerThatIsGoneNeverRaisesSigpipe) {
    auto* const old = std::signal(SIGPIPE, SIG_DFL); // with it the process would die
    local_pair p;
    p.b.close();
    error_code ec;
    p.a.write_some(buffer("x", 1), ec);
    EXPECT_EQ(ec, error::broken_pipe);
    std::array<const_buffer, 3> const parts{buffer("a", 1), buffer("b", 1), buffer("c", 1)};
    p.a.write_some(parts, ec);
    EXPECT_EQ(ec, error::broken_pipe);
    int reported = 0;
    p.a.async_write_some(buffer("x", 1), [&](error_code e, std::size_t) { reported += e == error::broken_pipe; });
    async_write(p.a, parts, [&](error_code e, std::size_t) { reported += e == error::broken_pipe; });
    async_write(p.a, buffer("x", 1), [&](error_code e, std::size_t) { reported += e == error::broken_pipe; });
    p.context.run();
    EXPECT_EQ(reported, 3);
    std::signal(SIGPIPE, old);
}

TEST(Catalogue, S07_EveryDescriptorOfTheLibraryIsClosedOnExec) {
    std::vector<int> before;
    auto const each_fd = [](auto f) {
        DIR* const dir = ::opendir("/proc/self/fd");
        while (dirent const* const e = ::readdir(dir))
            if (int const fd = std::atoi(e->d_name); fd > 0 && fd != ::dirfd(dir))
                f(fd);
        ::closedir(dir);
    };
    each_fd([&](int fd) { before.push_back(fd); });
    tcp_pair p;
    local_pair q;
    tcp::acceptor const acceptor(p.context, tcp::endpoint(ip::address_v4::loopback(), 0));
    int checked = 0;
    each_fd([&](int fd) {
        if (std::find(before.begin(), before.end(), fd) != before.end())
            return;
        EXPECT_TRUE(::fcntl(fd, F_GETFD) & FD_CLOEXEC) << fd;
        ++checked;
    });
    EXPECT_GE(checked, 2 * 2 + 2 + 2 + 1) << "two contexts with two each, two pairs, an acceptor";
}

// ---- N: names

TEST(Catalogue, N07_NamesThatAreNoneAreRejectedNotCutShort) {
    io_context context;
    tcp::resolver resolver(context);
    using namespace std::string_view_literals;
    std::string const too_long(300, 'a');
    int rejected = 0;
    for (auto const& [host, service] :
         std::vector<std::pair<std::string_view, std::string_view>>{{"127.0.0.1\0.example.com"sv, "80"},
                                                                    {"127.0.0.1", "80\0tail"sv},
                                                                    {too_long, "80"},
                                                                    {"127.0.0.1", too_long},
                                                                    {"fe80::1%99999999999999999999", "80"},
                                                                    {"::1]", "80"},
                                                                    {"127.0.0.1", "-1x"}}) {
        error_code ec;
        resolver.async_resolve(host, service, ip::resolver_base::numeric_host,
                               [&](error_code e, tcp::resolver::results_type r) {
                                   ec = e;
                                   EXPECT_TRUE(!e || r.empty());
                               });
        context.restart();
        context.run();
        EXPECT_TRUE(ec) << host;
        rejected += static_cast<bool>(ec);
    }
    EXPECT_EQ(rejected, 7);
}

TEST(Catalogue, N07_SynchronousLookUpRejectsThemToo) {
    io_context context;
    tcp::resolver resolver(context);
    using namespace std::string_view_literals;
    error_code ec;
    resolver.resolve("127.0.0.1\0.example.com"sv, "80", ip::resolver_base::numeric_host, ec);
    EXPECT_TRUE(ec);
    resolver.resolve("127.0.0.1", "80\0tail"sv, ip::resolver_base::numeric_host, ec);
    EXPECT_TRUE(ec);
    EXPECT_THROW(resolver.async_resolve("127.0.0.1\0.example.com"sv, "80", ip::resolver_base::numeric_host, block),
                 system_error);
}

TEST(Catalogue, N03_DistinctErrorsForHostAndService) {
    io_context context;
    tcp::resolver resolver(context);
    error_code host, service;
    resolver.async_resolve("not a number", "80", ip::resolver_base::numeric_host,
                           [&](error_code ec, tcp::resolver::results_type) { host = ec; });
    resolver.async_resolve("127.0.0.1", "no-such-service-at-all", ip::resolver_base::numeric_host,
                           [&](error_code ec, tcp::resolver::results_type) { service = ec; });
    context.run();
    EXPECT_EQ(host, error::host_not_found);
    EXPECT_EQ(service, error::service_not_found);
}

} // namespace
