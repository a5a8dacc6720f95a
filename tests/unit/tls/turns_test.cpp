// Turns of the loop: a stream below that is always ready does not keep it, and many reads that wait share memory.
#include <fairlead/net/byte_stream.hpp>
#include <fairlead/token/detached.hpp>
#include <support/counting_new.hpp>
#include <unit/tls/pair.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace fairlead;
using namespace fairlead::test;
using impl::net::stream_op;
using impl::net::stream_verb;

/// One end of a wire in memory. There is space for everything, and an attempt succeeds wherever there is something.
class eager_end final : public impl::net::byte_stream {
public:
    explicit eager_end(any_io_executor const& e) : byte_stream(io::impl::find_io_loop(e), true) {}
    ~eager_end() override = default;

    void connect(eager_end& other) { other_ = &other; }
    bool try_now(stream_op& o) noexcept override { return !come_.empty() && take(o); }
    bool try_write(stream_op& o) noexcept override {
        o.result.n = o.size;
        other_->come_.append(static_cast<char const*>(o.data), o.size);
        if (auto* const waits = std::exchange(other_->waits_, nullptr)) {
            other_->take(*waits);
            engine().post(*waits);
        }
        return true;
    }
    void submit(stream_op& o) noexcept override {
        if (o.verb == stream_verb::write ? try_write(o) : try_now(o))
            engine().post(o);
        else
            waits_ = &o;
    }
    void cancel(stream_op& o) noexcept override {
        if (waits_ != &o)
            return;
        waits_ = nullptr;
        o.fail(error::operation_aborted);
        engine().post(o);
    }
    void perform(stream_op& o) noexcept override { o.fail(error::operation_not_supported); }
    void is_at(void*) noexcept override {}

private:
    bool take(stream_op& o) {
        o.result.n = std::min(o.size, come_.size());
        std::memcpy(o.data, come_.data(), o.result.n);
        come_.erase(0, o.result.n);
        return true;
    }
    eager_end* other_ = nullptr;
    std::string come_;
    stream_op* waits_ = nullptr;
};

/// The stream that a program would have.
struct wire {
    using executor_type = any_io_executor;
    any_io_executor executor;
    eager_end* end;

    explicit wire(any_io_executor const& e) : executor(e), end(new eager_end(e)) {}
    wire(wire&& other) noexcept : executor(other.executor), end(std::exchange(other.end, nullptr)) {}
    wire& operator=(wire&&) = delete;
    ~wire() {
        if (end)
            end->release();
    }
    executor_type get_executor() const { return executor; }
    impl::net::byte_stream& bytes() const { return *end; }
};

TEST(TlsTurns, ALongTransferLetsOthersHaveTheirs) {
    io_context context;
    auto of_client = client_context(), of_server = server_context();
    ssl::stream<wire> client(any_io_executor(context.get_executor()), of_client),
        server(any_io_executor(context.get_executor()), of_server);
    client.next_layer().end->connect(*server.next_layer().end);
    server.next_layer().end->connect(*client.next_layer().end);
    client.set_host_name("server.test");
    bool is_over = false;
    int turns = 0;
    run_through(context, [&]() -> awaitable<void> {
        auto c = client.async_handshake(ssl::stream_base::client);
        auto s = server.async_handshake(ssl::stream_base::server);
        co_await when_all(std::move(c), std::move(s));
        std::string const text(3'000'000, 't');
        std::string got(text.size(), ' ');
        auto const counts = [](bool const& over, int& count) -> awaitable<void> {
            for (;; ++count) {
                if (over)
                    co_return;
                co_await post(co_await this_coro::executor, use_await);
            }
        };
        co_spawn(context, counts(is_over, turns), detached);
        auto w = async_write(server, buffer(text));
        auto r = async_read(client, buffer(got));
        co_await when_all(std::move(w), std::move(r));
        is_over = true;
        EXPECT_EQ(got, text);
        EXPECT_GT(turns, 10) << "others had no turn while 3 MB were written and read";
    });
}

/// Reads that wait have no memory of their own. It comes with the bytes, to many of them in one turn.
TEST(TlsTurns, ReadsThatWaitGetTheirOwnBytesWhenAllOfThemCome) {
    io_context context;
    auto of_client = client_context();
    auto of_server = server_context();
    struct connection {
        tls_socket client, server;
        std::string got;
    };
    std::vector<std::unique_ptr<connection>> all;
    auto const text_of = [](std::size_t i) { return std::string(1 + i * 37 % 1500, static_cast<char>('a' + i % 26)); };
    for (std::size_t i = 0; i != 60; ++i) {
        all.push_back(std::unique_ptr<connection>(
            new connection{tls_socket(context, of_client), tls_socket(context, of_server), {}}));
        auto& each = *all.back();
        local::connect_pair(each.client.next_layer(), each.server.next_layer());
        each.client.set_host_name("server.test");
        run_through(context, [&]() -> awaitable<void> {
            auto c = each.client.async_handshake(ssl::stream_base::client);
            auto s = each.server.async_handshake(ssl::stream_base::server);
            co_await when_all(std::move(c), std::move(s));
        });
    }
    for (int round = 0; round != 2; ++round) {
        std::size_t ended = 0;
        for (auto& each : all) {
            each->got.assign(2000, ' ');
            each->server.async_read_some(buffer(each->got), [&ended, &each = *each](error_code ec, std::size_t n) {
                EXPECT_FALSE(ec) << ec.message();
                each.got.resize(n);
                ++ended;
            });
        }
        context.restart();
        context.poll(); // All of them wait.
        EXPECT_EQ(ended, 0U);
        for (std::size_t i = 0; i != all.size(); ++i) {
            auto const text = text_of(i);
            EXPECT_EQ(all[i]->client.write_some(buffer(text)), text.size());
        }
        context.run_for(std::chrono::seconds(20));
        EXPECT_EQ(ended, all.size());
        for (std::size_t i = 0; i != all.size(); ++i)
            EXPECT_EQ(all[i]->got, text_of(i));
    }
}

/// Beside OpenSSL's own: a server may have very many connections that wait.
TEST(TlsTurns, AStreamTakesLittleMemory) {
    if (!is_new_counted())
        GTEST_SKIP() << "the sanitizer has operators of its own";
    io_context context;
    auto of_server = server_context();
    local::stream_protocol::socket below(context);
    new_counter const counted;
    ssl::stream<local::stream_protocol::socket&> const made(below, of_server);
    EXPECT_LE(counted.bytes(), 680U);
}

} // namespace
