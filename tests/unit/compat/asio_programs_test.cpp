// Programs as they are written for Asio, by its include paths and its namespace alone.
#include <asio.hpp>
#include <asio/execution.hpp>
#include <asio/experimental/as_single.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/experimental/co_composed.hpp>
#include <asio/handler_continuation_hook.hpp>
#include <asio/is_contiguous_iterator.hpp>
#include <asio/prefer.hpp>
#include <asio/query.hpp>
#include <asio/require.hpp>
#include <asio/ts/net.hpp>

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace {

using asio::ip::tcp;

/// The classic: callbacks, and a session that lives in a shared_ptr.
class session : public std::enable_shared_from_this<session> {
public:
    explicit session(tcp::socket socket) : socket_(std::move(socket)) {}
    void start() { do_read(); }

private:
    void do_read() {
        auto self(shared_from_this());
        socket_.async_read_some(asio::buffer(data_, max_length), [this, self](std::error_code ec, std::size_t length) {
            if (!ec)
                do_write(length);
        });
    }
    void do_write(std::size_t length) {
        auto self(shared_from_this());
        asio::async_write(socket_, asio::buffer(data_, length), [this, self](std::error_code ec, std::size_t) {
            if (!ec)
                do_read();
        });
    }
    tcp::socket socket_;
    enum { max_length = 1024 };
    char data_[max_length];
};

class server {
public:
    explicit server(asio::io_context& io_context)
        : acceptor_(io_context, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
        do_accept();
    }
    unsigned short port() const { return acceptor_.local_endpoint().port(); }
    void close() { acceptor_.close(); }

private:
    void do_accept() {
        acceptor_.async_accept([this](std::error_code ec, tcp::socket socket) {
            if (ec)
                return;
            std::make_shared<session>(std::move(socket))->start();
            do_accept();
        });
    }
    tcp::acceptor acceptor_;
};

TEST(AsioCompat, CallbackServerAndBlockingClient) {
    asio::io_context io_context(1);
    server s(io_context);
    asio::thread_pool pool(1);
    std::string reply(5, ' ');
    asio::post(pool, [&] {
        asio::io_context mine;
        tcp::socket socket(mine);
        tcp::resolver resolver(mine);
        asio::connect(socket, resolver.resolve("127.0.0.1", std::to_string(s.port())));
        asio::write(socket, asio::buffer("hello", 5));
        EXPECT_EQ(asio::read(socket, asio::buffer(reply)), 5U);
        asio::post(io_context, [&] { s.close(); });
    });
    io_context.run();
    pool.join();
    EXPECT_EQ(reply, "hello");
}

asio::awaitable<void> echo(tcp::socket socket) {
    try {
        char data[1024];
        for (;;) {
            std::size_t n = co_await socket.async_read_some(asio::buffer(data), asio::use_awaitable);
            co_await async_write(socket, asio::buffer(data, n), asio::use_awaitable);
        }
    } catch (std::exception const&) {
    }
}

TEST(AsioCompat, CoroutinesWithTheirExecutorTimersAndStrands) {
    asio::io_context ctx;
    bool done = false;
    co_spawn(
        ctx,
        [&]() -> asio::awaitable<void> {
            auto executor = co_await asio::this_coro::executor;
            tcp::acceptor acceptor(executor, {asio::ip::address_v4::loopback(), 0});
            tcp::socket client(asio::make_strand(executor));
            co_await client.async_connect(acceptor.local_endpoint(), asio::use_awaitable);
            tcp::socket peer = co_await acceptor.async_accept(asio::use_awaitable);
            co_spawn(executor, echo(std::move(peer)), asio::detached);
            std::string text = "line\n", got;
            co_await asio::async_write(client, asio::buffer(text), asio::use_awaitable);
            co_await asio::async_read_until(client, asio::dynamic_buffer(got), '\n', asio::use_awaitable);
            EXPECT_EQ(got, text);
            asio::steady_timer timer(executor);
            timer.expires_after(std::chrono::microseconds(1));
            auto [ec] = co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
            EXPECT_FALSE(ec);
            asio::signal_set signals(executor, SIGUSR1);
            signals.cancel();
            done = true;
        },
        [](std::exception_ptr e) {
            if (e)
                std::rethrow_exception(e);
        });
    ctx.run();
    EXPECT_TRUE(done);
}

template <class Token> auto async_twice(asio::steady_timer& t, Token&& token) {
    return asio::async_compose<Token, void(asio::error_code)>(
        [&t, n = 0](auto& self, asio::error_code ec = {}) mutable {
            if (ec || n++ == 2)
                return self.complete(ec);
            t.expires_after(std::chrono::microseconds(1));
            t.async_wait(std::move(self));
        },
        token, t);
}

TEST(AsioCompat, ComposedOperationsFuturesAndLimits) {
    asio::io_context ctx;
    asio::steady_timer t(ctx);
    std::future<void> f = async_twice(t, asio::use_future);
    ctx.run();
    f.get();
    ctx.restart();
    asio::steady_timer never(ctx, asio::steady_timer::time_point::max());
    asio::error_code why;
    never.async_wait(asio::cancel_after(std::chrono::milliseconds(1), [&](asio::error_code ec) { why = ec; }));
    ctx.run();
    EXPECT_EQ(why, asio::error::operation_aborted);
}

/// A context of a user's own, whose executor knows properties and no member functions.
class scheduler : public asio::execution_context {
public:
    class executor_type {
    public:
        explicit executor_type(scheduler& s) noexcept : scheduler_(&s) {}
        scheduler& query(asio::execution::context_t) const noexcept { return *scheduler_; }
        static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
            return asio::execution::blocking.never;
        }
        template <class F> void execute(F f) const {
            scheduler_->queue_.push_back([kept = std::make_shared<F>(std::move(f))] { (*kept)(); });
        }
        friend bool operator==(executor_type const& a, executor_type const& b) noexcept {
            return a.scheduler_ == b.scheduler_;
        }

    private:
        scheduler* scheduler_;
    };
    executor_type get_executor() noexcept { return executor_type(*this); }
    void run() {
        for (; !queue_.empty(); queue_.pop_front())
            queue_.front()();
    }

private:
    std::deque<std::function<void()>> queue_;
};

