#include "multiplexer_bench.hpp"

#include <redis/session_watch.hpp>
#include <redis/value_pieces.hpp>

#include <fairlead/redis/value_stream.hpp>

#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace fairlead::test {

using redis::result;
using redis::impl::multiplexer;
using R = redis::error;

namespace {

using namespace std::string_literals;

constexpr std::string_view message_push = ">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n";
constexpr std::string_view attribute = "|1\r\n+ttl\r\n*2\r\n:3600\r\n$1\r\nx\r\n";

std::string wire_of(std::string_view name, auto const&... arguments) {
    std::string text;
    resp3::append_command(text, name, arguments...);
    return text;
}

std::string bulk(std::string_view body) {
    std::string text;
    resp3::append_blob_string(text, body);
    return text;
}

// One of each kind of reply, nested ones and large ones among them.
std::vector<std::string> assorted_replies() {
    std::string nested = "*1\r\n";
    for (int i = 0; i != 9; ++i)
        nested += i % 2 ? "~1\r\n" : "%1\r\n+k\r\n";
    nested += "$4\r\nleaf\r\n";
    return {"+OK\r\n",
            ":42\r\n",
            "$5\r\nhello\r\n",
            "$0\r\n\r\n",
            "_\r\n",
            "$-1\r\n",
            "*-1\r\n",
            "-ERR no\r\n",
            "!5\r\nERR x\r\n",
            ",3.5\r\n",
            "#t\r\n",
            "(12345678901234567890\r\n",
            "=8\r\ntxt:mark\r\n",
            "*0\r\n",
            "*3\r\n:1\r\n$3\r\ntwo\r\n*1\r\n+three\r\n",
            "%2\r\n+a\r\n:1\r\n+b\r\n*2\r\n+x\r\n_\r\n",
            "~2\r\n+m\r\n+n\r\n",
            nested};
}

} // namespace

TEST(Multiplexer, WritesWhatWaitsAsOneBatchInOrder) {
    multiplexer_bench bench;
    call first("SET", "k", 1);
    call second("GET", "k");
    bench.add(first);
    bench.add(second);

    EXPECT_EQ(bench.flush(), wire_of("SET", "k", 1) + wire_of("GET", "k"));
    EXPECT_EQ(bench.flush(), "");
    EXPECT_EQ(bench.feed("+OK\r\n$1\r\n1\r\n"), error_code());
    EXPECT_TRUE(first.done());
    EXPECT_TRUE(second.done());
    EXPECT_EQ(dump(second.resp), "blob_string '1'\n");
    EXPECT_EQ(second.op.count, 1U);
}

TEST(Multiplexer, WhatComesDuringAWriteJoinsTheNext) {
    multiplexer_bench bench;
    call first("PING");
    call second("ECHO", "x");
    bench.add(first);
    auto const output = bench.mux.next_output();
    bench.add(second);
    EXPECT_EQ(output, wire_of("PING"));
    EXPECT_EQ(bench.feed("+PONG\r\n"), error_code()) << "a reply may come before the write is known to be done";
    EXPECT_TRUE(first.done());
    bench.mux.output_done();
    EXPECT_EQ(bench.flush(), wire_of("ECHO", "x"));
}

TEST(Multiplexer, WritesNothingBeforeItIsOpen) {
    multiplexer mux{redis::config{}};
    mux.begin_generation();
    call c("PING");
    c.op.begin(nullptr, &c.req);
    ASSERT_TRUE(mux.add(c.op));
    EXPECT_EQ(mux.next_output(), "");
    mux.open();
    EXPECT_EQ(mux.next_output(), wire_of("PING"));
    op_queue done;
    mux.end_generation({}, done);
    done.pop_front();
}

TEST(Multiplexer, HandshakeGoesBeforeWhatAlreadyWaits) {
    multiplexer mux{redis::config{}};
    mux.begin_generation();
    call early("PING");
    early.op.begin(nullptr, &early.req);
    early.op.object = &early.resp;
    early.op.deliver = &redis::impl::deliver_generic;
    ASSERT_TRUE(mux.add(early.op));
    call hello;
    hello.op.begin(nullptr, nullptr);
    hello.op.object = &hello.resp;
    hello.op.deliver = &redis::impl::deliver_generic;
    EXPECT_EQ(mux.begin_handshake(hello.op, "HELLO", 1), "HELLO");
    mux.output_done();
    op_queue done;
    mux.on_bytes("%1\r\n+proto\r\n:3\r\n", done);
    ASSERT_FALSE(done.empty());
    EXPECT_EQ(done.pop_front(), &hello.op);
    mux.open();
    EXPECT_EQ(mux.next_output(), wire_of("PING"));
    mux.output_done();
    mux.on_bytes("+PONG\r\n", done);
    ASSERT_FALSE(done.empty());
    EXPECT_EQ(done.pop_front(), &early.op);
    EXPECT_EQ(dump(early.resp), "simple_string 'PONG'\n");
}

// ---- values in pieces

namespace {

/// SET of ten bytes, whose pieces the test gives.
class piece_bench : public multiplexer_bench {
public:
    explicit piece_bench(redis::config const& cfg = {}) : multiplexer_bench(cfg) {
        redis::request set;
        set.push("SET", "film", redis::in_pieces);
        request_ = redis::impl::with_argument_in_pieces(set, redis::in_pieces, 10);
        call_.begin(nullptr, &request_);
        EXPECT_TRUE(mux.add_with_value(call_));
    }
    ~piece_bench() { end({}); }
    redis::impl::exec_op& give(std::string_view bytes) {
        piece_.begin(nullptr, &redis::impl::request_for_piece(redis::impl::piecewise::next_out));
        piece_.object = const_cast<char*>(bytes.data());
        piece_.count = bytes.size();
        EXPECT_TRUE(mux.add_piece(piece_));
        return piece_;
    }
    /// The session ends, and so many bytes of the last output were written.
    error_code piece_ends(std::size_t bytes_written) {
        op_queue done;
        mux.fail_pieces(R::value_incomplete, bytes_written, done);
        complete(done);
        return piece_.error();
    }

private:
    redis::request request_;
    redis::impl::exec_op call_, piece_;
};

constexpr std::string_view beginning_of_set = "*3\r\n$3\r\nSET\r\n$4\r\nfilm\r\n$10\r\n";

} // namespace

TEST(MultiplexerPieces, TheLastOneMayBeWhereTheServerIsWhenItsConnectionEnds) {
    redis::config cfg;
    for (bool const is_question_behind : {false, true}) {
        cfg.check_order = is_question_behind;
        auto const end = beginning_of_set.size() + 12;
        for (auto const written : {end - 1, end, end + 1}) {
            piece_bench bench(cfg);
            bench.give("0123456789");
            auto const output = bench.mux.next_output();
            EXPECT_EQ(output.substr(0, end), std::string(beginning_of_set) + "0123456789\r\n");
            EXPECT_EQ(output.size() > end, is_question_behind);
            EXPECT_EQ(bench.piece_ends(written), written < end ? R::value_incomplete : R::maybe_executed);
        }
    }
}

TEST(MultiplexerPieces, NoneBeforeTheLastOneCanHaveCompletedAnArgument) {
    piece_bench bench;
    bench.give("01234");
    auto const output = bench.mux.next_output();
    EXPECT_EQ(output, std::string(beginning_of_set) + "01234");
    EXPECT_EQ(bench.piece_ends(output.size()), R::value_incomplete);
    piece_bench unsent;
    unsent.give("0123456789");
    EXPECT_EQ(unsent.piece_ends(static_cast<std::size_t>(-1)), R::value_incomplete) << "it was no part of an output";
}

