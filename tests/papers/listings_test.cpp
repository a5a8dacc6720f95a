// The papers' own programs, written for this library. Defects of the papers are repaired, not copied.
#include "support/counting_allocator.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/append.hpp>
#include <fairlead/token/block.hpp>
#include <fairlead/token/consign.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/prepend.hpp>
#include <fairlead/token/use_future.hpp>
#include <support/scale.hpp>

#include <catalogue/bent_driver.hpp>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// ---- Asio 1.17's echo of connected pairs, with nothing changed but the namespace and the number of iterations

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wshadow" // the listing names a local as a member
#endif
namespace echo {

using socket_type = fairlead::local::stream_protocol::socket;
constexpr std::size_t buffer_size = 64;
constexpr int connections = 100;
int iterations = 0;
int finished = 0;
std::uint64_t messages = 0;

struct echo_session {
    socket_type socket;
    std::array<char, buffer_size> data{0};
    int count = 0;

    explicit echo_session(fairlead::io_context& ctx) : socket(ctx) {}
    ~echo_session() { ++finished; }

    friend void do_read(std::unique_ptr<echo_session> self) {
        auto& socket = self->socket;
        auto buffer = fairlead::buffer(self->data);
        socket.async_read_some(buffer, [self = std::move(self)](auto error, auto n) mutable {
            if (!error)
                do_write(std::move(self), n);
        });
    }

    friend void do_write(std::unique_ptr<echo_session> self, std::size_t n) {
        auto& socket = self->socket;
        auto buffer = fairlead::buffer(self->data, n);
        fairlead::async_write(socket, buffer, [self = std::move(self)](auto error, auto) mutable {
            ++messages;
            if (!error && self->count++ < iterations)
                do_read(std::move(self));
        });
    }
};

} // namespace echo
#ifdef __clang__
#pragma clang diagnostic pop
#endif

