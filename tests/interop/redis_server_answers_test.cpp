// The embedded server beside the real one: both are typed the same commands, and have to give the same bytes.

#include "real_redis.hpp"

#include <fairlead/redis_server/engine.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::test {
namespace {

// Where the reply at `at` ends, or npos when it is not complete.
std::size_t answers_end_of_reply(std::string_view bytes, std::size_t at) {
    std::size_t const line_end = bytes.find("\r\n", at);
    if (line_end == bytes.npos)
        return bytes.npos;
    char const kind = bytes[at];
    long const n = std::strtol(std::string(bytes.substr(at + 1, line_end - at - 1)).c_str(), nullptr, 10);
    std::size_t end = line_end + 2;
    if (kind == '$' || kind == '=' || kind == '!') {
        end += n < 0 ? 0 : static_cast<std::size_t>(n) + 2;
        return end <= bytes.size() ? end : bytes.npos;
    }
    long children = kind == '*' || kind == '~' || kind == '>' ? n : kind == '%' ? 2 * n : 0;
    for (; children > 0 && end != bytes.npos; --children)
        end = end < bytes.size() ? answers_end_of_reply(bytes, end) : bytes.npos;
    return end;
}

// A reply whose elements have no order: the `step` elements that belong together are sorted.
std::string answers_sorted(std::string_view reply, std::size_t step) {
    std::size_t at = reply.find("\r\n") + 2;
    std::string head(reply.substr(0, at));
    std::vector<std::string> elements;
    while (at < reply.size()) {
        std::size_t end = at;
        for (std::size_t i = 0; i != step && end < reply.size(); ++i)
            end = answers_end_of_reply(reply, end);
        elements.emplace_back(reply.substr(at, end - at));
        at = end;
    }
    std::ranges::sort(elements);
    for (auto const& element : elements)
        head += element;
    return head;
}

// Both servers, and four clients of each.
class answers_pair {
public:
    static constexpr std::size_t clients = 4;

    answers_pair(io_context& ctx, redis_server_process const& process) : ctx_(ctx), engine_(options()) {
        auto const address = process.address();
        auto const port = static_cast<std::uint16_t>(std::stoi(address.substr(address.find(':') + 1)));
        for (std::size_t i = 0; i != clients; ++i) {
            theirs_[i] = std::make_unique<ip::tcp::socket>(ctx_);
            theirs_[i]->connect({ip::address_v4::loopback(), port});
            ours_[i] = std::make_unique<redis::server_engine::client>(engine_);
        }
    }

    redis::server_engine& engine() noexcept { return engine_; }

    /// The reply of the embedded server to a line.
    std::string ours(std::string const& line) {
        ours_[0]->feed(line + "\r\n");
        return read_ours(0);
    }

    /// Arity, places of the keys and categories of a command.
    void compare_table_row(std::string const& name) {
        std::string const line = "COMMAND INFO " + name;
        send(0, line + "\r\n");
        EXPECT_EQ(table_row(ours(line)), table_row(read_theirs(0))) << name;
    }

    // The script has one command on each line. Before it may stand:
    //   2>       client 2 sends it; without this client 0 does
    //   !        it has no reply yet
    //   ?        only the first byte of the reply has to be the same
    //   sort2    the reply's elements are pairs in any order
    // Other lines: ~2 waits until two clients wait, <1 reads a reply of client 1, # begins a comment.
    void play(std::string_view script) {
        while (!script.empty()) {
            std::string_view line = script.substr(0, script.find('\n'));
            script.remove_prefix(std::min(script.size(), line.size() + 1));
            line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
            if (!line.empty() && !line.starts_with("#"))
                step(std::string(line));
        }
    }

private:
    static redis::server_engine_options options() {
        redis::server_engine_options made;
        made.clock = [] {
            return std::chrono::duration_cast<std::chrono::milliseconds>(
                std::chrono::system_clock::now().time_since_epoch());
        };
        return made;
    }

    // Of the ten fields of a reply to COMMAND INFO the second, the fourth to the seventh; categories in ascending
    // order.
    static std::string table_row(std::string const& reply) {
        std::size_t at = reply.find("\r\n") + 2; // inside of the one command
        at = reply.find("\r\n", at) + 2;
        std::string row;
        for (int field = 0; field != 7 && at < reply.size(); ++field) {
            std::size_t const end = answers_end_of_reply(reply, at);
            if (field == 1 || (field >= 3 && field <= 5))
                row += reply.substr(at, end - at);
            if (field == 6)
                row += answers_sorted(reply.substr(at, end - at), 1);
            at = end;
        }
        return row;
    }

    void step(std::string line) {
        if (line.starts_with("~"))
            return wait_until_blocked(line.substr(1));
        std::size_t client = 0;
        if (line.starts_with("<"))
            return compare("reply to " + line, static_cast<std::size_t>(line[1] - '0'), 0, false);
        if (line.size() > 3 && line.substr(1, 2) == "> ") {
            client = static_cast<std::size_t>(line[0] - '0');
            line.erase(0, 3);
        }
        std::size_t sorted = 0;
        bool const only_kind = line.starts_with("? ");
        if (only_kind)
            line.erase(0, 2);
        if (line.starts_with("sort")) {
            sorted = static_cast<std::size_t>(line[4] - '0');
            line.erase(0, 6);
        }
        bool const no_reply = line.starts_with("! ");
        if (no_reply)
            line.erase(0, 2);
        send(client, line + "\r\n");
        ours_[client]->feed(line + "\r\n");
        if (!no_reply)
            compare(line, client, sorted, only_kind);
    }

    void send(std::size_t client, std::string bytes) {
        std::size_t const n = theirs_[client]->write_some(buffer(bytes));
        ASSERT_EQ(n, bytes.size());
    }

    std::string read_theirs(std::size_t client) {
        std::string& bytes = read_[client];
        for (;;) {
            std::size_t const end = bytes.empty() ? bytes.npos : answers_end_of_reply(bytes, 0);
            if (end != bytes.npos) {
                std::string reply = bytes.substr(0, end);
                bytes.erase(0, end);
                return reply;
            }
            char piece[4096];
            std::size_t got = 0;
            theirs_[client]->async_read_some(buffer(piece), [&](error_code, std::size_t n) { got = n; });
            ctx_.restart();
            ctx_.run_for(std::chrono::seconds(5));
            if (got == 0) {
                theirs_[client]->cancel();
                ctx_.restart();
                ctx_.run();
                return "no reply; so far: " + std::exchange(bytes, {});
            }
            bytes.append(piece, got);
        }
    }

