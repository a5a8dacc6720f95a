// Handshakes of TLS, one after the other, each over a UNIX pair of its own. After it the server sends a byte, and the
// client waits for that: the server's ticket comes before. One source for Fairlead (through the headers of
// fairlead::asio_compat) and for Asio.
//
//   tls_handshake ROW N KIND
//     ROW   callback or coroutine
//     KIND  whole    certificates are shown and verified
//           resumed  all but the first one resume the session of the one before
#include "tls_contexts.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>

namespace {

using socket_type = asio::local::stream_protocol::socket;
using tls_stream = asio::ssl::stream<socket_type>;

struct work {
    asio::io_context context{1};
    tls::identities those;
    tls::contexts contexts{those};
    tls::kept_session session; ///< of Asio's client
    bool resumes;
    long left;
    long done = 0;

    work(bool r, long n) : resumes(r), left(n) {
        if (!resumes)
            return;
#ifdef FAIRLEAD_VERSION_MAJOR
        contexts.client.keep_sessions(10);
#else
        session.begin(contexts.client.native_handle());
#endif
    }
    bool is_next() { return left-- > 0; }
    void prepare(tls_stream& client, tls_stream& server) {
        asio::local::connect_pair(client.next_layer(), server.next_layer());
        tls::expect_server(client);
#ifndef FAIRLEAD_VERSION_MAJOR
        session.resume(client.native_handle());
#endif
    }
    void finish(tls_stream& client) {
        tls::need((SSL_session_reused(client.native_handle()) == 1) == (resumes && done != 0));
        ++done;
#ifndef FAIRLEAD_VERSION_MAJOR
        tls::kept_session::spare(client.native_handle());
#endif
    }
};

struct end {
    tls_stream stream;
    char data[1]{};
    end(work& w, asio::ssl::context& c) : stream(w.context, c) {}
};

void serve(std::unique_ptr<end> e) {
    auto& stream = e->stream;
    stream.async_handshake(tls_stream::server, [e = std::move(e)](auto error) mutable {
        if (error)
            return;
        auto& s = e->stream;
        auto const from = asio::buffer(e->data);
        asio::async_write(s, from, [e = std::move(e)](auto, std::size_t) {});
    });
}
void go_on(work& w) {
    if (!w.is_next())
        return;
    auto client = std::make_unique<end>(w, w.contexts.client), server = std::make_unique<end>(w, w.contexts.server);
    w.prepare(client->stream, server->stream);
    serve(std::move(server));
    auto& stream = client->stream;
    stream.async_handshake(tls_stream::client, [&w, e = std::move(client)](auto error) mutable {
        if (error)
            return;
        auto& s = e->stream;
        auto const into = asio::buffer(e->data);
        s.async_read_some(into, [&w, e = std::move(e)](auto failure, std::size_t) mutable {
            if (failure)
                return;
            w.finish(e->stream);
            e.reset();
            go_on(w);
        });
    });
}

asio::awaitable<void> serve(tls_stream stream) {
    char const data[1]{};
    co_await stream.async_handshake(tls_stream::server, asio::use_awaitable);
    co_await asio::async_write(stream, asio::buffer(data), asio::use_awaitable);
}
asio::awaitable<void> shake_hands(work& w) {
    while (w.is_next()) {
        tls_stream client(w.context, w.contexts.client), server(w.context, w.contexts.server);
        w.prepare(client, server);
        asio::co_spawn(w.context, serve(std::move(server)), asio::detached);
        char data[1];
        co_await client.async_handshake(tls_stream::client, asio::use_awaitable);
        co_await client.async_read_some(asio::buffer(data), asio::use_awaitable);
        w.finish(client);
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4)
        return 2;
    long const n = std::atol(argv[2]);
    work w(std::strcmp(argv[3], "resumed") == 0, n);
    if (std::strcmp(argv[1], "coroutine") == 0)
        asio::co_spawn(w.context, shake_hands(w), asio::detached);
    else
        go_on(w);
    w.context.run();
    return w.done != n;
}
