// No memory: each allocation of each program below fails in turn (row R04 of the failure catalogue). The calls that
// must work without memory do (C15, R05). A failure may end the operation with an exception or an error; it may not
// leak, end the process, or leave the context unusable.
#include <alloc/failing_new.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/recycler.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/operation/compose.hpp>
#include <fairlead/redis/connection.hpp>
#include <fairlead/redis_server/server.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/co_composed.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>
#include <redis/endings.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;
using ip::tcp;

/// The objects of a program: they outlive what they began.
struct kept {
    virtual ~kept() = default;
    /// Ends what is under way.
    virtual void close() {}
};

/// A program to be swept: makes its objects, and begins its operations.
using scenario = std::function<void(io_context&, std::unique_ptr<kept>&)>;

/// Blocks that somebody uses: what the recycler holds in store is nobody's.
long blocks_in_use() { return live_blocks - static_cast<long>(this_thread_recycler_counters().cached); }

/// Runs to the end, through all exceptions.
void run_out(io_context& context) {
    context.restart();
    for (int left = 1000; !context.stopped() && left; --left) {
        try {
            context.run_for(10s);
        } catch (std::bad_alloc const&) {
        } catch (system_error const& e) {
            EXPECT_EQ(e.code(), std::errc::not_enough_memory) << e.what();
        }
    }
}

awaitable<void> prove_usable(io_context& context, int& done) {
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    steady_timer timer(context, 1us);
    co_await timer.async_wait();
    co_await async_write(a, buffer("x", 1));
    char byte[1];
    done += static_cast<int>(co_await b.async_read_some(buffer(byte)));
}

/// Forgets what the recycler has in store, so that blocks come from operator new again. Leaks; for a process that ends.
void forget_stored_blocks() {
    using holds = impl::exec::last_freed_blocks::holds;
    for (auto& place : impl::exec::this_thread_last_freed.of_class)
        if (place.now == holds::block) {
            --live_blocks;
            place = {nullptr, holds::nothing};
        }
    auto* const r = impl::exec::this_thread_recycler;
    for (std::size_t i = 0; i != impl::exec::recycler::classes; ++i) {
        live_blocks -= static_cast<long>(r->count_[i]);
        r->free_[i] = nullptr;
        r->count_[i] = 0;
    }
}

/// Lets the n-th allocation fail. Returns whether there was one; fails the test when that had consequences.
bool survives(scenario const& begin, std::size_t n) {
    bool failed = false;
    io_context context;
    std::unique_ptr<kept> objects;
    {
        auto const failing = failing_new::only(n);
        try {
            begin(context, objects);
            while (!context.stopped() && !failing.failed()) { // what waits for the lost one may wait in vain
                try {
                    context.run_one_for(10s);
                } catch (std::bad_alloc const&) {
                }
            }
        } catch (std::bad_alloc const&) {
        } catch (system_error const& e) {
            EXPECT_EQ(e.code(), std::errc::not_enough_memory) << e.what();
        }
        failed = failing.failed() != 0;
    }
    for (bool again = true; again;) {
        try {
            context.poll();
            again = false;
        } catch (std::bad_alloc const&) {
        }
    }
    if (objects)
        objects->close();
    run_out(context);
    int done = 0;
    co_spawn(context, prove_usable(context, done), detached);
    run_out(context);
    EXPECT_EQ(done, 1) << "the context is of no more use";
    return failed;
}

