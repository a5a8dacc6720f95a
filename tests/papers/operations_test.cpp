// Every operation with every token at run time, and row A10: all memory of an operation is its handler's.
#include <papers/every_operation.hpp>
#include <support/counting_new.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace {

using namespace fairlead;
using namespace fairlead::test::every_operation;

TEST(Papers, A20_EitherOfTwoOperationsRuns) {
    for (bool const first : {false, true}) {
        world w;
        int good = 0;
        either<timer_wait, socket_wait>(first, w, callback{&good});
        auto future = either<read_some, read_until_text>(first, w, use_future);
        co_spawn(
            w.context,
            [](world& in, bool x) -> awaitable<void> {
                co_await either<post_op, dispatch_op>(x, in, use_await);
                co_await either<write_some, write_all>(x, in, use_await);
            }(w, first),
            [&](std::exception_ptr e) { good += !e; });
        w.context.run();
        EXPECT_EQ(good, 2);
        EXPECT_EQ(future.get(), 4U);
    }
}

// ---- every operation with every token, at run time

/// Starts an operation in one form; adds one to `good` when it completed without an error.
using starter = void (*)(world&, int& good);

/// What does not depend on the form stands here, compiled once instead of for each operation with each token.
void expect_good(char const* name, void (*prepare)(world&), starter start) {
    SCOPED_TRACE(name);
    int good = 0;
    world w;
    prepare(w);
    EXPECT_NO_THROW(start(w, good));
    w.context.run();
    EXPECT_EQ(good, 1);
}
template <class Op> void expect_good(starter start) { expect_good(Op::name, &Op::prepare, start); }

void spawn(world& w, awaitable<void> body, int& good) {
    co_spawn(w.context, std::move(body), [&good](std::exception_ptr e) { good += !e; });
}

TEST(Papers, EveryOperationTakesACallback) {
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        expect_good<Op>([](world& w, int& good) { Op::start(w, callback{&good}); });
        expect_good<Op>([](world& w, int& good) { Op::start(w, move_only_callback{std::make_unique<int*>(&good)}); });
    });
}

TEST(Papers, EveryOperationIsAwaited) {
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        expect_good<Op>([](world& w, int& good) {
            spawn(w, [](world& in) -> awaitable<void> { co_await Op::start(in, use_await); }(w), good);
        });
        expect_good<Op>([](world& w, int& good) {
            spawn(
                w,
                [](world& in) -> awaitable<void> { co_await Op::start(in, bind_executor(in.context, use_await)); }(w),
                good);
        });
    });
}

TEST(Papers, EveryOperationIsDeferred) {
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        expect_good<Op>([](world& w, int& good) {
            auto op = Op::start(w, deferred);
            std::move(op)(callback{&good});
        });
    });
}

TEST(Papers, EveryOperationIsDetached) {
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        static_assert(std::is_void_v<result_of<Op, detached_t>>);
        expect_good<Op>([](world& w, int& good) {
            Op::start(w, detached);
            good += w.context.run() != 0;
        });
    });
}

TEST(Papers, EveryOperationGivesAFuture) {
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        expect_good<Op>([](world& w, int& good) {
            auto future = Op::start(w, use_future);
            w.context.run();
            (void)future.get();
            ++good;
        });
    });
}

TEST(Papers, EveryOperationThatCanBlockDoes) {
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        if constexpr (Op::blocks) {
            expect_good<Op>([](world& w, int& good) {
                (void)Op::start(w, block);
                ++good;
            });
            expect_good<Op>([](world& w, int& good) {
                error_code ec = error::eof;
                (void)Op::start(w, block[ec]);
                good += !ec;
            });
        }
    });
}

TEST(Papers, EveryOperationIsAdapted) {
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        expect_good<Op>([](world& w, int& good) { Op::start(w, as_tuple(tuple_callback{&good})); });
        expect_good<Op>([](world& w, int& good) { Op::start(w, bind_executor(w.context, callback{&good})); });
        expect_good<Op>(
            [](world& w, int& good) { Op::start(w, bind_allocator(std::allocator<void>(), callback{&good})); });
        expect_good<Op>([](world& w, int& good) {
            spawn(w, [](world& in) -> awaitable<void> { co_await Op::start(in, as_tuple); }(w), good);
        });
        if constexpr (has_error<typename Op::signature>) {
            expect_good<Op>([](world& w, int& good) {
                error_code ec = error::eof;
                int called = 0;
                Op::start(w, redirect_error(callback{&called}, ec));
                w.context.run();
                good += called == 1 && !ec;
            });
        }
    });
}

// ---- A10: all memory of an operation is its handler's

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

/// What a completion brings may own memory, which is the caller's, and a function that is spawned has a frame.
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
        detail::recycler_trim(); // What is taken of it has to come from operator new, then.
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
