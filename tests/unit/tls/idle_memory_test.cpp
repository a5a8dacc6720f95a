// The memory of a connection that waits, beside bare OpenSSL that releases its buffers. Optimised: frames are larger
// without. Each test measures in a process of its own, whose malloc has no cache for each thread. The
// contents of that cache count as taken, at times 150 bytes for each connection.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/tls/stream.hpp>
#include <fairlead/token/adapters.hpp>
#include <unit/tls/certificates.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <malloc.h>
#include <memory>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <openssl/ssl.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TLS_MEMORY_IS_OF_A_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define TLS_MEMORY_IS_OF_A_SANITIZER
#endif

namespace {

using namespace fairlead;
using socket_type = local::stream_protocol::socket;
using tls_stream = ssl::stream<socket_type>;
using message = std::array<char, 64>;
using ssl_ptr = std::unique_ptr<SSL, void (*)(SSL*)>;

struct bare_end {
    ssl_ptr tls;

    bare_end(SSL_CTX* c, int fd) : tls(SSL_new(c), &SSL_free) {
        EXPECT_EQ(SSL_set_fd(tls.get(), fd), 1);
        SSL_set_mode(tls.get(), SSL_MODE_RELEASE_BUFFERS);
    }
    bool shakes_hands() { return SSL_do_handshake(tls.get()) == 1; }
    void reads_in_vain() {
        message data;
        EXPECT_EQ(SSL_get_error(tls.get(), SSL_read(tls.get(), data.data(), data.size())), SSL_ERROR_WANT_READ);
    }
};

/// Servers whose clients are bare: the memory of these is the same whatever the server is.
class TlsMemory : public testing::Test {
protected:
    static constexpr int connections = 200;

    /// Bytes of the heap that one connection takes, both ends together. serve(fd) begins one end; go_on() takes a step
    /// of it, true: it has agreed.
    template <class Serve, class GoOn> long each(Serve serve, GoOn go_on) {
        long before = 0;
        for (int i = -20; i != connections; ++i) { // The first ones fill what the libraries keep.
            if (i == 0)
                before = bytes();
            int fds[2];
            EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
            clients_.emplace_back(of_client_.get(), fds[0]);
            fds_.push_back(fds[0]);
            auto& client = clients_.back();
            SSL_set_connect_state(client.tls.get());
            serve(fds[1]);
            bool of_client = false, of_server = false;
            for (int steps = 0; steps != 100 && !(of_client && of_server); ++steps) {
                of_client = client.shakes_hands();
                of_server = go_on();
            }
            EXPECT_TRUE(of_client && of_server);
            client.reads_in_vain(); // the tickets
        }
        return (bytes() - before) / connections;
    }
    long of_bare_openssl() {
        of_bare_openssl_once(); // Then the libraries have all that they keep.
        return of_bare_openssl_once();
    }
    void end_clients() {
        clients_.clear();
        for (int const fd : std::exchange(fds_, {}))
            close(fd);
        fds_.reserve(2 * (connections + 20));
    }
    void SetUp() override {
#ifdef TLS_MEMORY_IS_OF_A_SANITIZER
        GTEST_SKIP() << "frames are larger here, or the heap is a sanitizer's";
#endif
        GTEST_FLAG_SET(death_test_style, "threadsafe"); // The process begins anew, and malloc reads its environment.
        ASSERT_EQ(setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1), 0);
        clients_.reserve(connections + 20);
        fds_.reserve(2 * (connections + 20));
    }
    void TearDown() override { end_clients(); }

    /// In the process of its own: says what a connection takes more than bare OpenSSL, and whether that is as expected.
    [[noreturn]] void end_with(long more, long at_most) {
        std::fprintf(stderr, "%ld bytes more than bare OpenSSL; expected: 256 to %ld\n", more, at_most);
        _exit(more >= 256 && more <= at_most ? 0 : 1); // Below that something was not counted.
    }

    ssl::context of_server_ = test::server_context();

private:
    long of_bare_openssl_once() {
        std::vector<bare_end> servers;
        servers.reserve(connections + 20);
        auto const result = each(
            [&](int fd) {
                servers.emplace_back(of_server_.native_handle(), fd);
                fds_.push_back(fd);
                SSL_set_accept_state(servers.back().tls.get());
            },
            [&] {
                if (!servers.back().shakes_hands())
                    return false;
                servers.back().reads_in_vain();
                return true;
            });
        end_clients();
        return result;
    }
    static long bytes() { return static_cast<long>(mallinfo2().uordblks); }

    std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> of_client_{SSL_CTX_new(TLS_client_method()), &SSL_CTX_free};
    std::vector<bare_end> clients_;
    std::vector<int> fds_;
};

int agreed = 0;

awaitable<void> serve(tls_stream stream) {
    message data;
    co_await stream.async_handshake(tls_stream::server);
    ++agreed;
    co_await stream.async_read_some(buffer(data));
}

TEST_F(TlsMemory, ConnectionOfACoroutineTakesAtMostAKibibyteMoreThanBareOpenssl) {
    auto const measure = [&] {
        auto const bare = of_bare_openssl();
        io_context context(1);
        auto const ours = each(
            [&](int fd) {
                agreed = 0;
                tls_stream stream(socket_type(context, local::stream_protocol(), fd), of_server_);
                co_spawn(context, serve(std::move(stream)), detached);
            },
            [&] {
                context.poll();
                return agreed == 1;
            });
        end_with(ours - bare, 1'024);
    };
    EXPECT_EXIT(measure(), testing::ExitedWithCode(0), "more than bare");
}

struct session {
    tls_stream stream;
    message data{};
};

TEST_F(TlsMemory, ConnectionOfCallbacksTakesMuchLess) {
    auto const measure = [&] {
        auto const bare = of_bare_openssl();
        std::vector<std::unique_ptr<session>> all;
        all.reserve(connections + 20);
        io_context context(1);
        auto const ours = each(
            [&](int fd) {
                agreed = 0;
                all.push_back(std::make_unique<session>(
                    tls_stream(socket_type(context, local::stream_protocol(), fd), of_server_)));
                auto* const one = all.back().get();
                one->stream.async_handshake(tls_stream::server, [one](error_code const& ec) {
                    agreed = !ec;
                    one->stream.async_read_some(buffer(one->data), [](error_code const&, std::size_t) {});
                });
            },
            [&] {
                context.poll();
                return agreed == 1;
            });
        end_with(ours - bare, 640);
    };
    EXPECT_EXIT(measure(), testing::ExitedWithCode(0), "more than bare");
}

} // namespace
