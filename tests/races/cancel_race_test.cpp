// Each operation is asked to end by another thread while it completes, in every order of the two. It completes once,
// and nothing is lost: each byte, datagram, connection and signal is in the result, or still there afterwards.
#include <papers/every_operation.hpp>

#include <fairlead/token/bind_cancellation_slot.hpp>

#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace {

using namespace fairlead;
namespace ops = fairlead::test::every_operation;
using ops::local_socket, ops::tcp, ops::world;

// ---- the ends of one operation

struct result {
    int calls = 0;
    error_code ec;
    std::size_t n = 0;
    int connections = 0;

    void take(error_code e) { ec = e; }
    void take(std::exception_ptr const& e) {
        try {
            if (e)
                std::rethrow_exception(e);
        } catch (system_error const& x) {
            ec = x.code();
        }
    }
    void take(std::size_t bytes) { n = bytes; }
    void take(int value) { n = static_cast<std::size_t>(value); }
    template <class Other> void take(Other const& other) {
        if constexpr (requires { other.is_open(); })
            connections += other.is_open();
    }
};
struct keep_result {
    result* r;
    template <class... Args> void operator()(Args&&... args) const {
        ++r->calls;
        (r->take(args), ...);
    }
};

// ---- the two ways to start one that can be asked to end

struct with_a_handler {
    template <class Op> static void start(world& w, cancellation_signal& signal, result& r) {
        Op::start(w, bind_cancellation_slot(signal.slot(), keep_result{&r}));
    }
};
struct awaited {
    template <class Op> static awaitable<void> perform(world& w, result& r) {
        auto values = co_await Op::start(w, as_tuple);
        std::apply([&r](auto&... each) { (r.take(each), ...); }, values);
    }
    template <class Op> static void start(world& w, cancellation_signal& signal, result& r) {
        co_spawn(w.context, perform<Op>(w, r), bind_cancellation_slot(signal.slot(), [&r](std::exception_ptr e) {
                     ++r.calls;
                     if (e)
                         r.take(e); // It was asked before the operation began.
                 }));
    }
};

// ---- what completes operations of one kind, and what has to be left

constexpr std::string_view sent = "wxy\n";
template <class S> void take_rest(S& s, std::string& into) {
    char bytes[4096];
    for (error_code ec; !ec;)
        into.append(bytes, s.read_some(buffer(bytes), ec));
}
template <class S> std::size_t fill(S& s) {
    static char const bytes[4096] = {};
    std::size_t all = 0;
    for (error_code ec; !ec;)
        all += s.write_some(buffer(bytes), ec);
    return all;
}
template <class S> void take_buffered(S& s, std::string& into) {
    char bytes[4];
    while (s.in_avail() != 0)
        into.append(bytes, s.read_some(buffer(bytes)));
}

/// Four bytes arrive in each round.
template <bool IntoBytes = true> struct reads {
    explicit reads(world& w) {
        w.a.non_blocking(true);
        std::string rest;
        take_rest(w.a, rest);
    }
    void before(world&, std::uint64_t) {}
    void complete(world& w) { w.b.write_some(buffer(sent)); }
    void check(world& w, result const& r) {
        std::string got = IntoBytes ? std::string(w.bytes, r.n) : std::exchange(w.text, {});
        take_buffered(w.reads_ahead, got);
        take_buffered(w.buffers_both, got);
        take_rest(w.a, got);
        EXPECT_EQ(got, sent);
    }
};

/// There is no room until the peer has read.
struct writes {
    std::size_t expected = 0;
    std::string arrived;

