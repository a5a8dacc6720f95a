// Rows C3, C5, C6 and C7: any executor under I/O objects, and what that costs where it is one of ours. Executors of
// users are in tests/unit/exec/executors_test.cpp.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/use_future.hpp>

#include <support/counting_new.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <future>
#include <memory>
#include <ostream>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;

static_assert(std::is_same_v<local_socket::executor_type, any_io_executor>, "the default executor is polymorphic");

TEST(Papers, C03_CopiesOfAnExecutorOfAContextShareNothingAndAllocateNothing) {
    io_context context;
    test::new_counter const count;
    any_io_executor const first(context.get_executor());
    std::array<any_io_executor, 8> copies;
    copies.fill(first);
    any_io_executor const moved(std::move(copies[0]));
    EXPECT_EQ(count.calls(), 0U);
    EXPECT_EQ(sizeof(any_io_executor), 32U);
    EXPECT_EQ(moved, first);
    EXPECT_EQ(moved.native_loop(), &context.as_loop()) << "one pointer, and no count that threads would share";
    static_assert(std::is_trivially_copyable_v<io_context::executor_type>);
}

// ---- C5, C7: the short way, told by what an operation takes of its handler's memory and of the loop

struct cost {
    int blocks = 0;
    std::size_t bytes = 0;
    std::size_t items = 0;             ///< which the loop ran
    std::uint64_t frame_overflows = 0; ///< blocks that did not fit into the await record
    friend bool operator==(cost const&, cost const&) = default;
    friend std::ostream& operator<<(std::ostream& out, cost const& c) {
        return out << c.blocks << " blocks of " << c.bytes << " bytes, " << c.items << " items, " << c.frame_overflows
                   << " overflows";
    }
};
template <class T> struct cost_allocator {
    using value_type = T;
    cost* of;
    explicit cost_allocator(cost* c) noexcept : of(c) {}
    template <class U> cost_allocator(cost_allocator<U> const& o) noexcept : of(o.of) {}
    T* allocate(std::size_t n)
        requires(!std::is_void_v<T>)
    {
        ++of->blocks;
        of->bytes += n * sizeof(T);
        return static_cast<T*>(std::malloc(n * sizeof(T)));
    }
    void deallocate(T* p, std::size_t) noexcept
        requires(!std::is_void_v<T>)
    {
        std::free(p);
    }
    template <class U> bool operator==(cost_allocator<U> const& o) const noexcept { return of == o.of; }
};

/// A program's own executor around another one, of which the library knows nothing.
struct users_executor {
    io_context::executor_type below;
    execution_context& context() const noexcept { return below.context(); }
    template <class F> void execute(F&& f) const { below.execute(std::forward<F>(f)); }
    friend bool operator==(users_executor const&, users_executor const&) noexcept = default;
};

/// A wait, a write and a read on objects of some executor.
template <class Executor> struct objects {
    basic_waitable_timer<steady_clock, wait_traits<steady_clock>, Executor> timer;
    basic_stream_socket<local::stream_protocol, Executor> a, b;
    std::array<char, 4> bytes{};

    explicit objects(auto&& where) : timer(where, 0ns), a(where), b(where) { local::connect_pair(a, b); }
    void start(auto handler) {
        timer.async_wait(handler);
        async_write(b, buffer(bytes), handler);
        async_read(a, buffer(bytes), handler);
    }
    static awaitable<void> awaits(objects& o) {
        co_await o.timer.async_wait();
        co_await o.b.async_write_some(buffer(o.bytes));
        co_await o.a.async_read_some(buffer(o.bytes));
    }
};
template <class Executor> cost of_callbacks(io_context& context, objects<Executor>& o) {
    cost c;
    int good = 0;
    o.start(bind_allocator(cost_allocator<void>(&c), [&good](error_code ec, std::size_t = 0) { good += ec ? 0 : 1; }));
    context.restart();
    c.items = context.run();
    EXPECT_EQ(good, 3);
    return c;
}
template <class Executor> cost of_awaits(io_context& context, objects<Executor>& o) {
    for (;;) {
        cost c;
        auto const before = impl::exec::this_thread.record_overflows;
        auto const slices_that_ended = context.as_loop().yields().deadline;
        co_spawn(context, objects<Executor>::awaits(o), [](std::exception_ptr e) { EXPECT_FALSE(e); });
        context.restart();
        c.items = context.run();
        c.frame_overflows = impl::exec::this_thread.record_overflows - before;
        // A thread that loses its processor for a slice gives way once more. Such a round shows nothing.
        if (context.as_loop().yields().deadline == slices_that_ended)
            return c;
    }
}

