// Row A10: all memory of an operation is its handler's. Of every operation, with one kind of handler.
#include <papers/every_operation.hpp>

#include <fairlead/net/bind_stop_token.hpp>

#include <support/counting_new.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <stop_token>
#include <string_view>
#include <type_traits>
#include <utility>

namespace {

using namespace fairlead;
using namespace fairlead::test::every_operation;

struct memory {
    int taken = 0;
    int live = 0;
};
template <class T> struct handler_allocator {
    using value_type = T;
    memory* of;
    explicit handler_allocator(memory* m) noexcept : of(m) {}
    template <class U> handler_allocator(handler_allocator<U> const& o) noexcept : of(o.of) {}
    T* allocate(std::size_t n)
        requires(!std::is_void_v<T>)
    {
        ++of->taken;
        ++of->live;
        return static_cast<T*>(std::malloc(n * sizeof(T)));
    }
    void deallocate(T* p, std::size_t) noexcept
        requires(!std::is_void_v<T>)
    {
        --of->live;
        std::free(p);
    }
    template <class U> bool operator==(handler_allocator<U> const& o) const noexcept { return of == o.of; }
};
struct owning_callback {
    int* good;
    memory* of;
    using allocator_type = handler_allocator<void>;
    allocator_type get_allocator() const noexcept { return allocator_type(of); }
    template <class... Args> void operator()(Args&&... args) const {
        EXPECT_EQ(of->live, 0) << "given back before the handler runs";
        *good += all_good(args...);
    }
};

/// The values of a completion may own memory, which is the caller's, and a function that is spawned has a frame.
template <class Op> inline constexpr bool others_take_memory =
    std::is_same_v<typename Op::signature, void(error_code, tcp::resolver::results_type)> ||
    std::is_same_v<Op, spawn_function>;

void expect_memory_of_the_handler(char const* name, void (*prepare)(world&), void (*start)(world&, owning_callback),
                                  bool others_take_memory_too) {
    SCOPED_TRACE(name);
    int good = 0;
    memory m;
    {
        world w;
        w.text.reserve(1024);                  // the buffer is its owner's,
        w.timer.async_wait([](error_code) {}); // and what the context keeps of its timers is the context's
        w.context.poll();
        w.context.restart();
        prepare(w);
        impl::exec::recycler_trim(); // Blocks that are taken of it have to come from operator new, then.
        test::new_counter const from_new;
        start(w, owning_callback{&good, &m});
        EXPECT_EQ(from_new.calls(), 0U) << "taken elsewhere when it started";
        w.context.run();
        if (!others_take_memory_too) {
            EXPECT_EQ(from_new.calls(), 0U) << "taken elsewhere on its way to the handler";
        }
    }
    EXPECT_EQ(good, 1);
    EXPECT_GT(m.taken, 0);
    EXPECT_EQ(m.live, 0);
}

TEST(Papers, A10_OperationsTakeTheirMemoryFromTheHandlersAllocator) {
    if (!test::is_new_counted())
        GTEST_SKIP() << "operator new cannot be replaced in this build";
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        expect_memory_of_the_handler(
            Op::name, &Op::prepare, [](world& w, owning_callback handler) { Op::start(w, std::move(handler)); },
            others_take_memory<Op>);
    });
}