namespace {

using namespace fairlead;
using test::account;
using test::counting_allocator;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;
using ip::tcp;

TEST(Papers, C08_EchoOfAHundredPairsRunsUntilItsWorkIsOut) {
    echo::iterations = static_cast<int>(fairlead::test::scaled(200, 20));
    static_assert(std::is_same_v<echo::socket_type::executor_type, any_io_executor>);
    // Of a single pair both ends wait again and again, and nothing is ready.
    for (int const connections : {echo::connections, 1}) {
        echo::finished = 0;
        echo::messages = 0;
        fairlead::io_context ctx(1);
        for (int i = 0; i < connections; ++i) {
            auto session1 = std::make_unique<echo::echo_session>(ctx);
            auto session2 = std::make_unique<echo::echo_session>(ctx);
            connect_pair(session1->socket, session2->socket);
            do_read(std::move(session1));
            do_write(std::move(session2), echo::buffer_size);
        }
        ctx.run();
        EXPECT_EQ(echo::finished, 2 * connections) << "each session ended and was destroyed";
        EXPECT_GE(echo::messages,
                  static_cast<std::uint64_t>(connections) * static_cast<unsigned>(echo::iterations) * 2);
    }
}

// ---- P0162R0 §5.3: a thin layer

template <class DynamicBuffer, class InnerHandler> struct on_dyn_read_done {
    typedef associated_executor_t<InnerHandler> executor_type;
    executor_type get_executor() const noexcept { return get_associated_executor(handler_); }

    DynamicBuffer buffer_;
    InnerHandler handler_;

    void operator()(error_code ec, std::size_t n) {
        buffer_.commit(n);
        handler_(ec, n);
    }
};

template <class Stream, class DynamicBuffer, class CompletionToken>
auto async_dyn_read(Stream& stream, DynamicBuffer buffer, CompletionToken&& token) {
    async_completion<CompletionToken, void(error_code, std::size_t)> init(token);
    auto b = buffer.prepare(1024);
    stream.async_read_some(b, on_dyn_read_done{std::move(buffer), std::move(init.completion_handler)});
    return init.result.get();
}

TEST(Papers, A17_A19_ThinLayerReadsIntoADynamicBuffer) {
    io_context context;
    local_socket a(context), b(context);
    connect_pair(a, b);
    std::string text;
    std::size_t got = 0;
    async_dyn_read(a, dynamic_buffer(text), [&](error_code, std::size_t n) { got = n; });
    b.write_some(buffer("hello", 5));
    context.run();
    EXPECT_EQ(got, 5U);
    EXPECT_EQ(text, "hello");
}

/// One more layer of the same kind: passes on what the handler inside brings along, and has no storage of its own.
template <class Inner> struct layer {
    typedef associated_executor_t<Inner> executor_type;
    executor_type get_executor() const noexcept { return get_associated_executor(inner); }
    typedef associated_allocator_t<Inner, recycling_allocator<void>> allocator_type;
    allocator_type get_allocator() const noexcept {
        return get_associated_allocator(inner, recycling_allocator<void>());
    }
    Inner inner;
    void operator()(error_code ec, std::size_t n) { std::move(inner)(ec, n + 1); }
};
template <int Depth, class Stream, class Handler>
void async_layered_read(Stream& s, mutable_buffer b, Handler handler) {
    if constexpr (Depth == 0)
        s.async_read_some(b, std::move(handler));
    else
        async_layered_read<Depth - 1>(s, b, layer<Handler>{std::move(handler)});
}

TEST(Papers, A17_EightLayersTakeOneBlock) {
    io_context context, handlers;
    local_socket a(context), b(context);
    connect_pair(a, b);
    char bytes[8];
    account books;
    std::size_t got = 0;
    async_layered_read<8>(
        a, buffer(bytes),
        bind_allocator(counting_allocator<void>(&books), [&](error_code, std::size_t n) { got = n; }));
    EXPECT_EQ(books.taken, 1);
    b.write_some(buffer("x", 1));
    context.run();
    EXPECT_EQ(got, 9U);
    EXPECT_EQ(books.taken, 1);
}

TEST(Papers, A18_ExecutorOfTheInnermostHandlerReachesThroughEveryLayer) {
    io_context context, handlers;
    local_socket a(context), b(context);
    connect_pair(a, b);
    char bytes[8];
    std::size_t got = 0;
    auto handler = bind_executor(handlers, [&](error_code, std::size_t n) { got = n; });
    static_assert(std::is_same_v<associated_executor_t<layer<layer<decltype(handler)>>>, io_context::executor_type>);
    async_layered_read<3>(a, buffer(bytes), std::move(handler));
    b.write_some(buffer("x", 1));
    context.run();
    EXPECT_EQ(got, 0U);
    handlers.run();
    EXPECT_EQ(got, 4U);
    // Through the layers of the library, too.
    std::string text;
    got = 0;
    async_read_until(a, dynamic_buffer(text), '\n',
                     bind_executor(handlers, [&](error_code, std::size_t n) { got = n; }));
    b.write_some(buffer("x\n", 2));
    context.restart();
    context.run();
    EXPECT_EQ(got, 0U) << "its handler does not run where the socket does";
    handlers.restart();
    handlers.run();
    EXPECT_EQ(got, 2U);
}

TEST(Papers, A17_LibrarysOwnLayersTakeOneBlockAtATime) {
    io_context context;
    local_socket a(context), b(context);
    connect_pair(a, b);
    account books;
    std::string text;
    async_read_until(a, dynamic_buffer(text), '\n',
                     bind_allocator(counting_allocator<void>(&books), [](error_code, std::size_t) {}));
    b.write_some(buffer("x\n", 2));
    context.run();
    EXPECT_EQ(books.taken, 1) << "one read, one block: the layer adds none";
}

// ---- P0162R0 §5.4.1: the choice between two operations of one signature

/// The paper's timer, whose wait completes with nothing at all.
class simple_timer {
public:
    explicit simple_timer(io_context& c) : timer_(c, 0s) {}
    template <class CompletionToken> auto async_wait(CompletionToken&& token) {
        return completion_token_transform<void()>(std::forward<CompletionToken>(token), [this](auto handler) {
            timer_.async_wait([h = std::move(handler)](error_code) mutable { std::move(h)(); });
        });
    }

private:
    steady_timer timer_;
};

struct throttle {
    explicit throttle(io_context& c) : context(c), my_simple_timer(c) {}
    bool throttle_required() const { return required; }

