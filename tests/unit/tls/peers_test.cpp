// Peers that are OpenSSL's own programs.
#include <fairlead/net/acceptor.hpp>
#include <support/child_process.hpp>
#include <unit/tls/pair.hpp>

#include <fstream>

namespace {

using namespace fairlead;
using namespace fairlead::test;
using tls_over_tcp = ssl::stream<ip::tcp::socket>;

class TlsPeers : public testing::Test {
public:
    void SetUp() override {
        if (openssl.empty())
            GTEST_SKIP() << "needs the program openssl";
        write("authority.pem", authority().certificate);
        write("server.pem", server().certificate + server().key);
    }
    void write(char const* name, std::string const& text) const { std::ofstream(path(name)) << text; }
    std::string path(char const* name) const { return folder + name; }
    static std::uint16_t free_port() {
        io_context of_its_own;
        return ip::tcp::acceptor(of_its_own, loopback(0)).local_endpoint().port();
    }
    static ip::tcp::endpoint loopback(std::uint16_t port) { return {ip::address_v4::loopback(), port}; }

    std::string const openssl = find_program({"openssl"});
    std::string const folder = testing::TempDir() + "tls_" + std::to_string(::getpid()) + '_';
    io_context context;
    child_process peer;
};

TEST_F(TlsPeers, AServerOfOpenSSLAnswersOurClient) {
    auto const port = free_port();
    peer.start(
        {openssl, "s_server", "-accept", "127.0.0.1:" + std::to_string(port), "-cert", path("server.pem"), "-www"},
        true);
    ASSERT_TRUE(peer.says("ACCEPT"));
    ssl::context c(ssl::context::tls_client);
    c.load_verify_file(path("authority.pem"));
    tls_over_tcp client(context, c);
    client.set_host_name("server.test");
    std::string page;
    error_code ec;
    run_through(context, [&]() -> awaitable<void> {
        co_await client.next_layer().async_connect(loopback(port));
        co_await client.async_handshake(ssl::stream_base::client);
        std::string const request = "GET / HTTP/1.0\r\n\r\n";
        co_await async_write(client, buffer(request));
        char some[1000];
        while (!ec) {
            auto op = client.async_read_some(buffer(some), redirect_error(ec));
            page.append(some, co_await std::move(op));
        }
    });
    EXPECT_EQ(ec, error::eof) << ec.message();
    EXPECT_EQ(page.substr(0, 15), "HTTP/1.0 200 ok");
}

TEST_F(TlsPeers, L03_AServerThatIsKilledHasTruncatedTheStream) {
    auto const port = free_port();
    peer.start(
        {openssl, "s_server", "-accept", "127.0.0.1:" + std::to_string(port), "-cert", path("server.pem"), "-quiet"},
        true);
    ssl::context c = client_context();
    tls_over_tcp client(context, c);
    client.set_host_name("127.0.0.1");
    error_code ec;
    run_through(context, [&]() -> awaitable<void> {
        do { // It says nothing when it listens.
            ec = {};
            client.next_layer().close();
            auto joining = client.next_layer().async_connect(loopback(port), redirect_error(ec));
            co_await std::move(joining);
        } while (ec == error::connection_refused);
        co_await client.async_handshake(ssl::stream_base::client);
        peer.signal(SIGKILL);
        char some[10];
        auto op = client.async_read_some(buffer(some), redirect_error(ec));
        co_await std::move(op);
    });
    EXPECT_TRUE(ec == ssl::error::stream_truncated || ec == error::connection_reset) << ec.message();
}

TEST_F(TlsPeers, AClientOfOpenSSLTalksToOurServer) {
    ip::tcp::acceptor acceptor(context, loopback(0));
    auto c = server_context();
    peer.start({"/bin/sh", "-c",
                "echo question | '" + openssl + "' s_client -connect 127.0.0.1:" +
                    std::to_string(acceptor.local_endpoint().port()) + " -servername server.test -CAfile '" +
                    path("authority.pem") + "' -verify_return_error -verify_hostname server.test -quiet"},
               true);
    std::string got;
    run_through(context, [&]() -> awaitable<void> {
        tls_over_tcp side(co_await acceptor.async_accept(), c);
        co_await side.async_handshake(ssl::stream_base::server);
        char some[100];
        got.assign(some, co_await side.async_read_some(buffer(some)));
        std::string const answer = "answer to " + got;
        co_await async_write(side, buffer(answer));
        error_code ec;
        auto ending = side.async_shutdown(redirect_error(ec));
        co_await std::move(ending);
    });
    EXPECT_EQ(got, "question\n");
    EXPECT_TRUE(peer.says("answer to question"));
}

} // namespace