TEST(AsioCompat, SchedulersOfUsers) {
    scheduler s;
    int n = 0;
    asio::post(s, [&] { ++n; });
    asio::dispatch(s.get_executor(), [&] { ++n; });
    asio::post(asio::any_io_executor(asio::require(s.get_executor(), asio::execution::blocking.never)), [&] { ++n; });
    asio::defer(asio::make_strand(s), [&] { ++n; });
    EXPECT_EQ(n, 0);
    s.run();
    EXPECT_EQ(n, 4);
}

/// Hands every property on to the executor below it.
template <class Inner> struct counting_executor {
    Inner inner;
    int* executed;
    template <class P> auto require(P const& p) const
        -> counting_executor<std::decay_t<asio::require_result_t<Inner const&, P>>> {
        return {asio::require(inner, p), executed};
    }
    template <class P> auto prefer(P const& p) const
        -> counting_executor<std::decay_t<asio::prefer_result_t<Inner const&, P>>> {
        return {asio::prefer(inner, p), executed};
    }
    template <class P> auto query(P const& p) const -> asio::query_result_t<Inner const&, P> {
        return asio::query(inner, p);
    }
    template <class F> void execute(F f) const {
        ++*executed;
        inner.execute(std::move(f));
    }
    friend bool operator==(counting_executor const&, counting_executor const&) noexcept = default;
};

TEST(AsioCompat, ExecutorsThatDecorateOthers) {
    asio::io_context ctx;
    int executed = 0, n = 0;
    counting_executor<asio::io_context::executor_type> const e{ctx.get_executor(), &executed};
    static_assert(asio::can_require<decltype(e), asio::execution::outstanding_work_t::tracked_t>::value);
    static_assert(!asio::can_require<decltype(e), asio::execution::blocking_t::always_t>::value);
    EXPECT_EQ(&asio::query(e, asio::execution::context), &ctx);
    asio::any_io_executor const eager =
        asio::prefer(asio::require(e, asio::execution::outstanding_work.tracked), asio::execution::blocking.possibly);
    EXPECT_EQ(asio::query(eager, asio::execution::outstanding_work), asio::execution::outstanding_work.tracked);
    eager.execute([&] {
        eager.execute([&] { ++n; });
        EXPECT_EQ(n, 1);
        asio::post(eager, [&] { ++n; });
        EXPECT_EQ(n, 1);
    });
    asio::steady_timer timer(asio::prefer(asio::any_io_executor(e), asio::execution::outstanding_work.tracked));
    timer.expires_after(std::chrono::microseconds(1));
    timer.async_wait([&](std::error_code) {
        ++n;
        ctx.stop();
    });
    ctx.run();
    EXPECT_EQ(n, 3);
    EXPECT_GE(executed, 4);
}

/// The tutorials' way: std::bind with the placeholders, asio::chrono, asio::thread.
class printer {
public:
    explicit printer(asio::io_context& context) : timer_(context, asio::chrono::milliseconds(1)) {
        timer_.async_wait(std::bind(&printer::print, this, asio::placeholders::error));
    }
    int count() const { return count_; }

private:
    void print(std::error_code const& ec) {
        EXPECT_FALSE(ec);
        ++count_;
    }
    asio::steady_timer timer_;
    int count_ = 0;
};

TEST(AsioCompat, TutorialWithBindAndThread) {
    asio::io_context io_context;
    printer p(io_context);
    asio::thread t([&] { io_context.run(); });
    t.join();
    t.join();
    EXPECT_EQ(p.count(), 1);
}