    std::string read_ours(std::size_t client) {
        std::string& bytes = ours_[client]->output();
        for (int wait_ms = 0; wait_ms != 1000 && bytes.empty();
             ++wait_ms) { // A time limit of the other one has passed.
            ctx_.restart();
            ctx_.run_for(std::chrono::milliseconds(1));
            engine_.end_late_waits();
        }
        std::size_t const end = bytes.empty() ? bytes.npos : answers_end_of_reply(bytes, 0);
        if (end == bytes.npos)
            return "no reply; so far: " + bytes;
        std::string reply = bytes.substr(0, end);
        bytes.erase(0, end);
        return reply;
    }

    void compare(std::string const& line, std::size_t client, std::size_t sorted, bool only_kind) {
        std::string theirs = read_theirs(client), ours = read_ours(client);
        if (sorted != 0) {
            theirs = answers_sorted(theirs, sorted);
            ours = answers_sorted(ours, sorted);
        }
        if (only_kind) {
            theirs.resize(1);
            ours.resize(std::min<std::size_t>(ours.size(), 1));
        }
        EXPECT_EQ(ours, theirs) << "client " << client << ": " << line;
    }

    void wait_until_blocked(std::string const& count) {
        for (int attempt = 0; attempt != 2000; ++attempt) {
            send(clients - 1, "INFO clients\r\n");
            if (read_theirs(clients - 1).find("blocked_clients:" + count + "\r\n") != std::string::npos)
                return;
        }
        ADD_FAILURE() << "never have " << count << " clients been waiting";
    }