TEST(MultiplexerPieces, TheLastOneIsPerhapsSentWhenItIsCancelled) {
    for (bool const is_last : {false, true}) {
        piece_bench bench;
        auto& piece = bench.give(is_last ? "0123456789" : "01234");
        bench.mux.next_output();
        EXPECT_TRUE(bench.mux.cancel_piece(piece));
        EXPECT_EQ(piece.error(), is_last ? error_code(R::maybe_executed) : error_code(error::operation_aborted));
    }
}

TEST(MultiplexerPieces, TheLastOneStaysWhenWhatCameBehindItIsGivenUp) {
    call given_up("GET", "a"), other("GET", "b");
    piece_bench bench; // It ends what is pending when it goes.
    auto const first = bench.mux.next_output();
    EXPECT_EQ(first, beginning_of_set);
    auto& piece = bench.give("0123456789");
    EXPECT_TRUE(bench.add(given_up));
    EXPECT_TRUE(bench.add(other));
    EXPECT_TRUE(bench.cancel(given_up));
    bench.mux.output_done();
    EXPECT_EQ(bench.flush(), "0123456789\r\n" + wire_of("GET", "b"));
    EXPECT_EQ(bench.mux.take_written_piece(), &piece);
}

// ---- config::check_order

namespace {

redis::config that_checks_order() {
    redis::config cfg;
    cfg.check_order = true;
    return cfg;
}
std::string question(int n) { return wire_of("PING", "fairlead-order-" + std::to_string(n)); }
std::string token(int n) { return bulk("fairlead-order-" + std::to_string(n)); }

} // namespace

TEST(Catalogue, P20_NothingCompletesBeforeTheTokenBehindItsBatch) {
    multiplexer_bench bench(that_checks_order());
    call<std::string> first("GET", "a"), second("GET", "b"), third("GET", "c");
    bench.add(first);
    bench.add(second);
    EXPECT_EQ(bench.flush(), wire_of("GET", "a") + wire_of("GET", "b") + question(1));
    EXPECT_EQ(bench.flush(), "") << "a question alone is not worth a write";
    bench.add(third);
    EXPECT_EQ(bench.flush(), wire_of("GET", "c") + question(2));
    EXPECT_FALSE(bench.feed(bulk("A") + bulk("B")));
    EXPECT_FALSE(first.done() || second.done());
    EXPECT_EQ(bench.mux.pending(), 3U);
    EXPECT_FALSE(bench.cancel(first)) << "it is about to complete";
    EXPECT_FALSE(bench.feed(token(1)));
    EXPECT_TRUE(first.done() && second.done());
    EXPECT_FALSE(first.error());
    EXPECT_EQ(first.resp, "A");
    EXPECT_FALSE(third.done());
    EXPECT_FALSE(bench.feed(bulk("C") + token(2)));
    EXPECT_TRUE(third.done());
    EXPECT_EQ(bench.mux.pending(), 0U);
    EXPECT_FALSE(bench.mux.in_flight());
}

TEST(Catalogue, P20_AnotherAnswerThanTheTokenEndsAllThatIsInFlight) {
    for (std::string const& wrong : {bulk("A"), token(2), ":1\r\n"s, "-ERR no\r\n"s}) {
        multiplexer_bench bench(that_checks_order());
        call<std::string> first("GET", "a"), second("GET", "b"), waiting("GET", "c");
        bench.add(first);
        bench.flush();
        bench.add(second);
        bench.flush();
        bench.add(waiting);
        EXPECT_EQ(bench.feed(bulk("somebody else's") + wrong), R::answers_out_of_order);
        EXPECT_TRUE(first.done());
        EXPECT_EQ(first.error(), R::answers_out_of_order);
        EXPECT_FALSE(second.done());
        second.op.repeats = 1;
        bench.end({.keep_waiting = true, .repeat = true, .sent = R::answers_out_of_order});
        EXPECT_EQ(second.error(), R::answers_out_of_order) << "although it only reads";
        EXPECT_FALSE(waiting.done()) << "of it nothing was sent";
        bench.mux.begin_generation();
        bench.mux.open();
        EXPECT_EQ(bench.flush(), wire_of("GET", "c") + question(3));
        EXPECT_FALSE(bench.feed(bulk("C") + token(3)));
        EXPECT_TRUE(waiting.done());
    }
}

TEST(Catalogue, P20_AServerThatRefusesEverythingKeepsTheOrder) {
    for (std::string const& refusal : {"-LOADING Redis is loading the dataset in memory\r\n"s, "-BUSY a script\r\n"s,
                                       "-NOPERM no ping\r\n"s, "-NOAUTH Authentication required.\r\n"s,
                                       "-MISCONF no space\r\n"s, "-MASTERDOWN gone\r\n"s, "-CLUSTERDOWN gone\r\n"s}) {
        multiplexer_bench bench(that_checks_order());
        call<std::string> first("GET", "a"), second("GET", "b");
        bench.add(first);
        bench.flush();
        EXPECT_FALSE(bench.feed(refusal)) << refusal;
        EXPECT_FALSE(first.done());
        EXPECT_FALSE(bench.feed(refusal)) << "in the place of the token";
        EXPECT_TRUE(first.done());
        EXPECT_EQ(first.error(), redis::condition::refused_by_server);
        bench.add(second);
        bench.flush();
        EXPECT_FALSE(bench.feed(bulk("B") + token(2)));
        EXPECT_EQ(second.resp, "B");
        EXPECT_EQ(bench.mux.pending(), 0U);
    }
}

TEST(Catalogue, P20_WhatIsAnsweredWithoutATokenBehindItIsUnknownWhenTheConnectionEnds) {
    multiplexer_bench bench(that_checks_order());
    call<std::string> first("GET", "a");
    bench.add(first);
    bench.flush();
    EXPECT_FALSE(bench.feed(bulk("A")));
    bench.end({});
    EXPECT_TRUE(first.done());
    EXPECT_EQ(first.error(), R::maybe_executed);
    EXPECT_EQ(bench.mux.pending(), 0U);
}

TEST(Catalogue, P20_QuestionsKnowTransactionsAndSubscriptions) {
    auto cfg = that_checks_order();
    cfg.dedicated = true;
    multiplexer_bench bench(cfg);
    call<redis::ignore_t> multi("MULTI"), set("SET", "a", 1);
    call exec("EXEC");
    bench.add(multi);
    EXPECT_EQ(bench.flush(), wire_of("MULTI")) << "a PING would be one of its commands";
    EXPECT_FALSE(bench.feed("+OK\r\n"));
    EXPECT_TRUE(multi.done());
    bench.add(set);
    EXPECT_EQ(bench.flush(), wire_of("SET", "a", 1));
    EXPECT_FALSE(bench.feed("+QUEUED\r\n"));
    bench.add(exec);
    EXPECT_EQ(bench.flush(), wire_of("EXEC"));
    EXPECT_FALSE(bench.feed("*1\r\n+OK\r\n"));
    EXPECT_TRUE(exec.done());
    call<redis::ignore_t> both("SUBSCRIBE", "news");
    bench.add(both);
    EXPECT_EQ(bench.flush(), wire_of("SUBSCRIBE", "news") + question(1));
    EXPECT_FALSE(bench.feed(">3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n"s.append(message_push)));
    EXPECT_FALSE(both.done());
    EXPECT_FALSE(bench.feed(token(1)));
    EXPECT_TRUE(both.done());
}

