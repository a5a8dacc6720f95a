// Each typed command once, against a real server, in RESP3 and in RESP2.

#include "real_redis.hpp"

#include <fairlead/redis/cmd.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace fairlead::test {

namespace cmd = redis::cmd;

namespace {

/// One connection to a server that speaks RESP3, or to one that does not know HELLO.
class RealRedisTyped : public RealRedis, public testing::WithParamInterface<int> {
protected:
    static void SetUpTestSuite() {
        RealRedis::SetUpTestSuite();
        old_ = std::make_unique<redis_server_process>(std::vector<std::string>{"--rename-command", "HELLO", ""});
    }
    static void TearDownTestSuite() {
        old_.reset();
        RealRedis::TearDownTestSuite();
    }
    void SetUp() override {
        RealRedis::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        if (GetParam() == 2) {
            cfg_.address = old_->address();
            wait_until_it_listens();
        }
        cfg_.dedicated = true;
        ctx_.restart();
        conn_.emplace(ctx_);
        conn_->async_run(cfg_, detached);
        get(cmd::flushall(redis::options::at_once));
    }
    void TearDown() override {
        if (conn_)
            conn_->cancel();
        run_all(ctx_);
        conn_.reset();
    }

    template <class Response> error_code execute(redis::request const& request, Response& response) {
        error_code result;
        bool is_over = false;
        conn_->async_exec(request, response, [&](error_code ec, std::size_t) {
            result = ec;
            is_over = true;
        });
        while (!is_over && ctx_.run_one_for(std::chrono::seconds(30)) != 0) {
        }
        EXPECT_TRUE(is_over) << "no reply to " << request.payload();
        return result;
    }
    /// The result of a command that succeeds.
    template <class Command> typename Command::result_type get(Command const& command) {
        auto response = command.response();
        auto const ec = execute(command.req(), response);
        EXPECT_FALSE(ec) << ec.message() << " to\n" << command.req().payload();
        return std::move(response).value();
    }
    template <class Command> void refuse(Command const& command) {
        auto response = command.response();
        EXPECT_EQ(execute(command.req(), response), redis::condition::refused_by_server) << command.req().payload();
    }

    static inline std::unique_ptr<redis_server_process> old_;
    std::optional<redis::connection> conn_;
};
INSTANTIATE_TEST_SUITE_P(Resp, RealRedisTyped, testing::Values(3, 2));

using texts = std::vector<std::string>;

} // namespace

TEST_P(RealRedisTyped, Strings) {
    using namespace redis::options;
    using namespace std::chrono_literals;
    auto const soon = std::chrono::system_clock::now() + 1h;
    EXPECT_EQ(get(cmd::get("k")), std::nullopt);
    EXPECT_TRUE(get(cmd::set("k", "v", ex(10s), nx)));
    EXPECT_FALSE(get(cmd::set("k", "w", nx)));
    EXPECT_TRUE(get(cmd::set("k", "v", px(10s), xx)));
    EXPECT_TRUE(get(cmd::set("k", "v", ex_at(soon))));
    EXPECT_TRUE(get(cmd::set("k", "v", px_at(soon))));
    EXPECT_EQ(get(cmd::set("k", 7, keep_ttl, get_old)), "v");
    EXPECT_EQ(get(cmd::get<long>("k")), 7);
    EXPECT_EQ(get(cmd::append("k", "5")), 2);
    EXPECT_EQ(get(cmd::incr("k")), 76);
    EXPECT_EQ(get(cmd::incrby("k", 4)), 80);
    EXPECT_EQ(get(cmd::decr("k")), 79);
    EXPECT_EQ(get(cmd::decrby("k", 9)), 70);
    EXPECT_EQ(get(cmd::incrbyfloat("k", 0.5)), 70.5);
    EXPECT_EQ(get(cmd::getex<double>("k", ex(20s))), 70.5);
    EXPECT_EQ(get(cmd::getex("k", no_expiry)), "70.5");
    EXPECT_EQ(get(cmd::getrange("k", 0, 1)), "70");
    EXPECT_EQ(get(cmd::setrange("k", 1, "abc")), 4);
    EXPECT_EQ(get(cmd::strlen("k")), 4);
    EXPECT_EQ(get(cmd::getset("k", "x")), "7abc");
    EXPECT_EQ(get(cmd::getdel("k")), "x");
    get(cmd::setex("k", 10s, "a"));
    get(cmd::psetex("k", 10s, "b"));
    EXPECT_FALSE(get(cmd::setnx("k", "c")));
    get(cmd::mset({{"a", 1}, {"b", 2}}));
    EXPECT_FALSE(get(cmd::msetnx({{"a", 1}, {"c", 2}})));
    EXPECT_EQ(get(cmd::mget<int>({"a", "none", "b"})), (std::vector<std::optional<int>>{1, std::nullopt, 2}));
    get(cmd::mset({{"a", "ohmytext"}, {"b", "mynewtext"}}));
    EXPECT_EQ(get(cmd::lcs("a", "b")), "mytext");
    EXPECT_EQ(get(cmd::lcs_length("a", "b")), 6);
}

