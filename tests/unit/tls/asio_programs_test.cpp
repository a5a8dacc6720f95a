// A server and a client over TLS as they are written for Asio, by its include paths and its namespace alone.
#include <asio.hpp>
#include <asio/ssl.hpp>

#include <unit/tls/certificates.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace {

using asio::ip::tcp;
using ssl_socket = asio::ssl::stream<tcp::socket>;

class echo_session : public std::enable_shared_from_this<echo_session> {
public:
    echo_session(tcp::socket socket, asio::ssl::context& c) : socket_(std::move(socket), c) {}
    void start() {
        socket_.async_handshake(asio::ssl::stream_base::server, [self = shared_from_this()](std::error_code const& ec) {
            if (!ec)
                self->read();
        });
    }

private:
    void read() {
        socket_.async_read_some(asio::buffer(data_), [self = shared_from_this()](std::error_code ec, std::size_t n) {
            if (!ec)
                self->write(n);
        });
    }
    void write(std::size_t n) {
        asio::async_write(socket_, asio::buffer(data_, n),
                          [self = shared_from_this()](std::error_code ec, std::size_t) {
                              if (!ec)
                                  self->read();
                          });
    }

    ssl_socket socket_;
    char data_[1024];
};

class echo_client {
public:
    echo_client(asio::io_context& c, asio::ssl::context& of_client, tcp::endpoint const& to) : socket_(c, of_client) {
        socket_.set_verify_mode(asio::ssl::verify_peer);
        socket_.set_verify_callback(asio::ssl::host_name_verification("server.test"));
        socket_.lowest_layer().async_connect(to, [this](std::error_code const& ec) {
            error = ec;
            if (!ec)
                shake_hands();
        });
    }
    std::error_code error;
    std::string reply;

private:
    void shake_hands() {
        socket_.async_handshake(asio::ssl::stream_base::client, [this](std::error_code const& ec) {
            error = ec;
            if (!ec)
                send();
        });
    }
    void send() {
        asio::async_write(socket_, asio::buffer("hello", 5), [this](std::error_code const& ec, std::size_t n) {
            error = ec;
            if (!ec)
                receive(n);
        });
    }
    void receive(std::size_t n) {
        reply.resize(n);
        asio::async_read(socket_, asio::buffer(reply), [this](std::error_code const& ec, std::size_t) {
            error = ec;
            socket_.async_shutdown([this](std::error_code const&) { socket_.lowest_layer().close(); });
        });
    }

    ssl_socket socket_;
};

TEST(TlsCompat, AServerAndAClientOfAsioTalk) {
    namespace test = fairlead::test;
    asio::io_context context;
    asio::ssl::context of_server(asio::ssl::context::tls_server), of_client(asio::ssl::context::tls_client);
    of_server.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2 |
                          asio::ssl::context::single_dh_use);
    of_server.use_certificate_chain(asio::buffer(test::server().certificate));
    of_server.use_private_key(asio::buffer(test::server().key), asio::ssl::context::pem);
    of_client.add_certificate_authority(asio::buffer(test::authority().certificate));
    tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    acceptor.async_accept([&](std::error_code ec, tcp::socket socket) {
        EXPECT_FALSE(ec);
        std::make_shared<echo_session>(std::move(socket), of_server)->start();
    });
    echo_client client(context, of_client, acceptor.local_endpoint());
    context.run();
    EXPECT_FALSE(client.error) << client.error.message();
    EXPECT_EQ(client.reply, "hello");
}

TEST(TlsCompat, NamesOfAsioAreThere) {
    static_assert(asio::ssl::verify_none != asio::ssl::verify_peer);
    std::error_code const truncated = asio::ssl::error::stream_truncated;
    EXPECT_EQ(truncated.category(), asio::ssl::error::get_stream_category());
    EXPECT_NE(&asio::error::get_ssl_category(), &asio::error::get_system_category());
    asio::ssl::context c(asio::ssl::context::sslv23);
    c.set_password_callback([](std::size_t, asio::ssl::context::password_purpose) { return "secret"; });
    EXPECT_TRUE(c.native_handle());
}

} // namespace
