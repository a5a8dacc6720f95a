#include <unit/tls/pair.hpp>

#include <tuple>

namespace {

using namespace fairlead;
using namespace fairlead::test;

class TlsStream : public testing::Test {
public:
    io_context context;
};

TEST_F(TlsStream, CarriesBytesBothWaysAndEnds) {
    tls_pair p(context);
    run_through(context, [&p]() -> awaitable<void> {
        auto const [of_client, of_server] = co_await p.shake_hands();
        EXPECT_FALSE(of_client) << of_client.message();
        EXPECT_FALSE(of_server) << of_server.message();
        std::string const question = "ping";
        char got[16];
        co_await p.client.async_write_some(buffer(question));
        auto n = co_await p.server.async_read_some(buffer(got));
        EXPECT_EQ(std::string(got, n), "ping");
        co_await p.server.async_write_some(buffer(got, n));
        n = co_await p.client.async_read_some(buffer(got));
        EXPECT_EQ(std::string(got, n), "ping");
        error_code ec;
        auto a = p.client.async_shutdown();
        auto b = p.server.async_read_some(buffer(got), redirect_error(ec));
        auto const reads_to_the_end = [](tls_pair& of, auto op) -> awaitable<void> {
            co_await std::move(op);
            co_await of.server.async_shutdown();
        };
        auto end = reads_to_the_end(p, std::move(b));
        co_await when_all(std::move(a), std::move(end));
        EXPECT_EQ(ec, error::eof);
    });
}

TEST_F(TlsStream, CarriesMuchAtOnceBothWays) {
    tls_pair p(context);
    std::string const sent(3'000'000, 'x');
    std::string by_client(sent.size(), ' '), by_server(sent.size(), ' ');
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        auto a = async_write(p.client, buffer(sent));
        auto b = async_write(p.server, buffer(sent));
        auto c = async_read(p.client, buffer(by_client));
        auto d = async_read(p.server, buffer(by_server));
        co_await when_all(std::move(a), std::move(b), std::move(c), std::move(d));
    });
    EXPECT_EQ(by_client, sent);
    EXPECT_EQ(by_server, sent);
}

TEST_F(TlsStream, ASecondReadAtTheSameTimeIsAnError) {
    tls_pair p(context);
    run_through(context, [&p]() -> awaitable<void> {
        co_await p.shake_hands();
        char one[4], two[4];
        error_code ec, of_first;
        auto first = p.client.async_read_some(buffer(one), redirect_error(of_first));
        auto const second = [](tls_pair& of, char(&into)[4], error_code& e) -> awaitable<void> {
            auto again = of.client.async_read_some(buffer(into), redirect_error(e));
            co_await std::move(again);
            std::string const text = "last";
            co_await of.server.async_write_some(buffer(text));
        };
        auto other = second(p, two, ec);
        co_await when_all(std::move(first), std::move(other));
        EXPECT_EQ(ec, error::already_started);
        EXPECT_FALSE(of_first);
        EXPECT_EQ(std::string(one, 4), "last");
    });
}

} // namespace