TEST_P(RealRedisTyped, Keys) {
    using namespace redis::options;
    using namespace std::chrono_literals;
    auto const soon = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now() + 1h);
    get(cmd::set("k", "v"));
    EXPECT_TRUE(get(cmd::ttl("k")).exists);
    EXPECT_EQ(get(cmd::ttl("k")).value, std::nullopt);
    EXPECT_FALSE(get(cmd::ttl("none")).exists);
    EXPECT_TRUE(get(cmd::expire("k", 100s)));
    EXPECT_FALSE(get(cmd::expire("k", 200s, nx)));
    EXPECT_TRUE(get(cmd::expire("k", 200s, xx, gt)));
    EXPECT_GT(get(cmd::ttl("k")).value, 100s);
    EXPECT_TRUE(get(cmd::pexpire("k", 100s)));
    EXPECT_LE(get(cmd::pttl("k")).value, 100s);
    EXPECT_TRUE(get(cmd::expireat("k", soon)));
    EXPECT_EQ(get(cmd::expiretime("k")).value, soon);
    EXPECT_TRUE(get(cmd::pexpireat("k", soon + 1s)));
    EXPECT_EQ(get(cmd::pexpiretime("k")).value, soon + 1s);
    EXPECT_TRUE(get(cmd::persist("k")));
    EXPECT_EQ(get(cmd::type("k")), "string");
    EXPECT_EQ(get(cmd::type("none")), "none");
    EXPECT_TRUE(get(cmd::copy("k", "l", replace)));
    EXPECT_TRUE(get(cmd::copy("k", "k", db(1))));
    EXPECT_EQ(get(cmd::exists({"k", "l", "none"})), 2);
    EXPECT_EQ(get(cmd::touch({"k", "none"})), 1);
    EXPECT_FALSE(get(cmd::move("k", 1)));
    get(cmd::rename("l", "m"));
    EXPECT_FALSE(get(cmd::renamenx("m", "k")));
    EXPECT_TRUE(get(cmd::randomkey()).has_value());
    auto const dumped = get(cmd::dump("k"));
    ASSERT_TRUE(dumped);
    get(cmd::restore("n", 10s, *dumped));
    get(cmd::restore("n", 0ms, *dumped, replace));
    EXPECT_EQ(get(cmd::get("n")), "v");
    auto keys = get(cmd::keys("*"));
    std::ranges::sort(keys);
    EXPECT_EQ(keys, (texts{"k", "m", "n"}));
    texts found;
    std::uint64_t cursor = 0;
    do {
        auto page = get(cmd::scan(cursor, match("*"), count(1), of_type("string")));
        found.insert(found.end(), page.items.begin(), page.items.end());
        cursor = page.cursor;
    } while (cursor != 0);
    std::ranges::sort(found);
    EXPECT_EQ(found, keys);
    EXPECT_EQ(get(cmd::object_encoding("k")), "embstr");
    EXPECT_EQ(get(cmd::object_encoding("none")), std::nullopt);
    EXPECT_TRUE(get(cmd::object_idletime("k")).has_value());
    EXPECT_EQ(get(cmd::object_refcount("k")), 1);
    refuse(cmd::object_freq("k")); // of servers that evict by it
    get(cmd::rpush("list", {3, 1, 2}));
    EXPECT_EQ(get(cmd::sort<int>("list")), (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(get(cmd::sort("list", by("w_*"), limit(0, 2), desc, alpha)).size(), 2U);
    EXPECT_EQ(get(cmd::sort_ro<int>("list", desc)), (std::vector<int>{3, 2, 1}));
    EXPECT_EQ(get(cmd::sort_store("list", "sorted", asc)), 3);
    EXPECT_EQ(get(cmd::del({"k", "m"})), 2);
    EXPECT_EQ(get(cmd::unlink("n")), 1);
}

TEST_P(RealRedisTyped, Hashes) {
    using namespace redis::options;
    EXPECT_TRUE(get(cmd::hgetall("k")).empty());
    EXPECT_EQ(get(cmd::hrandfield("k")), std::nullopt);
    EXPECT_EQ(get(cmd::hset("k", "f", 1)), 1);
    EXPECT_EQ(get(cmd::hset("k", {{"f", 2}, {"g", 3}})), 1);
    EXPECT_FALSE(get(cmd::hsetnx("k", "f", 5)));
    EXPECT_TRUE(get(cmd::hexists("k", "f")));
    EXPECT_EQ(get(cmd::hget<int>("k", "f")), 2);
    EXPECT_EQ(get(cmd::hget("k", "none")), std::nullopt);
    EXPECT_EQ(get(cmd::hgetall("k")), (std::map<std::string, std::string>{{"f", "2"}, {"g", "3"}}));
    EXPECT_EQ((get(cmd::hgetall<std::vector<std::pair<std::string, int>>>("k"))),
              (std::vector<std::pair<std::string, int>>{{"f", 2}, {"g", 3}}));
    EXPECT_EQ(get(cmd::hincrby("k", "f", 8)), 10);
    EXPECT_EQ(get(cmd::hincrbyfloat("k", "f", 0.5)), 10.5);
    EXPECT_EQ(get(cmd::hkeys("k")), (texts{"f", "g"}));
    EXPECT_EQ(get(cmd::hvals<double>("k")), (std::vector<double>{10.5, 3}));
    EXPECT_EQ(get(cmd::hlen("k")), 2);
    EXPECT_EQ(get(cmd::hmget<double>("k", {"g", "none"})), (std::vector<std::optional<double>>{3, std::nullopt}));
    EXPECT_TRUE(get(cmd::hrandfield("k")).has_value());
    EXPECT_EQ(get(cmd::hrandfield("k", 5)).size(), 2U);
    auto const pairs = get(cmd::hrandfield<double>("k", 5, with_values));
    EXPECT_EQ((std::map<std::string, double>(pairs.begin(), pairs.end())),
              (std::map<std::string, double>{{"f", 10.5}, {"g", 3}}));
    auto const page = get(cmd::hscan<double>("k", 0, match("f"), count(10)));
    EXPECT_TRUE(page.is_last());
    EXPECT_EQ(page.items, (std::vector<std::pair<std::string, double>>{{"f", 10.5}}));
    EXPECT_EQ(get(cmd::hstrlen("k", "f")), 4);
    EXPECT_EQ(get(cmd::hdel("k", {"f", "none"})), 1);
}

TEST_P(RealRedisTyped, Lists) {
    using namespace redis::options;
    using namespace std::chrono_literals;
    using enum redis::list_end;
    EXPECT_EQ(get(cmd::lpop("k")), std::nullopt);
    EXPECT_EQ(get(cmd::lpop("k", 2)), texts());
    EXPECT_EQ(get(cmd::rpush("k", {"a", "b", "c", "b"})), 4);
    EXPECT_EQ(get(cmd::lpush("k", 0)), 5);
    EXPECT_EQ(get(cmd::lpushx("none", 0)), 0);
    EXPECT_EQ(get(cmd::rpushx("k", "d")), 6);
    EXPECT_EQ(get(cmd::llen("k")), 6);
    EXPECT_EQ(get(cmd::lindex<int>("k", 0)), 0);
    EXPECT_EQ(get(cmd::lindex("k", 99)), std::nullopt);
    EXPECT_EQ(get(cmd::lpos("k", "b")), 2);
    EXPECT_EQ(get(cmd::lpos("k", "none")), std::nullopt);
    EXPECT_EQ(get(cmd::lpos("k", "b", rank(1), count(0), maxlen(100))), (std::vector<std::int64_t>{2, 4}));
    EXPECT_EQ(get(cmd::linsert("k", redis::list_place::before, "a", "x")), 7);
    EXPECT_EQ(get(cmd::linsert("k", redis::list_place::after, "none", "x")), -1);
    EXPECT_EQ(get(cmd::lrem("k", 1, "x")), 1);
    get(cmd::lset("k", 0, "z"));
    refuse(cmd::lset("k", 99, "z"));
    EXPECT_EQ(get(cmd::lrange("k", 0, -1)), (texts{"z", "a", "b", "c", "b", "d"}));
    get(cmd::ltrim("k", 0, 3));
    EXPECT_EQ(get(cmd::lmove("k", "l", left, right)), "z");
    EXPECT_EQ(get(cmd::lmpop({"none", "k"}, right, 2)), (std::pair<std::string, texts>{"k", {"c", "b"}}));
    EXPECT_EQ(get(cmd::lmpop("none", right)), std::nullopt);
    EXPECT_EQ(get(cmd::rpop("k")), "a");
    EXPECT_EQ(get(cmd::rpop("k", 3)), texts());
    get(cmd::rpush("k", {1, 2, 3, 4}));
    EXPECT_EQ(get(cmd::lpop<int>("k", 1)), (std::vector<int>{1}));
    EXPECT_EQ((get(cmd::blpop<int>({"none", "k"}, 10s))), (std::pair<std::string, int>{"k", 2}));
    EXPECT_EQ((get(cmd::brpop<int>("k", 10s))), (std::pair<std::string, int>{"k", 4}));
    EXPECT_EQ(get(cmd::blpop("none", 1ms)), std::nullopt);
    EXPECT_EQ((get(cmd::blmpop<int>(10s, {"none", "k"}, left))), (std::pair<std::string, std::vector<int>>{"k", {3}}));
    EXPECT_EQ(get(cmd::blmpop(1ms, "none", left)), std::nullopt);
    EXPECT_EQ(get(cmd::blmove("l", "k", left, right, 10s)), "z");
    EXPECT_EQ(get(cmd::blmove("none", "k", left, right, 1ms)), std::nullopt);
}

TEST_P(RealRedisTyped, Sets) {
    using namespace redis::options;
    EXPECT_EQ(get(cmd::sadd("a", {1, 2, 3})), 3);
    EXPECT_EQ(get(cmd::sadd("b", {2, 3, 4})), 3);
    EXPECT_EQ(get(cmd::scard("a")), 3);
    EXPECT_EQ(get(cmd::sdiff<int>({"a", "b"})), std::vector<int>{1});
    EXPECT_EQ(get(cmd::sdiffstore("t", {"a", "b"})), 1);
    EXPECT_EQ(get(cmd::sinter<int>({"a", "b"})).size(), 2U);
    EXPECT_EQ(get(cmd::sintercard({"a", "b"})), 2);
    EXPECT_EQ(get(cmd::sintercard({"a", "b"}, 1)), 1);
    EXPECT_EQ(get(cmd::sinterstore("t", {"a", "b"})), 2);
    EXPECT_TRUE(get(cmd::sismember("a", 1)));
    EXPECT_EQ(get(cmd::smismember("a", {1, 9})), (std::vector<bool>{true, false}));
    EXPECT_EQ(get(cmd::smembers<int>("a")).size(), 3U);
    EXPECT_EQ(get(cmd::smembers("none")), texts());
    EXPECT_TRUE(get(cmd::smove("a", "t", 1)));
    EXPECT_TRUE(get(cmd::srandmember<int>("a")).has_value());
    EXPECT_EQ(get(cmd::srandmember("none")), std::nullopt);
    EXPECT_EQ(get(cmd::srandmember<int>("a", -5)).size(), 5U);
    EXPECT_EQ(get(cmd::sscan<int>("a", 0, count(100))).items.size(), 2U);
    EXPECT_EQ(get(cmd::sunion<int>({"a", "b"})).size(), 3U);
    EXPECT_EQ(get(cmd::sunionstore("t", {"a", "b"})), 3);
    EXPECT_EQ(get(cmd::srem("b", {2, 9})), 1);
    EXPECT_TRUE(get(cmd::spop<int>("b")).has_value());
    EXPECT_EQ(get(cmd::spop<int>("b", 9)).size(), 1U);
    EXPECT_EQ(get(cmd::spop("b")), std::nullopt);
}

TEST_P(RealRedisTyped, SortedSets) {
    using namespace redis::options;
    using namespace std::chrono_literals;
    using enum redis::score_end;
    using pairs = std::vector<std::pair<std::string, double>>;
    EXPECT_EQ(get(cmd::zpopmin("k")), std::nullopt);
    EXPECT_EQ(get(cmd::zadd("k", {{"a", 1}, {"b", 2}, {"c", 3.5}})), 3);
    EXPECT_EQ(get(cmd::zadd("k", {{"a", 0}, {"b", 5}}, xx, gt, ch)), 1);
    EXPECT_EQ(get(cmd::zadd_incr("k", "a", 0.5)), 1.5);
    EXPECT_EQ(get(cmd::zadd_incr("k", "a", 0.5, nx)), std::nullopt);
    EXPECT_EQ(get(cmd::zincrby("k", 0.5, "a")), 2);
    EXPECT_EQ(get(cmd::zcard("k")), 3);
    EXPECT_EQ(get(cmd::zcount("k", "(2", "+inf")), 2);
    EXPECT_EQ(get(cmd::zlexcount("k", "-", "+")), 3);
    EXPECT_EQ(get(cmd::zrange("k", 0, -1)), (texts{"a", "c", "b"}));
    EXPECT_EQ(get(cmd::zrange("k", 0, -1, with_scores)), (pairs{{"a", 2}, {"c", 3.5}, {"b", 5}}));
    EXPECT_EQ(get(cmd::zrange("k", "+inf", 3, by_score, rev, limit(0, 1), with_scores)), (pairs{{"b", 5}}));
    EXPECT_EQ(get(cmd::zrange("none", 0, -1, with_scores)), pairs());
    EXPECT_EQ(get(cmd::zrangestore("t", "k", 0, 1)), 2);
    EXPECT_EQ(get(cmd::zrange("t", "[a", "[b", by_lex)).size(), 1U);
    EXPECT_EQ(get(cmd::zrank("k", "c")), 1);
    EXPECT_EQ(get(cmd::zrevrank("k", "none")), std::nullopt);
    EXPECT_EQ(get(cmd::zscore("k", "c")), 3.5);
    EXPECT_EQ(get(cmd::zscore("k", "none")), std::nullopt);
    EXPECT_EQ(get(cmd::zmscore("k", {"c", "none"})), (std::vector<std::optional<double>>{3.5, std::nullopt}));
    EXPECT_TRUE(get(cmd::zrandmember("k")).has_value());
    EXPECT_EQ(get(cmd::zrandmember("k", -2)).size(), 2U);
    EXPECT_EQ(get(cmd::zrandmember("k", 9, with_scores)).size(), 3U);
    EXPECT_EQ(get(cmd::zscan("k", 0, match("c"))).items, (pairs{{"c", 3.5}}));
    EXPECT_EQ(get(cmd::zdiff({"k", "t"}, with_scores)), (pairs{{"b", 5}}));
    EXPECT_EQ(get(cmd::zdiff({"k", "t"})), texts{"b"});
    EXPECT_EQ(get(cmd::zdiffstore("u", {"k", "t"})), 1);
    EXPECT_EQ(get(cmd::zinter({"k", "t"}, weights{1, 2}, aggregate(aggregate::of::sum), with_scores)),
              (pairs{{"a", 6}, {"c", 10.5}}));
    EXPECT_EQ(get(cmd::zintercard({"k", "t"})), 2);
    EXPECT_EQ(get(cmd::zinterstore("u", {"k", "t"}, aggregate(aggregate::of::least))), 2);
    EXPECT_EQ(get(cmd::zunion({"k", "t"})).size(), 3U);
    EXPECT_EQ(get(cmd::zunionstore("u", {"k", "t"}, weights{1, 0})), 3);
    EXPECT_EQ(get(cmd::zremrangebyrank("u", 0, 0)), 1);
    EXPECT_EQ(get(cmd::zremrangebyscore("u", "-inf", 3.5)), 1);
    EXPECT_EQ(get(cmd::zremrangebylex("u", "-", "+")), 1);
    EXPECT_EQ(get(cmd::zrem("t", {"a", "none"})), 1);
    EXPECT_EQ((get(cmd::zmpop({"none", "t"}, least, 5))), (std::pair<std::string, pairs>{"t", {{"c", 3.5}}}));
    EXPECT_EQ(get(cmd::zmpop("none", least)), std::nullopt);
    EXPECT_EQ((get(cmd::zpopmax("k"))), (std::pair<std::string, double>{"b", 5}));
    EXPECT_EQ(get(cmd::zpopmax("k", 1)), (pairs{{"c", 3.5}}));
    EXPECT_EQ((get(cmd::zpopmin("k"))), (std::pair<std::string, double>{"a", 2}));
    EXPECT_EQ(get(cmd::zpopmin("k", 3)), pairs());
    get(cmd::zadd("k", {{"a", 1}, {"b", 2}, {"c", 3}}));
    using popped = std::tuple<std::string, std::string, double>;
    EXPECT_EQ(get(cmd::bzpopmin({"none", "k"}, 10s)), (popped{"k", "a", 1}));
    EXPECT_EQ(get(cmd::bzpopmax("k", 10s)), (popped{"k", "c", 3}));
    EXPECT_EQ((get(cmd::bzmpop(10s, "k", greatest))), (std::pair<std::string, pairs>{"k", {{"b", 2}}}));
    EXPECT_EQ(get(cmd::bzpopmin("none", 1ms)), std::nullopt);
    EXPECT_EQ(get(cmd::bzmpop(1ms, "none", least)), std::nullopt);
}

TEST_P(RealRedisTyped, Streams) {
    using namespace redis::options;
    using namespace std::chrono_literals;
    EXPECT_EQ(get(cmd::xadd("none", "*", {{"f", 1}}, no_mkstream)), std::nullopt);
    EXPECT_TRUE(get(cmd::xread({{"none", "0"}})).empty());
    EXPECT_EQ(get(cmd::xadd("k", "1-0", {{"f", 1}, {"g", "x"}})), "1-0");
    EXPECT_EQ(get(cmd::xadd("k", "2-0", {{"f", 2}}, maxlen(100))), "2-0");
    EXPECT_EQ(get(cmd::xadd("k", "3-0", {{"f", 3}}, minid_about("0-1"), trim_limit(5))), "3-0");
    EXPECT_EQ(get(cmd::xlen("k")), 3);
    redis::stream_entry const first{"1-0", {{"f", "1"}, {"g", "x"}}};
    redis::stream_entry const second{"2-0", {{"f", "2"}}};
    EXPECT_EQ(get(cmd::xrange("k", "-", "+", count(2))), (std::vector{first, second}));
    EXPECT_EQ(get(cmd::xrevrange("k", "2-0", "-")), (std::vector{second, first}));
    EXPECT_EQ(get(cmd::xread({{"none", "0"}, {"k", "1-0"}}, count(1))), (redis::stream_entries{{"k", {second}}}));
    EXPECT_TRUE(get(cmd::xread({{"k", "$"}}, block_for(1ms))).empty());
    get(cmd::xgroup_create("k", "g", 0, entries_read(0)));
    get(cmd::xgroup_create("made", "g", "$", mkstream));
    EXPECT_TRUE(get(cmd::xgroup_createconsumer("k", "g", "c")));
    EXPECT_EQ(get(cmd::xpending("k", "g")).entries, 0);
    EXPECT_EQ(get(cmd::xreadgroup("g", "c", {{"k", ">"}}, count(2))), (redis::stream_entries{{"k", {first, second}}}));
    EXPECT_EQ(get(cmd::xreadgroup("g", "d", {{"k", ">"}}, no_ack)).size(), 1U);
    EXPECT_TRUE(get(cmd::xreadgroup("g", "d", {{"k", ">"}}, block_for(1ms))).empty());
    auto const pending = get(cmd::xpending("k", "g"));
    EXPECT_EQ(pending.entries, 2);
    EXPECT_EQ(pending.first_id, "1-0");
    EXPECT_EQ(pending.consumers, (std::vector<std::pair<std::string, std::int64_t>>{{"c", 2}}));
    auto const listed = get(cmd::xpending("k", "g", "-", "+", 10));
    ASSERT_EQ(listed.size(), 2U);
    EXPECT_EQ(listed[1].id, "2-0");
    EXPECT_EQ(listed[1].deliveries, 1);
    EXPECT_EQ(get(cmd::xpending("k", "g", "-", "+", 10, "c", 0ms)).size(), 2U);
    EXPECT_EQ(get(cmd::xclaim("k", "g", "d", 0ms, "1-0")), std::vector{first});
    EXPECT_EQ(get(cmd::xclaim("k", "g", "d", 0ms, {"1-0", "2-0"}, idle(1s), retry_count(3), force, just_id)),
              (texts{"1-0", "2-0"}));
    EXPECT_EQ(get(cmd::xack("k", "g", "1-0")), 1);
    EXPECT_EQ(get(cmd::xautoclaim("k", "g", "c", 0ms, "0-0", count(5), just_id)).entries, texts{"2-0"});
    EXPECT_EQ(get(cmd::xdel("k", {"2-0", "9-0"})), 1);
    auto const claimed = get(cmd::xautoclaim("k", "g", "d", 0ms, "0-0"));
    EXPECT_TRUE(claimed.is_last());
    EXPECT_TRUE(claimed.entries.empty());
    EXPECT_EQ(claimed.deleted, texts{"2-0"});
    auto const info = get(cmd::xinfo_stream("k"));
    EXPECT_EQ(info.length, 2);
    EXPECT_EQ(info.groups, 1);
    EXPECT_EQ(info.last_id, "3-0");
    EXPECT_EQ(info.entries_added, 3);
    EXPECT_EQ(info.first, first);
    auto const groups = get(cmd::xinfo_groups("k"));
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_EQ(groups[0].name, "g");
    EXPECT_EQ(groups[0].consumers, 2);
    auto const consumers = get(cmd::xinfo_consumers("k", "g"));
    ASSERT_EQ(consumers.size(), 2U);
    EXPECT_EQ(consumers[0].name, "c");
    get(cmd::xgroup_setid("k", "g", "1-0"));
    EXPECT_EQ(get(cmd::xgroup_delconsumer("k", "g", "c")), 0);
    EXPECT_TRUE(get(cmd::xgroup_destroy("k", "g")));
    get(cmd::xsetid("k", "9-0"));
    EXPECT_EQ(get(cmd::xtrim("k", maxlen(1))), 1);
    refuse(cmd::xreadgroup("none", "c", {{"k", ">"}}));
}

TEST_P(RealRedisTyped, ScriptsAndFunctions) {
    using namespace redis::options;
    EXPECT_EQ(get(cmd::eval<std::string>("return KEYS[1] .. ARGV[1]", "a", 7)), "a7");
    EXPECT_EQ(get(cmd::eval_ro<long>("return 5")), 5);
    auto const sha1 = get(cmd::script_load("return {KEYS[2], tonumber(ARGV[1])}"));
    using both = std::pair<std::string, long>;
    EXPECT_EQ(get(cmd::evalsha<both>(sha1, {"a", "b"}, {5, 6})), (both{"b", 5}));
    EXPECT_EQ(get(cmd::evalsha_ro<both>(sha1, {"a", "b"}, 5)), (both{"b", 5}));
    EXPECT_EQ(get(cmd::script_exists({sha1, std::string(40, '0')})), (std::vector<bool>{true, false}));
    get(cmd::script_flush(at_once));
    refuse(cmd::evalsha<long>(sha1));
    refuse(cmd::script_kill());
    constexpr std::string_view code = "#!lua name=lib\nredis.register_function('f', function(k, a) return a[1] end)\n"
                                      "redis.register_function{function_name='g', callback=function() return 1 end, "
                                      "flags={'no-writes'}}";
    EXPECT_EQ(get(cmd::function_load(code)), "lib");
    EXPECT_EQ(get(cmd::function_load(code, replace)), "lib");
    EXPECT_EQ(get(cmd::fcall<long>("f", "k", 7)), 7);
    EXPECT_EQ(get(cmd::fcall_ro<long>("g")), 1);
    auto libraries = get(cmd::function_list("l*"));
    ASSERT_EQ(libraries.size(), 1U);
    EXPECT_EQ(libraries[0].name, "lib");
    EXPECT_EQ(libraries[0].engine, "LUA");
    std::ranges::sort(libraries[0].functions);
    EXPECT_EQ(libraries[0].functions, (texts{"f", "g"}));
    auto const dumped = get(cmd::function_dump());
    get(cmd::function_delete("lib"));
    get(cmd::function_restore(dumped));
    get(cmd::function_restore(dumped, replace));
    refuse(cmd::function_kill());
    get(cmd::function_flush(in_background));
}

TEST_P(RealRedisTyped, Pubsub) {
    EXPECT_EQ(get(cmd::publish("news", "m")), 0);
    EXPECT_EQ(get(cmd::spublish("news", "m")), 0);
    bool const has_pushes = GetParam() == 3;
    if (has_pushes) {
        for (auto const& subscription : {cmd::subscribe({"news", "more"}), cmd::psubscribe("n*"), cmd::ssubscribe("s")})
            get(subscription);
        EXPECT_EQ(get(cmd::publish("news", "m")), 2) << "by name and by pattern";
    }
    EXPECT_EQ(get(cmd::pubsub_channels("news")), has_pushes ? texts{"news"} : texts());
    EXPECT_EQ(get(cmd::pubsub_numpat()), has_pushes ? 1 : 0);
    EXPECT_EQ(get(cmd::pubsub_numsub({"news", "none"})),
              (std::vector<std::pair<std::string, std::int64_t>>{{"news", has_pushes ? 1 : 0}, {"none", 0}}));
    EXPECT_EQ(get(cmd::pubsub_shardchannels()), has_pushes ? texts{"s"} : texts());
    EXPECT_EQ(get(cmd::pubsub_shardnumsub("s")),
              (std::vector<std::pair<std::string, std::int64_t>>{{"s", has_pushes ? 1 : 0}}));
    if (has_pushes) {
        for (auto const& subscription :
             {cmd::unsubscribe("news"), cmd::unsubscribe(), cmd::punsubscribe(), cmd::sunsubscribe()})
            get(subscription);
        EXPECT_EQ(get(cmd::publish("news", "m")), 0);
    }
}

TEST_P(RealRedisTyped, Geo) {
    using namespace redis::options;
    using redis::geo_shape;
    using enum redis::geo_unit;
    EXPECT_EQ(get(cmd::geoadd("k", {{"palermo", {13.361389, 38.115556}}, {"catania", {15.087269, 37.502669}}}, ch)), 2);
    auto const distance = get(cmd::geodist("k", "palermo", "catania", km));
    ASSERT_TRUE(distance);
    EXPECT_NEAR(*distance, 166, 1);
    EXPECT_EQ(get(cmd::geodist("k", "palermo", "none")), std::nullopt);
    EXPECT_EQ(get(cmd::geohash("k", {"palermo", "none"})),
              (std::vector<std::optional<std::string>>{"sqc8b49rny0", std::nullopt}));
    auto const places = get(cmd::geopos("k", {"palermo", "none"}));
    ASSERT_EQ(places.size(), 2U);
    ASSERT_TRUE(places[0]);
    EXPECT_NEAR(places[0]->longitude, 13.361389, 0.001);
    EXPECT_EQ(places[1], std::nullopt);
    EXPECT_EQ(get(cmd::geosearch("k", "palermo", geo_shape::circle(200, km), asc)), (texts{"palermo", "catania"}));
    auto const found = get(cmd::geosearch("k", redis::geo_position{15, 37}, geo_shape::box(400, 400, km), desc,
                                          count(1), with_coord, with_dist, with_hash));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].member, "palermo");
    EXPECT_NEAR(found[0].distance.value(), 190, 1);
    EXPECT_TRUE(found[0].hash.has_value());
    EXPECT_NEAR(found[0].position.value().latitude, 38.115556, 0.001);
    EXPECT_EQ(get(cmd::geosearchstore("t", "k", "palermo", geo_shape::circle(200, km), count_any(1), store_dist)), 1);
}