TEST(Catalogue, P20_TheGreetingWaitsForNoToken) {
    multiplexer_bench bench(that_checks_order());
    call<std::string> first("GET", "a");
    bench.add(first);
    bench.flush();
    EXPECT_FALSE(bench.feed(bulk("A") + token(1)));
    multiplexer mux{that_checks_order()};
    mux.begin_generation();
    call hello;
    hello.op.begin(nullptr, nullptr);
    hello.op.object = &hello.resp;
    hello.op.deliver = &redis::impl::deliver_generic;
    EXPECT_EQ(mux.begin_handshake(hello.op, "HELLO", 1), "HELLO");
    mux.output_done();
    op_queue done;
    mux.on_bytes("%1\r\n+proto\r\n:3\r\n", done);
    ASSERT_FALSE(done.empty());
    EXPECT_EQ(done.pop_front(), &hello.op);
}

TEST(Multiplexer, RepliesFindTheirRequestsAtEverySplitPoint) {
    auto const replies = assorted_replies();
    std::string wire;
    for (auto const& r : replies)
        wire.append(message_push).append(attribute).append(r);

    auto const outcome = [&](std::size_t split, std::size_t piece) {
        multiplexer_bench bench;
        std::deque<call<>> calls;
        for (std::size_t i = 0; i != replies.size(); ++i)
            bench.add(calls.emplace_back("ECHO", i));
        bench.flush();
        EXPECT_EQ(bench.feed(wire.substr(0, split)), error_code());
        EXPECT_EQ(bench.feed_in_pieces(std::string_view(wire).substr(split), piece), error_code());
        std::string all;
        for (auto const& c : calls) {
            EXPECT_TRUE(c.done());
            all += dump(c.resp);
        }
        return all + bench.pushes();
    };
    auto const whole = outcome(wire.size(), 1);
    EXPECT_NE(whole.find("'leaf'"), whole.npos);
    for (std::size_t split = 0; split != wire.size(); ++split)
        ASSERT_EQ(outcome(split, wire.size()), whole) << "split at " << split;
    for (std::size_t piece : {1UL, 2UL, 3UL, 7UL, 64UL})
        ASSERT_EQ(outcome(0, piece), whole) << "pieces of " << piece;
}