/// As survives(), in a process that has just begun, and with a look at what was not given back.
bool survives_without_leaks(scenario const& begin, std::size_t n) {
    survives(begin, 0); // what is made once for all: threads of the resolver, this thread's store
    forget_stored_blocks();
    auto const before = blocks_in_use();
    bool const failed = survives(begin, n);
    redis::impl::forget_endings(); // The process keeps the last ones, for exceptions.
    // Threads of the resolver give their share back a moment later.
    for (int i = 0; i != 100'000 && blocks_in_use() > before; ++i)
        std::this_thread::yield();
    EXPECT_LE(blocks_in_use(), before) << "leaked";
    return failed;
}

/// Fails each allocation in turn until a run needs none more. Each run is a process of its own: it starts without any
/// block in store, and may end as badly as it likes.
void sweep(scenario const& begin, std::size_t least) {
    enum : int { passed = 40, needed_no_more, failed }; // Sanitizers end processes with small numbers.
    std::size_t n = 1;
    for (;; ++n) {
        ASSERT_LT(n, 20'000U) << "no end of allocations";
        std::fflush(nullptr);
        auto const child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            bool const reached = survives_without_leaks(begin, n);
            std::fflush(nullptr);
            ::_exit(testing::Test::HasFailure() ? failed : reached ? passed : needed_no_more);
        }
        int status = 0;
        while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        ASSERT_FALSE(WIFSIGNALED(status))
            << "allocation " << n << " that fails ends the process: signal " << WTERMSIG(status);
        ASSERT_NE(WEXITSTATUS(status), failed) << "when allocation " << n << " fails";
        if (WEXITSTATUS(status) == needed_no_more)
            break;
        ASSERT_EQ(WEXITSTATUS(status), passed) << "when allocation " << n << " fails";
    }
    EXPECT_GT(n, least) << "the program allocates less than this test was written for: does it still do anything?";
    std::printf("%zu allocations failed in turn\n", n - 1);
}

void ignore_result(error_code ec, auto&&...) {
    EXPECT_TRUE(!ec || ec == error::operation_aborted || ec == std::errc::not_enough_memory || ec == error::eof ||
                ec == error::not_found)
        << ec.message();
}
constexpr auto ignore_all = [](error_code ec, auto&&... rest) { ignore_result(ec, rest...); };

// ---- programs

TEST(Catalogue, R04_ContextThatCannotBeMadeThrowsAndLeaksNothing) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    sweep(
        [](io_context&, std::unique_ptr<kept>&) {
            io_context another;
            tcp::socket s(another, tcp::v4()); // the table of descriptors
        },
        3);
}

TEST(Catalogue, R04_Sockets) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    struct objects final : kept {
        local_socket a, b;
        tcp::acceptor acceptor;
        tcp::socket client;
        char bytes[8] = {};
        explicit objects(io_context& c)
            : a(c),
              b(c),
              acceptor(c, tcp::endpoint(ip::address_v4::loopback(), 0)),
              client(c) {
            local::connect_pair(a, b);
        }
        void close() override {
            a.close();
            b.close();
            acceptor.close();
            client.close();
        }
    };
    sweep(
        [](io_context& context, std::unique_ptr<kept>& keep) {
            keep = std::make_unique<objects>(context);
            auto* const o = static_cast<objects*>(keep.get());
            o->a.async_read_some(
                std::array<mutable_buffer, 3>{buffer(o->bytes, 1), buffer(o->bytes + 1, 1), buffer(o->bytes + 2, 1)},
                ignore_all);
            async_write(o->b, std::vector<const_buffer>(5, buffer("x", 1)), ignore_all);
            async_read(o->a, buffer(o->bytes + 3, 2), ignore_all);
            o->a.async_wait(socket_base::wait_read, ignore_all);
            o->acceptor.async_accept(ignore_all);
            async_connect(o->client, std::vector<tcp::endpoint>(2, o->acceptor.local_endpoint()), ignore_all);
            local_socket(context).async_connect(local::stream_protocol::endpoint("/no/such/path"),
                                                [](error_code ec) { EXPECT_TRUE(ec); });
        },
        10);
}