TEST_P(RealRedisTyped, BitmapsAndCounts) {
    using namespace redis::options;
    EXPECT_FALSE(get(cmd::setbit("k", 7, true)));
    EXPECT_TRUE(get(cmd::getbit("k", 7)));
    EXPECT_EQ(get(cmd::bitcount("k")), 1);
    EXPECT_EQ(get(cmd::bitcount("k", 0, 6, bit_unit)), 0);
    EXPECT_EQ(get(cmd::bitpos("k", true)), 7);
    EXPECT_EQ(get(cmd::bitpos("k", true, 0, -1, byte_unit)), 7);
    for (auto const operation :
         {redis::bit_operation::all_of, redis::bit_operation::any_of, redis::bit_operation::one_of})
        EXPECT_EQ(get(cmd::bitop(operation, "t", {"k", "k"})), 1);
    EXPECT_EQ(get(cmd::bitop(redis::bit_operation::invert, "t", "k")), 1);
    EXPECT_EQ(get(cmd::bitfield("f", field_set("u4", "#0", 15), field_incrby("u4", 0, 1), overflow(overflow::to::fail),
                                field_set("u4", "#0", 15), field_incrby("u4", 0, 1), field_get("u4", 0))),
              (std::vector<std::optional<std::int64_t>>{0, 0, 0, std::nullopt, 15}));
    EXPECT_EQ(get(cmd::bitfield_ro("f", field_get("u4", 0))), (std::vector<std::optional<std::int64_t>>{15}));
    EXPECT_TRUE(get(cmd::pfadd("a", {1, 2, 3})));
    EXPECT_FALSE(get(cmd::pfadd("a", 1)));
    get(cmd::pfmerge("b", {"a", "none"}));
    EXPECT_EQ(get(cmd::pfcount({"a", "b"})), 3);
}