    template <class CompletionToken> auto throttled_post(CompletionToken&& token) {
        if (throttle_required())
            return my_simple_timer.async_wait(std::forward<CompletionToken>(token));
        else
            return post(context, std::forward<CompletionToken>(token));
    }
    io_context& context;
    simple_timer my_simple_timer;
    bool required = false;
};

TEST(Papers, A21_ThrottledPostReturnsOneTypeForEveryToken) {
    io_context context;
    throttle t(context);
    int calls = 0;
    for (bool const required : {false, true}) {
        t.required = required;
        t.throttled_post([&] { ++calls; });
        auto future = t.throttled_post(use_future);
        t.throttled_post(detached);
        t.throttled_post(deferred)([&] { ++calls; });
        co_spawn(
            context,
            [](throttle& th, int& n) -> awaitable<void> {
                co_await th.throttled_post(use_await);
                co_await th.throttled_post(as_tuple);
                ++n;
            }(t, calls),
            detached);
        context.run();
        context.restart();
        EXPECT_NO_THROW(future.get());
    }
    EXPECT_EQ(calls, 6);
}

/// Another kind of stream: what is written to it can be read from it, upside down in case. It starts its reads its own
/// way, with captures of another size than a socket's.
class rot_stream {
public:
    explicit rot_stream(local_socket& next) : next_(next) {}
    using executor_type = local_socket::executor_type;
    executor_type get_executor() { return next_.get_executor(); }

    template <class Buffers, class CompletionToken = use_await_t>
    auto async_read_some(Buffers const& buffers, CompletionToken&& token = {}) {
        mutable_buffer const b = *buffer_sequence_begin(buffers);
        return completion_token_transform<void(error_code, std::size_t)>(
            std::forward<CompletionToken>(token), [this, b, a_lot_of_state = std::array<long, 9>()](auto handler) {
                (void)a_lot_of_state;
                next_.async_read_some(b, [b, h = std::move(handler)](error_code ec, std::size_t n) mutable {
                    for (std::size_t i = 0; i != n; ++i)
                        static_cast<char*>(b.data())[i] ^= 0x20;
                    std::move(h)(ec, n);
                });
            });
    }

private:
    local_socket& next_;
};
static_assert(async_read_stream<rot_stream>);

class http_client {
public:
    http_client(io_context& c, bool encrypt) : encrypt_(encrypt), unencrypted_(c), encrypted_(unencrypted_) {}