TEST(Catalogue, R04_Timers) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    struct objects final : kept {
        std::vector<std::unique_ptr<steady_timer>> all;
        void close() override {
            for (auto& each : all)
                each->cancel();
        }
    };
    sweep(
        [](io_context& context, std::unique_ptr<kept>& keep) {
            keep = std::make_unique<objects>();
            auto* const timers = &static_cast<objects*>(keep.get())->all;
            for (int i = 0; i != 40; ++i) {
                timers->push_back(std::make_unique<steady_timer>(context, std::chrono::microseconds(i)));
                timers->back()->async_wait(ignore_all);
            }
            timers->front()->cancel();
        },
        80);
}

TEST(Catalogue, R04_SlotsAndLimits) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    struct objects final : kept {
        std::array<cancellation_signal, 5> signals;
        local_socket a, b;
        steady_timer timer, limit;
        char bytes[8] = {};
        std::string held;
        explicit objects(io_context& c) : a(c), b(c), timer(c, 1h), limit(c) { local::connect_pair(a, b); }
        void close() override {
            a.close();
            b.close();
            timer.cancel();
            limit.cancel();
        }
    };
    sweep(
        [](io_context& context, std::unique_ptr<kept>& keep) {
            keep = std::make_unique<objects>(context);
            auto* const o = static_cast<objects*>(keep.get());
            auto const with = [o](std::size_t i) { return bind_cancellation_slot(o->signals[i].slot(), ignore_all); };
            o->a.async_read_some(buffer(o->bytes, 1), with(0));
            async_read_until(o->b, dynamic_buffer(o->held), '\n', with(1));
            o->timer.async_wait(with(2));
            auto later = o->timer.async_wait(deferred);
            std::move(later)(with(3));
            o->timer.async_wait(cancel_after(1h, with(4)));
            o->timer.async_wait(cancel_after(o->limit, 1us, ignore_all));
            o->timer.async_wait(
                cancel_after(1us, as_tuple([](std::tuple<error_code> v) { ignore_all(std::get<0>(v)); })));
            o->a.async_wait(socket_base::wait_error, cancel_after(2us, use_future)).wait_for(0s);
            context.poll();
            for (auto& s : o->signals)
                s.emit(cancellation_type::all);
        },
        20);
}

TEST(Catalogue, R04_Compositions) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    struct objects final : kept {
        cancellation_signal first, second;
        steady_timer timer;
        explicit objects(io_context& c) : timer(c, 1us) {}
        void close() override { timer.cancel(); }
    };
    sweep(
        [](io_context& context, std::unique_ptr<kept>& keep) {
            keep = std::make_unique<objects>(context);
            auto* const o = static_cast<objects*>(keep.get());
            auto one = bind_cancellation_slot(o->first.slot(), ignore_all);
            async_compose<decltype(one), void(error_code)>(
                [o, steps = 0](auto& self, error_code = {}) mutable {
                    if (steps == 2)
                        self.reset_cancellation_state(enable_total_cancellation());
                    if (steps++ == 4)
                        self.complete({});
                    else
                        o->timer.async_wait(std::move(self));
                },
                one, o->timer);
            auto two = bind_cancellation_slot(o->second.slot(), ignore_all);
            async_initiate<decltype(two), void(error_code)>(co_composed<void(error_code)>(
                                                                [](auto state, steady_timer& t) -> void {
                                                                    auto const tuple = as_tuple(deferred);
                                                                    for (int i = 0; i != 4; ++i)
                                                                        co_await t.async_wait(tuple);
                                                                    state.throw_if_cancelled(true);
                                                                    co_return {error_code()};
                                                                },
                                                                o->timer),
                                                            two, std::ref(o->timer));
            auto at_once = ignore_all;
            async_compose<decltype(at_once), void(error_code)>([](auto& self) { self.complete({}); }, at_once, context);
        },
        8);
}