TEST(AsioCompat, StaticThreadPoolAndNamesOfTheNetworkingTs) {
    asio::static_thread_pool pool(1);
    bool ran = false;
    asio::post(pool, [&] { ran = true; });
    pool.join();
    EXPECT_TRUE(ran);
    EXPECT_EQ(asio::stream_errc::eof, asio::error::eof);
    EXPECT_EQ(asio::string_view("\r\n").size(), 2u);
    EXPECT_EQ(asio::socket_errc::already_open, asio::error::already_open);
}

/// Steps that are asked on the spot whether they went well.
TEST(AsioCompat, ErrorsThatAreSetAreReturnedToo) {
    asio::io_context context;
    asio::error_code ec;
    tcp::acceptor acceptor(context);
    tcp::socket client(context), server(context);
    EXPECT_FALSE(acceptor.open(tcp::v4(), ec));
    EXPECT_FALSE(acceptor.set_option(tcp::acceptor::reuse_address(true), ec));
    EXPECT_FALSE(acceptor.bind({asio::ip::address_v4::loopback(), 0}, ec));
    EXPECT_FALSE(acceptor.listen(1, ec));
    EXPECT_FALSE(client.connect(acceptor.local_endpoint(), ec));
    EXPECT_FALSE(acceptor.accept(server, ec));
    EXPECT_FALSE(server.wait(tcp::socket::wait_write, ec));
    EXPECT_FALSE(server.cancel(ec));
    EXPECT_FALSE(server.shutdown(tcp::socket::shutdown_both, ec));
    EXPECT_FALSE(ec = server.close(ec));
    tcp::endpoint from;
    EXPECT_EQ(acceptor.accept(server, from, ec = acceptor.close(ec)), asio::error::bad_descriptor);
    EXPECT_EQ(server.bind(from, ec), asio::error::bad_descriptor);
    EXPECT_EQ(server.non_blocking(true, ec), asio::error::bad_descriptor);

    asio::local::stream_protocol::socket one(context), other(context);
    EXPECT_FALSE(asio::local::connect_pair(one, other, ec));
    asio::readable_pipe reads(context);
    asio::writable_pipe writes(context);
    EXPECT_FALSE(asio::connect_pipe(reads, writes, ec));
    EXPECT_FALSE(asio::signal_set(context).add(SIGUSR1, ec));
}

/// As libraries for Asio declare their operations.
template <ASIO_COMPLETION_TOKEN_FOR(void(int)) Token ASIO_DEFAULT_COMPLETION_TOKEN_TYPE(asio::any_io_executor)>
ASIO_INITFN_RESULT_TYPE(Token, void(int))
async_seven(Token&& token ASIO_DEFAULT_COMPLETION_TOKEN(asio::any_io_executor)) {
    ASIO_HANDLER_LOCATION((__FILE__, __LINE__, "async_seven"));
    return asio::async_initiate<Token, void(int)>([](auto handler) { std::move(handler)(7); }, token);
}

TEST(AsioCompat, OperationDeclaredWithTheMacros) {
    int result = 0;
    async_seven([&](int r) { result = r; });
    EXPECT_EQ(result, 7);
    EXPECT_EQ(async_seven(asio::use_future).get(), 7);
}

/// The members that programs forward in handlers around those of others.
struct around {
    std::function<void()> inside;
    void operator()() { inside(); }
    friend bool asio_handler_is_continuation(around* h) {
        using asio::asio_handler_is_continuation;
        return asio_handler_is_continuation(std::addressof(h->inside));
    }
};
static_assert(asio::is_contiguous_iterator<char*>::value && !asio::is_contiguous_iterator<std::deque<int>::iterator>());

TEST(AsioCompat, ContinuationHookOfAHandlerHasADefault) {
    around h{[] {}};
    EXPECT_FALSE(asio_handler_is_continuation(&h));
}

TEST(AsioCompat, LiteralsOfBuffersComeWithTheWhole) {
    using namespace asio::buffer_literals;
    EXPECT_EQ("GET"_buf.size(), 3U);
    EXPECT_EQ((0x0d0a_buf).size(), 2U);
}

TEST(AsioCompat, NamesFromBeforeOfWhatThereIs) {
    asio::static_thread_pool pool(1);
    int n = 0;
    asio::execution::execute(pool.get_executor(), [&] { ++n; });
    pool.join();
    EXPECT_EQ(n, 1);
    static_assert(std::is_same_v<asio::experimental::as_tuple_t<asio::use_awaitable_t<>>,
                                 asio::as_tuple_t<asio::use_awaitable_t<>>>);
    using bytes = std::remove_const_t<decltype(asio::placeholders::bytes_transferred)>;
    static_assert(std::is_placeholder_v<bytes> == 2 && boost::is_placeholder<bytes>::value == 2);
}

} // namespace