    template <class Buffers, class CompletionToken> auto async_read_some(Buffers buffers, CompletionToken&& token) {
        if (encrypt_)
            return encrypted_.async_read_some(buffers, std::forward<CompletionToken>(token));
        else
            return unencrypted_.async_read_some(buffers, std::forward<CompletionToken>(token));
    }
    local_socket& socket() { return unencrypted_; }

private:
    bool encrypt_;
    local_socket unencrypted_;
    rot_stream encrypted_;
};

TEST(Papers, A22_HttpClientReturnsOneTypeForTwoKindsOfStream) {
    io_context context;
    static_assert(std::is_same_v<decltype(std::declval<rot_stream&>().async_read_some(mutable_buffer(), use_await)),
                                 decltype(std::declval<local_socket&>().async_read_some(mutable_buffer(), use_await))>);
    for (bool const encrypt : {false, true}) {
        http_client client(context, encrypt);
        local_socket server(context);
        connect_pair(client.socket(), server);
        char bytes[8];
        std::string all;
        server.write_some(buffer("a", 1));
        client.async_read_some(buffer(bytes), [&](error_code, std::size_t n) { all.append(bytes, n); });
        context.run();
        context.restart();
        server.write_some(buffer("b", 1));
        auto future = client.async_read_some(buffer(bytes), use_future);
        context.run();
        context.restart();
        all.append(bytes, future.get());
        co_spawn(
            context,
            [](http_client& c, local_socket& s, std::string& out) -> awaitable<void> {
                char in[8];
                s.write_some(buffer("c", 1));
                out.append(in, co_await c.async_read_some(buffer(in), use_await));
                s.write_some(buffer("d", 1));
                auto [ec, n] = co_await c.async_read_some(buffer(in), as_tuple);
                out.append(in, n);
            }(client, server, all),
            [](std::exception_ptr e) { EXPECT_FALSE(e); });
        context.run();
        context.restart();
        EXPECT_EQ(all, encrypt ? "ABCD" : "abcd");
    }
}

// ---- the essay on the costs of asynchronous abstractions

awaitable<void> parse_resp3_simple_msgs(local_socket socket, std::vector<std::string>& messages) {
    for (std::string buffer;;) {
        auto n = co_await async_read_until(socket, dynamic_buffer(buffer), "\r\n");
        messages.push_back(buffer.substr(1, n - 3));
        // Consume the buffer.
        buffer.erase(0, n);
    }
}

TEST(Papers, D01_LineReaderLeavesBonusBytesForTheNextMessage) {
    io_context context;
    local_socket client(context), server(context);
    connect_pair(client, server);
    std::vector<std::string> messages;
    error_code end;
    co_spawn(context, parse_resp3_simple_msgs(std::move(client), messages), [&](std::exception_ptr e) {
        try {
            std::rethrow_exception(e);
        } catch (system_error const& x) {
            end = x.code();
        }
    });
    for (char const* piece : {"+PONG\r\n:42\r\n_\r", "\n+O", "K\r\n", ":1"}) {
        server.write_some(buffer(std::string_view(piece)));
        context.poll();
    }
    EXPECT_EQ(messages, (std::vector<std::string>{"PONG", "42", "", "OK"}));
    server.close();
    context.run();
    EXPECT_EQ(end, error::eof);
}

/// A stream that counts the reads it is asked for.
struct counting_stream {
    local_socket& next;
    int reads = 0;
    using executor_type = local_socket::executor_type;
    executor_type get_executor() { return next.get_executor(); }
    template <class Buffers, class Token = use_await_t>
    decltype(auto) async_read_some(Buffers const& b, Token&& t = {}) {
        ++reads;
        return next.async_read_some(b, std::forward<Token>(t));
    }
};

TEST(Papers, D01_DelimiterThatIsBufferedAlreadyNeedsNoRead) {
    io_context context;
    local_socket a(context), b(context);
    connect_pair(a, b);
    counting_stream s{a};
    b.write_some(buffer("one\r\ntwo\r\nthr", 13));
    b.close(); // A read too many finds the end.
    std::string text;
    co_spawn(
        context,
        [](counting_stream& in, std::string& t) -> awaitable<void> {
            EXPECT_EQ(co_await async_read_until(in, dynamic_buffer(t), "\r\n"), 5U);
            EXPECT_EQ(in.reads, 1);
            EXPECT_EQ(t.size(), 13U) << "bonus bytes stay";
            t.erase(0, 5);
            EXPECT_EQ(co_await async_read_until(in, dynamic_buffer(t), "\r\n"), 5U);
            EXPECT_EQ(in.reads, 1);
        }(s, text),
        [](std::exception_ptr e) { EXPECT_FALSE(e); });
    context.run();
    EXPECT_EQ(text, "two\r\nthr");
}

TEST(Papers, D02_EagerDynamicBufferErasesFromTheFront) {
    std::string text = "%2\r\n$4\r\nkey1\r\n$6\r\nvalue1\r\n$4\r\nkey2\r\n$6\r\nvalue2\r\n";
    auto eager = dynamic_buffer(text);
    int rotations = 0;
    while (eager.size() != 0) {
        eager.consume(text.find("\r\n") + 2);
        ++rotations;
    }
    // The paper says ten; its own listing has nine lines to consume.
    EXPECT_EQ(rotations, 9);
}

TEST(Papers, D03_LazyDynamicBufferMovesItsBytesOnlyBeyondTheThreshold) {
    io_context context;
    local_socket a(context), b(context);
    connect_pair(a, b);
    lazy_buffer storage(lazy_buffer_options{.offset_threshold = 25});
    b.write_some(buffer("+PONG\r\n:100\r\n+OK\r\n_\r\n+PONG\r\n+PONG\r\n", 35));
    std::size_t after_each[6] = {};
    co_spawn(
        context,
        [](local_socket& in, lazy_buffer& s, std::size_t* rotations) -> awaitable<void> {
            for (int i = 0; i != 6; ++i) {
                auto const n = co_await async_read_until(in, dynamic_buffer(s), "\r\n");
                s.consume(n);
                rotations[i] = s.rotations();
            }
        }(a, storage, after_each),
        [](std::exception_ptr e) { EXPECT_FALSE(e); });
    context.run();
    EXPECT_EQ(after_each[3], 0U) << "7 + 6 + 5 + 3 bytes are below the threshold";
    EXPECT_EQ(after_each[4], 1U) << "the threshold is crossed: one larger rotation";
    EXPECT_EQ(storage.size(), 0U);
}

void read_safe(local_socket& s, std::string& buffer, int& left, bool& inside) {
    auto continuation = [&s, &buffer, &left, &inside](auto, auto) {
        EXPECT_FALSE(inside) << "called before the initiating function returned";
        if (--left)
            read_safe(s, buffer, left, inside);
    };
    inside = true;
    async_read_until(s, dynamic_buffer(buffer), "\r\n", continuation);
    inside = false;
}

TEST(Papers, D04_ContinuationNeverRunsBeforeTheInitiatingFunctionReturns) {
    io_context context;
    local_socket s(context), peer(context);
    connect_pair(s, peer);
    std::string text = "never consumed\r\n";
    int left = static_cast<int>(fairlead::test::scaled(100'000, 10'000));
    bool inside = false;
    post(context, [&] { read_safe(s, text, left, inside); });
    context.run();
    EXPECT_EQ(left, 0);
}

/// The reader that monopolises its loop elsewhere: nothing in it gives way.
awaitable<void> read_until_unfair(local_socket& s, std::string& buffer, std::uint64_t repeat, std::uint64_t& done) {
    for (std::uint64_t i = 0; i != repeat; ++i, ++done)
        co_await async_read_until(s, dynamic_buffer(buffer), "\r\n");
}

/// The reader that gives way by hand, as it was meant: every sixteenth time, and it reads all the same.
awaitable<void> read_until_fair(local_socket& s, std::string& buffer, std::uint64_t repeat, std::uint64_t& done) {
    for (std::uint64_t i = 0; i != repeat; ++i, ++done) {
        if (i % 16 == 0)
            co_await post(s.get_executor(), use_await);
        co_await async_read_until(s, dynamic_buffer(buffer), "\r\n");
    }
}

template <class Reader> std::uint64_t longest_monopoly(Reader reader, std::uint64_t repeat) {
    io_context context;
    local_socket s(context), peer(context);
    connect_pair(s, peer);
    std::string text = "never consumed\r\n";
    std::uint64_t done = 0, longest = 0;
    co_spawn(context, reader(s, text, repeat, done), detached);
    // Somebody else, who wants to run once in each round of the queue.
    co_spawn(
        context,
        [](std::uint64_t const& n, std::uint64_t end, std::uint64_t& most) -> awaitable<void> {
            for (std::uint64_t before = n; before != end;) {
                co_await this_coro::yield();
                most = std::max(most, n - before);
                before = n;
            }
        }(done, repeat, longest),
        detached);
    context.run();
    EXPECT_EQ(done, repeat);
    return longest;
}

TEST(Papers, D16_D20_ReaderThatNeverGivesWayDoesNotStarveOthers) {
    auto const longest = longest_monopoly(read_until_unfair, fairlead::test::scaled(100'000, 10'000));
    EXPECT_LE(longest, static_cast<std::uint64_t>(fairness::units_most));
    EXPECT_GE(longest, static_cast<std::uint64_t>(fairness::units_least));
}

TEST(Papers, D22_GivingWayByHandWorks) {
    EXPECT_LE(longest_monopoly(read_until_fair, fairlead::test::scaled(100'000, 10'000)), 16U);
}

// ---- D17 to D19: an operation of the user whose search is written once

/// Completes with the next number, once somebody has put one in.
class number_box {
public:
    explicit number_box(io_context& c) : context_(c) {}