TEST(Multiplexer, LargeBodiesAreGatheredAcrossReadsWhereverTheyStand) {
    std::string const body(200'000, 'x');
    std::string const other(70'000, 'y');
    std::string const wire =
        bulk(body) + "*3\r\n+first\r\n" + bulk(other) + bulk("tail") + "|1\r\n+a\r\n" + bulk(body) + ":7\r\n";
    for (std::size_t piece : {1000UL, 16384UL, 70'001UL, wire.size()}) {
        multiplexer_bench bench;
        call<std::string> scalar("GET", "a");
        call<std::vector<std::string>> list("LRANGE", "l", 0, -1);
        call<int> number("INCR", "n");
        bench.add(scalar);
        bench.add(list);
        bench.add(number);
        bench.flush();
        ASSERT_EQ(bench.feed_in_pieces(wire, piece), error_code());
        EXPECT_EQ(scalar.resp, body);
        EXPECT_EQ(list.resp, (std::vector<std::string>{"first", other, "tail"}));
        EXPECT_EQ(number.resp, 7);
        EXPECT_EQ(number.error(), error_code());
    }
}

TEST(Multiplexer, X3_LargeBodiesOfEveryKindAreReadAlikeHoweverTheyAreCut) {
    // From 32 KiB on a body is gathered as it comes, instead of being read where it stands.
    constexpr std::size_t threshold = 32 * 1024;
    auto const body = [](char kind, std::size_t n) {
        std::string const format = kind == '=' ? "mkd:" : "";
        return kind + std::to_string(n + format.size()) + "\r\n" + format + std::string(n, 'b') + "\r\n";
    };
    redis::config cfg;
    cfg.limits.streamed_types = true;
    auto const read = [&cfg](std::string_view wire, std::vector<std::size_t> const& cuts) {
        multiplexer_bench bench(cfg);
        call c("GET", "k");
        call next("PING");
        bench.add(c);
        bench.add(next);
        bench.flush();
        std::size_t from = 0;
        for (std::size_t const to : cuts) {
            EXPECT_EQ(bench.feed(wire.substr(from, to - from)), error_code());
            from = to;
        }
        EXPECT_EQ(bench.feed(wire.substr(from)), error_code());
        EXPECT_TRUE(c.done());
        EXPECT_TRUE(next.done());
        std::string seen;
        for (auto const* resp : {&c.resp, &next.resp, &bench.mux.pushes()})
            for (auto const n : *resp) {
                seen.append(std::to_string(n.depth)).append(resp3::to_string(n.kind)).append(n.format.data(), 3);
                seen.append(n.last ? " last " : " ").append(std::to_string(n.size)).append(n.value);
            }
        return seen;
    };
    for (std::size_t const size : {threshold - 5, threshold - 1, threshold, threshold + 1})
        for (char const kind : {'$', '=', '!', ';'}) {
            std::string const one = kind == ';' ? "$?\r\n;1\r\na\r\n" + body(kind, size) + ";0\r\n" : body(kind, size);
            for (std::string const& before : {""s, "*2\r\n+first\r\n"s, "%1\r\n=7\r\ntxt:key\r\n"s,
                                              "|1\r\n+ttl\r\n:1\r\n"s, ">2\r\n+message\r\n"s}) {
                bool const is_push = before.starts_with('>');
                std::string const wire = before + one + (is_push ? "+OK\r\n" : "") + "+PONG\r\n";
                std::string const expected = read(wire, {});
                auto const body_end = wire.size() - 32;
                for (std::size_t at = 1; at < wire.size(); at = at == 48         ? size / 2
                                                                : at == size / 2 ? body_end
                                                                                 : at + 1)
                    ASSERT_EQ(read(wire, {at}), expected)
                        << kind << ' ' << size << " behind " << before << " at " << at;
                ASSERT_EQ(read(wire, {5, 17, 30, size / 3, body_end, wire.size() - 3}), expected)
                    << kind << ' ' << size;
            }
        }
}

TEST(Multiplexer, AReplyThatNobodyWaitsForEndsTheConnection) {
    multiplexer_bench bench;
    EXPECT_EQ(bench.feed("+OK\r\n"), R::unexpected_reply);
    EXPECT_TRUE(bench.feed("") == redis::condition::protocol_error) << "and it stays so";
}

TEST(Multiplexer, ARequestBeyondTheLimitIsRefusedBeforeItIsWritten) {
    redis::config cfg;
    cfg.requests_max = 2;
    multiplexer_bench bench(cfg);
    call a("PING"), b("PING"), c("PING");
    EXPECT_TRUE(bench.add(a));
    EXPECT_TRUE(bench.add(b));
    EXPECT_FALSE(bench.add(c));
    EXPECT_EQ(c.error(), R::too_many_requests);
    bench.flush();
    bench.feed("+PONG\r\n");
    EXPECT_TRUE(bench.add(c));
}

TEST(Multiplexer, QueuedBytesAreLimitedButOneLargeRequestPasses) {
    redis::config cfg;
    cfg.queued_bytes_max = 1000;
    multiplexer_bench bench(cfg);
    call large("SET", "k", std::string(5000, 'v'));
    call small("PING");
    EXPECT_TRUE(bench.add(large));
    EXPECT_FALSE(bench.add(small));
    EXPECT_EQ(small.error(), R::too_many_requests);
    bench.flush();
    EXPECT_TRUE(bench.add(small));
}

TEST(Multiplexer, AnEmptyRequestHasNothingToWaitFor) {
    multiplexer_bench bench;
    call<> nothing;
    EXPECT_FALSE(bench.add(nothing));
    EXPECT_EQ(nothing.error(), error_code());
}

TEST(Multiplexer, CancellingManyWaitingRequestsFreesTheirBytes) {
    multiplexer_bench bench;
    std::deque<call<>> calls;
    for (int i = 0; i != 1000; ++i)
        bench.add(calls.emplace_back("ECHO", i));
    std::string expected;
    for (int i = 0; i != 1000; ++i) {
        if (i % 100 == 7)
            expected += wire_of("ECHO", i);
        else
            EXPECT_TRUE(bench.cancel(calls[static_cast<std::size_t>(i)]));
    }
    EXPECT_EQ(bench.mux.pending(), 10U);
    EXPECT_EQ(bench.flush(), expected);
    for (int i = 7; i < 1000; i += 100) {
        EXPECT_EQ(bench.feed(bulk(std::to_string(i))), error_code());
        EXPECT_EQ(dump(calls[static_cast<std::size_t>(i)].resp), "blob_string '" + std::to_string(i) + "'\n");
    }
}

TEST(Multiplexer, CancelTwiceOrAfterCompletionDoesNothing) {
    multiplexer_bench bench;
    call a("PING"), b("PING");
    bench.add(a);
    EXPECT_TRUE(bench.cancel(a));
    EXPECT_FALSE(bench.cancel(a));
    bench.add(b);
    bench.flush();
    bench.feed("+PONG\r\n");
    EXPECT_FALSE(bench.cancel(b));
    EXPECT_EQ(b.error(), error_code());
}

TEST(Multiplexer, CancelByRequestGivesUpEveryExecutionOfIt) {
    multiplexer_bench bench;
    call one("PING");
    call<> other;
    other.req.push("PING");
    bench.add(one);
    bench.flush();
    bench.add(other);
    op_queue done;
    EXPECT_EQ(bench.mux.cancel(&one.req, done), 1U);
    bench.complete(done);
    EXPECT_EQ(one.error(), R::maybe_executed);
    EXPECT_EQ(bench.mux.cancel(&other.req, done), 1U);
    bench.complete(done);
    EXPECT_EQ(other.error(), fairlead::error::operation_aborted);
    EXPECT_EQ(bench.flush(), "");
    EXPECT_EQ(bench.feed("+PONG\r\n"), error_code());
    EXPECT_EQ(bench.mux.counters().replies_dropped, 1U);
}

// ---- the catalogue of failures

TEST(Catalogue, P01_ReplyOfACancelledRequestIsDroppedAtEverySplitPoint) {
    std::string const abandoned = "*2\r\n$5\r\nhello\r\n%1\r\n+k\r\n:1\r\n";
    for (std::size_t split = 0; split <= abandoned.size(); ++split) {
        multiplexer_bench bench;
        call before("GET", "a"), victim("GET", "b"), after("GET", "c");
        bench.add(before);
        bench.add(victim);
        bench.add(after);
        bench.flush();
        ASSERT_EQ(bench.feed("$1\r\na\r\n"), error_code());
        ASSERT_EQ(bench.feed(abandoned.substr(0, split)), error_code());
        if (!victim.done()) {
            ASSERT_TRUE(bench.cancel(victim));
            EXPECT_EQ(victim.error(), R::maybe_executed);
        }
        ASSERT_EQ(bench.feed(abandoned.substr(split)), error_code());
        ASSERT_EQ(bench.feed("$1\r\nc\r\n"), error_code());
        EXPECT_TRUE(victim.done());
        EXPECT_EQ(dump(before.resp), "blob_string 'a'\n");
        EXPECT_EQ(dump(after.resp), "blob_string 'c'\n") << "cancelled after " << split << " bytes of the reply";
    }
}

TEST(Catalogue, P01_TheMemoryOfACancelledCallerIsNotNeeded) {
    multiplexer_bench bench;
    auto victim = std::make_unique<call<>>();
    victim->req.push("GET", "a");
    victim->req.push("GET", "b");
    call after("GET", "c");
    bench.add(*victim);
    bench.add(after);
    bench.flush();
    bench.feed("$1\r\na\r\n*2\r\n+x\r\n");
    ASSERT_TRUE(bench.cancel(*victim));
    victim.reset();
    EXPECT_EQ(bench.feed("+y\r\n$1\r\nc\r\n"), error_code());
    EXPECT_EQ(dump(after.resp), "blob_string 'c'\n");
}

TEST(Catalogue, P02_CancelledBeforeBeingWrittenIsNeverSent) {
    for (int victim = 0; victim != 3; ++victim) {
        multiplexer_bench bench;
        std::deque<call<>> calls;
        std::string expected;
        for (int i = 0; i != 3; ++i) {
            bench.add(calls.emplace_back("ECHO", i));
            if (i != victim)
                expected += wire_of("ECHO", i);
        }
        ASSERT_TRUE(bench.cancel(calls[static_cast<std::size_t>(victim)]));
        EXPECT_EQ(calls[static_cast<std::size_t>(victim)].error(), fairlead::error::operation_aborted);
        EXPECT_TRUE(calls[static_cast<std::size_t>(victim)].error() == redis::condition::not_executed);
        EXPECT_EQ(bench.flush(), expected);
        for (int i = 0; i != 3; ++i)
            if (i != victim) {
                bench.feed(bulk(std::to_string(i)));
                EXPECT_EQ(dump(calls[static_cast<std::size_t>(i)].resp), "blob_string '" + std::to_string(i) + "'\n");
            }
    }
}

TEST(Catalogue, P03_CancelledDuringItsWriteIsSentToItsEnd) {
    multiplexer_bench bench;
    call victim("SET", "k", std::string(1000, 'v')), after("PING");
    bench.add(victim);
    bench.add(after);
    auto const output = bench.mux.next_output();
    ASSERT_TRUE(bench.cancel(victim));
    EXPECT_EQ(victim.error(), R::maybe_executed);
    EXPECT_EQ(output, wire_of("SET", "k", std::string(1000, 'v')) + wire_of("PING"));
    bench.mux.output_done();
    bench.feed("+OK\r\n+PONG\r\n");
    EXPECT_EQ(dump(after.resp), "simple_string 'PONG'\n");
}

namespace {

struct picky {
    friend error_code from_reply(redis::reply_reader&, picky&) { throw std::runtime_error("cannot"); }
};

} // namespace

TEST(Catalogue, P04_AConversionThatThrowsFailsItsRequestOnly) {
    multiplexer_bench bench;
    call<picky> bad("GET", "a");
    call<std::string> good("GET", "b");
    bench.add(bad);
    bench.add(good);
    bench.flush();
    EXPECT_EQ(bench.feed("*2\r\n+1\r\n+2\r\n$1\r\nb\r\n"), error_code());
    EXPECT_EQ(bad.error(), R::conversion_failed);
    EXPECT_EQ(good.error(), error_code());
    EXPECT_EQ(good.resp, "b");
}

TEST(Catalogue, P05_PushesAnywhereBetweenRepliesAreRoutedAndNotCounted) {
    std::vector<std::string> const replies{"+OK\r\n", "+QUEUED\r\n", "+QUEUED\r\n", "*2\r\n:1\r\n$1\r\nv\r\n"};
    for (std::size_t place = 0; place <= replies.size(); ++place) {
        multiplexer_bench bench;
        call<> transaction;
        transaction.req.push("MULTI");
        transaction.req.push("INCR", "n");
        transaction.req.push("GET", "k");
        transaction.req.push("EXEC");
        bench.add(transaction);
        bench.flush();
        for (std::size_t i = 0; i <= replies.size(); ++i) {
            if (i == place) {
                EXPECT_EQ(bench.feed(message_push), error_code());
            }
            if (i != replies.size()) {
                EXPECT_EQ(bench.feed(replies[i]), error_code());
            }
        }
        EXPECT_TRUE(transaction.done());
        EXPECT_EQ(transaction.resp.messages(), 4U);
        EXPECT_EQ(bench.pushes(),
                  "push '' of 3\n  blob_string 'message'\n  blob_string 'news'\n  blob_string 'hello'\n");
    }
}

TEST(Multiplexer, LossOfARequestOutweighsTheRefusalOfAPartOfIt) {
    for (bool const is_cancelled : {false, true}) {
        multiplexer_bench bench;
        call<redis::ignore_t> refused;
        call<redis::response<long, long>> unfit;
        for (auto* const req : {&refused.req, &unfit.req}) {
            req->push("ECHO", "a");
            req->push("ECHO", "b");
        }
        bench.add(refused);
        bench.add(unfit);
        bench.flush();
        if (is_cancelled) {
            EXPECT_EQ(bench.feed("-ERR no\r\n"), error_code());
            EXPECT_TRUE(bench.cancel(refused));
            EXPECT_EQ(bench.feed("+b\r\n+a\r\n"), error_code());
            EXPECT_TRUE(bench.cancel(unfit));
        } else {
            EXPECT_EQ(bench.feed("-ERR no\r\n"), error_code());
            bench.end({});
        }
        EXPECT_EQ(refused.error(), R::maybe_executed);
        EXPECT_EQ(unfit.error(), R::maybe_executed);
    }
}

TEST(Catalogue, P05_PushInTheMiddleOfExecNeverShiftsReplies) {
    // The bytes that redis-server 7.0 sends when a transaction publishes to a channel of its own connection.
    std::string const wire = "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n:1\r\n" + std::string(message_push) +
                             ":1\r\n:2\r\n" + bulk("mine");
    for (std::size_t cut = 0; cut <= wire.size(); ++cut) {
        multiplexer_bench bench;
        call<> transaction;
        transaction.req.push("MULTI");
        transaction.req.push("INCR", "n");
        transaction.req.push("PUBLISH", "news", "hello");
        transaction.req.push("INCR", "n");
        transaction.req.push("EXEC");
        call<std::string> next("ECHO", "mine");
        bench.add(transaction);
        bench.add(next);
        bench.flush();
        error_code ec = bench.feed(wire.substr(0, cut));
        if (!ec)
            ec = bench.feed(wire.substr(cut));
        EXPECT_EQ(ec, error_code());
        EXPECT_EQ(next.resp, "mine");
        EXPECT_EQ(dump(transaction.resp), "simple_string 'OK'\nsimple_string 'QUEUED'\nsimple_string 'QUEUED'\n"
                                          "simple_string 'QUEUED'\narray '' of 3\n  number '1'\n  number '1'\n"
                                          "  number '2'\n");
        EXPECT_EQ(bench.pushes(),
                  "push '' of 3\n  blob_string 'message'\n  blob_string 'news'\n  blob_string 'hello'\n");
    }
}

TEST(Catalogue, P06_AttributesBeforeAndInsideRepliesAreNotCounted) {
    multiplexer_bench bench;
    call<std::vector<int>> list("LRANGE", "l", 0, -1);
    call<std::string> next("PING");
    bench.add(list);
    bench.add(next);
    bench.flush();
    std::string const wire = std::string(attribute) + "*2\r\n" + std::string(attribute) + ":1\r\n" +
                             std::string(attribute) + ":2\r\n" + std::string(attribute) + "+PONG\r\n";
    EXPECT_EQ(bench.feed_in_pieces(wire, 5), error_code());
    EXPECT_EQ(list.resp, (std::vector<int>{1, 2}));
    EXPECT_EQ(next.resp, "PONG");
}

namespace {

std::string confirmation(std::string_view kind, std::string_view channel, int count) {
    std::string text = ">3\r\n" + bulk(kind);
    text += channel.empty() ? "_\r\n" : bulk(channel);
    return text + ":" + std::to_string(count) + "\r\n";
}

} // namespace

TEST(Catalogue, P07_SubscribeIsConfirmedByOnePushForEachChannel) {
    for (std::string_view name : {"SUBSCRIBE", "subscribe", "PSubscribe", "SSUBSCRIBE"}) {
        multiplexer_bench bench;
        call<redis::response<std::string, std::string>> c;
        c.req.push("PING");
        c.req.push(name, "a", "b");
        c.req.push("ECHO", "x");
        call<std::string> after("GET", "k");
        ASSERT_EQ(c.req.expected_replies(), 2U);
        bench.add(c);
        bench.add(after);
        bench.flush();
        std::string kind(name);
        std::transform(kind.begin(), kind.end(), kind.begin(), [](char ch) { return static_cast<char>(ch | 0x20); });
        bench.feed("+PONG\r\n" + confirmation(kind, "a", 1));
        EXPECT_FALSE(c.done());
        EXPECT_EQ(bench.feed(std::string(message_push) + confirmation(kind, "b", 2) + "$1\r\nx\r\n$1\r\nk\r\n"),
                  error_code());
        EXPECT_TRUE(c.done());
        EXPECT_EQ(std::get<0>(c.resp).value(), "PONG");
        EXPECT_EQ(std::get<1>(c.resp).value(), "x");
        EXPECT_EQ(after.resp, "k");
        EXPECT_EQ(bench.mux.pushes().messages(), 3U) << "confirmations are handed out too";
    }
}

namespace {

/// Holds up what comes behind each message with a certain text.
struct pushes_watch final : redis::impl::session_watch {
    std::vector<std::string> texts{};
    std::vector<std::uint32_t> portions{};
    std::string held_up_by{};
    int without_nodes = 0;

    void opened(redis::request&) override {}
    void restored(error_code const&) noexcept override {}
    bool pushed(std::span<resp3::node const> message, std::uint32_t portion) noexcept override {
        texts.emplace_back(message.back().value);
        portions.push_back(portion);
        return portion != 0 && texts.back() == held_up_by;
    }
    bool messages_pushed(std::span<resp3::text_push const> all, std::uint32_t portion) noexcept override {
        bool is_held_up = false;
        for (auto const& each : all) {
            texts.emplace_back(each.texts[each.size - 1]);
            portions.push_back(portion);
            is_held_up |= portion != 0 && texts.back() == held_up_by;
            ++without_nodes;
        }
        return is_held_up;
    }
    void cancelled() noexcept override {}
    void retain() noexcept override {}
    void release() noexcept override {}
};

} // namespace

// The rest comes later, in its order, wherever the bytes of the connection were cut.
void expect_to_go_on_behind_what_is_held_up(std::string const& before_text) {
    std::string stream;
    std::vector<std::string> expected;
    for (int i = 0; i != 200; ++i) {
        expected.push_back(i == 50 ? "stop" : std::to_string(i));
        stream += before_text + bulk(expected.back());
    }
    auto const one = stream.size() / 200;
    for (auto cut = 100 * one; cut != 102 * one; ++cut) {
        multiplexer mux{redis::config{}};
        pushes_watch watch;
        watch.held_up_by = "stop";
        mux.send_pushes_to(watch);
        mux.begin_generation();
        mux.open();
        op_queue done;
        std::string in = stream.substr(0, cut); // as the connection's buffer
        auto p = mux.on_bytes(in, done, true);
        ASSERT_TRUE(p.is_held_up);
        auto const before = watch.texts.size();
        ASSERT_GT(before, 50U);
        ASSERT_LT(before, 70U) << "what was parsed with it, and no more";
        in.erase(0, p.consumed);
        in += stream.substr(cut);
        in.shrink_to_fit();
        p = mux.on_bytes(in, done, true);
        EXPECT_FALSE(p.is_held_up);
        EXPECT_FALSE(p.ec);
        EXPECT_EQ(watch.texts, expected) << cut;
        EXPECT_EQ(watch.portions.front() + 1, watch.portions.back());
        EXPECT_EQ(mux.on_bytes(stream, done).is_held_up, false) << "only where it may be";
        EXPECT_EQ(watch.portions.back(), 0U);
    }
}
TEST(Multiplexer, GoesOnBehindWhatItsWatchHasHeldUp) {
    expect_to_go_on_behind_what_is_held_up(">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n");
    expect_to_go_on_behind_what_is_held_up(">3\r\n+message\r\n$1\r\nc\r\n"); // by nodes
}

// Whole messages of channels make no nodes. All else goes the long way, in its place, wherever the bytes were cut.
TEST(Multiplexer, MessagesWithoutNodesComeInOrderWithAllOthers) {
    std::string const large(1500, 'x');
    std::string const stream =
        ">3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\n0\r\n>4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$1\r\na\r\n$1\r\n1\r\n"
        ">3\r\n$8\r\nsmessage\r\n$1\r\na\r\n$1\r\n2\r\n>2\r\n$7\r\nmessage\r\n$1\r\n3\r\n"
        ">3\r\n$8\r\npmessage\r\n$1\r\na\r\n$1\r\n4\r\n>3\r\n$7\r\nmessagE\r\n$1\r\na\r\n$1\r\n5\r\n"
        ">3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\n6\r\n+OK\r\n>3\r\n$7\r\nmessage\r\n$1\r\na\r\n" +
        bulk(large) + ">3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n" +
        ">3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\n7\r\n>3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n$1\r\n3\r\n"
        ">3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\n8\r\n";
    for (std::size_t cut = 0; cut <= stream.size(); cut += cut > 400 && cut < 1800 ? 50 : 1) {
        multiplexer_bench bench;
        pushes_watch watch;
        bench.mux.send_pushes_to(watch);
        call ping("PING"), subscribe("SUBSCRIBE", "b"), last("SUBSCRIBE", "c");
        for (auto* const each : {&ping, &subscribe, &last})
            bench.add(*each);
        bench.flush();
        ASSERT_EQ(bench.feed(stream.substr(0, cut)), error_code());
        ASSERT_EQ(bench.feed(stream.substr(cut)), error_code());
        ASSERT_EQ(watch.texts, (std::vector<std::string>{"0", "1", "2", "3", "4", "5", "6", large, "2", "7", "3", "8"}))
            << cut;
        ASSERT_TRUE(cut != 0 || watch.without_nodes == 3) << "behind another one the parser goes on by itself";
        ASSERT_EQ(bench.mux.counters().get().pushes, 12U);
        for (auto* const each : {&ping, &subscribe, &last})
            ASSERT_TRUE(each->done()) << cut;
    }
}

TEST(Multiplexer, ManyMessagesWithoutNodesPassInParts) {
    std::string stream;
    std::vector<std::string> expected;
    for (int i = 0; i != 1000; ++i) {
        expected.push_back(std::to_string(i));
        stream += ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n" + bulk(expected.back());
    }
    multiplexer_bench bench;
    pushes_watch watch;
    bench.mux.send_pushes_to(watch);
    ASSERT_EQ(bench.feed(stream + "!"), error_code());
    EXPECT_EQ(watch.texts, expected);
    EXPECT_EQ(watch.without_nodes, 1000);
    EXPECT_EQ(bench.feed("x"), fairlead::resp3::error::bad_length);
}

// A connection of RESP2 that is subscribed has two kinds of arrays, beside the refusal of a subscription.
TEST(Multiplexer, TakesArraysForPushesButTheAnswerToAPing) {
    multiplexer_bench bench;
    pushes_watch watch;
    bench.mux.send_pushes_to(watch);
    bench.mux.takes_arrays_for_pushes();
    call subscribe("SUBSCRIBE", "a"), ping("PING"), again("SSUBSCRIBE", "b"), simple("PING"), last("UNSUBSCRIBE");
    for (auto* const each : {&subscribe, &ping, &again, &simple, &last})
        bench.add(*each);
    bench.flush();
    std::string const message = "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$4\r\npong\r\n";
    EXPECT_EQ(bench.feed("*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n"), error_code());
    EXPECT_TRUE(subscribe.done());
    EXPECT_EQ(bench.feed(message + "*2\r\n$4\r\npong\r\n$0\r\n\r\n" + message), error_code());
    EXPECT_TRUE(ping.done());
    EXPECT_EQ(watch.texts, (std::vector<std::string>{"1", "pong", "pong"}));
    EXPECT_EQ(bench.feed("-NOPERM no\r\n+PONG\r\n*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n"), error_code());
    EXPECT_TRUE(again.done());
    EXPECT_EQ(again.error(), R::no_permission);
    EXPECT_TRUE(simple.done());
    EXPECT_TRUE(last.done());
    EXPECT_FALSE(last.error());
}

// There is nothing to hold up behind the last bytes: the next read comes after the turn of the others anyway.
TEST(Multiplexer, HoldsUpNothingWhereThereIsNothing) {
    multiplexer mux{redis::config{}};
    pushes_watch watch;
    watch.held_up_by = "hello";
    mux.send_pushes_to(watch);
    mux.begin_generation();
    mux.open();
    op_queue done;
    EXPECT_FALSE(mux.on_bytes(message_push, done, true).is_held_up);
    EXPECT_EQ(watch.texts.size(), 1U);
}

TEST(Catalogue, P07_UnsubscribeFromAllNeverShiftsTheReplies) {
    for (int confirmations = 1; confirmations != 4; ++confirmations) {
        multiplexer_bench bench;
        call<> all("UNSUBSCRIBE");
        call<std::string> after("GET", "k");
        bench.add(all);
        bench.add(after);
        bench.flush();
        for (int i = 0; i != confirmations; ++i)
            EXPECT_EQ(bench.feed(confirmation("unsubscribe", i ? "c" : "", 0)), error_code());
        EXPECT_TRUE(all.done());
        EXPECT_FALSE(after.done());
        EXPECT_EQ(bench.feed("$1\r\nk\r\n"), error_code());
        EXPECT_EQ(after.resp, "k");
    }
}

TEST(Catalogue, P07_ARefusedSubscribeTakesItsErrorAndNobodyElses) {
    multiplexer_bench bench;
    call<std::string> c;
    c.req.push("SUBSCRIBE", "secret");
    c.req.push("ECHO", "x");
    call<std::string> after("GET", "k");
    bench.add(c);
    bench.add(after);
    bench.flush();
    EXPECT_EQ(bench.feed("-NOPERM no access to channel\r\n$1\r\nx\r\n$1\r\nk\r\n"), error_code());
    EXPECT_EQ(c.error(), R::no_permission);
    EXPECT_EQ(c.resp, "x");
    EXPECT_EQ(bench.mux.refusal(), "NOPERM no access to channel");
    EXPECT_EQ(after.resp, "k");
}

TEST(Catalogue, P07_ACancelledSubscribeStillTakesItsConfirmations) {
    multiplexer_bench bench;
    call<> victim("SUBSCRIBE", "a", "b");
    call<std::string> after("GET", "k");
    bench.add(victim);
    bench.add(after);
    bench.flush();
    bench.feed(confirmation("subscribe", "a", 1));
    ASSERT_TRUE(bench.cancel(victim));
    EXPECT_EQ(bench.feed(confirmation("subscribe", "b", 2) + "$1\r\nk\r\n"), error_code());
    EXPECT_EQ(after.resp, "k");
}

TEST(Catalogue, P08_TransactionsAreTyped) {
    using of_exec = std::optional<std::tuple<result<long>, result<std::string>>>;
    using all = redis::response<std::string, std::string, std::string, of_exec>;
    auto const run = [](std::string_view wire) {
        multiplexer_bench bench;
        auto c = std::make_unique<call<all>>();
        c->req.push("MULTI");
        c->req.push("INCR", "n");
        c->req.push("GET", "k");
        c->req.push("EXEC");
        bench.add(*c);
        bench.flush();
        EXPECT_EQ(bench.feed(wire), error_code());
        EXPECT_TRUE(c->done());
        return c;
    };
    auto const good = run("+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:8\r\n-WRONGTYPE it is a list\r\n");
    auto const& values = *std::get<3>(good->resp).value();
    EXPECT_EQ(std::get<0>(values).value(), 8);
    EXPECT_EQ(std::get<1>(values).error_text(), "WRONGTYPE it is a list");
    EXPECT_EQ(good->error(), error_code());

    auto const conflict = run("+OK\r\n+QUEUED\r\n+QUEUED\r\n_\r\n");
    EXPECT_FALSE(std::get<3>(conflict->resp).value().has_value());

    auto const aborted = run("+OK\r\n-ERR unknown command\r\n+QUEUED\r\n-EXECABORT Transaction discarded\r\n");
    EXPECT_TRUE(std::get<1>(aborted->resp).has_error());
    EXPECT_EQ(std::get<3>(aborted->resp).error_text(), "EXECABORT Transaction discarded");
}

TEST(Catalogue, P08_TransactionThatTheUserMayNotEndIsSharedWithNobody) {
    // The second asks for more in the same request, which is queued.
    for (std::string const more : {"", "GET"}) {
        multiplexer_bench bench;
        call<> c("MULTI");
        c.req.push("INCR", "n");
        c.req.push("DISCARD");
        if (!more.empty())
            c.req.push(more, "k");
        call<std::string> after("SET", "k", 1);
        bench.add(c);
        bench.add(after);
        bench.flush();
        auto const wire = "+OK\r\n+QUEUED\r\n-NOPERM this user may not\r\n"s + (more.empty() ? "" : "+QUEUED\r\n");
        EXPECT_EQ(bench.feed(wire + "+QUEUED\r\n"), R::unexpected_reply);
        EXPECT_TRUE(c.done());
        EXPECT_FALSE(after.done()) << "it was not executed: " << after.resp;
        bench.end({});
        EXPECT_EQ(after.error(), R::maybe_executed);
    }
    redis::config cfg;
    cfg.dedicated = true;
    multiplexer_bench bench(cfg);
    call<> discard("DISCARD"), exec("EXEC");
    bench.add(discard);
    bench.flush();
    EXPECT_EQ(bench.feed("-NOPERM this user may not\r\n"), error_code());
    EXPECT_TRUE(bench.mux.is_reserved()) << "a PING would be queued";
    bench.add(exec);
    bench.flush();
    EXPECT_EQ(bench.feed("-EXECABORT Transaction discarded because of: NOPERM\r\n"), error_code());
    EXPECT_FALSE(bench.mux.is_reserved());
}

TEST(Catalogue, P08_X1_TransactionThatWasRefusedIsNotOpen) {
    redis::config cfg;
    cfg.dedicated = true;
    multiplexer_bench bench(cfg);
    call<> refused("MULTI"), begun("MULTI"), again("MULTI"), last;
    last.req.push("EXEC");
    last.req.push("MULTI");
    last.req.push("NONSENSE");
    for (auto* each : {&refused, &begun, &again, &last})
        bench.add(*each);
    bench.flush();
    bench.feed("-NOPERM this user may not\r\n");
    EXPECT_FALSE(bench.mux.is_reserved()) << "then nobody would ask whether the server is well";
    bench.feed("+OK\r\n");
    EXPECT_TRUE(bench.mux.is_reserved());
    bench.feed("-ERR MULTI calls can not be nested\r\n");
    EXPECT_TRUE(bench.mux.is_reserved());
    bench.feed("*0\r\n+OK\r\n-ERR unknown command\r\n");
    EXPECT_TRUE(bench.mux.is_reserved()) << "what was refused was not the MULTI";
}

TEST(Catalogue, P11_HostileLengthsAreProtocolErrors) {
    for (std::string_view wire : {"$9223372036854775807\r\n", "$-2\r\n", "*1000000000\r\n", "%4611686018427387904\r\n",
                                  "*-2\r\n", "$99999999999999999999\r\n"}) {
        multiplexer_bench bench;
        call<> c("GET", "k");
        bench.add(c);
        bench.flush();
        auto const ec = bench.feed(wire);
        EXPECT_TRUE(ec == redis::condition::protocol_error) << wire << ec.message();
        bench.end({});
        EXPECT_EQ(c.error(), R::maybe_executed);
    }
}

TEST(Catalogue, P12_NestingBeyondTheLimitIsAProtocolError) {
    multiplexer_bench bench;
    call<> c("GET", "k");
    bench.add(c);
    bench.flush();
    std::string wire;
    for (int i = 0; i != 1'000'000; ++i)
        wire += "*1\r\n";
    EXPECT_EQ(bench.feed(wire), resp3::error::too_deep);
}

TEST(Catalogue, P12_NestingOfAThousandLevelsIsRead) {
    multiplexer_bench bench;
    call<> c("GET", "k");
    bench.add(c);
    bench.flush();
    std::string wire;
    for (int i = 0; i != 1000; ++i)
        wire += "*1\r\n";
    EXPECT_EQ(bench.feed(wire + ":1\r\n"), error_code());
    EXPECT_EQ(c.resp.size(), 1001U);
}

TEST(Catalogue, P13_StreamedTypesAreACleanError) {
    for (std::string_view wire : {"$?\r\n;4\r\nhell\r\n;0\r\n", "*?\r\n:1\r\n.\r\n"}) {
        multiplexer_bench bench;
        call<> c("GET", "k");
        bench.add(c);
        bench.flush();
        EXPECT_EQ(bench.feed(wire), resp3::error::streamed_type);
    }
}

TEST(Catalogue, P14_OtherProtocolsAreNamedWithTheirBytesEscaped) {
    multiplexer_bench bench;
    call<> c("GET", "k");
    bench.add(c);
    bench.flush();
    EXPECT_EQ(bench.feed("HTTP/1.1 400 Bad Request\r\n\x1b[31m\r\n"), resp3::error::unknown_type);
    EXPECT_EQ(bench.mux.refusal(), "HTTP/1.1 400 Bad Request\\r\\n\\x1b[31m\\r\\n");
}

TEST(Catalogue, P17_ATypeMismatchFailsItsRequestOnly) {
    multiplexer_bench bench;
    call<redis::response<int, std::vector<int>, std::string>> bad;
    bad.req.push("GET", "a");
    bad.req.push("GET", "b");
    bad.req.push("GET", "c");
    call<std::string> good("GET", "d");
    bench.add(bad);
    bench.add(good);
    bench.flush();
    EXPECT_EQ(bench.feed("$1\r\nx\r\n%1\r\n+k\r\n*1\r\n+v\r\n$1\r\nc\r\n$1\r\nd\r\n"), error_code());
    EXPECT_EQ(bad.error(), resp3::error::not_an_integer) << "the first of them";
    EXPECT_FALSE(std::get<0>(bad.resp).has_value());
    EXPECT_FALSE(std::get<1>(bad.resp).has_value());
    EXPECT_EQ(std::get<2>(bad.resp).value(), "c") << "what fits is delivered";
    EXPECT_EQ(good.resp, "d");
}

TEST(Catalogue, P19_WhatALostConnectionLeavesIsToldApart) {
    multiplexer_bench bench;
    call answered("ECHO", 0), written("ECHO", 1), cut("ECHO", 2), unsent("ECHO", 3), waiting("ECHO", 4);
    bench.add(answered);
    bench.add(written);
    bench.flush();
    bench.feed("$1\r\n0\r\n");
    bench.add(cut);
    bench.add(unsent);
    auto const output = bench.mux.next_output();
    bench.add(waiting);
    // All but one byte of the first command, nothing of the second.
    auto const of_first = wire_of("ECHO", 2).size();
    ASSERT_EQ(output.size(), 2 * of_first);
    bench.end({.bytes_written = of_first - 1});

    EXPECT_EQ(answered.error(), error_code());
    EXPECT_EQ(written.error(), R::maybe_executed);
    EXPECT_EQ(cut.error(), R::maybe_executed);
    EXPECT_EQ(unsent.error(), R::not_sent);
    EXPECT_EQ(waiting.error(), R::not_sent);
    EXPECT_FALSE(cut.error() == redis::condition::not_executed);
    EXPECT_TRUE(unsent.error() == redis::condition::not_executed);
    for (auto* c : {&answered, &written, &cut, &unsent, &waiting})
        EXPECT_TRUE(c->done());
}

TEST(Catalogue, P19_UnsentRequestsMayWaitForTheNextConnection) {
    multiplexer_bench bench;
    call written("ECHO", 1), waiting("ECHO", 2);
    bench.add(written);
    bench.flush();
    bench.add(waiting);
    bench.end({.keep_waiting = true});
    EXPECT_EQ(written.error(), R::maybe_executed);
    EXPECT_FALSE(waiting.done());
    bench.mux.begin_generation();
    bench.mux.open();
    EXPECT_EQ(bench.flush(), wire_of("ECHO", 2));
    bench.feed("$1\r\n2\r\n");
    EXPECT_TRUE(waiting.done());
    EXPECT_EQ(waiting.error(), error_code());
}

TEST(Catalogue, P23_APushFloodWithoutAReaderIsBoundedAndCounted) {
    redis::config cfg;
    cfg.pushes_max = 100;
    multiplexer_bench bench(cfg);
    for (int i = 0; i != 10'000; ++i)
        ASSERT_EQ(bench.feed(">2\r\n+message\r\n:" + std::to_string(i) + "\r\n"), error_code());
    auto const& c = bench.mux.counters();
    EXPECT_LE(bench.mux.pushes().messages(), 100U);
    EXPECT_EQ(c.pushes_dropped + bench.mux.pushes().messages(), 10'000U);
    auto const text = bench.pushes();
    EXPECT_NE(text.find("'9999'"), text.npos) << "the newest are kept";
    EXPECT_EQ(text.find("'0'"), text.npos);
}

TEST(Catalogue, P23_OnePushAboveTheLimitIsDroppedAlone) {
    redis::config cfg;
    cfg.push_bytes_max = 1000;
    multiplexer_bench bench(cfg);
    EXPECT_EQ(bench.feed(">2\r\n+message\r\n" + bulk(std::string(5000, 'x'))), error_code());
    EXPECT_EQ(bench.mux.pushes().messages(), 0U);
    EXPECT_EQ(bench.mux.counters().pushes_dropped, 1U);
}

TEST(Catalogue, P23_OrTheConnectionIsClosedIfSoWished) {
    redis::config cfg;
    cfg.pushes_max = 1;
    cfg.pushes = redis::push_policy::close;
    multiplexer_bench bench(cfg);
    EXPECT_EQ(bench.feed(message_push), error_code());
    EXPECT_EQ(bench.feed(message_push), R::pushes_overflow);
}

TEST(Catalogue, P25_ANewConnectionKnowsNothingOfTheOldReplies) {
    multiplexer_bench bench;
    call old("GET", "old"), young("GET", "young");
    bench.add(old);
    bench.flush();
    bench.feed("*2\r\n$3\r\nold\r\n$100\r\nhalf of a bo");
    bench.end({});
    EXPECT_EQ(old.error(), R::maybe_executed);
    EXPECT_TRUE(old.resp.empty()) << "half a reply is none";
    bench.mux.begin_generation();
    bench.mux.open();
    bench.add(young);
    EXPECT_EQ(bench.flush(), wire_of("GET", "young"));
    EXPECT_EQ(bench.feed("$5\r\nyoung\r\n"), error_code());
    EXPECT_EQ(dump(young.resp), "blob_string 'young'\n");
}

// ---- everything at once

// Callers come, go and give up at random, writes and reads are cut at random, pushes and attributes come in between,
// connections end. The server echoes: whoever gets somebody else's number has been crossed.
class MultiplexerSchedule : public testing::TestWithParam<unsigned> {};

TEST_P(MultiplexerSchedule, NeverCrossesReplies) {
    unsigned const seed = GetParam();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    auto const chance = [&](unsigned percent) { return random() % 100 < percent; };

    struct caller {
        std::unique_ptr<call<std::string>> c;
        std::string token;
        bool cancelled = false;
    };
    multiplexer_bench bench;
    std::deque<caller> callers;
    std::string to_server;   // written, not yet seen by the server
    std::string from_server; // replies on their way
    int number = 0;
    int answered = 0;

    auto const serve_some = [&] {
        // The server understands whole commands of the one form *2 $4 ECHO $n token.
        while (true) {
            auto const head = std::string_view("*2\r\n$4\r\nECHO\r\n$");
            if (to_server.size() < head.size() + 4)
                return;
            ASSERT_EQ(to_server.substr(0, head.size()), head) << "a command was cut or mixed";
            auto const line = to_server.find("\r\n", head.size());
            if (line == to_server.npos)
                return;
            auto const size = std::stoul(to_server.substr(head.size(), line - head.size()));
            if (to_server.size() < line + 2 + size + 2)
                return;
            auto const token = to_server.substr(line + 2, size);
            to_server.erase(0, line + 2 + size + 2);
            if (chance(10))
                from_server += message_push;
            if (chance(10))
                from_server += attribute;
            from_server += bulk(token);
            if (!chance(70))
                return;
        }
    };

    for (std::uint64_t step = 0, steps = scaled(20'000, 1000); step != steps; ++step) {
        auto const what = random() % 100;
        if (what < 40) {
            auto token = std::to_string(++number);
            if (chance(1))
                token += std::string(random() % 100'000, '.');
            caller who{std::make_unique<call<std::string>>("ECHO", token), token, false};
            ASSERT_TRUE(bench.add(*who.c));
            callers.push_back(std::move(who));
        } else if (what < 55) {
            to_server += bench.flush();
        } else if (what < 70) {
            serve_some();
        } else if (what < 90) {
            auto const n = std::min<std::size_t>(from_server.size(), random() % 200);
            ASSERT_EQ(bench.feed(from_server.substr(0, n)), error_code());
            from_server.erase(0, n);
        } else if (what < 99 && !callers.empty()) {
            auto& who = callers[random() % callers.size()];
            if (!who.c->done()) {
                ASSERT_TRUE(bench.cancel(*who.c));
                who.cancelled = true;
            }
        } else if (chance(20)) {
            bench.end({.keep_waiting = chance(50)});
            to_server.clear();
            from_server.clear();
            bench.mux.begin_generation();
            bench.mux.open();
        }
        std::erase_if(callers, [&](caller& who) {
            if (!who.c->done())
                return false;
            if (!who.c->error()) {
                EXPECT_FALSE(who.cancelled);
                EXPECT_EQ(who.c->resp, who.token);
                ++answered;
            } else {
                EXPECT_TRUE(who.c->resp.empty());
            }
            return true; // The frame is gone at once: tombstones must not need it.
        });
        if (HasFailure())
            return;
    }
    for (int i = 0; i != 100'000 && !callers.empty(); ++i) {
        to_server += bench.flush();
        serve_some();
        ASSERT_EQ(bench.feed(from_server), error_code());
        from_server.clear();
        std::erase_if(callers, [](caller& who) { return who.c->done(); });
    }
    EXPECT_TRUE(callers.empty());
    EXPECT_EQ(bench.mux.pending(), 0U);
    EXPECT_GT(answered, 20); // a schedule that cancels everything would prove nothing
}

INSTANTIATE_TEST_SUITE_P(Seeds, MultiplexerSchedule, testing::Range(1U, 21U));

} // namespace fairlead::test