TEST_P(RealRedisTyped, Server) {
    using namespace redis::options;
    using namespace std::chrono_literals;
    EXPECT_EQ(get(cmd::ping()), "PONG");
    EXPECT_EQ(get(cmd::ping("m")), "m");
    EXPECT_EQ(get(cmd::echo("m")), "m");
    EXPECT_EQ(get(cmd::acl_whoami()), "default");
    EXPECT_EQ(get(cmd::client_getname()), std::nullopt);
    get(cmd::client_setname("n"));
    EXPECT_EQ(get(cmd::client_getname()), "n");
    EXPECT_GT(get(cmd::client_id()), 0);
    EXPECT_NE(get(cmd::client_info()).find("name=n"), std::string::npos);
    EXPECT_NE(get(cmd::client_info()).find("resp=" + std::to_string(GetParam())), std::string::npos);
    EXPECT_NE(get(cmd::client_list()).find("name=n"), std::string::npos);
    EXPECT_FALSE(get(cmd::client_kill(999999999)));
    EXPECT_FALSE(get(cmd::client_unblock(999999999)));
    EXPECT_GT(get(cmd::command_count()), 200);
    EXPECT_EQ(get(cmd::config_get({"databases", "maxmemory-s*"})),
              (std::map<std::string, std::string>{{"databases", "16"}, {"maxmemory-samples", "5"}}));
    get(cmd::config_set({{"maxmemory-samples", 5}, {"lazyfree-lazy-eviction", "no"}}));
    get(cmd::config_resetstat());
    refuse(cmd::config_rewrite()); // no file
    get(cmd::set("k", "v"));
    EXPECT_EQ(get(cmd::dbsize()), 1);
    EXPECT_GT(get(cmd::memory_usage("k")), 0);
    EXPECT_EQ(get(cmd::memory_usage("none")), std::nullopt);
    EXPECT_NE(get(cmd::info({"server", "memory"})).find("used_memory:"), std::string::npos);
    EXPECT_NE(get(cmd::info()).find("redis_version"), std::string::npos);
    auto const now = std::chrono::system_clock::now();
    EXPECT_LT(std::chrono::abs(get(cmd::time()) - now), 1h);
    EXPECT_LT(std::chrono::abs(get(cmd::lastsave()) - now), 1h);
    get(cmd::slowlog_len());
    get(cmd::slowlog_reset());
    get(cmd::swapdb(0, 1));
    EXPECT_EQ(get(cmd::get("k")), std::nullopt);
    get(cmd::flushdb(in_background));
    EXPECT_EQ(get(cmd::wait(0, 1ms)), 0);
}