    void put(int n) {
        if (waiting_)
            std::exchange(waiting_, nullptr)(n);
        else
            numbers_.push_back(n);
    }
    template <class Token = use_await_t> auto async_take(Token&& token = {}) {
        return completion_token_transform<void(error_code, int)>(std::forward<Token>(token), initiation{this});
    }
    int steps = 0;  ///< searches
    int starts = 0; ///< operations that had to wait or to be queued

private:
    struct initiation {
        number_box* box;
        auto get_executor() const noexcept { return box->context_.get_executor(); }
        std::optional<std::tuple<error_code, int>> try_step() {
            ++box->steps;
            if (box->numbers_.empty())
                return std::nullopt;
            int const n = box->numbers_.front();
            box->numbers_.erase(box->numbers_.begin());
            return std::tuple<error_code, int>(error_code(), n);
        }
        template <class Handler> void operator()(Handler&& handler) {
            ++box->starts;
            auto kept = std::make_shared<std::decay_t<Handler>>(std::forward<Handler>(handler));
            if (auto v = try_step()) {
                post(box->context_, [kept, v = *v]() mutable { std::apply(std::move(*kept), std::move(v)); });
                return;
            }
            box->waiting_ = [kept](int n) { std::move (*kept)(error_code(), n); };
        }
    };
    io_context& context_;
    std::vector<int> numbers_;
    std::function<void(int)> waiting_;
};

TEST(Papers, D17_OperationThatIsReadyDoesNotSuspend) {
    test::bend clock; // However slow this computer is, the item is short.
    clock.stands = true;
    io_context context(std::make_unique<test::bent_driver>(clock));
    number_box box(context);
    for (int i = 0; i != 10; ++i)
        box.put(i);
    int sum = 0;
    co_spawn(
        context,
        [](number_box& b, int& s) -> awaitable<void> {
            for (int i = 0; i != 10; ++i)
                s += co_await b.async_take();
        }(box, sum),
        detached);
    EXPECT_EQ(context.run(), 1U) << "one item: the coroutine never left";
    EXPECT_EQ(sum, 45);
    EXPECT_EQ(box.starts, 0);
    EXPECT_EQ(box.steps, 10);
}

TEST(Papers, D17_ReadyOperationDoesNotSuspendUnderAnAdapter) {
    test::bend clock; // However slow this computer is, the item is short.
    clock.stands = true;
    io_context context(std::make_unique<test::bent_driver>(clock));
    number_box box(context);
    for (int i = 0; i != 3; ++i)
        box.put(i);
    local::stream_protocol::socket stream(context);
    std::string text = "one line\n";
    int sum = 0;
    std::size_t bytes = 0;
    co_spawn(
        context,
        [](number_box& b, auto& s, std::string& t, int& out, std::size_t& n) -> awaitable<void> {
            error_code ec = error::eof;
            auto const [first, zero] = co_await b.async_take(as_tuple);
            out += zero + co_await b.async_take(redirect_error(ec));
            auto const [third] = co_await b.async_take(redirect_error(as_tuple, ec));
            out += third;
            auto const [fourth, length] = co_await async_read_until(s, dynamic_buffer(t), '\n', as_tuple);
            n = length + co_await async_read_until(s, dynamic_buffer(t), '\n', redirect_error(ec));
            EXPECT_FALSE(first || fourth || ec);
        }(box, stream, text, sum, bytes),
        detached);
    EXPECT_EQ(context.run(), 1U) << "one item: the coroutine never left";
    EXPECT_EQ(sum, 3);
    EXPECT_EQ(bytes, 18U);
    EXPECT_EQ(box.starts, 0);
}

TEST(Papers, D17_SocketsReadyOperationDoesNotSuspendUnderAnAdapter) {
    io_context context;
    local::stream_protocol::socket ours(context), theirs(context);
    local::connect_pair(ours, theirs);
    std::string got;
    co_spawn(
        context,
        [](auto& out, auto& in, std::string& text) -> awaitable<void> {
            error_code ec = error::eof;
            EXPECT_EQ(co_await out.async_write_some(buffer("four", 4), redirect_error(ec)), 4U);
            EXPECT_FALSE(ec);
            for (char c; text.size() != 4; text += c) { // The first read waits until the driver knows of the bytes.
                ec = error::eof;
                EXPECT_EQ(co_await in.async_read_some(buffer(&c, 1), redirect_error(ec)), 1U);
                EXPECT_FALSE(ec);
            }
            out.close();
            auto const [failed, n] = co_await out.async_write_some(buffer("x", 1), as_tuple);
            EXPECT_EQ(co_await out.async_write_some(buffer("x", 1), redirect_error(ec)), n);
            EXPECT_EQ(ec, failed);
            EXPECT_TRUE(ec);
        }(ours, theirs, got),
        detached);
    EXPECT_LE(context.run(), 5U)
        << "as many items as with use_await: only the first read waits, and what fails is queued";
    EXPECT_EQ(got, "four");
}

TEST(Papers, D18_SameOperationWorksWithEveryToken) {
    io_context context;
    number_box box(context);
    std::vector<int> got;
    box.async_take([&](error_code, int n) { got.push_back(n); });
    box.put(1);
    box.put(2);
    auto future = box.async_take(use_future);
    context.run();
    context.restart();
    EXPECT_EQ(future.get(), 2);
    box.put(3);
    box.async_take(deferred)([&](error_code, int n) { got.push_back(n); });
    context.run();
    context.restart();
    co_spawn(
        context,
        [](number_box& b, std::vector<int>& out) -> awaitable<void> {
            auto [ec, n] = co_await b.async_take(as_tuple); // waits
            out.push_back(n);
            out.push_back(co_await b.async_take()); // waits
        }(box, got),
        detached);
    context.poll();
    box.put(4);
    context.poll();
    box.put(5);
    context.run();
    EXPECT_EQ(got, (std::vector<int>{1, 3, 4, 5}));
}

TEST(Papers, D18_ReadyOperationWorksWithEveryToken) {
    int value = 0, expected = 0;
    auto const with = [&](char const* token, auto start) {
        SCOPED_TRACE(token);
        for (bool const is_there : {true, false}) { // when it starts
            io_context context;
            number_box box(context);
            int const n = ++expected;
            value = 0;
            if (is_there)
                box.put(n);
            auto result = start(box, context);
            context.poll();
            if (!is_there)
                box.put(n);
            context.restart();
            context.run();
            result();
            EXPECT_EQ(value, n);
        }
    };
    auto const nothing = [] {};
    auto const set = [&value](error_code ec, int n) { value = ec ? -1 : n; };
    with("callback", [&](auto& box, auto&) { return box.async_take(set), nothing; });
    with("move-only callback", [&](auto& box, auto&) {
        box.async_take([&value, p = std::make_unique<int>(1)](error_code, int n) { value = n * *p; });
        return nothing;
    });
    with("detached", [&](auto& box, auto&) {
        box.async_take(detached);
        return [&value, &box, &expected] { value = box.starts == 1 ? expected : -1; };
    });
    with("deferred", [&](auto& box, auto&) { return box.async_take(deferred)(set), nothing; });
    with("use_future",
         [&](auto& box, auto&) { return [&value, f = box.async_take(use_future)]() mutable { value = f.get(); }; });
    with("as_tuple", [&](auto& box, auto&) {
        box.async_take(as_tuple([&](std::tuple<error_code, int> t) { value = std::get<1>(t); }));
        return nothing;
    });
    error_code ec = error::eof;
    with("redirect_error", [&](auto& box, auto&) {
        return box.async_take(redirect_error([&](int n) { value = ec ? -1 : n; }, ec)), nothing;
    });
    with("bind_executor", [&](auto& box, auto& c) { return box.async_take(bind_executor(c, set)), nothing; });
    with("bind_allocator",
         [&](auto& box, auto&) { return box.async_take(bind_allocator(std::allocator<void>(), set)), nothing; });
    with("append", [&](auto& box, auto&) {
        box.async_take(append([&](error_code, int n, int more) { value = n + more - 1; }, 1));
        return nothing;
    });
    with("prepend", [&](auto& box, auto&) {
        box.async_take(prepend([&](int more, error_code, int n) { value = n + more - 1; }, 1));
        return nothing;
    });
    with("consign", [&](auto& box, auto&) { return box.async_take(consign(set, std::make_shared<int>(1))), nothing; });
    with("use_await", [&](auto& box, auto& c) {
        co_spawn(
            c, [](number_box& b, int& out) -> awaitable<void> { out = co_await b.async_take(); }(box, value), detached);
        return nothing;
    });
    with("use_awaitable", [&](auto& box, auto& c) {
        co_spawn(
            c,
            [](number_box& b, int& out) -> awaitable<void> { out = co_await b.async_take(use_awaitable); }(box, value),
            detached);
        return nothing;
    });
}

TEST(Papers, D25_TokensThatTheEssayNamesAreThere) {
    // Callback, deferred, use_op (whose place use_await has: an operation that is ready is not suspended), awaitable<>
    // with use_awaitable, and post as a token's operation.
    io_context context;
    local_socket s(context), peer(context);
    connect_pair(s, peer);
    std::string text = "never consumed\r\n";
    std::size_t callback = 0, later = 0, awaited = 0;
    async_read_until(s, dynamic_buffer(text), "\r\n", [&](error_code, std::size_t n) { callback = n; });
    async_read_until(s, dynamic_buffer(text), "\r\n", deferred)([&](error_code, std::size_t n) { later = n; });
    co_spawn(
        context,
        [](local_socket& in, std::string& t, std::size_t& sum) -> awaitable<void> {
            sum += co_await async_read_until(in, dynamic_buffer(t), "\r\n", use_await);
            sum += co_await async_read_until(in, dynamic_buffer(t), "\r\n", use_awaitable);
            sum += co_await async_read_until(in, dynamic_buffer(t), "\r\n", deferred);
            co_await post(in.get_executor(), use_await);
        }(s, text, awaited),
        detached);
    context.run();
    EXPECT_EQ(callback, 16U);
    EXPECT_EQ(later, 16U);
    EXPECT_EQ(awaited, 48U);
}

TEST(Papers, D19_OperationOutOfBudgetHasNotTakenAnything) {
    // The budget is looked at before the step: what the step has taken is never parked with a suspended coroutine.
    test::bend clock; // However slow this computer is, the item ends by its budget and not by its slice.
    clock.stands = true;
    io_context context(std::make_unique<test::bent_driver>(clock));
    number_box box(context);
    constexpr int n = 1000;
    for (int i = 0; i != n; ++i)
        box.put(i);
    int got = 0;
    bool consistent = true;
    co_spawn(
        context,
        [](number_box& b, int& g) -> awaitable<void> {
            for (int i = 0; i != n; ++i) {
                co_await b.async_take();
                ++g;
            }
        }(box, got),
        detached);
    for (int items = 0; !context.stopped() && items != 10 * n; ++items) {
        context.poll_one();
        consistent = consistent && box.steps == got;
    }
    EXPECT_EQ(got, n);
    EXPECT_TRUE(consistent);
    EXPECT_GE(context.yields().budget, 1U);
}

} // namespace
