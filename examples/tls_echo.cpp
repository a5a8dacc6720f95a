// An echo server over TLS. With a number of messages it is its own client, with a certificate of its own making.
//
//   example_tls_echo CERTIFICATE KEY [port]
//   example_tls_echo --self MESSAGES
//
// Run as a test: --self 100
#include "self_signed.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/scope/task_scope.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/tls/stream.hpp>
#include <fairlead/token/adapters.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

using namespace std::chrono_literals;
using fairlead::awaitable, fairlead::ip::tcp;
namespace ssl = fairlead::ssl;

awaitable<void> echo(tcp::socket peer, ssl::context& certificates) {
    ssl::stream<tcp::socket> stream(std::move(peer), certificates);
    co_await stream.async_handshake(ssl::stream_base::server, fairlead::cancel_after(10s));
    char data[4096];
    for (;;) {
        auto [ec, n] = co_await stream.async_read_some(fairlead::buffer(data), fairlead::as_tuple);
        if (ec == fairlead::error::eof)
            break; // The peer has said that no more comes.
        if (ec)
            co_return; // ssl::error::stream_truncated, for instance: it has gone without saying so
        co_await fairlead::async_write(stream, fairlead::buffer(data, n));
    }
    co_await stream.async_shutdown(fairlead::cancel_after(10s));
}

awaitable<void> serve(tcp::acceptor& acceptor, ssl::context& certificates) {
    fairlead::scope_options const options{.failures = fairlead::on_failure::is_dropped};
    co_await with_scope(options, [&](fairlead::task_scope<>& sessions) -> awaitable<void> {
        while (acceptor.is_open()) {
            auto [ec, peer] = co_await acceptor.async_accept(fairlead::as_tuple);
            if (!ec)
                co_await sessions.spawn(echo, std::move(peer), std::ref(certificates));
        }
    });
}

awaitable<void> ask(tcp::acceptor& server, std::string certificate, int messages, int& answers) {
    ssl::context trust(ssl::context::tls_client);
    trust.load_verify_file(certificate); // Without this line: the authorities that the system trusts.
    ssl::stream<tcp::socket> stream(co_await fairlead::this_coro::executor, trust);
    stream.set_host_name("localhost");
    co_await stream.next_layer().async_connect(server.local_endpoint());
    co_await stream.async_handshake(ssl::stream_base::client);
    for (int i = 0; i != messages; ++i) {
        std::string const question = "message " + std::to_string(i);
        co_await fairlead::async_write(stream, fairlead::buffer(question));
        std::string answer(question.size(), '?');
        co_await fairlead::async_read(stream, fairlead::buffer(answer));
        answers += answer == question;
    }
    co_await stream.async_shutdown();
    server.close();
}

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: %s CERTIFICATE KEY [port]\n       %s --self MESSAGES\n", argv[0], argv[0]);
        return 2;
    }
    bool const is_own_client = std::string_view(argv[1]) == "--self";
    std::unique_ptr<self_signed> const made(is_own_client ? new self_signed : nullptr);
    fairlead::io_context ctx(1);
    auto const port = static_cast<std::uint16_t>(argc > 3 ? std::atoi(argv[3]) : 0);
    tcp::acceptor acceptor(ctx, made ? tcp::endpoint(fairlead::ip::address_v4::loopback(), 0)
                                     : tcp::endpoint(tcp::v4(), port));
    ssl::context certificates(ssl::context::tls_server);
    certificates.use_certificate_chain_file(made ? made->certificate : argv[1]);
    certificates.use_private_key_file(made ? made->key : argv[2], ssl::context::pem);

    auto const report = [](std::exception_ptr e) {
        if (e)
            std::rethrow_exception(e); // out of run()
    };
    co_spawn(ctx, serve(acceptor, certificates), report);
    std::printf("listening on port %d\n", acceptor.local_endpoint().port());
    int answers = 0;
    int const messages = made ? std::atoi(argv[2]) : 0;
    if (made)
        co_spawn(ctx, ask(acceptor, made->certificate, messages, answers), report);
    try {
        ctx.run();
    } catch (std::exception const& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    std::printf("%d of %d answers were right\n", answers, messages);
    return answers == messages ? 0 : 1;
}