/// Arguments that are copied before there is a handler.
struct copied_argument {
    char const* name;
    void (*start)(world&, owning_callback);
};
template <std::size_t N> std::array<mutable_buffer, N> spread_buffers(world& w) {
    std::array<mutable_buffer, N> all{};
    all[0] = buffer(w.bytes, 2);
    all[N - 1] = buffer(w.bytes + 2, 2);
    return all;
}
constexpr copied_argument copied_arguments[] = {
    {"a list of nine buffers to be read into",
     [](world& w, owning_callback h) { w.a.async_read_some(spread_buffers<9>(w), h); }},
    {"to be written", [](world& w, owning_callback h) { w.a.async_write_some(spread_buffers<9>(w), h); }},
    {"to be filled", [](world& w, owning_callback h) { async_read(w.a, spread_buffers<9>(w), h); }},
    {"to be filled by steps",
     [](world& w, owning_callback h) { async_read(w.a, spread_buffers<2>(w), transfer_at_least(3), h); }},
    {"to be written by steps",
     [](world& w, owning_callback h) { async_write(w.a, spread_buffers<2>(w), transfer_at_least(3), h); }},
    {"of nothing", [](world& w, owning_callback h) { async_write(w.a, spread_buffers<2>(w), transfer_exactly(0), h); }},
    {"to be sent to somebody",
     [](world& w, owning_callback h) {
         w.unconnected.open(udp::v4()), w.unconnected.async_send_to(spread_buffers<9>(w), w.self, h);
     }},
    {"an address of version 6",
     [](world& w, owning_callback h) {
         w.unconnected.open(udp::v6());
         w.unconnected.async_send_to(w.out(), udp::endpoint(ip::make_address("::ffff:127.0.0.1"), w.self.port()), h);
     }},
    {"a list with a stop token",
     [](world& w, owning_callback h) {
         w.a.async_read_some(spread_buffers<9>(w), bind_stop_token(std::stop_token(), as_tuple(h)));
     }},
    {"a long delimiter",
     [](world& w, owning_callback h) {
         async_read_until(w.a, dynamic_buffer(w.text), std::string_view("a\nlonger one"), h);
     }},
    {"a long delimiter that is there",
     [](world& w, owning_callback h) {
         w.text = "a longer one";
         async_read_until(w.a, dynamic_buffer(w.text), std::string_view("longer one"), h);
     }},
    {"the handler's memory behind adapters",
     [](world& w, owning_callback h) {
         async_read(w.a, spread_buffers<2>(w), transfer_at_least(3), as_tuple(bind_executor(w.context, h)));
     }},
};

TEST(Papers, A10_CopiesThatAreMadeBeforeThereIsAHandlerLieInItsMemory) {
    if (!test::is_new_counted())
        GTEST_SKIP() << "operator new cannot be replaced in this build";
    for (copied_argument const& each : copied_arguments)
        expect_memory_of_the_handler(
            each.name, [](world& w) { write(w.b, buffer("a\nlonger one", 12)); }, each.start, false);
}

/// The same operations with deferred: when one starts, the copies go to the memory of its handler.
template <class Start> void expect_memory_of_a_late_handler(char const* name, Start start) {
    SCOPED_TRACE(name);
    int good = 0;
    memory m;
    {
        world w;
        w.text.reserve(1024);
        write(w.b, buffer("a\nlonger one", 12));
        auto op = start(w);
        impl::exec::recycler_trim();
        test::new_counter const from_new;
        std::move(op)(owning_callback{&good, &m});
        w.context.run();
        EXPECT_EQ(from_new.calls(), 0U);
    }
    EXPECT_EQ(good, 1);
    EXPECT_GT(m.taken, 0);
    EXPECT_EQ(m.live, 0);
}

TEST(Papers, A10_CopiesOfADeferredOperationGoToItsHandlersMemory) {
    if (!test::is_new_counted())
        GTEST_SKIP() << "operator new cannot be replaced in this build";
    expect_memory_of_a_late_handler("a long list",
                                    [](world& w) { return w.a.async_read_some(spread_buffers<9>(w), deferred); });
    expect_memory_of_a_late_handler("a list by steps", [](world& w) {
        return async_read(w.a, spread_buffers<2>(w), transfer_at_least(3), deferred);
    });
    expect_memory_of_a_late_handler("a long delimiter", [](world& w) {
        return async_read_until(w.a, dynamic_buffer(w.text), std::string_view("a\nlonger one"), deferred);
    });
}

/// A handler takes one block for an operation with a list, however long that is.
TEST(Papers, A10_LongListTakesNoBlockOfItsOwn) {
    int good = 0;
    memory m;
    world w;
    write(w.b, buffer("four", 4));
    w.a.async_read_some(spread_buffers<9>(w), owning_callback{&good, &m});
    w.context.run();
    EXPECT_EQ(good, 1);
    EXPECT_EQ(m.taken, 1);
    EXPECT_EQ(m.live, 0);
}

} // namespace
