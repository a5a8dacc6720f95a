#include "support/one_block.hpp"

#include <fairlead/token/any_completion_handler.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/legacy/properties.hpp>
#include <fairlead/legacy/with_properties.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/operation/cancellation_signal.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/append.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/immediate.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <gtest/gtest.h>

#include <concepts>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace {

using namespace fairlead;
using test::one_block;
using test::one_block_allocator;
using namespace std::chrono_literals;
using stream = local::stream_protocol::socket;
using read_handler = any_completion_handler<void(error_code, std::size_t)>;

static_assert(sizeof(read_handler) == 16);
static_assert(!std::copy_constructible<read_handler>);
static_assert(std::is_nothrow_move_constructible_v<read_handler>);
static_assert(std::is_nothrow_move_assignable_v<read_handler>);
static_assert(!std::constructible_from<read_handler, int>);
static_assert(!std::constructible_from<read_handler, void (*)(int)>);
static_assert(completion_handler_for<read_handler, void(error_code, std::size_t)>);

struct AnyHandler : testing::Test {
    AnyHandler() : a(context), b(context) { local::connect_pair(a, b); }
    io_context context;
    stream a, b;
    char bytes[16] = {};
};

TEST_F(AnyHandler, NullStateIsFalseAndCannotBeCalled) {
    read_handler none, null(nullptr);
    EXPECT_FALSE(none);
    EXPECT_TRUE(!none);
    EXPECT_TRUE(null == nullptr);
    EXPECT_TRUE(nullptr == null);
    EXPECT_THROW(none(error_code(), 1), std::bad_function_call);
    int calls = 0;
    read_handler some([&](error_code, std::size_t) { ++calls; });
    EXPECT_TRUE(some);
    EXPECT_TRUE(some != nullptr);
    some = nullptr;
    EXPECT_FALSE(some);
    EXPECT_EQ(calls, 0) << "destroyed without being called";
}

TEST_F(AnyHandler, CallsItsHandlerOnce) {
    std::size_t got = 0;
    read_handler h([&got, p = std::make_unique<int>(1)](error_code, std::size_t n) { got = n; });
    read_handler moved(std::move(h));
    EXPECT_FALSE(h); // NOLINT(bugprone-use-after-move): empty is what it has to be
    h = std::move(moved);
    h.swap(moved);
    EXPECT_FALSE(h);
    moved.swap(h);
    h(error_code(), 5);
    EXPECT_EQ(got, 5U);
    EXPECT_FALSE(h) << "used up";
}

TEST_F(AnyHandler, HandlerMayBeRvalueOnly) {
    struct rvalue_only {
        int* calls;
        void operator()(error_code, std::size_t) && { ++*calls; }
    };
    int calls = 0;
    read_handler h(rvalue_only{&calls});
    h(error_code(), 0);
    EXPECT_EQ(calls, 1);
}

TEST_F(AnyHandler, LibraryOperationsTakeIt) {
    std::size_t got = 0;
    a.async_read_some(buffer(bytes), read_handler([&](error_code, std::size_t n) { got += n; }));
    async_write(b, buffer("xyz", 3), read_handler([&](error_code, std::size_t n) { got += 10 * n; }));
    context.run();
    EXPECT_EQ(got, 33U);
}

/// An operation whose body knows no template parameter: what any_completion_handler is for.
void start_read(stream& s, mutable_buffer into, read_handler handler) { s.async_read_some(into, std::move(handler)); }
template <class Token> auto async_compiled_read(stream& s, mutable_buffer into, Token&& token) {
    return async_initiate<Token, void(error_code, std::size_t)>(
        [](auto handler, stream* in, mutable_buffer b) { start_read(*in, b, std::move(handler)); }, token, &s, into);
}

TEST_F(AnyHandler, SeparatelyCompiledOperationTakesEveryToken) {
    b.write_some(buffer("abcdef", 6));
    auto const one = buffer(bytes, 1);
    std::size_t sum = 0;
    async_compiled_read(a, one, [&](error_code, std::size_t n) { sum += n; });
    auto future = async_compiled_read(a, one, use_future);
    async_compiled_read(a, one, deferred)(append([&](error_code, std::size_t n, std::size_t m) { sum += n + m; }, 5U));
    async_compiled_read(a, one, detached);
    context.run();
    EXPECT_EQ(sum, 7U);
    EXPECT_EQ(future.get(), 1U);
}

