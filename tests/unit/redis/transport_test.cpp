// A connection over a transport that is no socket: the embedded server's bytes, passed on in memory.
#include <redis/transport.hpp>

#include <redis/connection_core.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/redis_server/engine.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;
using redis::address_parts;
using redis::impl::transport_op;

class weather_category : public error_category {
public:
    char const* name() const noexcept override { return "weather"; }
    std::string message(int) const override { return "a storm"; }
};
error_code storm() {
    static weather_category const category;
    return {7, category};
}

class memory_transport : public redis::impl::transport {
public:
    memory_transport(io_loop& l, redis::server_engine& e) : transport(l), server_(e) {}

    awaitable<error_code> connect(address_parts to, std::chrono::milliseconds probe_after) override {
        connects.emplace_back(to.host);
        probes.push_back(probe_after);
        if (on_connect)
            co_return on_connect;
        client_.emplace(server_);
        co_return error_code();
    }
    bool ready(io::kind k, std::size_t) noexcept override {
        return k == io::kind::send_all ? !holds_writes : client_ && !client_->output().empty();
    }
    bool try_now(transport_op& o) noexcept override {
        if (!client_) {
            o.result.error = EBADF;
            return true;
        }
        if (o.kind == io::kind::send_all) {
            if (holds_writes)
                return false;
            return write(o);
        }
        if (on_read) {
            o.fail(on_read);
            return true;
        }
        return read(o);
    }
    void submit(transport_op& o) noexcept override {
        if (try_now(o))
            return engine().post(o);
        (o.kind == io::kind::send_all ? writer_ : reader_) = &o;
        engine().work_started();
    }
    void close() noexcept override {
        client_.reset();
        for (auto** const waiting : {&reader_, &writer_})
            if (auto* const o = std::exchange(*waiting, nullptr)) {
                o->fail(error::operation_aborted);
                complete(*o);
            }
    }
    std::int64_t untaken_bytes() noexcept override { return 0; }
    std::int64_t unread_bytes() noexcept override { return 0; }

    void let_writes_go() {
        holds_writes = false;
        if (auto* const o = std::exchange(writer_, nullptr)) {
            write(*o);
            complete(*o);
        }
    }
    bool has_reader() const { return reader_ != nullptr; }

    bool holds_writes = false;
    error_code on_connect;
    error_code on_read;
    error_code on_write;
    std::vector<std::string> connects;
    std::vector<std::chrono::milliseconds> probes;
    std::vector<std::string> written;

private:
    bool write(transport_op& o) {
        if (on_write) {
            o.fail(on_write);
            return true;
        }
        written.emplace_back(static_cast<char const*>(o.data), o.size);
        o.result.n = o.size;
        client_->feed(written.back());
        if (reader_ && read(*reader_))
            complete(*std::exchange(reader_, nullptr));
        return true;
    }
    bool read(transport_op& o) {
        auto& text = client_->output();
        if (text.empty())
            return false;
        o.result.n = std::min(text.size(), o.size);
        std::memcpy(o.data, text.data(), o.result.n);
        text.erase(0, o.result.n);
        return true;
    }
    void complete(transport_op& o) {
        engine().post(o);
        engine().work_finished();
    }

    redis::server_engine& server_;
    std::optional<redis::server_engine::client> client_;
    transport_op* reader_ = nullptr;
    transport_op* writer_ = nullptr;
};

struct RedisTransport : testing::Test {
    io_context context{1};
    redis::server_engine server;
    memory_transport wire{*fairlead::io::impl::io_loop_for(context.get_executor()), server};
    redis::impl::connection_core& core = *new redis::impl::connection_core(context.get_executor(), &wire);
    error_code ended;
    int ends = 0;

    ~RedisTransport() override {
        core.close();
        context.restart();
        context.run();
    }
    void start(redis::config_view const& settings) {
        using redis::impl::run;
        completion_token_transform<run::signature>(
            [this](error_code ec) {
                ended = ec;
                ++ends;
            },
            run(core, redis::impl::keep_settings(settings)));
    }
    template <class Response> auto exec(redis::request const& r, Response& into) {
        using redis::impl::execute;
        return completion_token_transform<execute::signature>(as_tuple, execute(core, r, redis::impl::refer_to(into)));
    }
    template <class Body> void run(Body body) {
        bool done = false;
        co_spawn(context, body(*this), [&](std::exception_ptr e) {
            EXPECT_FALSE(e);
            done = true;
        });
        context.restart();
        context.run_for(10s);
        EXPECT_TRUE(done);
        EXPECT_TRUE(context.stopped()) << "there is still work after ten seconds";
    }
};

