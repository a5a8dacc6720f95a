// The inference about readiness, against a model of a socket. Its peer, its reader and its loop go through every
// sequence of their actions, up to some length. A reader never waits for ever while something is there, no loop spins,
// and the number of calls in vain has a bound.
#include <io/late_checks.hpp>
#include <io/readiness.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace fairlead;
using io::attempt;
using io::doubt;
using io::late_checks;
using io::readiness;

struct no_guard {
    ~no_guard() {} // A variable of it is used.
};

/// The kernel's knowledge of a socket that is read from. Datagrams have a byte each.
struct socket_model {
    int bytes = 0;
    int stop = 0; ///< > 0: so many bytes before something that a read does not cross
    bool is_datagram = false;
    bool is_ended = false;
    std::uint32_t news = 0; ///< that no event has told yet

    bool has_something() const { return bytes != 0 || is_ended; }
    void put(int n, std::uint32_t what = EPOLLIN) {
        bytes += n;
        news |= what;
    }
    void end() {
        is_ended = true;
        news |= EPOLLIN | EPOLLRDHUP;
    }
    /// As recv(2): 0 at the end, less than 0 when there is nothing.
    int take(int asked) {
        if (bytes == 0)
            return is_ended ? 0 : -1;
        int const most = is_datagram ? 1 : stop != 0 ? std::min(stop, asked) : asked;
        int const n = std::min(most, bytes);
        bytes -= n;
        if (stop != 0)
            stop -= n;
        return n;
    }
};

/// A reader and its loop, as the reactor has them.
struct reader_model {
    socket_model socket;
    readiness known;
    late_checks& checks;
    int asked = 0; ///< by the read that waits; 0: none
    bool is_whole = false;
    unsigned reads = 0;
    unsigned events = 0;
    unsigned in_vain = 0;
    unsigned completed = 0;

    reader_model(late_checks& c, io::nature n) : checks(c) {
        known.begin(n);
        socket.is_datagram = !n.stream;
    }

    void start(int n, bool whole) {
        if (asked != 0)
            return;
        asked = n;
        is_whole = whole;
        ++reads;
        if (known.expects_to_read() && try_it())
            return;
        if (!known.is_watched_for(io::kind::receive)) {
            known.watch(false);
            if (socket.has_something())
                socket.news |= socket.is_ended ? EPOLLIN | EPOLLRDHUP : EPOLLIN;
        }
        if (known.doubts() != doubt::none)
            checks.add(known);
    }
    bool run() {
        bool any = false;
        while (asked != 0 && known.expects_to_read() && try_it())
            any = true;
        return any;
    }
    /// As attempt_on() and was_tried() of the reactor do it.
    bool try_it() {
        int error = 0;
        int n = 0;
        auto a = once(error, n);
        bool const is_usual = known.is_plain() && !is_whole && n != 0 && known.is_usual_to_read();
        if (a == attempt::paused && known.goes_on_after_short_read())
            do
                a = once(error, n);
            while (a == attempt::paused);
        if (is_usual)
            known.was_read_as_usual(a);
        else
            known.was_read(a, error, static_cast<std::size_t>(n), false);
        if (io::has_to_wait(a))
            return false;
        asked = 0;
        ++completed;
        return true;
    }
    attempt once(int& error, int& moved) {
        for (;;) {
            int const n = socket.take(asked);
            if (n < 0) {
                ++in_vain;
                return attempt::again;
            }
            if (n == 0) {
                error = EPIPE; // any: the end is an error of the op
                return attempt::done;
            }
            moved += n;
            if (!is_whole)
                return n == asked || socket.is_datagram ? attempt::done : attempt::done_less;
            bool const is_short = n < asked;
            asked -= n;
            if (asked == 0)
                return attempt::done;
            if (is_short)
                return attempt::paused;
        }
    }
    int hear() {
        if (socket.news == 0 || !known.is_watched())
            return 0;
        ++events;
        late_checks::remove(known);
        known.heard_of_reads(std::exchange(socket.news, 0U));
        run();
        if (known.doubts() != doubt::none && asked != 0)
            checks.add(known);
        return 1;
    }
};

/// One loop with one reader.
struct loop_model {
    static constexpr bool has_helpers = false;
    late_checks checks;
    reader_model reader;
    bool has_slept_for_ever = false; ///< the last time
    bool is_lost = false;            ///< has done so while there was something for the reader

