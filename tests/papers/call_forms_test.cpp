// P0055R1: the parts of its design, and the five forms in which one name is called.
#include <papers/emulated_os.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/block.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>
#include <fairlead/verbs.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace paper {

using os::OsContext;
using os::OsResultType;
using os::ParamType;

// ---- a library of somebody else's: P0055R1's HandlerBase, Handler and async_xyz, with nothing of ours but the
// transform

/// How many blocks of handlers there are.
inline int handler_blocks = 0;

struct HandlerBase : OsContext {
    void (*complete)(HandlerBase*, OsResultType);
    static void callback(OsResultType r, OsContext* o) {
        auto* me = static_cast<HandlerBase*>(o);
        me->complete(me, r);
    }
};
template <class H> struct Handler : HandlerBase {
    H handler;
    explicit Handler(H&& h) : handler(std::move(h)) { complete = &Handler::invoke; }
    static void invoke(HandlerBase* base, OsResultType r) {
        std::unique_ptr<Handler> me(static_cast<Handler*>(base));
        H taken = std::move(me->handler);
        me.reset(); // before the call, which may want the block for its next operation
        std::move(taken)(r);
    }
    static void* operator new(std::size_t n) {
        ++handler_blocks;
        return ::operator new(n);
    }
    static void operator delete(void* p) noexcept {
        --handler_blocks;
        ::operator delete(p);
    }
};

/// The invoker: a function of the handler, with what the caller passed inside it.
struct xyz {
    std::string text; // an argument that has to be there when the operation starts
    ParamType p;

    template <class H> void operator()(H&& handler) {
        auto o = std::make_unique<Handler<std::decay_t<H>>>(std::forward<H>(handler));
        os::os_xyz(static_cast<ParamType>(text.size()) + p, o.get());
        o.release(); // Handler is owned by the activity from here on.
    }
    /// For block: what the operating system does when it is asked to wait.
    void block(std::tuple<OsResultType>& v) { v = {static_cast<ParamType>(text.size()) + p}; }
};
template <class Token = fairlead::use_await_t> auto async_xyz(std::string text, ParamType p, Token&& token = {}) {
    return fairlead::completion_token_transform<void(OsResultType)>(std::forward<Token>(token),
                                                                    xyz{std::move(text), p});
}

} // namespace paper