TEST_P(RealRedisTyped, Users) {
    get(cmd::acl_setuser("ann", {"on", ">one", "~a*", "%R~b*", "&news", "-@all", "+get", "(+set ~q)"}));
    get(cmd::acl_setuser("bob"));
    EXPECT_EQ(get(cmd::acl_users()), (texts{"ann", "bob", "default"}));
    EXPECT_EQ(get(cmd::acl_list()).size(), 3U);
    auto const ann = get(cmd::acl_getuser("ann"));
    ASSERT_TRUE(ann);
    EXPECT_TRUE(ann->is_on());
    ASSERT_EQ(ann->passwords.size(), 1U);
    EXPECT_EQ(ann->passwords[0].size(), 64U);
    EXPECT_EQ(ann->rights, (redis::acl_selector{"-@all +get", "~a* %R~b*", "&news"}));
    EXPECT_EQ(ann->selectors, (std::vector<redis::acl_selector>{{"-@all +set", "~q", ""}}));
    EXPECT_FALSE(get(cmd::acl_getuser("bob")).value().is_on());
    EXPECT_FALSE(get(cmd::acl_getuser("none")));
    EXPECT_TRUE(get(cmd::acl_dryrun("ann", {"GET", "a1"})));
    EXPECT_TRUE(get(cmd::acl_dryrun("ann", {"SET", "q", 1})));
    auto const refused = get(cmd::acl_dryrun("ann", {"SET", "a1", 1}));
    EXPECT_FALSE(refused);
    EXPECT_NE(refused.reason.find("permission"), std::string::npos) << refused.reason;
    refuse(cmd::acl_dryrun("none", {"GET", "a1"}));
    get(cmd::acl_log_reset());
    EXPECT_TRUE(get(cmd::acl_log()).empty());
    refuse(redis::make_command<std::string>("AUTH", {"ann", "two"}));
    refuse(redis::make_command<std::string>("AUTH", {"cid", "three"}));
    auto const log = get(cmd::acl_log());
    ASSERT_EQ(log.size(), 2U);
    EXPECT_EQ(log[0].username, "cid");
    EXPECT_EQ(log[1].username, "ann");
    EXPECT_EQ(log[1].reason, "auth");
    EXPECT_EQ(log[1].context, "toplevel");
    EXPECT_EQ(log[1].object, "AUTH");
    EXPECT_EQ(log[1].count, 1);
    EXPECT_LT(log[1].age.count(), 3600);
    EXPECT_NE(log[1].client.find("cmd=auth"), std::string::npos) << log[1].client;
    EXPECT_EQ(get(cmd::acl_log(1)).size(), 1U);
    auto const categories = get(cmd::acl_cat());
    EXPECT_NE(std::ranges::find(categories, "pubsub"), categories.end());
    auto const commands = get(cmd::acl_cat("pubsub"));
    EXPECT_NE(std::ranges::find(commands, "publish"), commands.end());
    EXPECT_EQ(get(cmd::acl_genpass()).size(), 64U);
    EXPECT_EQ(get(cmd::acl_genpass(5)).size(), 2U);
    refuse(cmd::acl_save()); // no file
    refuse(cmd::acl_load());
    EXPECT_EQ(get(cmd::acl_deluser({"ann", "bob", "none"})), 2);
}

