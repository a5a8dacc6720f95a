// Redis over TLS: connection c(ctx, over_tls(tls)). Of a library apart, so that programs without TLS need no OpenSSL.
#pragma once

#include <fairlead/coro/this_coro.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/redis/connector.hpp>
#include <fairlead/tls/stream.hpp>

#include <string>
#include <utility>

namespace fairlead::redis {
namespace impl {

template <class Stream> awaitable<any_stream> greet_with_tls(Stream stream, std::string name) {
    if (!name.empty())
        stream.set_host_name(name);
    auto greeting = stream.async_handshake(ssl::stream_base::client);
    co_await std::move(greeting);
    co_return any_stream(std::move(stream));
}

/// The texts of `to` outlive it.
inline awaitable<any_stream> connect_with_tls(ssl::context& tls, std::string name, address_parts to) {
    auto const executor = co_await this_coro::executor;
    if (to.is_unix) {
        ssl::stream<local::stream_protocol::socket> stream(executor, tls);
        local::stream_protocol::endpoint const endpoint(std::string(to.host));
        auto joining = stream.next_layer().async_connect(endpoint);
        co_await std::move(joining);
        auto made = greet_with_tls(std::move(stream), std::move(name));
        co_return co_await std::move(made);
    }
    ssl::stream<ip::tcp::socket> stream(executor, tls);
    ip::tcp::resolver resolver(executor);
    auto asking = resolver.async_resolve(to.host, to.port);
    auto const found = co_await std::move(asking);
    auto joining = async_connect(stream.next_layer(), found);
    co_await std::move(joining);
    stream.next_layer().set_option(ip::tcp::no_delay(true));
    auto made = greet_with_tls(std::move(stream), name.empty() ? std::string(to.host) : std::move(name));
    co_return co_await std::move(made);
}

} // namespace impl

/// Connects with TLS, as a server with tls-port wants it. The certificate has to be made out to `host_name`, or else to
/// the host of config::address. With a certificate of the client's own in `tls` that is mTLS.
/// Errors     of async_run: those of ssl::stream::async_handshake, beside those of sockets and names
/// Lifetime   `tls` outlives the connection
inline connector over_tls(ssl::context& tls, std::string host_name = {}) {
    return [&tls, name = std::move(host_name)](address_parts to) { return impl::connect_with_tls(tls, name, to); };
}

} // namespace fairlead::redis
