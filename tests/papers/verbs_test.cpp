// Row B12: each short name is the asynchronous function, and takes every call form. These are awaited, blocking with an
// exception and with an error code, a callback, a future.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/stream/buffered_stream.hpp>
#include <fairlead/token/block.hpp>
#include <fairlead/verbs.hpp>

#include <gtest/gtest.h>

#include <array>
#include <exception>
#include <string>

namespace {

using namespace fairlead;
using local_socket = local::stream_protocol::socket;

/// A place where each verb can do its work once, without an error.
struct place {
    io_context context;
    local_socket a{context}, b{context};
    buffered_stream<local_socket&> buffered{a};
    ip::udp::socket datagrams{context, ip::udp::endpoint(ip::address_v4::loopback(), 0)};
    ip::udp::endpoint self = datagrams.local_endpoint(), sender;
    ip::tcp::acceptor acceptor{context, ip::tcp::endpoint(ip::address_v4::loopback(), 0)};
    ip::tcp::socket knocking{context}, client{context};
    std::array<ip::tcp::endpoint, 1> range{acceptor.local_endpoint()};
    ip::tcp::resolver resolver{context};
    steady_timer timer{context, std::chrono::seconds(0)};
    std::string text;
    char bytes[4] = {};

    place() {
        connect_pair(a, b);
        b.write_some(buffer("ab\nd", 4));
        datagrams.send_to(buffer("abcd", 4), self);
        knocking.connect(range[0]);
    }
    mutable_buffer into() { return buffer(bytes); }
    static const_buffer out() { return buffer("wxyz", 4); }
};

/// A signature that an await does not take: the error code comes first, whatever follows.
struct callback {
    int* good;
    template <class... Rest> void operator()(error_code ec, Rest const&...) const { *good += ec ? 0 : 1; }
};

template <class Verb> awaitable<void> await_it(Verb verb, place& p) { co_await verb(p, use_await); }
/// The default token, where the verb names none.
template <class Verb> awaitable<void> await_by_default(Verb verb, place& p) { co_await verb(p); }

template <class Verb> void expect_all_forms(char const* name, Verb verb, bool (*did)(place&) = nullptr) {
    SCOPED_TRACE(name);
    for (bool const by_default : {true, false}) {
        place p;
        bool ended = false;
        co_spawn(p.context, by_default ? await_by_default(verb, p) : await_it(verb, p), [&](std::exception_ptr e) {
            EXPECT_FALSE(e);
            ended = true;
        });
        EXPECT_FALSE(ended);
        p.context.run();
        EXPECT_TRUE(ended);
        EXPECT_TRUE(!did || did(p)) << "it did what its name says";
    }
    {
        place p;
        EXPECT_NO_THROW((void)verb(p, block));
        EXPECT_TRUE(!did || did(p));
    }
    {
        place p;
        error_code ec = error::eof;
        (void)verb(p, block[ec]);
        EXPECT_FALSE(ec) << ec.message();
    }
    {
        place p;
        int good = 0;
        verb(p, callback{&good});
        EXPECT_EQ(good, 0) << "it is the asynchronous one";
        p.context.run();
        EXPECT_EQ(good, 1);
        EXPECT_TRUE(!did || did(p));
    }
    {
        place p;
        auto future = verb(p, use_future);
        p.context.run();
        EXPECT_NO_THROW((void)future.get());
    }
}

TEST(Papers, B12_EachVerbHasAllCallForms) {
    expect_all_forms(
        "send", [](place& p, auto... t) { return verbs::send(p.a, p.out(), t...); },
        [](place& p) { return p.b.available() == 4; });
    expect_all_forms(
        "receive", [](place& p, auto... t) { return verbs::receive(p.a, p.into(), t...); },
        [](place& p) { return p.bytes[0] == 'a'; });
    expect_all_forms("send_to", [](place& p, auto... t) { return verbs::send_to(p.datagrams, p.out(), p.self, t...); });
    expect_all_forms("receive_from",
                     [](place& p, auto... t) { return verbs::receive_from(p.datagrams, p.into(), p.sender, t...); });
    expect_all_forms("read_some", [](place& p, auto... t) { return verbs::read_some(p.a, p.into(), t...); });
    expect_all_forms("write_some", [](place& p, auto... t) { return verbs::write_some(p.a, p.out(), t...); });
    expect_all_forms(
        "fill", [](place& p, auto... t) { return verbs::fill(p.buffered, t...); },
        [](place& p) { return p.buffered.in_avail() != 0; });
    expect_all_forms("flush", [](place& p, auto... t) { return verbs::flush(p.buffered, t...); });
    expect_all_forms("accept", [](place& p, auto... t) { return verbs::accept(p.acceptor, t...); });
    expect_all_forms("connect", [](place& p, auto... t) { return verbs::connect(p.client, p.range[0], t...); });
    expect_all_forms("connect to a range", [](place& p, auto... t) { return verbs::connect(p.client, p.range, t...); });
    expect_all_forms("wait", [](place& p, auto... t) { return verbs::wait(p.timer, t...); });
    expect_all_forms("resolve",
                     [](place& p, auto... t) { return verbs::resolve(p.resolver, "127.0.0.1", "80", t...); });
    expect_all_forms("read", [](place& p, auto... t) { return verbs::read(p.a, p.into(), t...); });
    expect_all_forms("write", [](place& p, auto... t) { return verbs::write(p.a, p.out(), t...); });
    expect_all_forms("read_until",
                     [](place& p, auto... t) { return verbs::read_until(p.a, dynamic_buffer(p.text), '\n', t...); });
}

} // namespace