TEST_P(RealRedisTyped, SlowCommandsAndLatencies) {
    using namespace std::chrono_literals;
    get(cmd::config_set({{"slowlog-log-slower-than", 0}, {"latency-monitor-threshold", 1}}));
    get(cmd::slowlog_reset());
    get(cmd::latency_reset());
    get(cmd::config_resetstat());
    EXPECT_TRUE(get(cmd::latency_latest()).empty());
    get(cmd::client_setname("slow"));
    get(redis::make_command<redis::ignore_t>("DEBUG", {"SLEEP", "0.002"}));
    get(cmd::config_set({{"slowlog-log-slower-than", 10'000'000}, {"latency-monitor-threshold", 0}}));
    auto const now = std::chrono::system_clock::now();
    auto const slow = get(cmd::slowlog_get(-1));
    auto const sleep = std::ranges::find(slow, texts{"DEBUG", "SLEEP", "0.002"}, &redis::slow_command::words);
    ASSERT_NE(sleep, slow.end());
    EXPECT_GE(sleep->duration, 2ms);
    EXPECT_LT(std::chrono::abs(sleep->at - now), 1h);
    EXPECT_EQ(sleep->client_name, "slow");
    EXPECT_TRUE(sleep->address.starts_with("127.0.0.1:")) << sleep->address;
    EXPECT_EQ((sleep + 1)->words, (texts{"CLIENT", "SETNAME", "slow"}));
    EXPECT_EQ((sleep + 1)->id, sleep->id - 1);
    EXPECT_EQ(get(cmd::slowlog_get(1)).size(), 1U);
    EXPECT_FALSE(get(cmd::slowlog_get()).empty());
    auto const events = get(cmd::latency_latest());
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].name, "command");
    EXPECT_LT(std::chrono::abs(events[0].at - now), 1h);
    EXPECT_GE(events[0].latest, 2ms);
    EXPECT_GE(events[0].greatest, events[0].latest);
    auto const history = get(cmd::latency_history("command"));
    ASSERT_FALSE(history.empty());
    EXPECT_EQ(history[0].at, events[0].at);
    EXPECT_GE(history[0].latency, 2ms);
    EXPECT_TRUE(get(cmd::latency_history("fork")).empty());
    EXPECT_NE(get(cmd::latency_graph("command")).find("command"), std::string::npos);
    EXPECT_FALSE(get(cmd::latency_doctor()).empty());
    auto const histograms = get(cmd::latency_histogram({"debug", "get"}));
    ASSERT_TRUE(histograms.contains("debug"));
    EXPECT_FALSE(histograms.contains("get")) << "it was not called";
    EXPECT_EQ(histograms.at("debug").calls, 1);
    EXPECT_EQ(histograms.at("debug").at_most.rbegin()->second, 1);
    EXPECT_GE(histograms.at("debug").at_most.rbegin()->first, 2ms);
    EXPECT_EQ(get(cmd::latency_reset("command")), 1);
    EXPECT_TRUE(get(cmd::latency_latest()).empty());
}