TEST_F(RedisTransport, CarriesSessionsWithoutADescriptor) {
    for (long visit = 1; visit <= 2; ++visit) {
        start({.address = "anywhere:1", .health_check_interval = 0s});
        run([visit](RedisTransport& t) -> awaitable<void> {
            redis::request r;
            r.push("INCR", "visits");
            long visits = 0;
            auto asking = t.exec(r, visits);
            auto const [ec, n] = co_await std::move(asking);
            EXPECT_FALSE(ec) << ec.message();
            EXPECT_EQ(visits, visit);
            EXPECT_TRUE(t.core.is_connected());
            EXPECT_TRUE(t.wire.has_reader());
            t.core.cancel();
        });
        EXPECT_EQ(ends, visit);
        EXPECT_EQ(ended, error::operation_aborted);
    }
    EXPECT_EQ(wire.connects, (std::vector<std::string>{"anywhere", "anywhere"}));
}

TEST_F(RedisTransport, RequestsThatComeWhileAWriteWaitsGoOutTogether) {
    start({.address = "anywhere", .health_check_interval = 0s});
    run([](RedisTransport& t) -> awaitable<void> {
        redis::request r;
        r.push("PING");
        std::string pong;
        auto first = t.exec(r, pong);
        co_await std::move(first);
        t.wire.holds_writes = true;
        t.wire.written.clear();
        int left = 3;
        auto const ask = [](RedisTransport& in, int& others) -> awaitable<void> {
            redis::request one;
            one.push("PING");
            std::string reply;
            auto asking = in.exec(one, reply);
            auto const [ec, n] = co_await std::move(asking);
            EXPECT_FALSE(ec) << ec.message();
            EXPECT_EQ(reply, "PONG");
            --others;
        };
        for (int i = 0; i != 3; ++i) {
            co_spawn(t.context, ask(t, left), detached);
            for (int turns = 0; turns != 3; ++turns)
                co_await post(t.context, use_await);
        }
        EXPECT_EQ(left, 3);
        EXPECT_TRUE(t.wire.written.empty());
        t.wire.let_writes_go();
        while (left != 0)
            co_await post(t.context, use_await);
        EXPECT_EQ(t.wire.written.size(), 2U) << "what waited, then all that came meanwhile";
        t.core.cancel();
    });
}

TEST_F(RedisTransport, ItsOwnErrorsEndARunAsTheyAre) {
    wire.on_connect = storm();
    start({.address = "anywhere", .health_check_interval = 0s});
    run([](RedisTransport&) -> awaitable<void> { co_return; });
    EXPECT_EQ(ended, storm()) << "of connecting: " << ended.message();

    wire.on_connect = {};
    wire.on_write = storm();
    start({.address = "anywhere", .health_check_interval = 0s});
    run([](RedisTransport&) -> awaitable<void> { co_return; });
    EXPECT_EQ(ended, storm()) << "of a write: " << ended.message();

    wire.on_write = {};
    wire.on_read = storm();
    start({.address = "anywhere", .health_check_interval = 0s});
    run([](RedisTransport&) -> awaitable<void> { co_return; });
    EXPECT_EQ(ended, storm()) << "of a read: " << ended.message();
    EXPECT_EQ(ends, 3);
}

TEST_F(RedisTransport, ProbesThePeerOnlyWhereNoCommandCan) {
    for (bool const dedicated : {false, true}) {
        start({.address = "anywhere", .health_check_interval = 3s, .dedicated = dedicated});
        run([](RedisTransport& t) -> awaitable<void> {
            redis::request r;
            r.push("PING");
            auto asking = t.exec(r, redis::ignore);
            co_await std::move(asking);
            t.core.cancel();
        });
    }
    EXPECT_EQ(wire.probes, (std::vector<std::chrono::milliseconds>{0ms, 3s}));
}

} // namespace
} // namespace fairlead::test
