// Row A10: all memory of an operation is its handler's. Of every operation, with one kind of handler.
#include <papers/every_operation.hpp>
#include <support/counting_new.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
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

} // namespace