    explicit writes(world& w) {
        w.a.set_option(socket_base::send_buffer_size(4096));
        w.a.non_blocking(true);
        w.b.non_blocking(true);
    }
    void before(world& w, std::uint64_t) {
        w.text = "text"; // for the one that writes a dynamic buffer
        expected = fill(w.a);
    }
    void complete(world& w) { take_rest(w.b, arrived); }
    void check(world& w, result const& r) {
        expected += r.n;
        take_rest(w.b, arrived);
        EXPECT_EQ(arrived.size(), expected);
        arrived.clear();
        w.text.clear();
    }
};
/// The buffer of the stream holds four bytes to be flushed.
template <bool OfBoth> struct flushes : writes {
    using writes::writes;
    void before(world& w, std::uint64_t round) {
        of(w).write_some(w.out());
        writes::before(w, round);
    }
    void check(world& w, result const&) {
        take_rest(w.b, arrived);
        of(w).flush();
        writes::check(w, {1, {}, w.out().size(), 0});
    }
    static auto& of(world& w) {
        if constexpr (OfBoth)
            return w.buffers_both;
        else
            return w.collects;
    }
};
/// There is room in the buffer of the stream.
template <bool OfBoth> struct collects : writes {
    using writes::writes;
    void check(world& w, result const& r) {
        take_rest(w.b, arrived);
        flushes<OfBoth>::of(w).flush();
        writes::check(w, r);
    }
};

struct packet_receives {
    explicit packet_receives(world& w) { w.packets.non_blocking(true); }
    void before(world&, std::uint64_t) {}
    void complete(world& w) { w.other_packets.send(w.out(), 0); }
    void check(world& w, result const& r) {
        std::size_t got = r.n;
        socket_base::message_flags flags = 0;
        for (error_code ec; !ec;)
            got += w.packets.receive(w.into(), 0, flags, ec);
        EXPECT_EQ(got, w.out().size());
    }
};
struct packet_sends {
    std::size_t expected = 0, arrived = 0;

    explicit packet_sends(world& w) {
        w.packets.set_option(socket_base::send_buffer_size(4096));
        w.packets.non_blocking(true);
        w.other_packets.non_blocking(true);
    }
    void before(world& w, std::uint64_t) {
        for (error_code ec; !ec;)
            expected += w.packets.send(w.out(), 0, ec);
    }
    void complete(world& w) {
        char bytes[16];
        socket_base::message_flags flags = 0;
        for (error_code ec; !ec;)
            arrived += w.other_packets.receive(buffer(bytes), 0, flags, ec);
    }
    void check(world& w, result const& r) {
        expected += r.n;
        complete(w);
        EXPECT_EQ(arrived, expected);
        expected = arrived = 0;
    }
};

/// A pipe, with its end that is asked and the other one.
template <class Mine, class Other> struct pipe_reads {
    explicit pipe_reads(world& w) { Mine::of(w).non_blocking(true); }
    void before(world&, std::uint64_t) {}
    void complete(world& w) { Other::of(w).write_some(w.out()); }
    void check(world& w, result const& r) {
        std::string got(w.bytes, r.n);
        take_rest(Mine::of(w), got);
        EXPECT_EQ(got, "wxyz");
    }
};
template <class Mine, class Other> struct pipe_writes {
    std::size_t expected = 0;
    std::string arrived;

    explicit pipe_writes(world& w) {
        EXPECT_GT(::fcntl(Mine::of(w).native_handle(), F_SETPIPE_SZ, 4096), 0);
        Mine::of(w).non_blocking(true);
        Other::of(w).non_blocking(true);
    }
    void before(world& w, std::uint64_t) { expected = fill(Mine::of(w)); }
    void complete(world& w) { take_rest(Other::of(w), arrived); }
    void check(world& w, result const& r) {
        expected += r.n;
        complete(w);
        EXPECT_EQ(arrived.size(), expected);
        arrived.clear();
    }
};
struct descriptor_end {
    static auto& of(world& w) { return w.descriptor; }
};
struct writes_end {
    static auto& of(world& w) { return w.writes; }
};
struct reads_end {
    static auto& of(world& w) { return w.reads; }
};
struct other_descriptor_end {
    static auto& of(world& w) { return w.other_descriptor; }
};