    io_context& ctx_;
    redis::server_engine engine_;
    std::array<std::unique_ptr<ip::tcp::socket>, clients> theirs_;
    std::array<std::unique_ptr<redis::server_engine::client>, clients> ours_;
    std::array<std::string, clients> read_;
};

// Plays the script to clients of RESP2, then to clients of RESP3.
class RealRedisAnswers : public RealRedis {
protected:
    void play(std::string_view script, void (*prepare)(redis::server_engine&) = nullptr) {
        for (std::string_view const protocol : {"2", "3"}) {
            SCOPED_TRACE("RESP" + std::string(protocol));
            answers_pair both(ctx_, *server_);
            if (prepare)
                prepare(both.engine());
            both.play("FLUSHALL");
            for (char client = '0'; client != '3'; ++client)
                both.play(std::string(1, client) + "> ? HELLO " + std::string(protocol));
            both.play(script);
            if (HasFailure())
                break;
        }
    }
};

TEST_F(RealRedisAnswers, OnStrings) {
    play(R"(
        SET k v
        SET k w NX
        SET k w XX GET
        SET k w NX GET
        SET k w GET NX
        SET new w NX GET
        SET k v EX 0
        SET k v EX x
        SET k v PX -1
        SET k v EX 9223372036854775807
        SET k v EX 10 PX 10
        SET k v EX
        SET k v KEEPTTL EX 10
        SET k v NX XX
        SET k v FOO
        SET k v EXAT 99999999999
        EXPIRETIME k
        SET k w KEEPTTL
        PEXPIRETIME k
        SET k w
        PEXPIRETIME k
        SET k v PXAT 99999999999000
        GETEX k PERSIST
        PTTL k
        GETEX k EXAT 99999999999
        EXPIRETIME k
        GETEX k EX 0
        GETEX k FOO
        GETEX k PERSIST EX 10
        GETEX none EX 10
        GETDEL k
        GETDEL k
        SETEX k 0 v
        SETEX k -1 v
        SETEX k x v
        PSETEX k 100000 v
        GETSET k w
        GETSET none w
        TTL k
        RPUSH l a
        GET l
        SET l v GET
        GETSET l v
        GETDEL l
        GETEX l
        APPEND l x
        STRLEN l
        INCR l
        INCRBYFLOAT l 1
        GETRANGE l 0 1
        SETRANGE l 0 x
        MGET k l none
        MSET a 1 b
        MSET a 1 b 2
        MSETNX a 1 c 2
        MSETNX c 1 d 2
        MSETNX c 1 d
        INCR a
        INCRBY a 10
        DECR a
        DECRBY a 3
        INCRBY a 9223372036854775807
        INCRBY a x
        INCRBY k 1
        DECRBY a -9223372036854775808
        SET f 10.5
        INCRBYFLOAT f 0.1
        INCRBYFLOAT f -5
        SET f 5.0e3
        INCRBYFLOAT f 2.0e2
        INCRBYFLOAT f x
        INCRBYFLOAT f inf
        INCRBYFLOAT k 1
        SETRANGE a -1 x
        SETRANGE empty 5 ""
        SETRANGE padded 5 x
        GETRANGE padded 0 -1
        GETRANGE padded -2 -1
        GETRANGE padded 4 2
        SUBSTR padded 0 2
        LCS a b
        SET s1 ohmytext
        SET s2 mynewtext
        LCS s1 s2
        LCS s1 s2 LEN
        LCS s1 s2 IDX
        LCS s1 s2 IDX MINMATCHLEN 4 WITHMATCHLEN
        LCS s1 s2 IDX LEN
        LCS s1 l
    )");
}

TEST_F(RealRedisAnswers, OnKeys) {
    play(R"(
        EXISTS a
        SET a 1
        SET b 2 EXAT 99999999999
        EXISTS a a b c
        TYPE a
        TYPE none
        sort1 KEYS *
        sort1 KEYS [a]
        DBSIZE
        RENAME none x
        RENAME a a
        RENAMENX a b
        RENAMENX a a
        RENAMENX none a
        RENAME b c
        EXPIRETIME c
        RENAME a c
        EXPIRETIME c
        EXPIRE c 100 NX XX
        EXPIRE c 100 GT LT
        EXPIRE c 100 FOO
        EXPIRE c x
        EXPIRE c 9223372036854775807
        EXPIRE c 100 GT
        EXPIRE c 100 XX
        EXPIRE c 100 LT
        EXPIRE c 200 GT
        EXPIRE c 300 LT
        EXPIRE c 100 NX
        EXPIRE none 100
        PERSIST c
        PERSIST c
        PERSIST none
        TTL c
        TTL none
        PTTL none
        EXPIRETIME none
        EXPIREAT c 99999999999
        PEXPIREAT c 99999999999123
        EXPIRETIME c
        PEXPIRETIME c
        PEXPIRE c -1
        EXISTS c
        SET d v
        EXPIRE d 0
        GET d
        SET d v PXAT 1
        EXISTS d
        COPY none x
        SET e v EXAT 99999999999
        COPY e f
        COPY e f
        COPY e f REPLACE
        EXPIRETIME f
        COPY e e
        COPY e g DB 1
        COPY e e DB 1
        COPY e g DB 99
        COPY e g DB x
        COPY e g FOO
        SELECT 1
        sort1 KEYS *
        SELECT 0
        MOVE e 1
        MOVE f 1
        MOVE none 1
        MOVE f 0
        MOVE f 99
        SWAPDB 0 1
        SWAPDB 0 99
        SWAPDB x 0
        sort1 KEYS *
        TOUCH e f none
        UNLINK e f none
        FLUSHALL ASYNC
        FLUSHDB FOO
        RANDOMKEY
        SET one v
        RANDOMKEY
        SCAN 0 COUNT 0
        SCAN 0 COUNT x
        SCAN x
        SCAN 0 MATCH
        SCAN 0
        SCAN 0 MATCH x*
        SCAN 0 TYPE string COUNT 100
        SCAN 0 TYPE list
        OBJECT ENCODING one
        OBJECT ENCODING none
        SET n 12
        OBJECT ENCODING n
        SET long 0123456789012345678901234567890123456789012345
        OBJECT ENCODING long
        RPUSH l a
        OBJECT ENCODING l
        SADD s1 1 2
        OBJECT ENCODING s1
        SADD s2 a
        OBJECT ENCODING s2
        HSET h f v
        OBJECT ENCODING h
        ZADD z 1 a
        OBJECT ENCODING z
        OBJECT REFCOUNT h
        OBJECT FOO h
        OBJECT ENCODING
        OBJECT IDLETIME h
        SORT l
        SORT l ALPHA
        SORT s1
        SORT s1 DESC
        SORT s1 LIMIT 1 1
        SORT s1 STORE sorted
        LRANGE sorted 0 -1
        SORT n
        SORT none
        SORT_RO s1
        MSET w1 20 w2 10 o1 one o2 two
        SORT s1 BY w* GET o* GET # GET none*
        SORT s1 BY nosort LIMIT 0 1
        HSET hw1 f 5
        SORT s1 BY hw*->f DESC GET hw*->f
        SORT s1 FOO
        SORT s1 ALPHA LIMIT x 1
        SORT_RO s1 STORE x
        DEL
        EXPIRE a
    )");
}

TEST_F(RealRedisAnswers, OnBits) {
    play(R"(
        SETBIT b 7 1
        SETBIT b 7 0
        SETBIT b 20 1
        SETBIT b -1 1
        SETBIT b x 1
        SETBIT b 4294967296 1
        SETBIT b 1 2
        GETBIT b 20
        GETBIT b 21
        GETBIT b 900
        GETBIT none 1
        GET b
        SET t foobar
        BITCOUNT t
        BITCOUNT t 0 0
        BITCOUNT t 1 -2
        BITCOUNT t 5 30 BIT
        BITCOUNT t 1 1 BYTE
        BITCOUNT t 1 1 FOO
        BITCOUNT t 1
        BITCOUNT t x 1
        BITCOUNT t 9 1
        BITCOUNT none
        BITPOS t 1
        BITPOS t 0
        BITPOS t 1 2
        BITPOS t 1 2 3
        BITPOS t 1 7 15 BIT
        BITPOS t 2
        BITPOS t x
        BITPOS none 1
        BITPOS none 0
        SETRANGE ones 0 "\xff\xff"
        BITPOS ones 0
        BITPOS ones 0 0 -1
        BITPOS ones 0 1
        BITPOS ones 0 5
        BITPOS ones 1 5
        BITOP AND d t b
        GET d
        BITOP OR d t none
        GET d
        BITOP XOR d t ones
        GET d
        BITOP NOT d ones
        GET d
        BITOP NOT d t b
        BITOP FOO d t
        BITOP AND d none
        EXISTS d
        RPUSH l a
        SETBIT l 1 1
        GETBIT l 1
        BITCOUNT l
        BITPOS l 1
        BITOP AND d t l
    )");
}

TEST_F(RealRedisAnswers, OnCountedMembers) {
    play(R"(
        PFADD h a b c
        PFADD h a
        PFADD h
        PFADD new
        PFADD new
        PFCOUNT h
        PFCOUNT none
        PFADD other c d
        PFCOUNT h other
        PFMERGE all h other none
        PFCOUNT all
        PFMERGE fresh
        EXISTS fresh
        TYPE h
        SET s v
        PFADD s a
        PFCOUNT s
        PFMERGE all s
        RPUSH l a
        PFADD l a
        PFCOUNT h l
        DEL h
    )");
}

TEST_F(RealRedisAnswers, OnHashes) {
    play(R"(
        HSET h a 1 b 2
        HSET h a 1 b
        HSET h a 3 c 4
        HMSET h d 5
        HGET h a
        HGET h none
        HGET none a
        HMGET h a none b
        HMGET none a
        sort2 HGETALL h
        sort1 HKEYS h
        sort1 HVALS h
        HGETALL none
        HLEN h
        HLEN none
        HEXISTS h a
        HEXISTS h none
        HSTRLEN h a
        HSETNX h a 9
        HSETNX h e 9
        HINCRBY h a 4
        HINCRBY h new 4
        HINCRBY h a x
        HSET h t text
        HINCRBY h t 1
        HINCRBY h a 9223372036854775807
        HINCRBYFLOAT h a 1.5
        HINCRBYFLOAT h newf 0.1
        HINCRBYFLOAT h t 1
        HINCRBYFLOAT h a x
        HDEL h a none
        HDEL none a
        HSET one f v
        HRANDFIELD one
        HRANDFIELD one 5
        HRANDFIELD one -3
        HRANDFIELD one 2 WITHVALUES
        HRANDFIELD one 2 FOO
        HRANDFIELD none
        HRANDFIELD none 2
        HRANDFIELD one x
        HSCAN one 0
        HSCAN one 0 MATCH x*
        HSCAN one 0 COUNT 100
        HSCAN one x
        HSCAN none 0
        HSCAN one 0 FOO 1
        HDEL one f
        EXISTS one
        SET s v
        HGET s f
        HSET s f v
        HGETALL s
        HSCAN s 0
    )");
}

TEST_F(RealRedisAnswers, OnLists) {
    play(R"(
        RPUSH l a b c
        LPUSH l z y
        LRANGE l 0 -1
        LRANGE l 1 -2
        LRANGE l 5 9
        LRANGE none 0 -1
        LRANGE l x 1
        LPUSHX none a
        RPUSHX l d
        LPOP l
        RPOP l
        LPOP l 0
        LPOP l 2
        LPOP none
        LPOP none 2
        LPOP l -1
        LPOP l x
        LPOP l 1 2
        LLEN l
        LINDEX l 0
        LINDEX l -1
        LINDEX l 9
        LSET l 0 A
        LSET l 9 A
        LSET none 0 A
        LINSERT l BEFORE A first
        LINSERT l AFTER A second
        LINSERT l AFTER none x
        LINSERT none AFTER a x
        LINSERT l FOO A x
        LRANGE l 0 -1
        LREM l 1 first
        LREM l 0 none
        LREM none 0 a
        RPUSH m a b c 1 2 3 c c
        LPOS m c
        LPOS m none
        LPOS m c RANK 2
        LPOS m c RANK -1
        LPOS m c COUNT 2
        LPOS m c COUNT 0
        LPOS m c RANK -1 COUNT 2
        LPOS m c COUNT 0 MAXLEN 3
        LPOS m c RANK 0
        LPOS m c RANK x
        LPOS m c COUNT -1
        LPOS m c MAXLEN -1
        LPOS m c FOO 1
        LPOS none c
        LPOS none c COUNT 1
        LMOVE m n LEFT RIGHT
        LMOVE m n RIGHT LEFT
        LMOVE m n FOO LEFT
        LMOVE none n LEFT LEFT
        LMOVE m m LEFT RIGHT
        RPOPLPUSH m n
        RPOPLPUSH none n
        LRANGE m 0 -1
        LRANGE n 0 -1
        LMPOP 1 m LEFT
        LMPOP 2 none m RIGHT COUNT 2
        LMPOP 1 none LEFT
        LMPOP 0 m LEFT
        LMPOP x m LEFT
        LMPOP 1 m FOO
        LMPOP 1 m LEFT COUNT 0
        LMPOP 1 m LEFT FOO 1
        LMPOP 5 m LEFT
        LTRIM m 0 0
        LTRIM none 0 0
        LTRIM m 5 9
        EXISTS m
        SET s v
        LPUSH s a
        LPOP s
        LRANGE s 0 1
        LMOVE s n LEFT LEFT
        LMOVE n s LEFT LEFT
        LMPOP 1 s LEFT
        RPUSHX s a
    )");
}

TEST_F(RealRedisAnswers, OnSets) {
    play(R"(
        SADD s a b a
        SADD t b c
        SADD s a
        SCARD s
        SCARD none
        SISMEMBER s a
        SISMEMBER s c
        SMISMEMBER s a c
        SMISMEMBER none a
        sort1 SMEMBERS s
        SMEMBERS none
        sort1 SUNION s t none
        SINTER s t
        SINTER s none
        SDIFF s t
        SDIFF none t
        SUNIONSTORE u s t
        SINTERSTORE i s t
        SDIFFSTORE d s t
        SINTERSTORE i s none
        EXISTS i
        SINTERCARD 2 s t
        SINTERCARD 2 s t LIMIT 1
        SINTERCARD 2 s t LIMIT -1
        SINTERCARD 0 s
        SINTERCARD 3 s t
        SINTERCARD 1 s FOO 1
        SMOVE s t a
        SMOVE s t none
        SMOVE none t a
        SREM s b none
        EXISTS s
        SREM none a
        SADD one m
        SPOP none
        SPOP none 2
        SPOP one -1
        SRANDMEMBER one
        SRANDMEMBER one 3
        SRANDMEMBER one -3
        SRANDMEMBER none
        SRANDMEMBER none 2
        SRANDMEMBER one x
        SRANDMEMBER one 1 2
        SSCAN one 0
        SSCAN one 0 MATCH x
        SSCAN none 0
        SPOP one 5
        SADD one m
        SPOP one
        SPOP one 1 2
        SET str v
        SADD str a
        SUNION str t
        SINTER t str
        SUNIONSTORE x str
        SMOVE t str a
    )");
}

TEST_F(RealRedisAnswers, OnSortedSets) {
    play(R"(
        ZADD z 1 a 2 b 3 c
        ZADD z 1 a
        ZADD z CH 5 a 6 d
        ZADD z XX 9 none
        ZADD z NX 9 a 7 e
        ZADD z GT CH 1 a
        ZADD z LT CH 1 a
        ZADD z INCR 2.5 a
        ZADD z NX INCR 2.5 a
        ZADD z XX INCR 2.5 none
        ZADD z GT INCR -1 a
        ZADD z NX XX 1 a
        ZADD z NX GT 1 a
        ZADD z INCR 1 a 2 b
        ZADD z 1 a 2
        ZADD z x a
        ZADD z nan a
        ZADD none XX 1 a
        ZADD none XX INCR 1 a
        ZADD z inf i
        ZINCRBY z -inf i
        ZINCRBY z 1.5 b
        ZINCRBY z x b
        ZREM z i none
        ZCARD z
        ZCARD none
        ZSCORE z a
        ZSCORE z none
        ZSCORE none a
        ZMSCORE z a none
        ZMSCORE none a
        ZRANK z a
        ZRANK z none
        ZREVRANK z a
        ZRANGE z 0 -1
        ZRANGE z 0 -1 WITHSCORES
        ZRANGE z 0 1 REV WITHSCORES
        ZRANGE z (1 3.5 BYSCORE WITHSCORES
        ZRANGE z -inf +inf BYSCORE LIMIT 1 2
        ZRANGE z 6 1 BYSCORE REV
        ZRANGE z +inf (3.5 BYSCORE REV LIMIT 0 1
        ZRANGE z 0 1 LIMIT 0 1
        ZRANGE z [a [b BYLEX WITHSCORES
        ZRANGE z x 1
        ZRANGE z x 1 BYSCORE
        ZRANGE z x 1 BYLEX
        ZRANGE z 0 1 FOO
        ZRANGE none 0 1
        ZRANGE none 0 1 WITHSCORES
        ZADD l 0 a 0 b 0 c 0 d
        ZRANGE l [b (d BYLEX
        ZRANGE l - + BYLEX
        ZRANGE l + [c BYLEX REV
        ZRANGE l - + BYLEX LIMIT 1 2
        ZRANGE l + - BYLEX
        ZRANGEBYLEX l - [b
        ZREVRANGEBYLEX l [c -
        ZLEXCOUNT l [b +
        ZLEXCOUNT l - (c
        ZRANGEBYSCORE z 1 5
        ZRANGEBYSCORE z 1 5 WITHSCORES LIMIT 0 2
        ZRANGEBYSCORE z 1 5 FOO
        ZRANGEBYSCORE z -inf +inf LIMIT 0 -1
        ZRANGEBYSCORE z -inf +inf LIMIT -1 2
        ZREVRANGEBYSCORE z 5 1 WITHSCORES
        ZREVRANGE z 0 1
        ZREVRANGE z 0 1 WITHSCORES
        ZCOUNT z 1 (6
        ZCOUNT z x 6
        ZCOUNT none 1 2
        ZRANGESTORE r z 0 1
        ZRANGESTORE r z 1 5 BYSCORE
        ZRANGE r 0 -1 WITHSCORES
        ZRANGESTORE r none 0 1
        EXISTS r
        ZADD p 1 a 2 b 3 c 4 d 5 e 6 f
        ZPOPMIN p
        ZPOPMAX p
        ZPOPMIN p 2
        ZPOPMIN none
        ZPOPMIN none 2
        ZPOPMIN p 0
        ZPOPMIN p -1
        ZPOPMIN p 1 2
        ZMPOP 1 p MIN
        ZMPOP 2 none p MAX COUNT 10
        ZMPOP 1 none MIN
        ZMPOP 0 p MIN
        ZMPOP 1 p FOO
        ZADD a 1 x 2 y
        ZADD b 10 y 20 z
        SADD plain y
        ZUNION 2 a b WITHSCORES
        ZUNION 2 a b
        ZUNION 2 a b WEIGHTS 2 3 AGGREGATE MAX WITHSCORES
        ZUNION 2 a b WEIGHTS 2
        ZUNION 2 a b WEIGHTS 2 x
        ZUNION 2 a b AGGREGATE FOO
        ZUNION 0 a
        ZUNION x a
        ZUNION 5 a
        ZINTER 2 a b WITHSCORES
        ZINTER 2 a plain WITHSCORES AGGREGATE MIN
        ZDIFF 2 a b WITHSCORES
        ZDIFF 2 a b WEIGHTS 1 2
        ZINTERCARD 2 a b
        ZINTERCARD 2 a b LIMIT 1
        ZINTERCARD 2 a b LIMIT -1
        ZINTERCARD 0 a
        ZUNIONSTORE u 2 a b
        ZRANGE u 0 -1 WITHSCORES
        ZINTERSTORE u 2 a b WEIGHTS 1 2
        ZDIFFSTORE u 2 b a
        ZUNIONSTORE u 2 a b WITHSCORES
        ZINTERSTORE u 2 a none
        EXISTS u
        ZADD rr 1 a 2 b 3 c 4 d
        ZREMRANGEBYRANK rr 0 0
        ZREMRANGEBYSCORE rr (2 3
        ZREMRANGEBYLEX rr - +
        ZREMRANGEBYRANK none 0 1
        ZREMRANGEBYSCORE none x 1
        EXISTS rr
        ZADD one 1.25 m
        ZRANDMEMBER one
        ZRANDMEMBER one 3
        ZRANDMEMBER one -2 WITHSCORES
        ZRANDMEMBER one 1 FOO
        ZRANDMEMBER none
        ZRANDMEMBER none 1
        ZSCAN one 0
        ZSCAN one 0 MATCH x
        ZSCAN none 0
        ZADD big 1e20 a 100000 b -0.5 c 1e-10 d 12345678901 e
        ZRANGE big 0 -1 WITHSCORES
        SET s v
        ZADD s 1 a
        ZRANGE s 0 1
        ZUNION 1 s
        ZSCORE s a
        ZPOPMIN s
    )");
}

TEST_F(RealRedisAnswers, OnTransactions) {
    play(R"(
        EXEC
        DISCARD
        MULTI
        MULTI
        WATCH a
        SET a 1
        INCR a
        EXEC
        MULTI
        FOO
        SET b 1
        EXEC
        MULTI
        GET
        EXEC
        MULTI
        SET b 1
        DISCARD
        GET b
        WATCH a
        1> SET a 9
        MULTI
        GET a
        EXEC
        WATCH a
        SET a 5
        MULTI
        EXEC
        WATCH a
        1> SET a 6
        UNWATCH
        MULTI
        GET a
        EXEC
        WATCH a none
        1> SET none 1
        MULTI
        EXEC
        WATCH none
        1> DEL none
        MULTI
        EXEC
        WATCH none
        1> DEL none
        MULTI
        EXEC
        WATCH a
        1> FLUSHALL
        MULTI
        EXEC
        WATCH a
        1> FLUSHALL
        MULTI
        EXEC
        SET a v PXAT 1
        WATCH a
        MULTI
        EXEC
        RPUSH l x
        WATCH l
        1> LREM l 0 none
        MULTI
        EXEC
        WATCH l
        1> LPOP l
        MULTI
        EXEC
        WATCH a
        MULTI
        1> SET a 1
        DISCARD
        MULTI
        EXEC
        MULTI
        BLPOP none 0
        BLMOVE none x LEFT LEFT 0
        BRPOPLPUSH none x 0
        BZPOPMIN none 0
        BLMPOP 0 1 none LEFT
        WAIT 1 0
        INCR a
        EXEC
        MULTI
        SUBSCRIBE x
        EXEC
        UNSUBSCRIBE x
        MULTI
        SELECT 1
        SET other v
        SELECT 0
        EXEC
        MULTI
        UNWATCH
        EXEC
    )");
}

TEST_F(RealRedisAnswers, WhenCommandsWait) {
    play(R"(
        BLPOP none x
        BLPOP none -1
        BLMPOP -1 1 none LEFT
        BLPOP none 0.01
        BLMOVE none x LEFT LEFT 0.01
        BRPOPLPUSH none x 0.01
        BLMPOP 0.01 1 none LEFT
        BZPOPMIN none 0.01
        BZMPOP 0.01 1 none MIN
        RPUSH l a b
        BLPOP none l 0
        BRPOP l 0
        ! BLPOP l 0
        ~1
        1> ! BRPOP l 0
        ~2
        2> RPUSH l a b c
        <0
        <1
        2> LRANGE l 0 -1
        2> DEL l
        ! BLPOP x y 0
        ~1
        2> MULTI
        2> RPUSH y 1
        2> RPUSH x 2
        2> EXEC
        <0
        2> DEL x y
        ! BLPOP s t 0
        ~1
        2> SET s v
        2> RPUSH t 1
        <0
        ! BLMOVE a b LEFT RIGHT 0
        ~1
        1> ! BLPOP b 0
        ~2
        2> LPUSH a moved
        <0
        <1
        2> SET b text
        ! BLMOVE a b LEFT RIGHT 0
        ~1
        2> LPUSH a moved
        <0
        2> LRANGE a 0 -1
        2> DEL a b
        ! BRPOPLPUSH a b 0
        ~1
        2> RENAME t a
        2> RPUSH t new
        2> RENAME t a
        <0
        ! BZPOPMIN z 0
        ~1
        1> ! BZPOPMAX z 0
        ~2
        2> ZADD z 1 a 2 b 3 c
        <0
        <1
        2> ZRANGE z 0 -1
        2> DEL z
        ! BZMPOP 0 2 z y MAX COUNT 2
        ~1
        2> ZADD z 1 a 2 b 3 c
        <0
        ! BLMPOP 0 2 z2 y2 RIGHT COUNT 2
        ~1
        2> RPUSH y2 a b c
        <0
        2> DEL y2
        ! BLPOP y2 0
        ~1
        2> MULTI
        2> RPUSH y2 a
        2> LPOP y2
        2> EXEC
        2> RPUSH y2 b
        <0
        ! BLPOP y2 y2 0
        ~1
        2> RPUSH y2 twice
        <0
        2> EXISTS y2
        SELECT 1
        ! BLPOP y2 0
        ~1
        2> RPUSH y2 b
        2> MOVE y2 1
        <0
        SELECT 0
        CLIENT UNBLOCK 99999
        CLIENT UNBLOCK x
        CLIENT UNBLOCK 1 FOO
        WAIT 0 0
        WAIT 0 10
        WAIT 1 10
        WAIT x 10
        WAIT 1 x
        WAIT 1 -1
    )");
}

TEST_F(RealRedisAnswers, OnStreams) {
    play(R"(
        XADD s 1-1 a 1
        XADD s 1-1 a 1
        XADD s 1 a 1
        XADD s 0-0 a 1
        XADD other 0-0 a 1
        XADD s 0-1 a 1
        XADD s x a 1
        XADD s 1-x a 1
        XADD s 1-* a 1
        XADD s 3-* a 1 b 2
        XADD s 2-* a 1
        XADD s 5 a 1
        XADD s 5-1
        XADD s 6-1 a
        XADD none NOMKSTREAM 1-1 a 1
        XADD new 0-* a 1
        XADD new 18446744073709551615-18446744073709551615 a 1
        XADD new * a 1
        ? XADD now * a 1
        XADD s MAXLEN 3 7-1 a 1
        XADD s MAXLEN = 2 7-2 a 1
        XADD s MINID 7-1 7-3 a 1
        XADD s MAXLEN -1 8-1 a 1
        XADD s MAXLEN x 8-1 a 1
        XADD s MAXLEN 5 LIMIT 10 8-1 a 1
        XADD s MAXLEN ~ 5 LIMIT -1 8-1 a 1
        XADD s LIMIT 5 8-1 a 1
        XADD s MAXLEN 5 MINID 1 8-1 a 1
        XADD s MAXLEN ~ 100 LIMIT 10 8-1 a 1
        XLEN s
        XLEN none
        XRANGE s - +
        XRANGE s 7-2 7-2
        XRANGE s 7 7
        XRANGE s (7-2 +
        XRANGE s - (7-2
        XRANGE s - + COUNT 1
        XRANGE s - + COUNT 0
        XRANGE s - + COUNT -1
        XRANGE s - + COUNT x
        XRANGE s - + FOO 1
        XRANGE s x +
        XRANGE s (18446744073709551615-18446744073709551615 +
        XRANGE s - (0-0
        XRANGE s (- +
        XRANGE s + -
        XRANGE none - +
        XRANGE none - + COUNT 0
        XREVRANGE s + -
        XREVRANGE s + - COUNT 2
        XREVRANGE s (8-1 7-2
        XINFO STREAM s
        XDEL s 7-2 9-9
        XDEL s x
        XDEL none 1-1
        XINFO STREAM s
        XINFO STREAM none
        XINFO STREAM s FULL
        XINFO STREAM s FULL COUNT 1
        XINFO STREAM s FOO
        XINFO FOO s
        XTRIM s MAXLEN 2
        XTRIM s MAXLEN 2
        XTRIM s MINID 8-1
        XTRIM s FOO 1
        XTRIM s MAXLEN
        XTRIM none MAXLEN 1
        XTRIM s MAXLEN = 1 LIMIT 1
        XTRIM s MAXLEN ~ 1 MINID ~ 1
        XINFO STREAM s
        XDEL s 8-1
        XLEN s
        XINFO STREAM s
        EXISTS s
        XSETID s 10-0
        XSETID s 1-0
        XSETID s 11-0 ENTRIESADDED 100 MAXDELETEDID 9-0
        XSETID s 12-0 MAXDELETEDID 13-0
        XSETID s 12-0 ENTRIESADDED -1
        XSETID none 1-0
        XINFO STREAM s
        TYPE s
        OBJECT ENCODING s
        SET str v
        XADD str 1-1 a 1
        XRANGE str - +
        XLEN str
        XREAD STREAMS str 0
        XADD r 1-1 a 1
        XADD r 2-1 b 2
        XADD q 1-1 c 3
        XREAD STREAMS r 0
        XREAD COUNT 1 STREAMS r q 0 0
        XREAD STREAMS r q 1-1 1-1
        XREAD STREAMS r $
        XREAD STREAMS none 0
        XREAD STREAMS r
        XREAD STREAMS r q 0
        XREAD STREAMS r x
        XREAD STREAMS r >
        XREAD FOO STREAMS r 0
        XREAD COUNT x STREAMS r 0
        XREAD COUNT -1 STREAMS r 0
        XREAD BLOCK x STREAMS r $
        XREAD BLOCK -1 STREAMS r $
        XREAD BLOCK 10 STREAMS r $
        XREAD GROUP g c STREAMS r 0
        XREAD NOACK STREAMS r 0
        XREAD r 0 r
        MULTI
        XREAD BLOCK 0 STREAMS r $
        EXEC
        ! XREAD BLOCK 0 STREAMS r none $ $
        ~1
        1> XREAD BLOCK 0 COUNT 1 STREAMS r 1-5
        1> PING
        2> XADD none 1-1 a 1
        <0
        ! XREAD BLOCK 0 STREAMS r $
        ~1
        2> MULTI
        2> XADD r 3-1 a 1
        2> XADD r 3-2 a 1
        2> EXEC
        <0
        ! XREAD BLOCK 0 COUNT 1 STREAMS r $
        ~1
        2> DEL r
        2> SET r v
        2> DEL r
        2> XADD r 1-1 old 1
        2> XADD r 9-1 new 1
        <0
    )");
}

TEST_F(RealRedisAnswers, OnGroupsOfStreams) {
    play(R"(
        XGROUP CREATE s g $
        XGROUP CREATE s g $ MKSTREAM
        XGROUP CREATE s g $ MKSTREAM
        XGROUP CREATE s h x
        XGROUP CREATE s h 0 ENTRIESREAD 1
        XGROUP CREATE s i 0 ENTRIESREAD -2
        XGROUP CREATE s i 0 ENTRIESREAD x
        XGROUP CREATE s i 0 FOO
        XGROUP CREATE s
        XGROUP FOO s
        XINFO GROUPS s
        XINFO GROUPS none
        XINFO STREAM s
        XADD s 1-1 a 1
        XADD s 2-1 b 2
        XADD s 3-1 c 3
        XADD s 4-1 d 4
        XREADGROUP GROUP g alice COUNT 1 STREAMS s >
        XREADGROUP GROUP g bob COUNT 2 STREAMS s >
        XREADGROUP GROUP g bob STREAMS s 0
        XREADGROUP GROUP g bob COUNT 1 STREAMS s 2-1
        XREADGROUP GROUP g carol STREAMS s 0
        XREADGROUP GROUP g carol NOACK STREAMS s >
        XREADGROUP GROUP g carol STREAMS s >
        XREADGROUP GROUP none carol STREAMS s >
        XREADGROUP GROUP g carol STREAMS none >
        XREADGROUP GROUP g carol STREAMS s $
        XREADGROUP GROUP g carol STREAMS s x
        XREADGROUP STREAMS s >
        XREADGROUP GROUP g carol STREAMS s
        XREADGROUP GROUP g carol STREAMS s s >
        XREADGROUP COUNT 1 COUNT 1 COUNT 1 STREAMS s >
        XPENDING s g
        XPENDING s h
        XPENDING s none
        XPENDING none g
        XPENDING s g - +
        XPENDING s g - + x
        XPENDING s g x + 10
        XPENDING s g - + 10 nobody
        XPENDING s g - + 0
        XPENDING s g IDLE x - + 10
        XPENDING s g IDLE 100000 - + 10
        ? XPENDING s g - + 10
        ? XPENDING s g (1-1 + 10 bob
        XINFO GROUPS s
        ? XINFO CONSUMERS s g
        XINFO CONSUMERS s none
        XINFO CONSUMERS none g
        ? XINFO STREAM s FULL
        XACK s g 1-1 9-9
        XACK s g x
        XACK s none 1-1
        XACK none g 1-1
        XPENDING s g
        XCLAIM s g dave 0 2-1 3-1
        XCLAIM s g dave 100000 2-1
        XCLAIM s g dave 0 2-1 JUSTID
        XCLAIM s g dave 0 1-1
        XCLAIM s g dave 0 1-1 FORCE
        XCLAIM s g dave 0 9-9 FORCE
        XCLAIM s g dave x 2-1
        XCLAIM s g dave 0 x
        XCLAIM s g dave 0 2-1 FOO
        XCLAIM s g dave 0 2-1 IDLE x
        XCLAIM s g dave 0 2-1 TIME x
        XCLAIM s g dave 0 2-1 RETRYCOUNT x
        XCLAIM s g dave 0 2-1 IDLE 10000000 RETRYCOUNT 7 JUSTID
        XCLAIM s none dave 0 2-1
        XCLAIM none g dave 0 2-1
        XCLAIM s g dave 0 3-1 TIME 1000 LASTID 3-9
        XAUTOCLAIM s g erin 5000000 0
        XAUTOCLAIM s g erin 5000000 0
        XAUTOCLAIM s g erin 0 0 COUNT 1
        XAUTOCLAIM s g erin 0 (1-1 COUNT 1 JUSTID
        XAUTOCLAIM s g erin x 0
        XAUTOCLAIM s g erin 0 x
        XAUTOCLAIM s g erin 0 0 COUNT 0
        XAUTOCLAIM s g erin 0 0 FOO
        XAUTOCLAIM s none erin 0 0
        XAUTOCLAIM none g erin 0 0
        XDEL s 2-1
        XREADGROUP GROUP g erin STREAMS s 0
        XREADGROUP GROUP g dave STREAMS s 0
        XAUTOCLAIM s g erin 0 0
        XINFO GROUPS s
        XCLAIM s g dave 0 2-1
        XDEL s 3-1
        XCLAIM s g dave 0 3-1
        XPENDING s g
        XGROUP CREATECONSUMER s g zoe
        XGROUP CREATECONSUMER s g zoe
        XGROUP CREATECONSUMER s none zoe
        XGROUP CREATECONSUMER none g zoe
        XGROUP DELCONSUMER s g zoe
        XGROUP DELCONSUMER s g zoe
        XGROUP DELCONSUMER s g dave
        XGROUP DELCONSUMER s g erin
        XPENDING s g
        XGROUP SETID s g 0
        XGROUP SETID s g x
        XGROUP SETID s none 0
        XGROUP SETID none g 0
        XGROUP SETID s g $ ENTRIESREAD 3
        XINFO GROUPS s
        XADD s 5-1 e 5
        XREADGROUP GROUP g alice STREAMS s >
        XINFO GROUPS s
        XGROUP DESTROY s h
        XGROUP DESTROY s h
        XGROUP DESTROY none h
        XREADGROUP GROUP g alice BLOCK 10 STREAMS s >
        ! XREADGROUP GROUP g alice BLOCK 0 STREAMS s >
        ~1
        1> ! XREADGROUP GROUP g bob BLOCK 0 STREAMS s >
        ~2
        2> XADD s 6-1 f 6
        <0
        2> XADD s 7-1 g 7
        <1
        XPENDING s g
        ! XREADGROUP GROUP g alice BLOCK 0 STREAMS s >
        ~1
        2> XGROUP DESTROY s g
        <0
        XGROUP CREATE s g $
        ! XREADGROUP GROUP g alice BLOCK 0 STREAMS s >
        ~1
        2> DEL s
        <0
        SET str v
        XGROUP CREATE str g $
        XREADGROUP GROUP g a STREAMS str >
        XACK str g 1-1
        XPENDING str g
    )");
}

// The same scripts in C++ as in Lua.
void answers_add_scripts(redis::server_engine& engine) {
    engine.add_script("return redis.call('GET', KEYS[1])",
                      [](redis::server_script_run& s) { return s.run({"GET", s.keys()[0]}); });
    engine.add_script("return redis.call('INCRBY', KEYS[1], ARGV[1])",
                      [](redis::server_script_run& s) { return s.run({"INCRBY", s.keys()[0], s.arguments()[0]}); });
    engine.add_script("return {1, 'two', {3, false}, redis.status_reply('FOUR')}", [](redis::server_script_run&) {
        return std::vector<redis::server_value>{1, "two", std::vector<redis::server_value>{3, {}},
                                                redis::server_value::status("FOUR")};
    });
    engine.add_script("return redis.error_reply('MY own error')",
                      [](redis::server_script_run&) { return redis::server_value::error("MY own error"); });
    engine.add_script("redis.call('SELECT', 1); redis.call('SET', KEYS[1], 'there'); return #KEYS + #ARGV",
                      [](redis::server_script_run& s) {
                          s.run({"SELECT", "1"});
                          s.run({"SET", s.keys()[0], "there"});
                          return redis::server_value(static_cast<int>(s.keys().size() + s.arguments().size()));
                      });
    engine.add_script("return redis.call('BLPOP', KEYS[1], 0)",
                      [](redis::server_script_run& s) { return s.run({"BLPOP", s.keys()[0], "0"}); });
    engine.add_script("return redis.call('HGETALL', KEYS[1])",
                      [](redis::server_script_run& s) { return s.run({"HGETALL", s.keys()[0]}); });
    engine.add_script("redis.call('RPUSH', KEYS[1], 'x'); return redis.call('RPUSH', KEYS[2], 'y')",
                      [](redis::server_script_run& s) {
                          s.run({"RPUSH", s.keys()[0], "x"});
                          return s.run({"RPUSH", s.keys()[1], "y"});
                      });
}

TEST_F(RealRedisAnswers, OnScripts) {
    play(R"-(
        SCRIPT FLUSH
        SET k v
        EVAL "return redis.call('GET', KEYS[1])" 1 k
        EVAL "return redis.call('GET', KEYS[1])" 1 none
        EVAL "return redis.call('INCRBY', KEYS[1], ARGV[1])" 1 n 5
        EVAL "return {1, 'two', {3, false}, redis.status_reply('FOUR')}" 0
        EVAL "return redis.error_reply('MY own error')" 0
        EVAL "redis.call('SELECT', 1); redis.call('SET', KEYS[1], 'there'); return #KEYS + #ARGV" 2 a b c
        GET a
        SELECT 1
        GET a
        SELECT 0
        ? EVAL "return redis.call('BLPOP', KEYS[1], 0)" 1 none
        HSET h f v
        EVAL "return redis.call('HGETALL', KEYS[1])" 1 h
        EVAL "return redis.call('GET', KEYS[1])" x k
        EVAL "return redis.call('GET', KEYS[1])" 2 k
        EVAL "return redis.call('GET', KEYS[1])" -1 k
        EVAL "return redis.call('GET', KEYS[1])"
        EVAL_RO "return redis.call('GET', KEYS[1])" 1 k
        ? EVAL "no lua at all" 0
        EVALSHA d3c21d0c2b9ca22f82737626a27bcaf5d288f99f 1 k
        EVALSHA D3C21D0C2B9CA22F82737626A27BCAF5D288F99F 1 k
        EVALSHA 0000000000000000000000000000000000000000 0
        SCRIPT LOAD "return redis.call('GET', KEYS[1])"
        SCRIPT LOAD "return redis.call('INCRBY', KEYS[1], ARGV[1])"
        SCRIPT EXISTS d3c21d0c2b9ca22f82737626a27bcaf5d288f99f 0000000000000000000000000000000000000000
        SCRIPT FLUSH FOO
        SCRIPT FLUSH SYNC
        SCRIPT EXISTS d3c21d0c2b9ca22f82737626a27bcaf5d288f99f
        EVALSHA d3c21d0c2b9ca22f82737626a27bcaf5d288f99f 1 k
        SCRIPT KILL
        SCRIPT FOO
        FCALL none 0
        FCALL none x
        FCALL_RO none 0
        MULTI
        EVAL "return redis.call('INCRBY', KEYS[1], ARGV[1])" 1 n 5
        EXEC
        ! BLPOP q2 q1 0
        ~1
        1> EVAL "redis.call('RPUSH', KEYS[1], 'x'); return redis.call('RPUSH', KEYS[2], 'y')" 2 q1 q2
        <0
    )-",
         answers_add_scripts);
}

TEST_F(RealRedisAnswers, OnAccessControl) {
    play(R"(
        ACL DELUSER alice bob
        ACL WHOAMI
        ACL LIST
        ACL USERS
        ACL GETUSER default
        ACL GETUSER alice
        AUTH foo
        AUTH nobody foo
        AUTH default anything
        AUTH a b c
        ACL SETUSER alice
        ACL GETUSER alice
        ACL LIST
        ACL SETUSER alice on >pw ~cache:* +get +set +select +publish +subscribe +psubscribe +acl|whoami +mget +lmpop
        ? ACL GETUSER alice
        ACL SETUSER alice &news:*
        ACL SETUSER alice +nosuch
        ACL SETUSER alice +@nosuch
        ACL SETUSER alice foo
        ACL SETUSER alice <other
        ACL SETUSER alice #123
        ACL SETUSER default ~x
        ACL SETUSER default &x
        1> AUTH alice wrong
        1> ACL WHOAMI
        1> AUTH alice pw
        1> ACL WHOAMI
        1> GET other
        1> GET cache:1
        1> SET cache:1 v
        1> DEL cache:1
        1> MGET cache:1 other
        1> LMPOP 2 cache:l other LEFT
        1> ACL LIST
        1> PING
        1> PUBLISH news:1 x
        1> PUBLISH other x
        1> SUBSCRIBE other
        1> PSUBSCRIBE news:*
        1> PSUBSCRIBE other*
        1> MULTI
        1> GET other
        1> EXEC
        1> NOSUCH
        1> GET
        2> HELLO 2 AUTH alice wrong
        2> ? HELLO 2 AUTH alice pw
        2> ACL WHOAMI
        2> RESET
        2> ACL WHOAMI
        ACL SETUSER alice off
        2> AUTH alice pw
        ACL SETUSER alice on
        ACL SETUSER bob on nopass allkeys +@read -get
        2> AUTH bob x
        2> GET k
        2> STRLEN k
        2> SET k v
        2> ACL WHOAMI
        2> PUBLISH x y
        2> RESET
        ACL SETUSER bob resetkeys
        2> AUTH bob x
        2> STRLEN k
        2> RESET
        ACL SETUSER bob reset
        ACL GETUSER bob
        ACL SETUSER bob on >a >b
        ACL SETUSER bob <a
        2> AUTH bob a
        2> AUTH bob b
        2> RESET
        ACL SETUSER bob nocommands allcommands
        ACL GETUSER bob
        ACL SETUSER bob -@dangerous
        ACL SETUSER bob -config|get
        ACL SETUSER bob resetpass
        2> AUTH bob b
        ACL DELUSER default
        ACL DELUSER bob nobody
        ACL SETUSER default >secret
        ACL SETUSER default nopass
        ACL FOO
        ACL SETUSER
        ACL CAT nosuch
        ACL DELUSER alice bob
    )");
}

TEST_F(RealRedisAnswers, TheTableOfCommandsIsThatOfTheServer) {
    answers_pair both(ctx_, *server_);
    std::size_t compared = 0;
    std::string const list = both.ours("COMMAND LIST");
    for (std::string_view names = list; names.find("\r\n$") != names.npos; ++compared) {
        names.remove_prefix(names.find("\r\n$") + 3);
        std::string_view const name =
            names.substr(names.find('\n') + 1, names.find('\r', names.find('\n')) - names.find('\n') - 1);
        both.compare_table_row(std::string(name));
    }
    EXPECT_GT(compared, 150U);
}

} // namespace
} // namespace fairlead::test