    explicit loop_model(io::nature n) : reader(checks, n) {}

    int look(std::int64_t until_ns) {
        int const n = reader.hear();
        has_slept_for_ever = n == 0 && until_ns == -1;
        is_lost = is_lost || (has_slept_for_ever && is_something_waited_for());
        return n;
    }
    bool is_something_waited_for() const { return reader.asked != 0 && reader.socket.has_something(); }
    no_guard lists() { return {}; }
    no_guard hold(readiness&) { return {}; }
    bool is_read_waited_for(readiness&) const { return reader.asked != 0; }
    bool run_reads(readiness&) { return reader.run(); }
    std::int64_t now_ns() const { return 1; }

    void turn(std::int64_t until_ns) {
        checks.count_turn();
        checks.poll(*this, until_ns);
    }
};

enum class action { put_one, put_two, put_stop, end, read_one, read_two, read_whole, look, sleep, actions };
constexpr char const* names_of_actions[] = {"put one",  "put two",    "put a stop", "end",  "read one",
                                            "read two", "read whole", "look",       "sleep"};

void act(loop_model& l, action a, bool with_stops, std::uint32_t at_stop) {
    auto& socket = l.reader.socket;
    switch (a) {
    case action::put_one:
        if (!socket.is_ended)
            socket.put(1);
        break;
    case action::put_two:
        if (!socket.is_ended)
            socket.put(2);
        break;
    case action::put_stop:
        if (with_stops && !socket.is_ended && socket.stop == 0) {
            socket.put(1, at_stop);
            socket.stop = socket.bytes;
            socket.put(1, at_stop);
        }
        break;
    case action::end:
        if (!socket.is_datagram)
            socket.end();
        break;
    case action::read_one: l.reader.start(1, false); break;
    case action::read_two: l.reader.start(2, false); break;
    case action::read_whole:
        if (!socket.is_datagram)
            l.reader.start(2, true);
        break;
    case action::look: l.turn(0); break;
    case action::sleep: // A loop that nothing wakes would never return.
        if ((socket.news != 0 && l.reader.known.is_watched()) || l.is_something_waited_for())
            l.turn(-1);
        break;
    case action::actions: break;
    }
}

std::string shown(std::vector<action> const& all) {
    std::string text;
    for (auto a : all)
        text += std::string(names_of_actions[static_cast<int>(a)]) + ", ";
    return text;
}

/// Calls f for each sequence of `length` actions.
template <class F> void for_each_sequence(std::size_t length, F f) {
    std::vector<action> sequence(length, action::put_one);
    for (bool more = true; more && !testing::Test::HasFailure();) {
        f(sequence);
        more = false;
        for (auto& each : sequence) {
            each = static_cast<action>(static_cast<int>(each) + 1);
            if (each != action::actions) {
                more = true;
                break;
            }
            each = action::put_one;
        }
    }
}

struct kind_of_socket {
    char const* name;
    io::nature nature;
    bool with_stops;
    std::uint32_t at_stop;
};
void PrintTo(kind_of_socket const& k, std::ostream* os) { *os << k.name; }
constexpr kind_of_socket tcp_socket{"tcp", {true, io::medium::socket}, false, EPOLLIN};
constexpr kind_of_socket socket_with_urgent_data{"urgent", {true, io::medium::socket}, true, EPOLLIN | EPOLLPRI};
constexpr kind_of_socket unix_socket{"unix", {true, io::medium::unix_stream}, true, EPOLLIN};
constexpr kind_of_socket end_of_pipe{"pipe", {true, io::medium::pipe}, false, EPOLLIN};
constexpr kind_of_socket datagram_socket{"datagrams", {false, io::medium::socket}, false, EPOLLIN};

struct Readiness : testing::TestWithParam<kind_of_socket> {
    static constexpr std::size_t length_most = 6;

    template <class F> void after_each_sequence(F f) {
        for (std::size_t length = 1; length <= length_most; ++length)
            for_each_sequence(length, [&](std::vector<action> const& sequence) {
                loop_model l(GetParam().nature);
                for (auto a : sequence)
                    act(l, a, GetParam().with_stops, GetParam().at_stop);
                f(l, sequence);
            });
    }
};