TEST(Papers, C05_ExecutorOfAContextTakesTheShortWayAndUnknownOnesWork) {
    io_context context;
    objects<io_context::executor_type> typed(context.get_executor()); // Nothing is left to be recognised.
    objects<any_io_executor> recognised(any_io_executor(context.get_executor()));
    objects<any_io_executor> on_strand(any_io_executor(make_strand(context)));
    objects<users_executor> users(users_executor{context.get_executor()});
    objects<any_io_executor> any_of_users(any_io_executor(users_executor{context.get_executor()}));

    auto const shortest = of_callbacks(context, typed);
    EXPECT_EQ(shortest.blocks, 3) << "one for each operation";
    EXPECT_EQ(of_callbacks(context, recognised), shortest);
    EXPECT_GT(of_callbacks(context, on_strand).blocks, shortest.blocks);
    EXPECT_GT(of_callbacks(context, users).blocks, shortest.blocks);
    EXPECT_GT(of_callbacks(context, any_of_users).blocks, shortest.blocks);

    auto const awaited = of_awaits(context, typed);
    EXPECT_EQ(awaited.frame_overflows, 0U);
    EXPECT_EQ(of_awaits(context, recognised), awaited);
    EXPECT_GT(of_awaits(context, on_strand).items, awaited.items);
    EXPECT_GT(of_awaits(context, users).items, awaited.items);
    EXPECT_GT(of_awaits(context, any_of_users).items, awaited.items);
}

template <class Executor> bool runs_on(Executor const& ex) {
    if constexpr (requires { ex.running_in_this_thread(); })
        return ex.running_in_this_thread();
    else
        return true;
}
template <class Executor> void works_on(Executor const& ex) {
    basic_stream_socket<local::stream_protocol, Executor> a(ex), b(ex);
    local::connect_pair(a, b);
    std::array<char, 5> bytes{};
    auto read = b.async_read_some(buffer(bytes), use_future);
    EXPECT_EQ(async_write(a, buffer("hello", 5), use_future).get(), 5U);
    EXPECT_EQ(read.get(), 5U);
    EXPECT_EQ(std::string_view(bytes.data(), 5), "hello");
    // And its handlers run on that executor, not on the loop that does the I/O.
    std::promise<bool> ran_there;
    a.async_write_some(buffer("x", 1), [&](error_code, std::size_t) { ran_there.set_value(runs_on(ex)); });
    EXPECT_TRUE(ran_there.get_future().get());
}

TEST(Papers, C06_ObjectsOfAPoolTheSystemAStrandAndAnyOfThem) {
    thread_pool pool(2);
    works_on(pool.get_executor());
    works_on(system_executor());
    works_on(make_strand(pool));
    works_on(any_io_executor(pool.get_executor()));
    works_on(any_io_executor(make_strand(pool)));
}

TEST(Papers, C07_DefaultsTakeTheShortWay) {
    // Not a word about executors: the listing of the paper (C8) names none either.
    io_context context(1);
    static_assert(std::is_same_v<decltype(objects<any_io_executor>::timer), steady_timer>);
    static_assert(std::is_same_v<decltype(objects<any_io_executor>::a), local_socket>);
    objects<any_io_executor> defaults(context);
    objects<io_context::executor_type> typed(context);
    auto const callbacks = of_callbacks(context, defaults);
    EXPECT_EQ(callbacks, of_callbacks(context, typed));
    EXPECT_EQ(callbacks.blocks, 3) << "one for each operation";
    auto const awaits = of_awaits(context, defaults);
    EXPECT_EQ(awaits, of_awaits(context, typed));
    EXPECT_EQ(awaits.frame_overflows, 0U);
}

} // namespace