TEST_F(AnyHandler, MemoryIsTheHandlersOwnAndGivenBackBeforeTheCall) {
    one_block memory;
    bool taken_inside = true;
    read_handler h(bind_allocator(one_block_allocator<void>(&memory),
                                  [&](error_code, std::size_t) { taken_inside = memory.taken; }));
    EXPECT_TRUE(memory.taken);
    h(error_code(), 1);
    EXPECT_FALSE(taken_inside);
    EXPECT_EQ(memory.times, 1);
    {
        read_handler const unused(bind_allocator(one_block_allocator<void>(&memory), [](error_code, std::size_t) {}));
        EXPECT_TRUE(memory.taken);
    }
    EXPECT_FALSE(memory.taken) << "also when it is never called";
}

TEST_F(AnyHandler, AssociatedAllocatorServesOthersFromTheSameMemory) {
    one_block memory;
    read_handler none;
    auto const from_nobody = get_associated_allocator(none);
    static_assert(std::same_as<std::decay_t<decltype(from_nobody)>, any_completion_handler_allocator<void>>);
    any_completion_handler_allocator<int> ints(from_nobody);
    int* const p = ints.allocate(3);
    ints.deallocate(p, 3);

    read_handler h(bind_allocator(one_block_allocator<void>(&memory), [](error_code, std::size_t) {}));
    any_completion_handler_allocator<char> chars(get_associated_allocator(h));
    EXPECT_THROW((void)chars.allocate(1), std::bad_alloc) << "its one block is taken by the handler";
    EXPECT_TRUE(chars == get_associated_allocator(h));
}

TEST_F(AnyHandler, AssociatedExecutorIsThatOfTheHandlerOrTheCandidate) {
    io_context other;
    read_handler bound(bind_executor(other, [](error_code, std::size_t) {}));
    EXPECT_EQ(get_associated_executor(bound).get(), other.get_executor());
    EXPECT_EQ(get_associated_executor(bound, context.get_executor()).get(), other.get_executor());
    read_handler plain([](error_code, std::size_t) {});
    EXPECT_EQ(get_associated_executor(plain, context.get_executor()).get(), context.get_executor());
    EXPECT_EQ(get_associated_executor(plain, any_io_executor(context.get_executor())).get(), context.get_executor());
    EXPECT_FALSE(get_associated_executor(plain).get()) << "nowhere in particular";
    EXPECT_EQ(get_associated_executor(read_handler(), context.get_executor()).get(), context.get_executor());
}

TEST_F(AnyHandler, AssociatedExecutorIsWhatItWasAlsoBehindAnyExecutor) {
    io_context other;
    read_handler const bound(bind_executor(other, [](error_code, std::size_t) {}));
    auto const ex = get_associated_executor(bound, context.get_executor());
    EXPECT_NE(ex.target<io_context::executor_type>(), nullptr);
    any_completion_executor const wide = ex;
    EXPECT_EQ(wide, other.get_executor());
    EXPECT_NE(wide.target<io_context::executor_type>(), nullptr);
    EXPECT_EQ(any_io_executor(ex), other.get_executor());
    read_handler const nowhere([](error_code, std::size_t) {});
    int ran = 0;
    any_completion_executor(get_associated_executor(nowhere)).execute([&] { ++ran; });
    EXPECT_EQ(ran, 1);
}

TEST_F(AnyHandler, ExecutorOfAnAwaitingCoroutineCanBeKeptAsAny) {
    auto const own = [this](auto&& token) {
        return async_initiate<decltype(token), void(bool)>(
            [this](auto handler) {
                any_completion_executor const at = get_associated_executor(handler, context.get_executor());
                std::move(handler)(at == context.get_executor());
            },
            token);
    };
    bool same = false;
    co_spawn(context, [&]() -> awaitable<void> { same = co_await own(use_awaitable); }, detached);
    context.run();
    EXPECT_TRUE(same);
}

