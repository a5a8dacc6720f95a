// A program with TLS, which knows the installed package and nothing more.
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/tls/stream.hpp>

#include <cstdio>

int main() {
    fairlead::io_context context;
    fairlead::ssl::context trust(fairlead::ssl::context::tls_client);
    fairlead::ssl::stream<fairlead::ip::tcp::socket> stream(context, trust);
    fairlead::error_code of_handshake;
    stream.async_handshake(fairlead::ssl::stream_base::client, [&](fairlead::error_code ec) { of_handshake = ec; });
    context.run();
    bool const right = of_handshake == fairlead::ssl::error::no_host_name;
    std::puts(right ? "tls: ok" : "tls: wrong");
    return right ? 0 : 1;
}