TEST_P(Readiness, AReaderDoesNotWaitForEverWhileSomethingIsThere) {
    after_each_sequence([](loop_model& l, auto const& sequence) {
        l.reader.start(1, false);
        for (int turns = 0; turns != 4; ++turns)
            l.turn(-1);
        ASSERT_FALSE(l.is_lost || l.is_something_waited_for()) << shown(sequence);
    });
}

TEST_P(Readiness, ALoopWithoutNewsSleepsForEver) {
    after_each_sequence([](loop_model& l, auto const& sequence) {
        l.reader.start(1, false);
        int turns = 0;
        do
            l.turn(-1);
        while (++turns != 10 && !l.has_slept_for_ever);
        ASSERT_LE(turns, 3) << shown(sequence);
    });
}

TEST_P(Readiness, ABusyLoopComesToWhatIsThereWithinAFewTurns) {
    if (GetParam().nature.medium == io::medium::unix_stream)
        GTEST_SKIP() << "slight doubt takes a thousand turns, which a test below has";
    after_each_sequence([](loop_model& l, auto const& sequence) {
        l.reader.start(1, false);
        for (unsigned i = 0; i != late_checks::strong_after_turns; ++i)
            l.turn(0);
        ASSERT_FALSE(l.is_something_waited_for()) << shown(sequence);
    });
}

TEST_P(Readiness, EachCallInVainBelongsToAReadOrAnEvent) {
    after_each_sequence([](loop_model& l, auto const& sequence) {
        ASSERT_LE(l.reader.in_vain, l.reader.reads + l.reader.events) << shown(sequence);
        ASSERT_LE(l.checks.count(), l.reader.reads) << shown(sequence);
    });
}

INSTANTIATE_TEST_SUITE_P(Sockets, Readiness,
                         testing::Values(tcp_socket, socket_with_urgent_data, unix_socket, end_of_pipe,
                                         datagram_socket),
                         [](auto const& of) { return std::string(of.param.name); });

struct ReadinessOfOne : testing::Test {
    loop_model l{tcp_socket.nature};
    reader_model& reader = l.reader;
    socket_model& socket = l.reader.socket;

    void watch(loop_model& which) {
        which.reader.start(1, false);
        which.reader.socket.put(1);
        which.turn(0);
        EXPECT_EQ(which.reader.completed, 1U);
    }
};

TEST_F(ReadinessOfOne, SlightDoubtIsCheckedAfterAMomentWithoutEvents) {
    loop_model on(unix_socket.nature);
    auto& socket_on = on.reader.socket;
    on.reader.start(2, false);
    socket_on.put(2);
    socket_on.stop = 1;
    on.turn(0);
    ASSERT_EQ(on.reader.completed, 1U) << "cut short before the second byte, which makes no event";
    on.reader.start(2, false);
    on.turn(0);
    EXPECT_EQ(on.checks.count(), 0U) << "a busy loop has no time for it";
    on.turn(-1);
    EXPECT_EQ(on.reader.completed, 2U);
    EXPECT_FALSE(on.has_slept_for_ever);
}

TEST_F(ReadinessOfOne, SlightDoubtIsCheckedInABusyLoopAfterAThousandTurns) {
    loop_model on(unix_socket.nature);
    on.reader.start(2, false);
    on.reader.socket.put(2);
    on.reader.socket.stop = 1;
    on.turn(0);
    on.reader.start(2, false);
    unsigned turns = 0;
    for (; on.reader.completed == 1 && turns != 2 * late_checks::slight_after_turns; ++turns)
        on.turn(0);
    EXPECT_EQ(turns, late_checks::slight_after_turns);
}

TEST_F(ReadinessOfOne, OneFullReadAfterTheOtherCostsNoCallInVain) {
    for (int i = 0; i != 100; ++i) {
        reader.start(1, false);
        socket.put(1);
        l.turn(-1);
    }
    EXPECT_EQ(reader.completed, 100U);
    EXPECT_EQ(reader.in_vain, 0U);
    EXPECT_EQ(l.checks.count(), 0U);
}

TEST_F(ReadinessOfOne, ABacklogIsReadWithoutChecksUntilNothingIsFound) {
    watch(l);
    socket.put(100);
    for (int i = 0; i != 100; ++i) {
        reader.start(1, false);
        for (int turns = 0; turns != 5; ++turns)
            l.turn(0);
    }
    EXPECT_EQ(reader.completed, 101U);
    EXPECT_EQ(l.checks.count(), 1U) << "which has shown that there is a backlog";
    reader.start(1, false);
    EXPECT_EQ(reader.in_vain, 1U);
    // Behind the next one there is nothing, and after that they are taken for single ones again.
    for (int i = 0; i != 10; ++i) {
        socket.put(1);
        l.turn(0);
        reader.start(1, false);
        EXPECT_EQ(reader.in_vain, 2U);
    }
}

