#include <fairlead/legacy/config.hpp>

#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

namespace {

using namespace fairlead;

TEST(Config, WithoutASourceTheFallbackCounts) {
    io_context context;
    config const all(context);
    EXPECT_EQ(all.get("scheduler", "concurrency_hint", 7), 7);
    EXPECT_TRUE(all.get("scheduler", "locking", true));
    io_context hinted(3);
    EXPECT_EQ(config(hinted).get("scheduler", "concurrency_hint", 7), 7);
    thread_pool pool(1);
    EXPECT_EQ(config(pool).get("a", "b", 'c'), 'c');
}

TEST(Config, FromATextWithCommentsAndNonsense) {
    io_context context(config_from_string("scheduler.hint=123\n"
                                          " scheduler.locking = 1 \t\r\n"
                                          "# reactor.none=1\n"
                                          "\n"
                                          "nonsense\n"
                                          "reactor.none=\n"
                                          "=5\n"
                                          "reactor.off= 0 # reactor.none=1\n"
                                          "reactor.twice=1\n"
                                          "reactor.twice=2\n"
                                          "reactor.last=-1"));
    config const all(context);
    EXPECT_EQ(all.get("scheduler", "hint", 0), 123);
    EXPECT_TRUE(all.get("scheduler", "locking", false));
    EXPECT_EQ(all.get("reactor", "none", 42), 42);
    EXPECT_FALSE(all.get("reactor", "off", true));
    EXPECT_EQ(all.get("reactor", "twice", 0), 1);
    EXPECT_EQ(all.get("reactor", "last", 0L), -1);
    EXPECT_EQ(all.get("reactor", "hint", 42), 42) << "of another section";
}

TEST(Config, FromATextWithAPrefix) {
    io_context context(config_from_string("mine.a.b=1\na.b=2\nmine.a.c=3", "mine"));
    EXPECT_EQ(config(context).get("a", "b", 0), 1);
    EXPECT_EQ(config(context).get("a", "c", 0), 3);
    EXPECT_EQ(config(context).get("mine", "a.b", 0), 0);
    io_context empty(config_from_string(""));
    EXPECT_EQ(config(empty).get("a", "b", 5), 5);
}

TEST(Config, RefusesWhatTheTypeCannotHold) {
    io_context context(config_from_string("n.byte=255\nn.more=256\nn.less=-1\nn.hex=0x10\nn.word=word\nn.tail=1x\n"
                                          "n.big=18446744073709551615\nn.huge=18446744073709551616\n"
                                          "n.low=-9223372036854775808\nn.two=2"));
    config const all(context);
    EXPECT_EQ(all.get("n", "byte", std::uint8_t{0}), 255);
    EXPECT_THROW(all.get("n", "byte", std::int8_t{0}), std::out_of_range);
    EXPECT_THROW(all.get("n", "more", std::uint8_t{0}), std::out_of_range);
    EXPECT_EQ(all.get("n", "less", 0), -1);
    EXPECT_THROW(all.get("n", "less", 0U), std::out_of_range);
    EXPECT_EQ(all.get("n", "hex", 0), 16);
    EXPECT_THROW(all.get("n", "word", 0), std::out_of_range);
    EXPECT_THROW(all.get("n", "tail", 0), std::out_of_range);
    EXPECT_EQ(all.get("n", "big", std::uint64_t{0}), std::numeric_limits<std::uint64_t>::max());
    EXPECT_THROW(all.get("n", "big", std::int64_t{0}), std::out_of_range);
    EXPECT_THROW(all.get("n", "huge", std::uint64_t{0}), std::out_of_range);
    EXPECT_EQ(all.get("n", "low", std::int64_t{0}), std::numeric_limits<std::int64_t>::min());
    EXPECT_THROW(all.get("n", "two", false), std::out_of_range);
}

TEST(Config, FromTheEnvironmentInUpperCase) {
    ::setenv("FAIRLEAD_TEST_POOL_SIZE", "12", 1);
    ::setenv("ASIO_POOL_SIZE", "13", 1);
    io_context mine(config_from_env("fairlead_test")), usual{config_from_env()}, bare{config_from_env("")};
    EXPECT_EQ(config(mine).get("pool", "size", 0), 12);
    EXPECT_EQ(config(usual).get("pool", "size", 0), 13);
    EXPECT_EQ(config(bare).get("asio", "pool_size", 0), 13);
    EXPECT_EQ(config(mine).get("pool", "name", 5), 5);
    ::unsetenv("FAIRLEAD_TEST_POOL_SIZE");
    ::unsetenv("ASIO_POOL_SIZE");
    EXPECT_EQ(config(mine).get("pool", "size", 0), 0);
}

std::string hints(int hint) {
    io_context context{config_from_concurrency_hint(hint)};
    config const all(context);
    return std::to_string(all.get("scheduler", "concurrency_hint", 99)) +
           (all.get("scheduler", "locking", false) ? " locking" : "") +
           (all.get("reactor", "registration_locking", false) ? " registration" : "") +
           (all.get("reactor", "io_locking", false) ? " io" : "");
}

TEST(Config, FromAConcurrencyHint) {
    using hint = config_from_concurrency_hint;
    EXPECT_EQ(hints(0), "0 locking registration io");
    EXPECT_EQ(hints(1), "1 locking registration io");
    EXPECT_EQ(hints(42), "42 locking registration io");
    EXPECT_EQ(hints(hint::none), "-1 locking registration io");
    EXPECT_EQ(hints(hint::safe), "-1 locking registration io");
    EXPECT_EQ(hints(hint::unsafe), "1");
    EXPECT_EQ(hints(hint::unsafe_io), "1 locking registration");
    io_context context{hint()};
    EXPECT_EQ(config(context).get("scheduler", "concurrency_hint", 99), -1);
    EXPECT_EQ(config(context).get("resolver", "threads", 99), 99);
}

/// A source of a user's own, which writes its answers where it is told to.
class doubled final : public config_service {
public:
    using config_service::config_service;
    char const* get_value(char const* section, char const*, char* value, std::size_t value_len) const override {
        auto const text = std::to_string(2 * std::strlen(section));
        return text.copy(value, value_len - 1) == text.size() ? (value[text.size()] = 0, value) : nullptr;
    }
};

TEST(Config, FromAServiceOfTheUsersOwnAndOnlyOneOfThem) {
    io_context context;
    make_service<doubled>(context);
    EXPECT_EQ(config(context).get("four", "any", 0), 8);
    EXPECT_THROW(config_from_string("a.b=1").make(context), service_already_exists);
}

} // namespace
