// Gets a page over HTTPS, and writes it. The server has to be whom it was asked for.
//
//   example_tls_get HOST [PORT [PATH [AUTHORITIES.pem]]]
//   example_tls_get --self          from a server that `openssl s_server` is, with a certificate of its own making
//
// Run as a test: --self
#include "self_signed.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/tls/stream.hpp>
#include <fairlead/token/adapters.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

using namespace std::chrono_literals;
using fairlead::awaitable, fairlead::ip::tcp;
namespace ssl = fairlead::ssl;

struct page {
    std::string host, port = "443", path = "/", authorities;
};

awaitable<void> get(page const& wanted, std::size_t& bytes) {
    ssl::context trust(ssl::context::tls_client);
    if (!wanted.authorities.empty())
        trust.load_verify_file(wanted.authorities);
    tcp::resolver resolver(co_await fairlead::this_coro::executor);
    auto const found = co_await resolver.async_resolve(wanted.host, wanted.port);
    ssl::stream<tcp::socket> stream(resolver.get_executor(), trust);
    stream.set_host_name(wanted.host);
    co_await fairlead::async_connect(stream.next_layer(), found, fairlead::cancel_after(10s));
    co_await stream.async_handshake(ssl::stream_base::client, fairlead::cancel_after(10s));
    std::string const request = "GET " + wanted.path + " HTTP/1.0\r\nHost: " + wanted.host + "\r\n\r\n";
    co_await fairlead::async_write(stream, fairlead::buffer(request));
    char some[4096];
    for (;;) {
        auto [ec, n] = co_await stream.async_read_some(fairlead::buffer(some), fairlead::as_tuple);
        std::fwrite(some, 1, n, stdout);
        bytes += n;
        if (ec == fairlead::error::eof)
            co_return;
        if (ec) // stream_truncated: the page may be longer.
            throw fairlead::system_error(ec, "read of the page");
    }
}

/// A server for one connection. It is there when this returns.
std::FILE* start_server(self_signed const& files, std::string& port) {
    {
        fairlead::io_context ctx;
        tcp::acceptor const free(ctx, tcp::endpoint(fairlead::ip::address_v4::loopback(), 0));
        port = std::to_string(free.local_endpoint().port());
    }
    std::string const command = "openssl s_server -www -naccept 1 -accept 127.0.0.1:" + port + " -cert '" +
                                files.certificate + "' -key '" + files.key + "' </dev/null 2>&1";
    std::FILE* const says = ::popen(command.c_str(), "r");
    char line[200];
    while (says && std::fgets(line, sizeof line, says))
        if (std::string_view(line).starts_with("ACCEPT"))
            return says;
    return says;
}

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: %s HOST [PORT [PATH [AUTHORITIES.pem]]]\n       %s --self\n", argv[0], argv[0]);
        return 2;
    }
    page wanted;
    wanted.host = argv[1];
    std::unique_ptr<self_signed> made;
    std::FILE* server = nullptr;
    if (wanted.host == "--self") {
        made = std::make_unique<self_signed>();
        wanted.host = "localhost";
        wanted.authorities = made->certificate;
        server = start_server(*made, wanted.port);
    }
    if (argc > 2)
        wanted.port = argv[2];
    if (argc > 3)
        wanted.path = argv[3];
    if (argc > 4)
        wanted.authorities = argv[4];
    fairlead::io_context ctx(1);
    std::size_t bytes = 0;
    int status = 0;
    co_spawn(ctx, get(wanted, bytes), [&status](std::exception_ptr e) {
        try {
            if (e)
                std::rethrow_exception(e);
        } catch (std::exception const& x) {
            std::fprintf(stderr, "%s\n", x.what());
            status = 1;
        }
    });
    ctx.run();
    if (server)
        ::pclose(server);
    return status != 0 || bytes == 0 ? 1 : 0;
}