TEST_F(ReadinessOfOne, AShortReadIsFollowedByNoAttempt) {
    watch(l);
    for (int i = 0; i != 100; ++i) {
        reader.start(2, false);
        socket.put(1);
        l.turn(-1);
    }
    EXPECT_EQ(reader.in_vain, 0U);
    EXPECT_EQ(l.checks.count(), 0U);
}

TEST_F(ReadinessOfOne, PeekingTakesNothingOut) {
    watch(l);
    reader.known.heard_of_reads(EPOLLIN);
    reader.known.was_read(attempt::done_less, 0, 1, true);
    EXPECT_TRUE(reader.known.expects_to_read());
}

TEST_F(ReadinessOfOne, AnErrorOfADatagramSaysNothingOfThoseBehindIt) {
    readiness known;
    known.begin(datagram_socket.nature);
    known.heard_of_reads(EPOLLIN);
    known.was_read(attempt::done, ECONNREFUSED, 0, false);
    EXPECT_TRUE(known.expects_to_read());
    known.was_read(attempt::done, EMSGSIZE, 1, false);
    EXPECT_FALSE(known.expects_to_read()) << "one that was cut off is one that was read";
    EXPECT_EQ(known.doubts(), doubt::strong);
}

TEST_F(ReadinessOfOne, AReadThatBrokeOffAtTheEndGoesOn) {
    watch(l);
    EXPECT_FALSE(reader.known.goes_on_after_short_read());
    reader.known.heard_of_reads(EPOLLIN | EPOLLRDHUP);
    EXPECT_TRUE(reader.known.goes_on_after_short_read());
}

TEST(ReadinessToWrite, IsThereUntilAWriteTakesLess) {
    readiness known;
    known.begin(tcp_socket.nature);
    EXPECT_TRUE(known.is_worth_trying(io::kind::send));
    known.was_written(attempt::done);
    EXPECT_TRUE(known.is_worth_trying(io::kind::send));
    known.was_written(attempt::done_less);
    EXPECT_FALSE(known.is_worth_trying(io::kind::send_all));
    EXPECT_TRUE(known.is_worth_trying(io::kind::connect)) << "which asks how it went";
    EXPECT_TRUE(known.heard_of_writes());
    EXPECT_TRUE(known.is_worth_trying(io::kind::send));
}

TEST(ReadinessToWrite, RoomIsAskedForByTheFirstWriteThatWaits) {
    readiness known;
    known.begin(tcp_socket.nature);
    EXPECT_FALSE(known.is_watched_for(io::kind::receive));
    known.watch(false);
    EXPECT_TRUE(known.is_watched_for(io::kind::receive));
    EXPECT_FALSE(known.is_watched_for(io::kind::send));
    known.watch(true);
    EXPECT_TRUE(known.is_watched_for(io::kind::send));
    known.begin(tcp_socket.nature);
    EXPECT_FALSE(known.is_watched_for(io::kind::receive)) << "another tenant";
}

TEST(ReadinessToWrite, AFileNeverWaits) {
    readiness known;
    known.begin({true, io::medium::file});
    known.never_waits();
    known.was_written(attempt::done_less);
    EXPECT_TRUE(known.expects_to_write());
    known.was_read(attempt::done_less, 0, 1, false);
    EXPECT_TRUE(known.expects_to_read());
}

TEST(ReadinessToWrite, TheEventOfAnAttemptInVainIsAnEcho) {
    readiness known;
    known.begin({false, io::medium::socket});
    known.had_no_space();
    known.set_stalled(io::stall::echoes);
    EXPECT_FALSE(known.heard_of_writes());
    EXPECT_FALSE(known.expects_to_write());
    EXPECT_TRUE(known.heard_of_writes()) << "the second one is no echo";
    EXPECT_TRUE(known.expects_to_write());
}

