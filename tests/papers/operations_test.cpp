// Every operation with every token at run time.
#include <papers/every_operation.hpp>

#include <fairlead/net/bind_stop_token.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/token/cancellation.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

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

/// The part that does not depend on the form stands here, compiled once instead of for each operation with each token.
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

enum class asked { by_its_slot, by_its_limit, by_its_stop_token, through_its_coroutine };

/// Starts it and asks it to end. For each signature, not for each operation.
template <class Signature>
void start_and_ask_to_end(io_context& context, async_op<Signature> op, asked how, int& ended) {
    auto const handler = [&ended](auto const&...) { ++ended; };
    cancellation_signal signal;
    std::stop_source source;
    switch (how) {
    case asked::by_its_slot: std::move(op)(bind_cancellation_slot(signal.slot(), handler)); break;
    case asked::by_its_limit: std::move(op)(cancel_after(1ms, handler)); break;
    case asked::by_its_stop_token: std::move(op)(bind_stop_token(source.get_token(), handler)); break;
    case asked::through_its_coroutine:
        co_spawn(context, std::move(op), bind_cancellation_slot(signal.slot(), handler));
        context.poll(); // It waits now.
        break;
    }
    signal.emit(cancellation_type::terminal);
    source.request_stop();
}

/// Whether it ends where nothing is there that it waits for. An operation that only queues ends anyway. False: it
/// refuses.
bool ends_when_asked(char const* name, void (*start)(world&, asked how, int& ended), asked how) {
    SCOPED_TRACE(name);
    world w;
    w.coroutine.emplace(seven());
    int ended = 0;
    try {
        start(w, how, ended);
    } catch (system_error const& e) {
        EXPECT_EQ(e.code(), error::operation_not_supported);
        return false;
    }
    w.context.run_for(10s);
    EXPECT_EQ(ended, 1) << "it hears no request, and does not say so";
    return true;
}

TEST(Papers, X5_EveryOperationHearsItsSlotItsStopTokenAndItsLimitOrTakesNone) {
    std::vector<std::string> refuse; // operations that wait and hear nothing
    for_each_operation([&]<class Op>(std::type_identity<Op>) {
        auto const start = [](world& w, asked how, int& ended) {
            start_and_ask_to_end(w.context, Op::start(w, deferred), how, ended);
        };
        bool const hears = ends_when_asked(Op::name, start, asked::by_its_slot);
        EXPECT_EQ(ends_when_asked(Op::name, start, asked::by_its_limit), hears) << Op::name;
        EXPECT_EQ(ends_when_asked(Op::name, start, asked::by_its_stop_token), hears) << Op::name;
        EXPECT_TRUE(ends_when_asked(Op::name, start, asked::through_its_coroutine)) << Op::name;
        if (!hears)
            refuse.push_back(Op::name);
    });
    EXPECT_EQ(refuse, std::vector<std::string>());
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

} // namespace