TEST_P(RealRedisTyped, MemoryOfTheServer) {
    get(cmd::rpush("list", {1, 2, 3}));
    EXPECT_GT(get(cmd::memory_usage("list", 0)), 0);
    EXPECT_EQ(get(cmd::memory_usage("none", 0)), std::nullopt);
    auto const figures = get(cmd::memory_stats());
    EXPECT_EQ(figures.keys_count, 1);
    EXPECT_GT(figures.total_allocated, figures.startup_allocated);
    EXPECT_GE(figures.peak_allocated, figures.total_allocated);
    EXPECT_GT(figures.overhead_total, 0);
    EXPECT_GT(figures.dataset_bytes, 0);
    EXPECT_GT(figures.allocator_resident, 0);
    EXPECT_GT(figures.fragmentation, 0);
    EXPECT_GT(figures.peak_percentage, 0);
    EXPECT_LE(figures.dataset_percentage, 100);
    EXPECT_FALSE(get(cmd::memory_doctor()).empty());
    EXPECT_FALSE(get(cmd::memory_malloc_stats()).empty());
    get(cmd::memory_purge());
}

TEST_P(RealRedisTyped, CommandsOfTheServer) {
    using namespace redis::options;
    auto const described = get(cmd::command_info({"get", "none", "config", "mset"}));
    ASSERT_EQ(described.size(), 4U);
    ASSERT_TRUE(described[0] && described[2] && described[3]);
    EXPECT_EQ(described[1], std::nullopt);
    EXPECT_EQ(described[0]->name, "get");
    EXPECT_EQ(described[0]->arity, 2);
    EXPECT_NE(std::ranges::find(described[0]->flags, "readonly"), described[0]->flags.end());
    EXPECT_NE(std::ranges::find(described[0]->categories, "@read"), described[0]->categories.end());
    EXPECT_EQ(described[0]->first_key, 1);
    EXPECT_TRUE(described[0]->subcommands.empty());
    auto const& parts = described[2]->subcommands;
    EXPECT_NE(std::ranges::find(parts, "config|get", &redis::command_description::name), parts.end());
    EXPECT_EQ(described[3]->last_key, -1);
    EXPECT_EQ(described[3]->key_step, 2);
    EXPECT_FALSE(described[3]->tips.empty());
    EXPECT_EQ(get(cmd::command_info()).size(), static_cast<std::size_t>(get(cmd::command_count())));
    auto const all = get(cmd::command_list());
    EXPECT_NE(std::ranges::find(all, "config|get"), all.end());
    auto names = get(cmd::command_list(by_pattern("xr*")));
    std::ranges::sort(names);
    EXPECT_EQ(names, (texts{"xrange", "xread", "xreadgroup", "xrevrange"}));
    names = get(cmd::command_list(by_category("pubsub")));
    EXPECT_NE(std::ranges::find(names, "publish"), names.end());
    EXPECT_TRUE(get(cmd::command_list(by_module("none"))).empty());
    EXPECT_EQ(get(cmd::command_getkeys({"MSET", "a", 1, "b", 2})), (texts{"a", "b"}));
    refuse(cmd::command_getkeys({"PING"}));
    using flagged = std::vector<std::pair<std::string, texts>>;
    EXPECT_EQ(get(cmd::command_getkeysandflags({"SET", "a", 1})), (flagged{{"a", {"OW", "update"}}}));
    auto const docs = get(cmd::command_docs({"get", "getset", "none"}));
    ASSERT_EQ(docs.size(), 2U);
    EXPECT_FALSE(docs.at("get").summary.empty());
    EXPECT_EQ(docs.at("get").since, "1.0.0");
    EXPECT_EQ(docs.at("get").group, "string");
    EXPECT_EQ(docs.at("get").complexity, "O(1)");
    EXPECT_EQ(docs.at("get").deprecated_since, std::nullopt);
    EXPECT_EQ(docs.at("getset").deprecated_since, "6.2.0");
    EXPECT_TRUE(docs.at("getset").replaced_by.has_value());
    EXPECT_GT(get(cmd::command_docs()).size(), 200U);
}

