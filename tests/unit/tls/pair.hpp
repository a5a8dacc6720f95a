// A client and a server, connected, on one context.
#pragma once

#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/when_all.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/tls/stream.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>
#include <unit/tls/certificates.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <string>
#include <utility>

namespace fairlead::test {

using tls_socket = ssl::stream<local::stream_protocol::socket>;

struct tls_pair {
    io_context& context;
    ssl::context of_client = client_context(), of_server = server_context();
    tls_socket client{context, of_client}, server{context, of_server};

    explicit tls_pair(io_context& c) : context(c) { connect(); }
    tls_pair(io_context& c, ssl::context for_client, ssl::context for_server)
        : context(c),
          of_client(std::move(for_client)),
          of_server(std::move(for_server)) {
        connect();
    }
    void connect() {
        local::connect_pair(client.next_layer(), server.next_layer());
        client.set_host_name("server.test");
    }
    /// Both sides of a handshake; the errors of client and server.
    awaitable<std::pair<error_code, error_code>> shake_hands() {
        error_code of_c, of_s;
        auto c = client.async_handshake(ssl::stream_base::client, redirect_error(of_c));
        auto s = server.async_handshake(ssl::stream_base::server, redirect_error(of_s));
        co_await when_all(std::move(c), std::move(s));
        co_return std::pair(of_c, of_s);
    }
};

/// Runs a coroutine to its end.
template <class Body> void run_through(io_context& c, Body body) {
    bool is_done = false;
    co_spawn(c, std::move(body), [&is_done](std::exception_ptr e) {
        is_done = true;
        try {
            if (e)
                std::rethrow_exception(e);
        } catch (std::exception const& x) {
            ADD_FAILURE() << x.what();
        }
    });
    c.restart();
    c.run_for(std::chrono::seconds(20));
    EXPECT_TRUE(is_done) << "something is waited for that does not come";
}

/// The error of a server's handshake with a peer that sends these bytes, stays, and says no more.
inline error_code handshake_after(io_context& c, std::string const& bytes) {
    auto of_server = server_context();
    tls_socket side(c, of_server);
    local::stream_protocol::socket peer(c);
    local::connect_pair(side.next_layer(), peer);
    error_code ec;
    run_through(c, [&]() -> awaitable<void> {
        co_await async_write(peer, buffer(bytes));
        auto op = side.async_handshake(ssl::stream_base::server, redirect_error(ec));
        co_await std::move(op);
    });
    return ec;
}

} // namespace fairlead::test