TEST_F(AnyHandler, HandlerRunsOnItsExecutorAndOneWithoutWhereTheOperationEnds) {
    io_context other;
    bool on_other = false, on_context = false;
    b.async_write_some(buffer("x", 1), read_handler(bind_executor(other, [&](error_code, std::size_t) {
                           on_other = other.get_executor().running_in_this_thread();
                       })));
    b.async_write_some(buffer("x", 1), read_handler([&](error_code, std::size_t) {
                           on_context = context.get_executor().running_in_this_thread();
                       }));
    context.run();
    EXPECT_TRUE(on_context);
    EXPECT_FALSE(on_other);
    other.run();
    EXPECT_TRUE(on_other);
}

TEST_F(AnyHandler, ExecutorsRunStaysWhileTheOperationIsPending) {
    io_context other;
    a.async_read_some(buffer(bytes), read_handler(bind_executor(other, [&](error_code, std::size_t) {})));
    EXPECT_EQ(other.poll(), 0U);
    EXPECT_FALSE(other.stopped()) << "a handler for it is on its way";
    b.write_some(buffer("x", 1));
    context.run();
    EXPECT_EQ(other.run(), 1U);
}

TEST_F(AnyHandler, ItsExecutorCanBeAskedToTrackWork) {
    io_context other;
    read_handler const bound(bind_executor(other, [](auto&&...) {})), plain([](auto&&...) {});
    {
        auto const work = prefer(get_associated_executor(bound), execution::outstanding_work.tracked);
        auto const nowhere = prefer(get_associated_executor(plain), execution::outstanding_work.tracked);
        EXPECT_EQ(query(work, execution::outstanding_work), execution::outstanding_work.tracked);
        EXPECT_EQ(&query(work, execution::context), &other);
        other.poll();
        EXPECT_FALSE(other.stopped());
        int ran = 0;
        post(work, [&] { ++ran; });
        EXPECT_EQ(ran, 0);
        EXPECT_EQ(other.poll(), 1U);
        EXPECT_EQ(ran, 1);
        nowhere.execute([&] { ++ran; });
        EXPECT_EQ(ran, 2);
    }
    other.poll();
    EXPECT_TRUE(other.stopped());
}

TEST_F(AnyHandler, ImmediateExecutorIsThatOfTheHandler) {
    std::string order;
    post(context, [&] {
        b.async_write_some(buffer("x", 1),
                           read_handler(bind_immediate_executor(context.get_executor(),
                                                                [&](error_code, std::size_t) { order += '1'; })));
        order += '2';
        b.async_write_some(buffer("x", 1), read_handler([&](error_code, std::size_t) { order += '4'; }));
        order += '3';
    });
    context.run();
    EXPECT_EQ(order, "1234") << "the second names none, and is queued";
}

TEST_F(AnyHandler, ExecutorOfAHandlerThatNamesNoneIsTheInlineOne) {
    read_handler const h([](error_code, std::size_t) {});
    EXPECT_TRUE(get_associated_executor(h) == inline_executor());
    EXPECT_TRUE(get_associated_immediate_executor(h, context.get_executor()) == inline_executor());
    read_handler const bound(bind_executor(context, [](error_code, std::size_t) {}));
    EXPECT_FALSE(get_associated_executor(bound) == inline_executor());
}

TEST_F(AnyHandler, CancellationSlotIsThatOfTheHandler) {
    cancellation_signal signal;
    error_code got;
    read_handler h(bind_cancellation_slot(signal.slot(), [&](error_code ec, std::size_t) { got = ec; }));
    EXPECT_TRUE(get_associated_cancellation_slot(h) == signal.slot());
    a.async_read_some(buffer(bytes), std::move(h));
    signal.emit(cancellation_type::total);
    context.run();
    EXPECT_EQ(got, error::operation_aborted);
    EXPECT_FALSE(get_associated_cancellation_slot(read_handler()).is_connected());
}

using question_handler = any_completion_handler<void(error_code), void(error_code, int), void(std::string)>;
static_assert(sizeof(question_handler) == 16);
static_assert(!std::constructible_from<question_handler, void (*)(error_code)>);
static_assert(completion_handler_for<question_handler, void(error_code), void(error_code, int), void(std::string)>);

struct question_log {
    std::string* log;
    void operator()(error_code ec) const { *log += ec ? "error " : "none "; }
    void operator()(error_code, int n) const { *log += std::to_string(n) + " "; }
    void operator()(std::string const& s) const { *log += s + " "; }
};

/// An operation of a user that hears no request, and says so.
struct unstoppable {
    static constexpr bool is_cancellable = false;
    template <class Handler> void operator()(Handler&& handler) { std::decay_t<Handler>(std::move(handler))(7); }
};
using number_handler = any_completion_handler<void(int)>;

