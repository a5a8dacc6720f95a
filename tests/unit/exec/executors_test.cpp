// Executors that run no loop of the library: pools, strands, the system's, and users' own; alone, under I/O objects,
// and as the home of coroutines.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/legacy/with_properties.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <exec/park.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <thread>

using namespace fairlead;
using namespace std::chrono_literals;
using fairlead::test::scaled;

namespace {

/// A user's context: one thread and a queue, written without any knowledge of the library.
class users_context : public execution_context {
public:
    class executor_type {
    public:
        explicit executor_type(users_context& c) noexcept : context_(&c) {}
        execution_context& context() const noexcept { return *context_; }
        template <class F> void execute(F&& f) const {
            context_->add(std::make_shared<std::decay_t<F>>(std::forward<F>(f)));
        }
        friend bool operator==(executor_type, executor_type) noexcept = default;

    private:
        users_context* context_;
    };
    users_context() : thread_([this] { run(); }) {}
    ~users_context() override {
        {
            std::lock_guard const lock(mutex_);
            ended_ = true;
        }
        more_.notify_one();
        thread_.join();
        shutdown();
        destroy();
        tasks_.clear();
    }
    executor_type get_executor() noexcept { return executor_type(*this); }
    std::thread::id id() const { return thread_.get_id(); }

private:
    template <class F> void add(std::shared_ptr<F> f) {
        {
            std::lock_guard const lock(mutex_);
            tasks_.push_back([f] { std::move (*f)(); });
        }
        more_.notify_one();
    }
    void run() {
        std::unique_lock lock(mutex_);
        for (;;) {
            more_.wait(lock, [&] { return ended_ || !tasks_.empty(); });
            if (ended_)
                return;
            auto task = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            task();
            task = nullptr;
            lock.lock();
        }
    }
    std::mutex mutex_;
    std::condition_variable more_;
    std::deque<std::function<void()>> tasks_;
    bool ended_ = false;
    std::thread thread_;
};
static_assert(io_executor<users_context::executor_type>);
static_assert(io_executor<thread_pool::executor_type>);
static_assert(io_executor<system_executor>);
static_assert(io_executor<strand<any_io_executor>>);

// ---- pools

TEST(ThreadPool, JoinWaitsForAllWorkAlsoWhatIsSubmittedMeanwhile) {
    thread_pool pool(3);
    std::atomic<int> n{0};
    std::function<void(int)> again = [&](int left) {
        ++n;
        if (left != 0)
            post(pool, [&, left] { again(left - 1); });
    };
    for (int i = 0; i != 100; ++i)
        post(pool, [&] { again(20); });
    pool.join();
    EXPECT_EQ(n, 2'100);
}

TEST(ThreadPool, RunsFunctionsAtTheSameTimeAndStealsFromTheBusy) {
    thread_pool pool(3);
    std::latch together(3);
    post(pool, [&] { // All three are queued by one worker, which then waits for the other two.
        for (int i = 0; i != 2; ++i)
            post(pool, [&] { together.arrive_and_wait(); });
        together.arrive_and_wait();
    });
    pool.join();
}

TEST(ThreadPool, AllThatABusyWorkerHasQueuedIsRunByAnother) {
    thread_pool pool(2);
    constexpr int count = 100;
    std::atomic<int> ran{0};
    std::promise<void> all;
    post(pool, [&] {
        for (int i = 0; i != count; ++i) // into this worker's own queue; the other one takes halves of it
            post(pool, [&] {
                if (++ran == count)
                    all.set_value();
            });
        if (all.get_future().wait_for(20s) != std::future_status::ready) {
            ADD_FAILURE() << "waited 20 s for the other worker, which ran " << ran << " of " << count;
            pool.stop();
        }
    });
    pool.join();
}

TEST(ThreadPool, StopAbandonsWhatIsQueued) {
    auto witness = std::make_shared<int>();
    std::atomic<int> ran{0};
    {
        thread_pool pool(1);
        std::promise<void> inside, go_on;
        post(pool, [&] {
            inside.set_value();
            go_on.get_future().wait();
        });
        inside.get_future().wait();
        for (int i = 0; i != 5; ++i)
            post(pool, [&, witness] { ++ran; });
        pool.stop();
        go_on.set_value();
        pool.join();
        EXPECT_EQ(ran, 0);
    }
    EXPECT_EQ(witness.use_count(), 1) << "handlers are destroyed, not leaked";
}

TEST(ThreadPool, AttachLendsTheCallingThread) {
    thread_pool pool(0);
    std::thread::id ran_in;
    post(pool, [&] {
        ran_in = std::this_thread::get_id();
        pool.stop();
    });
    pool.attach();
    EXPECT_EQ(ran_in, std::this_thread::get_id());
}

TEST(ThreadPool, ThreadThatItsFunctionLendsToAnotherIsInsideBoth) {
    thread_pool outer(1), inner(0);
    int here = 0;
    post(outer, [&] {
        post(inner, [&] {
            EXPECT_TRUE(inner.get_executor().running_in_this_thread());
            EXPECT_TRUE(outer.get_executor().running_in_this_thread());
            dispatch(inner, [&] { ++here; });
            dispatch(outer, [&] { ++here; });
            EXPECT_EQ(here, 2) << "at once";
            inner.stop();
        });
        inner.attach();
        EXPECT_FALSE(inner.get_executor().running_in_this_thread());
    });
    outer.join();
    EXPECT_EQ(here, 2);
}

TEST(ThreadPool, DispatchRunsAtOnceInsideOnly) {
    thread_pool pool(1);
    bool at_once_outside = false, at_once_inside = false;
    std::promise<void> done;
    dispatch(pool, [&] {
        at_once_outside = std::this_thread::get_id() == std::thread::id();
        EXPECT_TRUE(pool.get_executor().running_in_this_thread());
        dispatch(pool, [&] { at_once_inside = true; });
        EXPECT_TRUE(at_once_inside);
        done.set_value();
    });
    done.get_future().wait();
    EXPECT_FALSE(pool.get_executor().running_in_this_thread());
    EXPECT_FALSE(at_once_outside);
}

TEST(SystemExecutor, PostsToThreadsOfTheProcessAndDispatchesAtOnce) {
    auto const here = std::this_thread::get_id();
    std::promise<std::thread::id> posted;
    post(system_executor(), [&] { posted.set_value(std::this_thread::get_id()); });
    EXPECT_NE(posted.get_future().get(), here);
    std::thread::id dispatched;
    dispatch(system_executor(), [&] { dispatched = std::this_thread::get_id(); });
    EXPECT_EQ(dispatched, here);
}

// ---- strands

TEST(Strand, FunctionsNeverOverlapAndKeepTheirOrder) {
    thread_pool pool(3);
    auto s = make_strand(pool);
    int const count = static_cast<int>(scaled(20'000, 1'000));
    std::atomic<int> inside{0};
    int next = 0, wrong = 0, overlapping = 0;
    for (int i = 0; i != count; ++i)
        post(s, [&, i] {
            overlapping += inside.fetch_add(1) != 0;
            wrong += next++ != i;
            --inside;
        });
    pool.join();
    EXPECT_EQ(next, count);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(overlapping, 0);
}

TEST(Strand, FunctionQueuedInsideStandsWhereItsTimeWas) {
    io_context context;
    auto const s = make_strand(context);
    std::string order;
    auto const post_elsewhere = [&](char c) { std::thread([&, c] { post(s, [&order, c] { order += c; }); }).join(); };
    post(s, [&] {
        post(s, [&] { order += 'a'; });
        post_elsewhere('b');
        post(s, [&] { order += 'c'; });
        post_elsewhere('d');
    });
    context.run();
    EXPECT_EQ(order, "abcd");
}

TEST(Strand, DispatchInsideIsInlineAndOutsideIsNot) {
    io_context context;
    auto s = make_strand(context);
    std::string order;
    dispatch(s, [&] {
        order += '1';
        EXPECT_TRUE(s.running_in_this_thread());
        dispatch(s, [&] { order += '2'; });
        post(s, [&] { order += '4'; });
        order += '3';
    });
    EXPECT_EQ(order, "");
    context.run();
    EXPECT_EQ(order, "1234");
    EXPECT_FALSE(s.running_in_this_thread());
}

TEST(Strand, OneOnAnotherIsInsideBoth) {
    io_context context;
    auto const inner = make_strand(context);
    auto const outer = make_strand(inner);
    auto const other = make_strand(inner);
    std::string order;
    post(outer, [&] {
        EXPECT_TRUE(outer.running_in_this_thread());
        EXPECT_TRUE(inner.running_in_this_thread());
        EXPECT_FALSE(other.running_in_this_thread());
        dispatch(inner, [&] { order += 'a'; }); // inside both, so at once
        dispatch(outer, [&] { order += 'b'; });
        dispatch(other, [&] {
            EXPECT_TRUE(other.running_in_this_thread());
            EXPECT_TRUE(inner.running_in_this_thread());
            EXPECT_FALSE(outer.running_in_this_thread());
            order += 'e';
        });
        order += 'c';
    });
    post(outer, [&] { order += 'd'; });
    post(inner, [&] {
        EXPECT_TRUE(inner.running_in_this_thread());
        EXPECT_FALSE(outer.running_in_this_thread());
    });
    context.run();
    EXPECT_EQ(order.substr(0, 3), "abc");
    EXPECT_EQ(order.size(), 5U);
}

TEST(Strand, FunctionsOfOneOnAnotherNeverOverlapAndKeepTheirOrder) {
    thread_pool pool(3);
    auto const inner = make_strand(pool);
    auto const outer = make_strand(inner);
    int const count = static_cast<int>(scaled(20'000, 1'000));
    std::atomic<int> inside{0}, overlapping{0};
    int wrong = 0;
    int next[2] = {};
    for (int i = 0; i != count; ++i) {
        auto const one = [&, i](int which) {
            overlapping += inside.fetch_add(1) != 0;
            wrong += next[which]++ != i;
            --inside;
        };
        post(outer, [one] { one(0); });
        post(inner, [one] { one(1); });
    }
    pool.join();
    EXPECT_EQ(next[0], count);
    EXPECT_EQ(next[1], count);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(overlapping, 0);
}

TEST(Strand, CopiesAndWiderTypesAreTheSameStrand) {
    io_context context;
    auto const s = make_strand(context);
    auto const copy = s;
    EXPECT_EQ(s, copy);
    EXPECT_NE(s, make_strand(context));
    strand<any_io_executor> const wide(s);
    EXPECT_EQ(wide, strand<any_io_executor>(copy));
    any_io_executor const any(wide);
    ASSERT_NE(any.target<strand<any_io_executor>>(), nullptr);
    EXPECT_EQ(*any.target<strand<any_io_executor>>(), wide);
    EXPECT_EQ(any_io_executor(s), any_io_executor(copy));
    std::string order;
    post(wide, [&] {
        EXPECT_TRUE(s.running_in_this_thread());
        dispatch(s, [&] { order += '1'; });
        order += '2';
    });
    context.run();
    EXPECT_EQ(order, "12");
}

TEST(Strand, IsMadeOnWhatConvertsToItsExecutor) {
    io_context context;
    thread_pool pool(1);
    strand<any_io_executor> const on_context(context.get_executor()), on_pool{pool.get_executor()};
    EXPECT_EQ(on_context.get_inner_executor(), any_io_executor(context.get_executor()));
    EXPECT_EQ(on_pool.get_inner_executor(), any_io_executor(pool.get_executor()));
    strand<io_context::executor_type> const narrow(context.get_executor());
    EXPECT_NE(strand<any_io_executor>(any_io_executor(narrow)), strand<any_io_executor>(narrow))
        << "on it, not the same";
    static_assert(!std::is_constructible_v<strand<io_context::executor_type>, any_io_executor>);
    static_assert(!std::is_convertible_v<io_context::executor_type, strand<any_io_executor>>, "explicitly alone");

    std::string order;
    post(on_context, [&] {
        dispatch(on_context, [&] { order += 'a'; });
        order += 'b';
    });
    context.run();
    EXPECT_EQ(order, "ab");
}

TEST(Strand, ExceptionDoesNotStopTheRest) {
    io_context context;
    auto s = make_strand(context);
    int ran = 0;
    for (int i = 0; i != 3; ++i)
        post(s, [&, i] {
            ++ran;
            if (i == 0)
                throw std::runtime_error("first");
        });
    EXPECT_THROW(context.run(), std::runtime_error);
    context.run();
    EXPECT_EQ(ran, 3);
}

TEST(Strand, OrphanedStrandRunsWhatItHasAndAContextThatGoesDropsIt) {
    auto context = std::make_unique<io_context>();
    int ran = 0;
    post(make_strand(*context), [&] { ++ran; });
    context->run();
    EXPECT_EQ(ran, 1);
    auto witness = std::make_shared<int>();
    {
        auto s = make_strand(*context);
        for (int i = 0; i != 3; ++i)
            post(s, [witness] { FAIL(); });
        context.reset();
    }
    EXPECT_EQ(witness.use_count(), 1);
}

TEST(Catalogue, F03_BusyStrandLeavesOthersTheirTurn) {
    io_context context;
    auto a = make_strand(context), b = make_strand(context);
    int ran_a = 0;
    std::function<void()> busy = [&] {
        if (++ran_a < 10'000)
            post(a, busy);
    };
    int a_before_b = -1;
    post(a, busy);
    for (int i = 0; i != 100; ++i)
        post(a, [] {});
    post(b, [&] { a_before_b = ran_a; });
    context.run();
    EXPECT_LE(a_before_b, 16) << "a strand gives way after one turn";
}

// ---- time in pools, told by a clock that functions move

std::atomic<std::int64_t> told_ns{1};

/// The clock of threads that run no loop is `told_ns`.
struct told_clock {
    using function = std::int64_t (*)() noexcept;
    function const before = impl::exec::park::clock.exchange([]() noexcept -> std::int64_t { return told_ns; });
    told_clock() = default;
    told_clock(told_clock const&) = delete;
    ~told_clock() { impl::exec::park::clock = before; }
};

TEST(Catalogue, F02_X9_WorkerOfAPoolThatFeedsItselfTakesWhatComesFromOutside) {
    thread_pool pool(1);
    std::promise<void> started;
    std::latch posted(1);
    std::atomic<bool> over{false};
    int rounds = 0, rounds_before = -1;
    std::function<void()> again = [&] {
        if (rounds++ == 0) {
            started.set_value();
            posted.wait();
        }
        if (!over && rounds != 1'000)
            post(pool, again);
    };
    post(pool, again);
    started.get_future().wait();
    post(pool, [&] {
        rounds_before = rounds;
        over = true;
    });
    posted.count_down();
    pool.join();
    EXPECT_LE(rounds_before, 2) << "functions of the worker's own, each of which may take long";
}

TEST(Catalogue, F02_X9_WorkerOfAPoolThatFeedsItselfTakesWhatABusyOneHasQueued) {
    // The one that is busy waits for what it has queued, which only the other one can run.
    thread_pool pool(2);
    std::atomic<int> rounds{0};
    std::atomic<bool> over{false};
    std::function<void()> again = [&] {
        if (++rounds != 1'000'000 && !over)
            post(pool, again);
    };
    int rounds_before = -1;
    std::promise<void> feeding, helped;
    post(pool, [&] {
        feeding.set_value();
        again();
    });
    feeding.get_future().wait();
    post(pool, [&] {
        auto const begun = rounds.load();
        post(pool, [&] {
            rounds_before = rounds - begun;
            over = true;
            helped.set_value();
        });
        helped.get_future().wait();
    });
    pool.join();
    EXPECT_TRUE(over);
    EXPECT_LT(rounds_before, 500'000);
}

TEST(Catalogue, F03_X9_TurnOfAStrandOnAPoolCountsTime) {
    told_clock const clock;
    thread_pool pool(1);
    auto const s = make_strand(pool);
    int ran = 0, before = 0, most = 0;
    std::function<void()> look = [&] {
        most = std::max(most, ran - before);
        before = ran;
        if (ran != 40)
            post(pool, look);
    };
    post(pool, [&] {
        for (int i = 0; i != 40; ++i)
            post(s, [&] {
                ++ran;
                told_ns += 1'000'000;
            });
        post(pool, look);
    });
    pool.join();
    EXPECT_EQ(ran, 40);
    EXPECT_LE(most, 2) << "functions of the strand between two of somebody else; a short one has bought the second";
}

awaitable<void> computes(int& units, int n) {
    for (; units != n; ++units) {
        told_ns += 1'000'000;
        co_await completion_token_transform<void()>(use_await, [](auto&& h) { std::forward<decltype(h)>(h)(); });
    }
}

TEST(Catalogue, F01_X9_CoroutineOnAPoolGivesWayByTime) {
    told_clock const clock;
    thread_pool pool(1);
    int units = 0, before = 0, most = 0;
    std::function<void()> look = [&] {
        most = std::max(most, units - before);
        before = units;
        if (units != 200)
            post(pool, look);
    };
    post(pool, [&] {
        co_spawn(pool, computes(units, 200), detached);
        post(pool, look);
    });
    pool.join();
    EXPECT_EQ(units, 200);
    EXPECT_LE(most, 2) << "milliseconds between two turns of somebody else; a short function has bought the second";
}

// ---- I/O objects and coroutines on each of them

/// Runs f(executor, count_down) and waits for what it started.
template <class Executor> void echo_on(Executor const& ex, int messages) {
    std::atomic<int> right{0};
    std::promise<void> done;
    auto talk = [](Executor on, int n, std::atomic<int>& ok) -> awaitable<void> {
        ip::tcp::acceptor acceptor(on, ip::tcp::endpoint(ip::address_v4::loopback(), 0));
        ip::tcp::socket client(on);
        co_await client.async_connect(acceptor.local_endpoint());
        auto server = co_await acceptor.async_accept(on);
        std::array<char, 32> out{}, in{};
        for (int i = 0; i != n; ++i) {
            out[0] = static_cast<char>(i);
            co_await async_write(client, buffer(out));
            co_await async_read(server, buffer(in));
            ok += in == out;
            steady_timer pause(on, 0ns);
            co_await pause.async_wait();
        }
        ip::tcp::resolver resolver(on);
        auto const found = co_await resolver.async_resolve("127.0.0.1", "80");
        ok += found.size() == 1;
    };
    co_spawn(ex, talk(ex, messages, right), [&](std::exception_ptr e) {
        EXPECT_FALSE(e);
        done.set_value();
    });
    done.get_future().wait();
    EXPECT_EQ(right, messages + 1);
}

TEST(Papers, C06_ThreadPool) {
    thread_pool pool(2);
    echo_on(pool.get_executor(), 50);
}
TEST(Papers, C06_SystemExecutor) { echo_on(system_executor(), 20); }
TEST(Papers, C06_UsersOwn) {
    users_context context;
    echo_on(context.get_executor(), 50);
}
TEST(Papers, C06_AnyExecutorOfAUsersOwn) {
    users_context context;
    echo_on(any_io_executor(context.get_executor()), 50);
}
TEST(Papers, C06_StrandOfAPool) {
    thread_pool pool(2);
    echo_on(make_strand(pool), 50);
}
TEST(Papers, C06_StrandOfAContextWithSeveralThreads) {
    io_context context;
    auto guard = make_work_guard(context);
    std::thread a([&] { context.run(); }), b([&] { context.run(); });
    echo_on(make_strand(context), 50);
    echo_on(any_io_executor(make_strand(context)), 50);
    guard.reset();
    a.join();
    b.join();
}

/// A program's own executor around another one, to count or to log: all that it is given goes to the one below.
template <class Below> struct forwarding {
    Below below;
    execution_context& context() const { return query(below, execution::context); }
    template <class F> void execute(F&& f) const { below.execute(std::forward<F>(f)); }
    friend bool operator==(forwarding const&, forwarding const&) noexcept = default;
};
template <class Below> forwarding(Below) -> forwarding<Below>;

TEST(Papers, C06_ExecutorThatForwardsToAContext) {
    io_context context;
    auto guard = make_work_guard(context);
    std::thread runner([&] { context.run(); });
    echo_on(forwarding{context.get_executor()}, 50);
    echo_on(forwarding{require(context.get_executor(), execution::outstanding_work.tracked)}, 50);
    echo_on(forwarding{any_io_executor(context.get_executor())}, 50);
    echo_on(forwarding{forwarding{context.get_executor()}}, 50);
    echo_on(make_strand(forwarding{context.get_executor()}), 50);
    echo_on(forwarding{make_strand(context)}, 50);
    guard.reset();
    runner.join();
}
TEST(Papers, C06_ExecutorThatForwardsToAPool) {
    thread_pool pool(2);
    echo_on(forwarding{pool.get_executor()}, 50);
    echo_on(forwarding{system_executor()}, 50);
}

TEST(ExecutorsOfObjects, HandlersRunOnTheObjectsExecutorUnlessTheyNameAnother) {
    users_context mine, other;
    basic_waitable_timer<steady_clock, wait_traits<steady_clock>, users_context::executor_type> t(mine.get_executor(),
                                                                                                  0ns);
    std::promise<std::thread::id> first, second, third;
    t.async_wait([&](error_code) { first.set_value(std::this_thread::get_id()); });
    EXPECT_EQ(first.get_future().get(), mine.id());
    t.async_wait(
        bind_executor(other.get_executor(), [&](error_code) { second.set_value(std::this_thread::get_id()); }));
    EXPECT_EQ(second.get_future().get(), other.id());
    steady_timer any(any_io_executor(mine.get_executor()), 0ns);
    any.async_wait(deferred)([&](error_code) { third.set_value(std::this_thread::get_id()); });
    EXPECT_EQ(third.get_future().get(), mine.id());
    any.async_wait(use_future).get();
    any.wait();
}

TEST(ExecutorsOfObjects, StrandProtectsAllStepsOfAComposedOperation) {
    io_context context;
    using strand_type = strand<io_context::executor_type>;
    auto s = make_strand(context);
    basic_stream_socket<local::stream_protocol, strand_type> a(s), b(s);
    local::connect_pair(a, b);
    std::string text(200'000, 'x'), got(200'000, ' ');
    std::atomic<int> inside{0};
    int overlapping = 0, done = 0;
    auto const step = [&] {
        overlapping += inside.fetch_add(1) != 0;
        EXPECT_TRUE(s.running_in_this_thread());
        --inside;
    };
    async_write(
        a, buffer(text),
        [&](error_code const& ec, std::size_t n) {
            if (!ec && n != 0) // The first time it is asked by the initiating function.
                step();
            return n < text.size() ? std::size_t{1'000} : std::size_t{0};
        },
        [&](error_code, std::size_t) { ++done; });
    async_read(
        b, buffer(got),
        [&](error_code const& ec, std::size_t n) {
            if (!ec && n != 0)
                step();
            return n < got.size() ? std::size_t{1'000} : std::size_t{0};
        },
        [&](error_code, std::size_t) { ++done; });
    std::thread other([&] { context.run(); });
    context.run();
    other.join();
    EXPECT_EQ(done, 2);
    EXPECT_EQ(overlapping, 0);
    EXPECT_TRUE(got == text);
}

TEST(ExecutorsOfObjects, PendingOperationsOfAPoolThatGoesAreGivenUp) {
    auto witness = std::make_shared<int>();
    std::array<char, 4> bytes;
    {
        thread_pool pool(1);
        auto a = std::make_unique<local::stream_protocol::socket>(pool),
             b = std::make_unique<local::stream_protocol::socket>(pool);
        local::connect_pair(*a, *b);
        a->async_read_some(buffer(bytes), [witness](error_code, std::size_t) {});
        steady_timer t(pool, 1h);
        co_spawn(
            pool,
            [](steady_timer& timer, std::shared_ptr<int> kept) -> awaitable<void> {
                co_await timer.async_wait();
                ++*kept;
            }(t, witness),
            detached);
        std::promise<void> started;
        post(pool, [&] { started.set_value(); });
        started.get_future().wait();
        t.cancel_one(); // ends the coroutine, or finds it not waiting yet
    }
    EXPECT_EQ(witness.use_count(), 1);
}

} // namespace
