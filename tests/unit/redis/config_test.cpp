// Settings can be written in place wherever an operation takes them, also inside a co_await expression. With g++ 12 an
// aggregate that is made there is destroyed twice, if its members have destructors.
#include <fairlead/redis/client.hpp>
#include <fairlead/redis/connection.hpp>
#include <fairlead/redis_server/server.hpp>

#include <gtest/gtest.h>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/sim/link.hpp>
#include <fairlead/token/adapters.hpp>

#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;

template <class T> constexpr bool is_safe_in_place = !std::is_aggregate_v<T> || std::is_trivially_destructible_v<T>;
static_assert(is_safe_in_place<redis::config>);
static_assert(is_safe_in_place<redis::config_view>);
static_assert(is_safe_in_place<redis::server_options>);
static_assert(is_safe_in_place<redis::server_engine_options>);
static_assert(is_safe_in_place<resp3::limits>);
static_assert(is_safe_in_place<sim::link_options>);
static_assert(std::is_aggregate_v<redis::config_view>, "{.address = ...}");

// Too long to lie in the object, so that its memory would be given back twice; nobody listens there.
constexpr char const* nowhere = "unix:/a/path/that/is/longer/than/a/small/string/and/does/not/exist";

redis::config made_config() {
    redis::config c;
    c.address = nowhere;
    return c;
}

awaitable<void> run_in_every_shape(redis::connection& conn, int& shapes) {
    auto const check = [&shapes](std::tuple<error_code> const& end) {
        auto const ec = std::get<0>(end);
        EXPECT_TRUE(ec == std::errc::no_such_file_or_directory) << ec.message() << " in shape " << shapes;
        ++shapes;
    };
    char const* const text = nowhere;
    check(co_await conn.async_run({.address = text}, as_tuple));
    check(co_await conn.async_run({.address = std::string(text)}, as_tuple));
    check(co_await conn.async_run({.address = text, .password = std::string(100, 'x'), .limits = {.elements_max = 9}},
                                  as_tuple));
    check(co_await conn.async_run(redis::config_view{.address = text}, as_tuple));
    check(co_await conn.async_run(redis::config({.address = text}), as_tuple));
    check(co_await conn.async_run(made_config(), as_tuple));
    redis::config named;
    named.address = text;
    check(co_await conn.async_run(named, as_tuple));
    check(co_await conn.async_run(std::move(named), as_tuple));
    check(co_await conn.async_run(as_tuple)); // once more
    auto running = conn.async_run({.address = text}, as_tuple);
    check(co_await std::move(running));
    try {
        co_await conn.async_run({.address = text});
        ADD_FAILURE() << "it ended without an error";
    } catch (system_error const& e) {
        check(e.code());
    }
}

awaitable<int> port_of(redis::server const& s) { co_return s.port(); }

awaitable<void> make_servers_in_every_shape(io_context& context, int& shapes) {
    EXPECT_NE(co_await port_of(redis::server(context, {"127.0.0.1"})), 0);
    ++shapes;
    EXPECT_NE(co_await port_of(redis::server(context, {"127.0.0.1", 0})), 0);
    ++shapes;
    EXPECT_NE(co_await port_of(redis::server(context, redis::server_options())), 0);
    ++shapes;
    EXPECT_NE(co_await port_of(redis::server(context)), 0);
    ++shapes;
}

template <class F> int run(F body) {
    io_context context(1);
    redis::connection conn(context);
    int shapes = 0;
    std::exception_ptr failure;
    co_spawn(context, body(context, conn, shapes), [&failure](std::exception_ptr e) { failure = std::move(e); });
    context.run_for(10s);
    EXPECT_TRUE(context.stopped()) << "it did not end within ten seconds";
    EXPECT_FALSE(failure);
    return shapes;
}

TEST(RedisConfig, X16SettingsMayBeWrittenInPlaceInsideACoAwaitExpression) {
    EXPECT_EQ(run([](io_context&, redis::connection& conn, int& n) { return run_in_every_shape(conn, n); }), 11);
}

TEST(RedisConfig, X16OptionsOfAServerMayBeWrittenInPlaceInsideACoAwaitExpression) {
    EXPECT_EQ(run([](io_context& c, redis::connection&, int& n) { return make_servers_in_every_shape(c, n); }), 4);
}

TEST(RedisConfig, SettingsOutliveTheTextsTheyWereMadeOf) {
    redis::config c;
    {
        std::string const host(100, 'h'), user(100, 'u'), secret(100, 's'), name(100, 'n');
        redis::config_view v{.address = host, .username = user, .password = secret, .client_name = name, .database = 7};
        v.health_check_interval = 3s;
        v.dedicated = true;
        v.pushes = redis::push_policy::close;
        v.limits.elements_max = 99;
        c = v;
    }
    EXPECT_EQ(c.address, std::string(100, 'h'));
    EXPECT_EQ(c.username, std::string(100, 'u'));
    EXPECT_EQ(c.password, std::string(100, 's'));
    EXPECT_EQ(c.client_name, std::string(100, 'n'));
    EXPECT_EQ(c.database, 7U);
    EXPECT_EQ(c.health_check_interval, 3s);
    EXPECT_TRUE(c.dedicated);
    EXPECT_EQ(c.pushes, redis::push_policy::close);
    EXPECT_EQ(c.limits.elements_max, 99U);
    redis::config_view const seen = c;
    EXPECT_EQ(seen.address.data(), c.address.data()) << "views are not copies";
}

TEST(RedisConfig, AClientRefusesWhatItWouldNotHeed) {
    io_context context;
    EXPECT_THROW(redis::client(context, {.dedicated = true}), std::invalid_argument);
    EXPECT_THROW(redis::client(context, {.pushes_max = 7}), std::invalid_argument);
    EXPECT_THROW(redis::client(context, {.push_bytes_max = 7}), std::invalid_argument);
    EXPECT_THROW(redis::client(context, {.pushes = redis::push_policy::close}), std::invalid_argument);
    EXPECT_NO_THROW(redis::client(context, {.request_timeout = 1s, .keep_unsent = true}));
}

} // namespace
} // namespace fairlead::test