namespace {

using namespace fairlead;
using local_socket = local::stream_protocol::socket;

struct CallForms : testing::Test {
    CallForms() : a(context), b(context) {
        local::connect_pair(a, b);
        os::os_associate_completion_callback(&paper::HandlerBase::callback);
        os::the_os().queue.clear();
        paper::handler_blocks = 0;
    }
    static std::size_t queued() { return os::the_os().queue.size(); }
    static void run_os() {
        while (os::os_trigger_completion()) {
        }
    }
    /// Runs the coroutine, and the emulated system with it.
    template <class F> void spawn(F f) {
        co_spawn(context, std::move(f), [](std::exception_ptr e) {
            if (e)
                std::rethrow_exception(e);
        });
        while (!context.stopped()) {
            context.poll();
            run_os();
        }
        context.restart();
    }
    io_context context;
    local_socket a, b;
    char bytes[16] = {};
};

// ---- B2

TEST_F(CallForms, B02_InvokerHoldsTheArgumentsByValueAndTakesAnyHandler) {
    int sum = 0;
    auto op = [] {
        std::string const gone_soon(20, 'x');
        return paper::async_xyz(gone_soon, 3);
    }();
    auto moved = std::move(op);
    std::move(moved)([&sum, p = std::make_unique<int>(1)](int r) { sum += r + *p; });
    {
        auto of_short_text = paper::async_xyz("abc", 1); // Text that lies inside the string, and moves with it.
        auto elsewhere = std::move(of_short_text);
        std::move(elsewhere)([](int r) { EXPECT_EQ(r, 4); });
    }
    struct functor {
        int* out;
        void operator()(int r) && { *out += r; }
    };
    paper::async_xyz("ab", 0, functor{&sum});
    run_os();
    EXPECT_EQ(sum, 26);
}

// ---- B4

/// The blocks of handlers, kept for good so that an address tells whose it is.
struct blocks {
    struct block {
        std::unique_ptr<std::byte[]> bytes;
        std::size_t size;
    };
    std::vector<block> all;
    int live = 0;
    int called = 0;
    bool holds(void const* p) const {
        return std::any_of(all.begin(), all.end(), [p](block const& b) {
            auto const* const at = static_cast<std::byte const*>(p);
            return std::less_equal<>()(b.bytes.get(), at) && std::less<>()(at, b.bytes.get() + b.size);
        });
    }
};
template <class T> struct block_allocator {
    using value_type = T;
    blocks* of;
    explicit block_allocator(blocks* b) noexcept : of(b) {}
    template <class U> block_allocator(block_allocator<U> const& o) noexcept : of(o.of) {}
    T* allocate(std::size_t n)
        requires(!std::is_void_v<T>)
    {
        ++of->live;
        of->all.push_back({std::make_unique<std::byte[]>(n * sizeof(T)), n * sizeof(T)});
        return reinterpret_cast<T*>(of->all.back().bytes.get());
    }
    void deallocate(T*, std::size_t) noexcept
        requires(!std::is_void_v<T>)
    {
        --of->live;
    }
    template <class U> bool operator==(block_allocator<U> const& o) const noexcept { return of == o.of; }
};
/// Says where it is when it is called. Move-only, so that it can have got there in one way only.
struct moved_handler {
    using allocator_type = block_allocator<void>;
    blocks* of;
    std::unique_ptr<int> kept = std::make_unique<int>(1);
    allocator_type get_allocator() const noexcept { return allocator_type(of); }
    template <class... Args> void operator()(Args&&...) {
        EXPECT_EQ(of->live, 0) << "its block is freed";
        EXPECT_FALSE(of->holds(this)) << "it was moved out of its block";
        ASSERT_TRUE(kept);
        of->called += *kept;
    }
};

TEST_F(CallForms, B04_HandlerIsMovedOutAndItsBlockFreedBeforeItIsCalled) {
    steady_timer timer(context, std::chrono::seconds(0));
    std::string line = "one line\n";
    auto const expect = [&](char const* what, auto start) {
        SCOPED_TRACE(what);
        blocks own;
        start(moved_handler{&own});
        EXPECT_EQ(own.live, 1);
        context.restart();
        context.run();
        EXPECT_EQ(own.called, 1);
        EXPECT_EQ(own.live, 0);
    };
    expect("post", [&](auto h) { post(context, std::move(h)); });
    expect("dispatch", [&](auto h) { dispatch(any_io_executor(context.get_executor()), std::move(h)); });
    expect("async_wait", [&](auto h) { timer.async_wait(std::move(h)); });
    expect("async_write_some", [&](auto h) { b.async_write_some(buffer("abcdef", 6), std::move(h)); });
    expect("async_read_some", [&](auto h) { a.async_read_some(buffer(bytes, 2), std::move(h)); });
    expect("async_read", [&](auto h) { async_read(a, buffer(bytes, 2), std::move(h)); });
    expect("async_read with a condition",
           [&](auto h) { async_read(a, buffer(bytes, 2), transfer_at_least(1), std::move(h)); });
    expect("async_write", [&](auto h) { async_write(b, buffer("abc", 3), std::move(h)); });
    expect("async_read_until", [&](auto h) { async_read_until(a, dynamic_buffer(line), '\n', std::move(h)); });
    expect("a token that was chosen later", [&](auto h) { timer.async_wait(deferred)(as_tuple(std::move(h))); });
    expect("an executor of its own", [&](auto h) { timer.async_wait(bind_executor(context, std::move(h))); });
}

// ---- B5

struct nothing_coroutine {
    struct promise_type {
        nothing_coroutine get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
};
nothing_coroutine resumed(int& times) {
    ++times;
    co_return;
}

TEST_F(CallForms, B05_AwaiterStartsWhenItSuspendsAndMovesTheResultOut) {
    int times = 0;
    auto const waiting = resumed(times);
    {
        auto awaiter = paper::async_xyz("four", 1).operator co_await();
        EXPECT_FALSE(awaiter.await_ready()) << "the operation has not started";
        EXPECT_EQ(queued(), 0U);
        EXPECT_TRUE(awaiter.await_suspend(waiting.handle));
        EXPECT_EQ(queued(), 1U);
        EXPECT_EQ(times, 0);
        run_os();
        EXPECT_EQ(times, 1);
        EXPECT_EQ(awaiter.await_resume(), 5);
    }
    waiting.handle.destroy();
}

TEST_F(CallForms, B05_ResultMayBeMoveOnly) {
    spawn([this]() -> awaitable<void> {
        auto const make = [this](auto&& token) {
            return completion_token_transform<void(std::unique_ptr<int>)>(
                std::forward<decltype(token)>(token), [this](auto handler) {
                    post(context, [h = std::move(handler)]() mutable { std::move(h)(std::make_unique<int>(7)); });
                });
        };
        auto const p = co_await make(use_await);
        EXPECT_EQ(*p, 7);
    });
}

// ---- B9

TEST_F(CallForms, B09_PromiseIsInsideTheHandler) {
    std::future<int> future = paper::async_xyz("", 9, use_future);
    EXPECT_EQ(paper::handler_blocks, 1);
    EXPECT_EQ(future.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
    run_os();
    EXPECT_EQ(future.get(), 9);
    std::future<int> broken;
    broken = completion_token_transform<void(int)>(use_future, [](auto) {});
    EXPECT_THROW(broken.get(), std::future_error) << "a handler that is dropped breaks its promise";
}

// ---- B13 to B17: the five forms, on an operation of the library and on one of somebody else's (B18)

TEST_F(CallForms, B13_B18_Awaited) {
    spawn([this]() -> awaitable<void> {
        EXPECT_EQ(co_await verbs::send(b, buffer("abc", 3)), 3U);
        EXPECT_EQ(co_await verbs::receive(a, buffer(bytes)), 3U);
        EXPECT_EQ(co_await paper::async_xyz("ab", 1), 3);
    });
}

TEST_F(CallForms, B14_B18_BlockWaitsAndThrows) {
    EXPECT_EQ(verbs::send(b, buffer("abc", 3), block), 3U);
    EXPECT_EQ(verbs::receive(a, buffer(bytes), block), 3U);
    b.close();
    EXPECT_THROW(verbs::receive(a, buffer(bytes), block), system_error);
    EXPECT_EQ(context.poll(), 0U) << "no loop was needed";
    EXPECT_EQ(paper::async_xyz("ab", 1, block), 3);
}

TEST_F(CallForms, B15_B18_BlockPutsTheErrorIntoTheGivenVariable) {
    error_code ec = error::not_found;
    EXPECT_EQ(verbs::send(b, buffer("abc", 3), block[ec]), 3U);
    EXPECT_FALSE(ec);
    EXPECT_EQ(verbs::receive(a, buffer(bytes), block[ec]), 3U);
    b.close();
    EXPECT_EQ(verbs::receive(a, buffer(bytes), block[ec]), 0U);
    EXPECT_EQ(ec, error::eof);
    EXPECT_EQ(paper::async_xyz("ab", 1, block[ec]), 3);
    EXPECT_FALSE(ec) << "an operation without an error clears it";
}

TEST_F(CallForms, B16_B18_Callback) {
    std::size_t sent = 0, received = 0;
    int result = 0;
    verbs::send(b, buffer("abc", 3), [&](error_code, std::size_t n) { sent = n; });
    verbs::receive(a, buffer(bytes), [&](error_code, std::size_t n) { received = n; });
    paper::async_xyz("ab", 1, [&](int r) { result = r; });
    EXPECT_EQ(sent + received, 0U) << "never inside the call";
    context.run();
    run_os();
    EXPECT_EQ(sent, 3U);
    EXPECT_EQ(received, 3U);
    EXPECT_EQ(result, 3);
    bool called = false, inside = false;
    post(context, [&] {
        verbs::send(b, buffer("abc", 3), [&](error_code, std::size_t) { called = true; });
        inside = called;
    });
    context.restart();
    context.run();
    EXPECT_FALSE(inside) << "nor inside a call on the loop's own thread";
    EXPECT_TRUE(called);
}

TEST_F(CallForms, B17_B18_Future) {
    auto sent = verbs::send(b, buffer("abc", 3), use_future);
    auto received = verbs::receive(a, buffer(bytes), use_future);
    std::future<int> result = paper::async_xyz("ab", 1, use_future);
    context.run();
    run_os();
    EXPECT_EQ(sent.get(), 3U);
    EXPECT_EQ(received.get(), 3U);
    EXPECT_EQ(result.get(), 3);
}

} // namespace