TEST(Catalogue, R04_Resolver) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    struct objects final : kept {
        tcp::resolver resolver;
        explicit objects(io_context& c) : resolver(c) {}
        void close() override { resolver.cancel(); }
    };
    sweep(
        [](io_context& context, std::unique_ptr<kept>& keep) {
            keep = std::make_unique<objects>(context);
            auto* const resolver = &static_cast<objects*>(keep.get())->resolver;
            resolver->async_resolve("127.0.0.1", "80", resolver->numeric_host, ignore_all);
            resolver->async_resolve("a name that is longer than any small string.invalid", "80",
                                    [](error_code, tcp::resolver::results_type) {});
            resolver->cancel();
            resolver->async_resolve("::1", "80", resolver->numeric_host, ignore_all);
        },
        10);
}

TEST(Catalogue, R04_ThreadsOfTheResolverReportThatThereIsNoMemory) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    io_context context;
    tcp::resolver resolver(context);
    error_code why;
    {
        auto const failing = failing_new::elsewhere();
        resolver.async_resolve("localhost", "80", [&](error_code ec, tcp::resolver::results_type) { why = ec; });
        context.run();
    }
    EXPECT_EQ(why, error::no_memory);
    bool found = false;
    resolver.async_resolve("localhost", "80",
                           [&](error_code ec, tcp::resolver::results_type r) { found = !ec && !r.empty(); });
    context.restart();
    context.run();
    EXPECT_TRUE(found);
}

awaitable<std::string> child(int depth) {
    if (depth == 0) {
        co_await this_coro::yield();
        co_return "a value that is longer than any small string";
    }
    co_return co_await child(depth - 1);
}

awaitable<void> parent(io_context& context) {
    EXPECT_FALSE((co_await child(5)).empty());
    co_await post(context);
    steady_timer timer(context, 1us);
    co_await timer.async_wait();
    auto spawned = co_spawn(context, child(2), use_await);
    EXPECT_FALSE((co_await std::move(spawned)).empty());
    throw std::runtime_error("reaches whoever spawned it");
}

TEST(Catalogue, R04_Coroutines) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    sweep(
        [](io_context& context, std::unique_ptr<kept>&) {
            // The handler lives in the root's frame: it is either called, with what went wrong, or co_spawn threw.
            co_spawn(context, parent(context), [](std::exception_ptr e) { EXPECT_TRUE(e); });
            co_spawn(context, child(3), detached);
            auto future = co_spawn(context, child(1), use_future);
            co_spawn(
                context,
                [&context]() -> awaitable<void> {
                    co_spawn(context, child(2), detached);
                    co_return;
                },
                detached);
        },
        8);
}

TEST(Catalogue, R04_ReadUntil) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    struct objects final : kept {
        local_socket a, b;
        std::string text, more;
        explicit objects(io_context& c) : a(c), b(c) { local::connect_pair(a, b); }
        void close() override { a.close(); }
    };
    sweep(
        [](io_context& context, std::unique_ptr<kept>& keep) {
            keep = std::make_unique<objects>(context);
            auto* const p = static_cast<objects*>(keep.get());
            async_read_until(p->a, dynamic_buffer(p->text), "a delimiter that is longer than any small string",
                             [p](error_code ec, std::size_t n) {
                                 ignore_result(ec);
                                 if (ec)
                                     return;
                                 EXPECT_EQ(p->text.substr(n - 6, 6), "string");
                                 async_read(p->a, dynamic_buffer(p->more), ignore_all);
                             });
            std::string const sent =
                std::string(3000, 'x') + "a delimiter that is longer than any small string and something else";
            p->b.write_some(buffer(sent));
            p->b.close();
        },
        4);
}

TEST(Catalogue, R04_PostedFunctions) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    sweep(
        [](io_context& context, std::unique_ptr<kept>&) {
            // The captures of a handler move with it without a new block.
            auto const function = [] { return [captured = std::string(100, 'x')] {}; };
            post(context, function());
            defer(context, function());
            dispatch(context, [&context, function] { post(context, function()); });
            auto future = post(context, use_future);
            any_io_executor const ex(context.get_executor());
            post(ex, function());
            ex.execute(function());
        },
        6);
}

