// The simulated driver by itself: what each kind of operation does and reports, one raw op at a time.
#include <fairlead/exec/executor.hpp>
#include <fairlead/sim/world.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <string>

#include <netinet/in.h>
#include <sys/socket.h>

namespace {

using namespace fairlead;
using io::handle;
using io::io_op;
using io::kind;

constexpr std::uint64_t seeds = 12; // each test is one process for each seed
constexpr int eof = -static_cast<int>(error::eof);

struct probe : io_op {
    int completed = 0;
    int abandoned = 0;
    probe(io::handle h, io::kind k, void* d = nullptr, std::size_t n = 0, bool are_slices = false) noexcept {
        handle = h;
        kind = k;
        data = d;
        size = n;
        slices = are_slices;
        run = [](op* o, op_mode m) {
            auto& self = static_cast<probe&>(*o);
            ++(m == op_mode::complete ? self.completed : self.abandoned);
        };
    }
};

/// A world with a connected pair, and the loop's turn as the owner.
class SimDriver : public testing::TestWithParam<std::uint64_t> {
protected:
    SimDriver() : world_(GetParam()) {
        EXPECT_EQ(driver().descriptors().pair(AF_UNIX, SOCK_STREAM, 0, a_, b_).error, 0);
    }
    io::driver& driver() { return world_.context().driver(); }
    /// Runs what can be run and lets arrive what is on its way; what waits for ever stays.
    void settle() {
        auto const guard = make_work_guard(world_.context());
        world_.context().restart();
        world_.context().run_until(world_.now() + std::chrono::seconds(100));
    }
    void write(handle h, std::string text) {
        probe& o = make(h, kind::send_all, text.data(), text.size());
        driver().reactor().submit(o);
        settle();
        ASSERT_EQ(o.completed, 1);
        EXPECT_EQ(o.result.error, 0);
        EXPECT_EQ(o.result.n, text.size());
    }
    /// An op that may still be pending when the test has failed.
    probe& make(handle h, kind k, void* d = nullptr, std::size_t n = 0, bool are_slices = false) {
        return ops_.emplace_back(h, k, d, n, are_slices);
    }

private:
    std::deque<probe> ops_; // outlives the world

protected:
    sim::world world_;
    handle a_, b_;
};

TEST_P(SimDriver, ReceiveAllCountsOverAllItsAttempts) {
    std::string got(10, '-');
    probe& o = make(b_, kind::receive_all, got.data(), got.size());
    driver().reactor().submit(o);
    write(a_, "0123");
    EXPECT_EQ(o.completed, 0);
    EXPECT_EQ(driver().reactor().pending(), 1U);
    write(a_, "456789+");
    EXPECT_EQ(o.completed, 1);
    EXPECT_EQ(o.result.error, 0);
    EXPECT_EQ(o.result.n, 10U);
    EXPECT_EQ(got, "0123456789");
    EXPECT_EQ(driver().descriptors().available(b_).value, 1);
}

TEST_P(SimDriver, ReceiveAllReportsWhatHadComeBeforeTheEnd) {
    std::string got(10, '-');
    probe& o = make(b_, kind::receive_all, got.data(), got.size());
    driver().reactor().submit(o);
    write(a_, "0123");
    driver().descriptors().shutdown(a_, SHUT_WR);
    settle();
    EXPECT_EQ(o.completed, 1);
    EXPECT_EQ(o.result.error, eof);
    EXPECT_EQ(o.result.n, 4U);
}

TEST_P(SimDriver, CancelledReceiveAllReportsWhatItHadTaken) {
    std::string got(10, '-');
    probe& o = make(b_, kind::receive_all, got.data(), got.size());
    driver().reactor().submit(o);
    write(a_, "0123");
    EXPECT_TRUE(driver().reactor().cancel(o));
    EXPECT_FALSE(driver().reactor().cancel(o));
    settle();
    EXPECT_EQ(o.completed, 1);
    EXPECT_EQ(o.result.error, ECANCELED);
    EXPECT_EQ(o.result.n, 4U);
}

TEST_P(SimDriver, AttemptThatFailsLeavesTheOpAsItWas) {
    write(a_, "0123");
    std::string got(10, '-');
    probe& o = make(b_, kind::receive_all, got.data(), got.size());
    EXPECT_FALSE(driver().reactor().try_now(o));
    EXPECT_EQ(o.data, got.data());
    EXPECT_EQ(driver().descriptors().available(b_).value, 4);
    char first[2];
    probe& waiting = make(a_, kind::receive_all, first, 2);
    driver().reactor().submit(waiting);
    write(b_, "x");
    char c;
    probe& overtaking = make(a_, kind::receive, &c, 1);
    for (int i = 0; i != 20; ++i)
        EXPECT_FALSE(driver().reactor().try_now(overtaking)); // nobody is served before those who wait
    probe& four = make(b_, kind::receive_all, got.data(), 4);
    int tries = 1;
    for (; !driver().reactor().try_now(four); ++tries) // only put off, now and then
        ASSERT_LT(tries, 100);
    EXPECT_EQ(four.result.n, 4U);
    EXPECT_EQ(got.substr(0, 4), "0123");
    EXPECT_EQ(four.completed, 0);
}

TEST_P(SimDriver, SlicesAreFilledAndEmptiedInOrder) {
    std::string x = "abc", y = "defgh", z = "i";
    io::slice out[] = {{x.data(), 3}, {y.data(), 5}, {z.data(), 1}};
    probe& send = make(a_, kind::send_all, out, 3, true);
    driver().reactor().submit(send);
    std::string p(2, '-'), q(7, '-');
    io::slice in[] = {{p.data(), 2}, {q.data(), 7}};
    probe& receive = make(b_, kind::receive_all, in, 2, true);
    driver().reactor().submit(receive);
    settle();
    EXPECT_EQ(send.result.n, 9U);
    EXPECT_EQ(receive.result.n, 9U);
    EXPECT_EQ(p + q, "abcdefghi");
}

TEST_P(SimDriver, NothingToMoveIsDoneAtOnceEvenAtTheEnd) {
    driver().descriptors().shutdown(a_, SHUT_WR);
    probe& receive = make(b_, kind::receive);
    probe& send = make(a_, kind::send);
    driver().reactor().submit(receive);
    driver().reactor().submit(send);
    settle();
    EXPECT_EQ(receive.completed, 1);
    EXPECT_EQ(receive.result.error, 0);
    EXPECT_EQ(send.completed, 1);
    EXPECT_EQ(send.result.error, 0);
}

TEST_P(SimDriver, PeekedBytesAreStillThere) {
    write(a_, "01");
    char c = 0;
    probe& o = make(b_, kind::receive, &c, 1);
    o.message_flags = MSG_PEEK;
    driver().reactor().submit(o);
    settle();
    EXPECT_EQ(o.result.n, 1U);
    EXPECT_EQ(c, '0');
    EXPECT_EQ(driver().descriptors().available(b_).value, 2);
}

TEST_P(SimDriver, WaitsEndWithReadinessAndMoveNothing) {
    probe& read = make(b_, kind::wait_read);
    probe& write_op = make(b_, kind::wait_write);
    probe& error_op = make(b_, kind::wait_error);
    for (auto* o : {&read, &write_op, &error_op})
        driver().reactor().submit(*o);
    settle();
    EXPECT_EQ(write_op.completed, 1);
    EXPECT_EQ(read.completed, 0);
    write(a_, "0");
    EXPECT_EQ(read.completed, 1);
    EXPECT_EQ(read.result.error, 0);
    EXPECT_EQ(driver().descriptors().available(b_).value, 1);
    EXPECT_EQ(error_op.completed, 0);
    driver().descriptors().close(a_); // both ways are shut
    settle();
    EXPECT_EQ(error_op.completed, 1);
    EXPECT_EQ(error_op.result.error, 0);
}

TEST_P(SimDriver, HandleOfAClosedDescriptorMeansNothing) {
    handle const old = b_;
    char c;
    probe& pending = make(b_, kind::receive, &c, 1);
    driver().reactor().submit(pending);
    EXPECT_EQ(driver().descriptors().close(b_).error, 0);
    EXPECT_EQ(driver().descriptors().close(old).error, EBADF);
    handle fresh;
    EXPECT_EQ(driver().descriptors().open(AF_INET, SOCK_STREAM, 0, fresh).error, 0);
    EXPECT_EQ(fresh.index, old.index); // The place has a new tenant …
    EXPECT_NE(fresh, old);
    probe& late = make(old, kind::receive, &c, 1);
    driver().reactor().submit(late);
    settle();
    EXPECT_EQ(pending.completed, 1);
    EXPECT_EQ(pending.result.error, ECANCELED);
    EXPECT_EQ(late.completed, 1); // … who gets nothing of the old one's.
    EXPECT_EQ(late.result.error, EBADF);
    EXPECT_EQ(driver().reactor().pending(), 0U);
}

TEST_P(SimDriver, AcceptYieldsHandleAndAddress) {
    handle listener, client;
    ASSERT_EQ(driver().descriptors().open(AF_INET, SOCK_STREAM, 0, listener).error, 0);
    ASSERT_EQ(driver().descriptors().open(AF_INET, SOCK_STREAM, 0, client).error, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    ASSERT_EQ(driver().descriptors().bind(listener, &at, sizeof at).error, 0);
    ASSERT_EQ(driver().descriptors().listen(listener, 5).error, 0);
    ASSERT_EQ(driver().descriptors().address(listener, io::name_of::local, &at, sizeof at).error, 0);
    EXPECT_NE(at.sin_port, 0);
    sockaddr_in6 from{};
    probe& accept = make(listener, kind::accept, &from, sizeof from);
    probe& connect = make(client, kind::connect, &at, sizeof at);
    driver().reactor().submit(accept);
    driver().reactor().submit(connect);
    settle();
    ASSERT_EQ(accept.completed, 1);
    ASSERT_EQ(connect.completed, 1);
    EXPECT_EQ(accept.result.error, 0);
    EXPECT_EQ(accept.size, sizeof(sockaddr_in));
    sockaddr_in local{};
    EXPECT_EQ(driver().descriptors().address(client, io::name_of::local, &local, sizeof local).value,
              static_cast<std::int64_t>(sizeof local));
    EXPECT_EQ(std::memcmp(&from, &local, sizeof local), 0);
    handle const accepted{static_cast<std::uint32_t>(accept.result.n),
                          static_cast<std::uint32_t>(accept.result.n >> 32)};
    EXPECT_EQ(driver().descriptors().address(accepted, io::name_of::peer, &local, sizeof local).error, 0);
    EXPECT_EQ(std::memcmp(&from, &local, sizeof local), 0);
    // The handle carries its generation.
    EXPECT_EQ(driver().descriptors().close(accepted).error, 0);
    EXPECT_EQ(driver().descriptors().close(accepted).error, EBADF);
}

TEST_P(SimDriver, WhatIsPendingWhenTheContextGoesIsAbandonedOnce) {
    char c;
    probe first(a_, kind::receive, &c, 1), second(a_, kind::receive, &c, 1);
    {
        sim::world w(GetParam());
        handle x, y;
        ASSERT_EQ(w.context().driver().descriptors().pair(AF_UNIX, SOCK_STREAM, 0, x, y).error, 0);
        first.handle = second.handle = x;
        w.context().driver().reactor().submit(first);
        w.context().driver().reactor().submit(second);
    }
    for (auto const* o : {&first, &second}) {
        EXPECT_EQ(o->completed, 0);
        EXPECT_EQ(o->abandoned, 1);
    }
}

TEST_P(SimDriver, RefusesWhatItDoesNotHave) {
    handle h;
    EXPECT_EQ(driver().descriptors().open(AF_INET, SOCK_SEQPACKET, 0, h).error, ESOCKTNOSUPPORT);
    EXPECT_EQ(driver().descriptors().open(AF_PACKET, SOCK_STREAM, 0, h).error, EAFNOSUPPORT);
    EXPECT_EQ(driver().descriptors().pair(AF_INET, SOCK_STREAM, 0, h, h).error, EOPNOTSUPP);
    EXPECT_EQ(driver().descriptors().adopt(1, h).error, EOPNOTSUPP);
    EXPECT_EQ(driver().descriptors().native(a_), -1);
    EXPECT_EQ(driver().descriptors().listen(a_, 1).error, EINVAL);
    EXPECT_EQ(driver().descriptors().shutdown(a_, 9).error, EINVAL);
    EXPECT_FALSE(driver().host().sleep_until(1));
    sockaddr_in far{};
    far.sin_family = AF_INET;
    far.sin_addr.s_addr = htonl(0xc0000201); // 192.0.2.1: no host of the world
    ASSERT_EQ(driver().descriptors().open(AF_INET, SOCK_STREAM, 0, h).error, 0);
    EXPECT_EQ(driver().descriptors().bind(h, &far, sizeof far).error, EADDRNOTAVAIL);
    EXPECT_EQ(driver().descriptors().bind(h, &far, 3).error, EINVAL);
    probe& connect = make(h, kind::connect, &far, sizeof far);
    driver().reactor().submit(connect);
    settle();
    EXPECT_EQ(connect.result.error, ENETUNREACH);
}

TEST_P(SimDriver, TakesOverWhatItHasReleased) {
    auto& d = driver().descriptors();
    auto const released = d.release(a_);
    ASSERT_EQ(released.error, 0);
    EXPECT_EQ(d.listen(a_, 1).error, EBADF) << "nobody has it";
    EXPECT_EQ(d.release(a_).error, EBADF);
    handle h;
    auto const number = static_cast<int>(released.value);
    EXPECT_EQ(d.adopt(number + 1, h).error, EBADF);
    ASSERT_EQ(d.adopt(number, h).error, 0);
    EXPECT_EQ(d.adopt(number, h).error, EBADF) << "twice";
    EXPECT_EQ(d.listen(h, 1).error, EINVAL) << "it is still connected";
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimDriver, testing::Range(std::uint64_t{1}, seeds + 1));

} // namespace