TEST_F(AnyHandler, X5_SlotThatNobodyHearsIsRefusedWhereTheHandlerIsKnown) {
    cancellation_signal signal;
    int calls = 0;
    number_handler h = bind_cancellation_slot(signal.slot(), [&](int) { ++calls; });
    try {
        async_initiate<void(int)>(unstoppable(), std::move(h));
        ADD_FAILURE() << "it was started";
    } catch (system_error const& e) {
        EXPECT_EQ(e.code(), error::operation_not_supported);
        EXPECT_TRUE(std::string(e.what()).starts_with("this operation cannot be ended early")) << e.what();
    }
    EXPECT_TRUE(h) << "it is the caller's still";
    EXPECT_EQ(calls, 0);
}

TEST_F(AnyHandler, X5_SlotOfNobodyIsNoReasonToRefuse) {
    int calls = 0;
    async_initiate<void(int)>(unstoppable(), number_handler([&](int) { ++calls; }));
    cancellation_slot none;
    async_initiate<void(int)>(unstoppable(), number_handler(bind_cancellation_slot(none, [&](int) { ++calls; })));
    EXPECT_EQ(calls, 2);
}

TEST_F(AnyHandler, X5_OperationsThatOnlyQueueTakeAnySlot) {
    cancellation_signal signal;
    int calls = 0;
    auto const h = [&] {
        return any_completion_handler<void()>(bind_cancellation_slot(signal.slot(), [&] { ++calls; }));
    };
    post(context, h());
    post(h());
    dispatch(context, h());
    defer(make_strand(context), h());
    async_immediate(context.get_executor(), h());
    context.run();
    EXPECT_EQ(calls, 5);
}

TEST_F(AnyHandler, OfSeveralSignaturesCallsItsHandlerWithEachOfThem) {
    std::string log;
    question_handler(question_log{&log})(error_code());
    question_handler(question_log{&log})(error_code(), 5);
    question_handler h(question_log{&log});
    h(std::string("text"));
    EXPECT_EQ(log, "none 5 text ");
    EXPECT_FALSE(h);
    EXPECT_THROW(h(error_code()), std::bad_function_call);
}

TEST_F(AnyHandler, OfSeveralSignaturesKeepsAssociationsAndMemory) {
    one_block memory;
    std::string log;
    {
        question_handler h(bind_executor(context.get_executor(),
                                         bind_allocator(one_block_allocator<void>(&memory), question_log{&log})));
        EXPECT_TRUE(memory.taken);
        EXPECT_TRUE(get_associated_executor(h, any_io_executor()) == any_io_executor(context.get_executor()));
        h(error_code(), 1);
        EXPECT_FALSE(memory.taken);
        question_handler abandoned(bind_allocator(one_block_allocator<void>(&memory), question_log{&log}));
    }
    EXPECT_FALSE(memory.taken) << "a handler that is never called gives its memory back too";
    EXPECT_EQ(log, "1 ");
}

/// Compiled once, for any token.
void start_question(int n, question_handler h) {
    if (n < 0)
        h(std::string("no"));
    else
        h(error_code(), n);
}
TEST_F(AnyHandler, OfSeveralSignaturesServesEveryTokenOfAnOperation) {
    std::string log;
    auto const ask = [](int n, auto token) {
        return async_initiate<void(error_code), void(error_code, int), void(std::string)>(
            [n](question_handler h) { start_question(n, std::move(h)); }, std::move(token));
    };
    ask(3, question_log{&log});
    ask(-1, deferred)(question_log{&log});
    ask(4, append([&log](auto const&... all) { log += std::to_string(sizeof...(all)) + " "; }, 'x'));
    EXPECT_EQ(log, "3 no 3 ");
}

TEST_F(AnyHandler, AbandonedOperationDestroysTheHandler) {
    auto watched = std::make_shared<int>();
    {
        io_context other;
        auto timer = std::make_shared<steady_timer>(other, 1h);
        timer->async_wait(any_completion_handler<void(error_code)>([watched, timer](error_code) {}));
        timer.reset();
        EXPECT_EQ(watched.use_count(), 2);
    }
    EXPECT_EQ(watched.use_count(), 1);
}

} // namespace