TEST(Catalogue, R04_RedisConnection) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    struct objects final : kept {
        redis::server server;
        redis::connection conn;
        redis::request set, get;
        std::string ok;
        redis::response<std::optional<std::string>, std::vector<std::string>> values;
        redis::generic_response all;
        explicit objects(io_context& c) : server(c), conn(c) {}
        void close() override {
            conn.cancel();
            server.stop();
        }
    };
    sweep(
        [](io_context& context, std::unique_ptr<kept>& keep) {
            keep = std::make_unique<objects>(context);
            auto* const p = static_cast<objects*>(keep.get());
            auto const any = [](error_code, auto&&...) {};
            redis::config cfg;
            cfg.address = p->server.address();
            p->conn.async_run(std::move(cfg), any);
            p->set.push("SET", "a key of some length, no small string", std::string(200, 'v'));
            p->get.push("GET", "a key of some length, no small string");
            p->get.push("KEYS", "*");
            p->conn.async_exec(p->set, p->ok, any);
            p->conn.async_exec(p->get, p->values, [p](error_code ec, std::size_t) {
                if (ec)
                    return; // perhaps because it goes
                p->conn.async_exec(p->get, p->all, [p](error_code e, std::size_t) {
                    if (e)
                        return;
                    p->conn.cancel();
                    p->server.stop();
                });
            });
        },
        50);
}

TEST(Catalogue, R04_LimitThatThereIsNoMemoryForEndsTheOperationAtOnce) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    char byte;
    error_code ec;
    auto const read = [&] {
        return a.async_read_some(buffer(&byte, 1), cancel_after(1h, redirect_error(use_await, ec)));
    };
    std::vector<steady_timer> others;
    co_spawn(
        context,
        [](io_context& c, local_socket& peer, auto& limited, std::vector<steady_timer>& waiting) -> awaitable<void> {
            peer.write_some(buffer("x", 1));
            co_await limited();         // Its blocks are with the thread now.
            while (waiting.size() != 8) // The heap of the loop has just space for them.
                waiting.emplace_back(c, 1h).async_wait(ignore_all);
            auto const failing = failing_new::from(1);
            co_await limited();
            EXPECT_EQ(failing.failed(), 1U);
        }(context, b, read, others),
        [&](std::exception_ptr e) {
            EXPECT_FALSE(e);
            others.clear();
        });
    context.run_for(10s);
    EXPECT_TRUE(context.stopped()) << "the operation waits for ever";
    EXPECT_EQ(ec, error::operation_aborted);
}

// ---- C15, R05: what needs no memory

TEST(Catalogue, C15_R05_CancellingClosingAndDeliveringNeedNoMemory) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    io_context context;
    int completed = 0, aborted = 0;
    auto const count = [&](error_code ec, auto&&...) {
        ++completed;
        aborted += ec == error::operation_aborted;
    };
    char bytes[4];
    {
        local_socket a(context), b(context), c(context), d(context);
        local::connect_pair(a, b);
        local::connect_pair(c, d);
        tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
        steady_timer timer(context, 1h), soon(context, 1us);
        tcp::resolver resolver(context);
        cancellation_signal read, wait, accept, line, limited;
        local_socket e(context), f(context);
        local::connect_pair(e, f);
        steady_timer another(context, 1h), hour(context, 1h);
        std::string held;
        e.async_read_some(buffer(bytes), bind_cancellation_slot(read.slot(), count));
        async_read_until(f, dynamic_buffer(held), '\n', bind_cancellation_slot(line.slot(), count));
        another.async_wait(bind_cancellation_slot(wait.slot(), count));
        acceptor.async_accept(bind_cancellation_slot(accept.slot(), count));
        hour.async_wait(cancel_after(2h, bind_cancellation_slot(limited.slot(), count)));
        a.async_read_some(buffer(bytes), count);
        b.async_read_some(std::array<mutable_buffer, 3>{buffer(bytes, 1), buffer(bytes, 1), buffer(bytes, 1)}, count);
        c.async_read_some(buffer(bytes, 1), count);
        acceptor.async_accept(count);
        timer.async_wait(count);
        soon.async_wait(count);
        resolver.async_resolve("a-name-that-nobody-has.invalid", "80", count);
        context.poll();

        auto const failing = failing_new::from(1);
        a.cancel();
        b.close();
        acceptor.cancel();
        timer.cancel();
        resolver.cancel();
        for (auto* const signal : {&read, &wait, &accept, &line, &limited})
            signal->emit(cancellation_type::terminal);
        d.write_some(buffer("x", 1));
        while (completed != 12)
            context.run_one();
        EXPECT_EQ(failing.failed(), 0U);
    }
    EXPECT_EQ(aborted, 10);
}