TEST_P(RealRedisTyped, ClientsOfTheServer) {
    using namespace redis::options;
    using namespace std::chrono_literals;
    EXPECT_EQ(get(cmd::client_list(of_type("pubsub"))), "");
    EXPECT_NE(get(cmd::client_list(of_type("normal"))).find("cmd=client|list"), std::string::npos);
    EXPECT_EQ(get(cmd::client_kill_where(of_user("default"))), 0) << "this connection is left out";
    get(cmd::acl_setuser("ann", {"on", "nopass", "+@all"}));
    redis::connection other(ctx_);
    auto as_ann = cfg_;
    as_ann.username = "ann";
    as_ann.password = "any";
    outcome ran;
    other.async_run(as_ann, ran.handler());
    redis::request who;
    who.push("CLIENT", "INFO");
    std::string info;
    outcome told;
    other.async_exec(who, info, told.handler());
    while (told.times == 0 && ctx_.run_one_for(30s) != 0) {
    }
    auto const at = info.find(" addr=") + 6;
    auto const address = info.substr(at, info.find(' ', at) - at);
    EXPECT_EQ(get(cmd::client_kill_where(of_user("ann"), of_type("pubsub"), from_address(address))), 0);
    EXPECT_EQ(get(cmd::client_kill_where(of_user("ann"), from_address(address))), 1);
    while (ran.times == 0 && ctx_.run_one_for(30s) != 0) {
    }
    EXPECT_EQ(ran.times, 1);
    EXPECT_EQ(get(cmd::acl_deluser("ann")), 1);

    get(cmd::client_pause(1h, only_writes));
    EXPECT_EQ(get(cmd::get("k")), std::nullopt) << "reading goes on";
    get(cmd::client_unpause());
    EXPECT_TRUE(get(cmd::set("k", 1))) << "in less than an hour";
    get(cmd::client_pause(1ms));
    EXPECT_EQ(get(cmd::get<int>("k")), 1);
}

TEST_P(RealRedisTyped, TheRoleOfTheServer) {
    using kind = redis::replication_role::kind;
    auto const alone = get(cmd::role());
    EXPECT_EQ(alone.is, kind::master);
    EXPECT_TRUE(alone.replicas.empty());
    auto const colon = cfg_.address.find(':');
    auto const port = cfg_.address.substr(colon + 1);
    redis_server_process const replica({"--replicaof", "127.0.0.1", port, "--repl-diskless-sync-delay", "0"});
    auto of_replica = cfg_;
    of_replica.address = replica.address();
    of_replica.dedicated = false;
    get(cmd::config_set({{"repl-diskless-sync-delay", 0}}));
    redis::client db(ctx_, of_replica, {.pause_min = std::chrono::milliseconds(5)});
    redis::replication_role seen;
    outcome ran;
    db.async_run(ran.handler());
    bool is_over = false;
    auto asking = [](redis::client& c, redis::replication_role& last) -> awaitable<void> {
        while (last.link != "connected") {
            auto looking = c.role();
            last = co_await std::move(looking);
        }
    };
    co_spawn(ctx_, asking(db, seen), [&](std::exception_ptr e) {
        rethrow_to_test{}(e);
        is_over = true;
    });
    while (!is_over && ctx_.run_one_for(std::chrono::seconds(30)) != 0) {
    }
    EXPECT_EQ(seen.is, kind::replica);
    EXPECT_EQ(seen.master_host, "127.0.0.1");
    EXPECT_EQ(std::to_string(seen.master_port), port);
    auto master = get(cmd::role());
    while (master.replicas.empty())
        master = get(cmd::role());
    ASSERT_EQ(master.replicas.size(), 1U);
    EXPECT_EQ(master.replicas[0].host, "127.0.0.1");
    EXPECT_EQ("127.0.0.1:" + std::to_string(master.replicas[0].port), replica.address());
    db.cancel();
    while (ran.times == 0 && ctx_.run_one_for(std::chrono::seconds(30)) != 0) {
    }
}

TEST_P(RealRedisTyped, PipelinesAndTransactions) {
    auto [done, value, wrong] = get(redis::pipeline(cmd::set("a", 1), cmd::get<long>("a"), cmd::llen("a")));
    EXPECT_TRUE(done.value());
    EXPECT_EQ(value.value(), 1);
    EXPECT_TRUE(wrong.error_text().starts_with("WRONGTYPE"));

    auto outcome = get(redis::transaction(cmd::incr("a"), cmd::set("b", "x", redis::options::nx), cmd::incr("b"),
                                          cmd::hgetall("none")));
    ASSERT_TRUE(outcome);
    EXPECT_EQ(std::get<0>(*outcome).value(), 2);
    EXPECT_TRUE(std::get<1>(*outcome).value());
    EXPECT_TRUE(std::get<2>(*outcome).error_text().starts_with("ERR"));
    EXPECT_TRUE(std::get<3>(*outcome).value().empty());

    get(redis::make_command("WATCH", {"a"}));
    get(cmd::incr("a")); // of this connection: enough to break the watch
    EXPECT_FALSE(get(redis::transaction(cmd::incr("a"))));
    refuse(redis::transaction(cmd::incr("a"), redis::make_command<long>("NONE", {})));
    EXPECT_EQ(get(cmd::get<int>("a")), 3);
}

} // namespace fairlead::test
