#include <fairlead/net/socket_iostream.hpp>

#include <fairlead/io/clock.hpp>
#include <fairlead/net/acceptor.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace fairlead {
namespace {

using namespace std::chrono_literals;
using ip::tcp;

/// An acceptor whose backlog takes the connections: both ends are used by one thread, in turn.
class SocketIostream : public testing::Test {
protected:
    tcp::endpoint where() const { return acceptor_.local_endpoint(); }

    io_context context_;
    tcp::acceptor acceptor_{context_, tcp::endpoint(ip::address_v4::loopback(), 0)};
};

TEST_F(SocketIostream, LinesGoBothWays) {
    tcp::iostream client(where());
    ASSERT_TRUE(client);
    tcp::iostream server;
    acceptor_.accept(server.socket());
    client << "hello " << 42 << std::endl;
    std::string word;
    int number = 0;
    server >> word >> number;
    EXPECT_EQ(word, "hello");
    EXPECT_EQ(number, 42);
    server << "bye\n";
    server.close();
    EXPECT_TRUE(server);
    std::string line;
    EXPECT_TRUE(std::getline(client, line));
    EXPECT_EQ(line, "bye");
    EXPECT_FALSE(std::getline(client, line));
    EXPECT_EQ(client.error(), error::eof);
}

TEST_F(SocketIostream, NamesAreResolved) {
    tcp::iostream client("127.0.0.1", std::to_string(where().port()));
    EXPECT_TRUE(client);
    client.close();
    client.clear();
    client.connect("127.0.0.1", std::to_string(where().port()));
    EXPECT_TRUE(client);
}

TEST_F(SocketIostream, RefusedConnectionFailsTheStream) {
    auto const nobody = where();
    acceptor_.close();
    tcp::iostream client(nobody);
    EXPECT_TRUE(client.fail());
    EXPECT_EQ(client.error(), error::connection_refused);
}

TEST_F(SocketIostream, ReadGivesUpAtItsExpiry) {
    tcp::iostream client(where());
    client.expires_after(1ms);
    EXPECT_EQ(client.get(), std::char_traits<char>::eof());
    EXPECT_EQ(client.error(), error::timed_out);
    EXPECT_LE(client.expiry(), steady_clock::now());
}

TEST_F(SocketIostream, ExpiriesFarAwayAreNever) {
    tcp::iostream client(where()), server;
    acceptor_.accept(server.socket());
    server << "ab" << std::flush;
    client.expires_after(std::chrono::hours::max());
    EXPECT_EQ(client.expiry(), steady_clock::time_point::max());
    EXPECT_EQ(client.get(), 'a');
    client.expires_at(std::chrono::time_point<steady_clock::time_point::clock, std::chrono::hours>::max());
    EXPECT_EQ(client.expiry(), steady_clock::time_point::max());
    EXPECT_EQ(client.get(), 'b');
    client.expires_after(std::chrono::hours::min());
    EXPECT_LT(client.expiry(), steady_clock::now());
    EXPECT_EQ(client.get(), std::char_traits<char>::eof());
    EXPECT_EQ(client.error(), error::timed_out);
}

TEST_F(SocketIostream, ConnectionOfASocketIsTakenOver) {
    tcp::socket socket(context_);
    socket.connect(where());
    tcp::iostream client(std::move(socket));
    tcp::socket peer = acceptor_.accept();
    client << "x";
    char c = 0;
    EXPECT_EQ(peer.read_some(buffer(&c, 1)), 1U);
    EXPECT_EQ(c, 'x');
}

TEST_F(SocketIostream, MovedStreamGoesOnWithWhatWasRead) {
    tcp::iostream first(where());
    tcp::socket peer = acceptor_.accept();
    peer.write_some(buffer("1 2 ", 4));
    int number = 0;
    first >> number;
    EXPECT_EQ(number, 1);
    tcp::iostream second(std::move(first));
    second >> number;
    EXPECT_EQ(number, 2);
    tcp::iostream third;
    third = std::move(second);
    peer.write_some(buffer("3 ", 2));
    third >> number;
    EXPECT_EQ(number, 3);
    third << "4";
    char c = 0;
    EXPECT_EQ(peer.read_some(buffer(&c, 1)), 1U);
    EXPECT_EQ(c, '4');
}

TEST_F(SocketIostream, WhatWasWrittenIsSentBeforeTheEnd) {
    tcp::socket peer(context_);
    {
        tcp::iostream client(where());
        peer = acceptor_.accept();
        client << std::nounitbuf << "last words";
    }
    std::string text(10, ' ');
    EXPECT_EQ(peer.read_some(buffer(text)), 10U);
    EXPECT_EQ(text, "last words");
}

} // namespace
} // namespace fairlead