/// A new thread takes over the cache of one that has ended, when it first needs a block.
void begin_with_an_empty_cache() {
    impl::exec::recycle_free(impl::exec::recycle_allocate(1));
    impl::exec::recycler_trim();
}

TEST(Catalogue, C15_R05_CancellingFromAnotherThreadNeedsNoMemory) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    char byte;
    bool aborted = false;
    a.async_read_some(buffer(&byte, 1), [&](error_code ec, std::size_t) { aborted = ec == error::operation_aborted; });
    auto guard = make_work_guard(context);
    std::atomic<bool> inside{false};
    post(context, [&] { inside = true; });
    std::thread running([&] { context.run(); });
    while (!inside)
        std::this_thread::yield();
    std::uint64_t failed = 0;
    std::thread([&] {
        begin_with_an_empty_cache();
        auto const failing = failing_new::from(1);
        a.cancel();
        failed = failing.failed();
    }).join();
    EXPECT_GT(failed, 0U) << "the message would have been the shorter way";
    guard.reset();
    running.join();
    EXPECT_TRUE(aborted);
}

TEST(Catalogue, C15_R05_CancellingAConnectionFromAnotherThreadNeedsNoMemory) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    io_context context;
    auto conn = std::make_unique<redis::connection>(context);
    redis::request one, other;
    one.push("PING");
    other.push("PING");
    int aborted = 0;
    auto const count = [&](error_code ec, std::size_t) { aborted += ec == error::operation_aborted; };
    conn->async_exec(one, redis::ignore, count);
    conn->async_exec(other, redis::ignore, count);
    conn->async_exec(other, redis::ignore, count);
    auto guard = make_work_guard(context);
    std::atomic<bool> inside{false};
    post(context, [&] { inside = true; });
    std::thread running([&] { context.run(); });
    while (!inside)
        std::this_thread::yield();
    std::uint64_t failed = 0;
    std::size_t left = 0;
    std::thread([&] {
        begin_with_an_empty_cache();
        auto const failing = failing_new::from(1);
        conn->cancel(one);
        left = conn->pending();
        conn->cancel();
        failed = failing.failed();
        conn.reset();
    }).join();
    EXPECT_EQ(failed, 2U) << "a message would have been the shorter way";
    EXPECT_EQ(left, 2U) << "without memory for a message, the caller waits until it has been read";
    guard.reset();
    running.join();
    EXPECT_EQ(aborted, 3);
}