TEST(ReadinessToRead, AnAcceptorWithoutRoomDoesNotHearOfItsConnections) {
    readiness known;
    known.begin(tcp_socket.nature);
    known.heard_of_reads(EPOLLIN);
    EXPECT_TRUE(known.is_worth_trying(io::kind::accept));
    known.set_starved(true);
    known.heard_of_reads(EPOLLIN);
    EXPECT_FALSE(known.is_worth_trying(io::kind::accept)) << "each would be an attempt in vain";
    known.set_starved(false);
    known.retry_after_shortage();
    EXPECT_TRUE(known.is_worth_trying(io::kind::accept));
}

/// Many readers in one loop, none of which hears of anything.
struct crowd_model {
    static constexpr bool has_helpers = false;
    struct member : readiness {
        bool is_waited_for = true;
        int bytes = 0;
        unsigned attempts = 0;
    };
    late_checks checks;
    std::vector<member> all;
    std::vector<std::size_t> order{};
    bool has_news = true; ///< of somebody else

    explicit crowd_model(std::size_t n) : all(n) {
        for (auto& each : all) {
            each.begin(tcp_socket.nature);
            each.was_read_as_usual(attempt::done);
            checks.add(each);
        }
    }
    int look(std::int64_t) { return has_news; }
    no_guard lists() { return {}; }
    no_guard hold(readiness&) { return {}; }
    bool is_read_waited_for(readiness& r) const { return static_cast<member&>(r).is_waited_for; }
    bool run_reads(readiness& r) {
        auto& m = static_cast<member&>(r);
        ++m.attempts;
        order.push_back(static_cast<std::size_t>(&m - all.data()));
        if (m.bytes == 0) {
            r.was_read(attempt::again, 0, 0, false);
            return false;
        }
        m.is_waited_for = false;
        return true;
    }
    std::int64_t now_ns() const { return 1; }
    std::size_t turn(std::int64_t until_ns = 0) {
        auto const before = checks.count();
        checks.count_turn();
        checks.poll(*this, until_ns);
        return checks.count() - before;
    }
};

TEST(LateChecks, AreFewInATurnWhileTheyAreInVain) {
    crowd_model crowd(40);
    EXPECT_EQ(crowd.turn(), 0U);
    EXPECT_EQ(crowd.turn(), 0U);
    for (int turn = 0; turn != 10; ++turn)
        EXPECT_EQ(crowd.turn(), late_checks::least_in_turn);
    EXPECT_EQ(crowd.turn(), 0U) << "each has had its own";
    for (std::size_t i = 0; i != crowd.all.size(); ++i)
        EXPECT_EQ(crowd.order[i], i) << "the one that waits longest comes first";
}

TEST(LateChecks, AreMoreInATurnAsLongAsTheyFindSomething) {
    crowd_model crowd(2000);
    for (auto& each : crowd.all)
        each.bytes = 1;
    crowd.turn();
    crowd.turn();
    for (std::size_t expected = late_checks::least_in_turn; expected != late_checks::most_in_turn; expected *= 2)
        EXPECT_EQ(crowd.turn(), expected);
    EXPECT_EQ(crowd.turn(), late_checks::most_in_turn);
    EXPECT_EQ(crowd.turn(), late_checks::most_in_turn);
    for (auto& each : crowd.all)
        each.bytes = 0;
    EXPECT_EQ(crowd.turn(), late_checks::most_in_turn);
    EXPECT_EQ(crowd.turn(), late_checks::most_in_turn / 2);
}

TEST(LateChecks, AllHaveTheirsBeforeTheLoopSleeps) {
    crowd_model crowd(40);
    crowd.has_news = false;
    EXPECT_EQ(crowd.turn(-1), 40U);
    EXPECT_EQ(crowd.turn(-1), 0U);
}

TEST(LateChecks, TheFirstOfAListIsToldApart) {
    crowd_model crowd(1);
    readiness another;
    another.begin(tcp_socket.nature);
    another.was_read_as_usual(attempt::done);
    EXPECT_FALSE(crowd.checks.add(another)) << "the owner looks at this list soon";
    late_checks::remove(crowd.all[0]);
    EXPECT_TRUE(crowd.checks.add(another)) << "an owner that sleeps knows of none";
    late_checks::remove(another);
}

TEST(LateChecks, OneThatHasBeenServedMeanwhileHasNone) {
    crowd_model crowd(2);
    crowd.has_news = false;
    crowd.all[0].is_waited_for = false;
    crowd.turn(-1);
    EXPECT_EQ(crowd.all[0].attempts, 0U);
    EXPECT_EQ(crowd.all[1].attempts, 1U);
}

} // namespace