/// By the descriptor, for the socket itself is for one thread.
struct datagram_receives {
    explicit datagram_receives(world& w) { w.datagrams.non_blocking(true); }
    void before(world&, std::uint64_t) {}
    void complete(world& w) { EXPECT_EQ(::send(w.datagrams.native_handle(), w.out().data(), w.out().size(), 0), 4); }
    void check(world& w, result const& r) {
        std::size_t got = r.n;
        for (error_code ec; !ec;)
            got += w.datagrams.receive(w.into(), 0, ec);
        EXPECT_EQ(got, w.out().size());
    }
};
/// There is room always. The receiver is a socket of ours.
template <bool ToPath = false> struct datagram_sends {
    explicit datagram_sends(world& w) { of(w).non_blocking(true); }
    void before(world&, std::uint64_t) {}
    void complete(world&) {}
    void check(world& w, result const& r) {
        std::size_t got = 0;
        for (error_code ec; !ec;)
            got += of(w).receive(w.into(), 0, ec);
        EXPECT_EQ(got, r.n);
    }
    static auto& of(world& w) {
        if constexpr (ToPath)
            return w.local_datagrams;
        else
            return w.datagrams;
    }
};

/// A client of the system's connects; its end leaves nothing behind.
class client {
public:
    void connect(tcp::endpoint const& to) {
        fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        EXPECT_EQ(::connect(fd_, to.data(), static_cast<socklen_t>(to.size())), 0);
    }
    void reset() {
        linger const at_once{1, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        ::close(std::exchange(fd_, -1));
    }

private:
    int fd_ = -1;
};
template <class Acceptor> int accept_rest(Acceptor& a) {
    int n = 0;
    for (error_code ec; !ec;) {
        auto const peer = a.accept(ec);
        n += !ec;
    }
    return n;
}
struct accepts {
    client peer;
    explicit accepts(world& w) { w.acceptor.non_blocking(true); }
    void before(world&, std::uint64_t) {}
    void complete(world& w) { peer.connect(w.where); }
    void check(world& w, result const& r) {
        EXPECT_EQ(r.connections + w.peer.is_open() + accept_rest(w.acceptor), 1);
        peer.reset();
        w.peer.close();
    }
};
struct connects {
    explicit connects(world& w) {
        w.acceptor.non_blocking(true);
        w.local_acceptor.non_blocking(true);
    }
    void before(world&, std::uint64_t) {}
    void complete(world&) {}
    void check(world& w, result const& r) {
        if (!r.ec)
            EXPECT_EQ(accept_rest(w.acceptor) + accept_rest(w.local_acceptor), 1);
        else
            accept_rest(w.acceptor), accept_rest(w.local_acceptor);
        if (w.client.is_open())
            w.client.set_option(socket_base::linger(true, 0));
        w.client.close();
        w.local_client.close();
    }
};
struct datagram_connects {
    explicit datagram_connects(world&) {}
    void before(world&, std::uint64_t) {}
    void complete(world&) {}
    void check(world& w, result const&) {
        w.unconnected.close();
        w.local_unconnected.close();
    }
};

/// A wait takes nothing away.
struct socket_waits : reads<> {
    using reads<>::reads;
    void check(world& w, result const&) { reads<>::check(w, {}); }
};
struct descriptor_waits : pipe_reads<descriptor_end, writes_end> {
    using pipe_reads::pipe_reads;
    void check(world& w, result const&) { pipe_reads::check(w, {}); }
};
struct timers {
    explicit timers(world&) {}
    void before(world& w, std::uint64_t round) { w.timer.expires_after(std::chrono::microseconds(round % 40)); }
    void complete(world&) {}
    void check(world&, result const& r) { EXPECT_TRUE(!r.ec || r.ec == error::operation_aborted); }
};
/// A signal that no wait has got is for the next one.
struct signals {
    explicit signals(world&) {}
    void before(world&, std::uint64_t) {}
    void complete(world&) { EXPECT_EQ(::kill(::getpid(), SIGUSR1), 0); }
    void check(world& w, result const& r) {
        if (!r.ec)
            return;
        int got = 0;
        w.signals.async_wait([&got](error_code, int signal) { got = signal; });
        w.context.restart();
        w.context.run();
        EXPECT_EQ(got, SIGUSR1);
    }
};
struct by_themselves {
    explicit by_themselves(world&) {}
    void before(world& w, std::uint64_t) { w.coroutine.emplace(ops::seven()); }
    void complete(world&) {}
    void check(world&, result const& r) { EXPECT_TRUE(!r.ec || r.ec == error::operation_aborted); }
};
struct hear_no_requests {};

// ---- the kind of each operation; one that has none does not compile

template <class Kind, class... Ops> struct kind {
    template <class Op> static constexpr bool has = (std::is_same_v<Op, Ops> || ...);
    using type = Kind;
};
template <class Op, class... Kinds> struct first_kind;
template <class Op, class First, class... Rest> struct first_kind<Op, First, Rest...>
    : std::conditional_t<First::template has<Op>, First, first_kind<Op, Rest...>> {};
template <class Op, class Last> struct first_kind<Op, Last> : Last {
    static_assert(Last::template has<Op>, "an operation that no race is run with");
};
template <class Op> using kind_of = typename first_kind<
    Op,
    kind<reads<>, ops::read_some, ops::receive, ops::receive_flags, ops::read_all, ops::read_if,
         ops::buffered_read_some, ops::both_read_some>,
    kind<reads<false>, ops::read_dynamic, ops::read_dynamic_if, ops::read_until_text, ops::read_until_char,
         ops::buffered_fill, ops::both_fill>,
    kind<writes, ops::write_some, ops::send, ops::send_flags, ops::write_all, ops::write_if, ops::write_dynamic>,
    kind<collects<false>, ops::buffered_write_some>, kind<collects<true>, ops::both_write_some>,
    kind<flushes<false>, ops::buffered_flush>, kind<flushes<true>, ops::both_flush>,
    kind<packet_receives, ops::packet_receive, ops::packet_receive_flags>, kind<packet_sends, ops::packet_send>,
    kind<pipe_reads<descriptor_end, writes_end>, ops::descriptor_read>,
    kind<pipe_reads<reads_end, other_descriptor_end>, ops::pipe_read>,
    kind<pipe_writes<other_descriptor_end, reads_end>, ops::descriptor_write>,
    kind<pipe_writes<writes_end, descriptor_end>, ops::pipe_write>,
    kind<datagram_receives, ops::datagram_receive_from, ops::datagram_receive_from_flags, ops::datagram_receive,
         ops::datagram_receive_flags>,
    kind<datagram_sends<>, ops::datagram_send_to, ops::datagram_send_to_flags, ops::datagram_send,
         ops::datagram_send_flags>,
    kind<datagram_sends<true>, ops::datagram_send_to_path>,
    kind<accepts, ops::accept, ops::accept_on, ops::accept_new_from, ops::accept_on_from, ops::accept_into,
         ops::accept_from>,
    kind<connects, ops::connect, ops::local_connect, ops::range_connect, ops::range_connect_if, ops::iterator_connect,
         ops::iterator_connect_if>,
    kind<datagram_connects, ops::datagram_connect, ops::datagram_connect_path>, kind<socket_waits, ops::socket_wait>,
    kind<descriptor_waits, ops::descriptor_wait>, kind<timers, ops::timer_wait>, kind<signals, ops::signal_wait>,
    kind<hear_no_requests, ops::post_op, ops::defer_op, ops::dispatch_op, ops::immediate_op>,
    kind<by_themselves, ops::resolve, ops::resolve_flags, ops::resolve_version, ops::resolve_version_flags,
         ops::resolve_endpoint, ops::spawn_op, ops::spawn_function>>::type;

// ---- a race

/// Whether there is a completion and a request to race, rather than an operation that is over when it is started.
template <class Kind> inline constexpr bool waits_for_completion = false;
template <bool B> inline constexpr bool waits_for_completion<reads<B>> = true;
template <> inline constexpr bool waits_for_completion<writes> = true;
template <> inline constexpr bool waits_for_completion<packet_receives> = true;
template <> inline constexpr bool waits_for_completion<packet_sends> = true;
template <class M, class O> inline constexpr bool waits_for_completion<pipe_reads<M, O>> = true;
template <class M, class O> inline constexpr bool waits_for_completion<pipe_writes<M, O>> = true;
template <> inline constexpr bool waits_for_completion<datagram_receives> = true;
template <> inline constexpr bool waits_for_completion<accepts> = true;
template <> inline constexpr bool waits_for_completion<socket_waits> = true;
template <> inline constexpr bool waits_for_completion<descriptor_waits> = true;
template <> inline constexpr bool waits_for_completion<signals> = true;

void spend(std::uint64_t units) {
    for (std::uint64_t i = 0; i != units; ++i)
        asm volatile("");
}
void wait_for(std::atomic<std::uint64_t> const& a, std::uint64_t value) {
    for (auto now = a.load(std::memory_order_acquire); now < value; now = a.load(std::memory_order_acquire))
        a.wait(now, std::memory_order_acquire);
}
void set(std::atomic<std::uint64_t>& a, std::uint64_t value) {
    a.store(value, std::memory_order_release);
    a.notify_one();
}
constexpr std::uint64_t given_up = ~std::uint64_t(0);

int failures_so_far() { return testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count(); }

template <class Op, class Way> void race() {
    SCOPED_TRACE(Op::name);
    using kind_type = kind_of<Op>;
    if constexpr (!std::is_same_v<kind_type, hear_no_requests>) {
        auto const rounds = fairlead::test::scaled(200, 50);
        world w;
        kind_type k(w);
        cancellation_signal signal;
        std::atomic<std::uint64_t> begun{0}, over{0}, asked{0};
        std::thread other([&] {
            constexpr cancellation_type types[] = {cancellation_type::terminal, cancellation_type::all,
                                                   cancellation_type::terminal | cancellation_type::partial};
            for (std::uint64_t round = 1; round <= rounds; ++round) {
                wait_for(begun, round);
                if (begun.load(std::memory_order_relaxed) == given_up)
                    return;
                bool const request_first = round % 2, alone = round % 8 < 2; // in these the other one comes too late
                auto const request = [&] { signal.emit(types[round % 3]); };
                spend(round * 37 % 400);
                request_first ? request() : k.complete(w);
                if (alone && waits_for_completion<kind_type>)
                    wait_for(over, round);
                else
                    spend(round * 53 % 300);
                request_first ? k.complete(w) : request();
                set(asked, round);
            }
        });
        std::uint64_t aborted = 0, completed = 0;
        for (std::uint64_t round = 1; round <= rounds; ++round) {
            result r;
            k.before(w, round);
            w.context.restart();
            Way::template start<Op>(w, signal, r);
            set(begun, round);
            while (!r.calls && w.context.run_one()) {
            }
            set(over, round);
            wait_for(asked, round);
            w.context.restart();
            w.context.poll();
            auto const failures = failures_so_far();
            EXPECT_EQ(r.calls, 1);
            EXPECT_TRUE(!r.ec || r.ec == error::operation_aborted) << r.ec.message();
            (r.ec ? aborted : completed) += 1;
            k.check(w, r);
            if (failures_so_far() != failures) {
                ADD_FAILURE() << "in round " << round;
                set(begun, given_up);
                break;
            }
        }
        other.join();
        if (waits_for_completion<kind_type>) {
            EXPECT_GT(aborted, 0U);
            EXPECT_GT(completed, 0U);
        }
    }
}

template <class Way, class Operations> struct races;
template <class Way, class... Op> struct races<Way, std::tuple<Op...>> {
    static void run() { (race<Op, Way>(), ...); }
};

TEST(Races, OfEveryOperationWithAHandlerLoseNothing) { races<with_a_handler, ops::operations>::run(); }
TEST(Races, OfEveryAwaitedOperationLoseNothing) { races<awaited, ops::operations>::run(); }

} // namespace