TEST(Catalogue, C15_R05_DestroyingEverythingWithWorkPendingNeedsNoMemory) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    auto context = std::make_unique<io_context>();
    auto a = std::make_unique<local_socket>(*context), b = std::make_unique<local_socket>(*context);
    local::connect_pair(*a, *b);
    char bytes[4];
    int called = 0;
    auto const count = [&](auto&&...) { ++called; };
    a->async_read_some(buffer(bytes), count);
    b->async_read_some(buffer(bytes), count);
    auto timer = std::make_unique<steady_timer>(*context, 1h);
    timer->async_wait(count);
    auto conn = std::make_unique<redis::connection>(*context);
    redis::request req;
    req.push("PING");
    conn->async_exec(req, redis::ignore, count);
    co_spawn(
        *context,
        [](io_context& c) -> awaitable<void> {
            steady_timer t(c, 1h);
            co_await t.async_wait();
        }(*context),
        count);
    for (int i = 0; i != 10; ++i)
        post(*context, count);
    context->poll();
    called = 0;
    {
        auto const failing = failing_new::from(1);
        a.reset();
        timer.reset();
        conn.reset();
        b.reset();
        context.reset();
        EXPECT_EQ(failing.failed(), 0U);
    }
    EXPECT_EQ(called, 0);
}

TEST(Catalogue, C15_CancellingRequestsOfAConnectionNeedsNoMemory) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    io_context context;
    redis::server server(context);
    redis::connection conn(context);
    redis::config cfg;
    cfg.address = server.address();
    error_code ended;
    conn.async_run(std::move(cfg), [&](error_code ec) { ended = ec; });
    redis::request ping, waiting;
    ping.push("PING");
    waiting.push("ECHO", std::string(1000, 'x'));
    int done = 0, given_up = 0;
    conn.async_exec(ping, redis::ignore, [&](error_code ec, std::size_t) {
        EXPECT_FALSE(ec);
        ++done;
    });
    while (!done)
        context.run_one();
    std::size_t cancelled = 0, failures = 99;
    post(context, [&] {
        for (int i = 0; i != 50; ++i)
            conn.async_exec(waiting, redis::ignore,
                            [&](error_code ec, std::size_t) { given_up += static_cast<bool>(ec); });
        auto const failing = failing_new::from(1);
        cancelled = conn.cancel(waiting);
        conn.cancel();
        failures = failing.failed();
        server.stop();
    });
    context.run();
    EXPECT_EQ(cancelled, 50U);
    EXPECT_EQ(failures, 0U);
    EXPECT_EQ(given_up, 50);
    EXPECT_EQ(ended, error::operation_aborted);
}

// ---- R06: what an idle connection costs

TEST(Catalogue, R06_ConnectionThatWaitsForBytesTakesLessThanAKilobyte) {
    if (!new_is_replaced())
        GTEST_SKIP() << "the sanitizer of this compiler keeps its own operator new";
    io_context context;
    constexpr std::size_t pairs = 200;
    std::vector<std::unique_ptr<local_socket>> sockets;
    sockets.reserve(2 * pairs);
    std::size_t before = 0, bytes_before = 0;
    // The first hundred fill the tables and caches that all share.
    for (std::size_t i = 0; i != pairs; ++i) {
        if (i == pairs / 2) {
            before = allocations;
            bytes_before = allocated_bytes;
        }
        sockets.push_back(std::make_unique<local_socket>(context));
        sockets.push_back(std::make_unique<local_socket>(context));
        auto& a = *sockets[2 * i];
        local::connect_pair(a, *sockets[2 * i + 1]);
        for (int k = 0; k != 2; ++k)
            co_spawn(
                context,
                [](local_socket& s) -> awaitable<void> {
                    char bytes[64];
                    co_await s.async_read_some(buffer(bytes), as_tuple);
                }(*sockets[2 * i + static_cast<std::size_t>(k)]),
                detached);
        context.poll();
    }
    auto const bytes = (allocated_bytes - bytes_before) / pairs; // half of the pairs, two ends each
    std::printf("%zu bytes and %.1f allocations for each idle connection\n", bytes,
                static_cast<double>(allocations - before) / pairs);
    EXPECT_LE(bytes, 1024U + 256U) << "with its coroutine and its buffer of 64 bytes";
    for (auto& s : sockets)
        s->close();
    context.restart();
    context.run();
}

} // namespace
} // namespace fairlead::test
