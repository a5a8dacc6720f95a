// Operations that complete with one of several signatures.
#include <fairlead/operation/initiate.hpp>

#include <fairlead/io/io_context.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/operation/compose.hpp>
#include <fairlead/token/append.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/co_composed.hpp>
#include <fairlead/token/consign.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/prepend.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <tuple>

namespace fairlead {
namespace {

/// Completes with an error, or with a number and a text.
template <class Token> decltype(auto) async_question(int number, Token&& token) {
    return async_initiate<Token, void(error_code), void(error_code, int, std::string)>(
        [](auto handler, int n) {
            if (n < 0)
                std::move(handler)(error_code(error::invalid_argument));
            else
                std::move(handler)(error_code(), n, std::to_string(n));
        },
        token, number);
}

struct answer {
    std::string* log;
    void operator()(error_code ec) const { *log += ec ? "failed " : "empty "; }
    void operator()(error_code ec, int n, std::string const& s) const {
        *log += (ec ? "? " : s + "=" + std::to_string(n) + " ");
    }
};

static_assert(completion_token_for<answer, void(error_code), void(error_code, int, std::string)>);
static_assert(completion_token_for<deferred_t, void(error_code), void(error_code, int, std::string)>);
static_assert(!completion_token_for<void (*)(error_code), void(error_code), void(error_code, int, std::string)>);

TEST(SeveralSignatures, HandlerIsCalledWithWhatItTurnedOutToBe) {
    std::string log;
    async_question(-1, answer{&log});
    async_question(4, answer{&log});
    EXPECT_EQ(log, "failed 4=4 ");
    async_question(4, detached);
}

TEST(SeveralSignatures, DeferredStartsWhenCalled) {
    std::string log;
    auto op = async_question(4, deferred);
    EXPECT_EQ(log, "");
    op(answer{&log}); // A copy, as often as one likes.
    std::move(op)(answer{&log});
    async_question(-1, deferred)(answer{&log});
    EXPECT_EQ(log, "4=4 4=4 failed ");
}

struct tuple_answer {
    std::string* log;
    void operator()(std::tuple<error_code> const&) const { *log += "one "; }
    void operator()(std::tuple<error_code, int, std::string> const& t) const { *log += std::get<2>(t) + " "; }
};

TEST(SeveralSignatures, EverySignatureIsAdapted) {
    std::string log;
    async_question(-1, as_tuple(tuple_answer{&log}));
    async_question(4, as_tuple(deferred))(tuple_answer{&log});
    EXPECT_EQ(log, "one 4 ");

    error_code ec;
    int calls = 0;
    auto const bare = [&](auto const&... rest) { calls += static_cast<int>(sizeof...(rest)); };
    async_question(-1, redirect_error(bare, ec));
    EXPECT_EQ(ec, error::invalid_argument);
    EXPECT_EQ(calls, 0);
    async_question(4, redirect_error(bare, ec));
    EXPECT_FALSE(ec);
    EXPECT_EQ(calls, 2);

    calls = 0;
    async_question(-1, append(bare, 1, 2));
    async_question(4, prepend(bare, 1));
    async_question(4, consign(bare, std::make_unique<int>()));
    EXPECT_EQ(calls, 3 + 4 + 3);
}

TEST(SeveralSignatures, AssociationsReachTheOperation) {
    io_context context;
    cancellation_signal signal;
    bool seen = false;
    auto start = [&](auto handler) {
        seen = get_associated_executor(handler) == context.get_executor() &&
               get_associated_cancellation_slot(handler).is_connected();
        static_assert(std::same_as<associated_allocator_t<decltype(handler)>, std::allocator<int>>);
        std::move(handler)();
    };
    auto token =
        bind_executor(context, bind_cancellation_slot(signal.slot(), bind_allocator(std::allocator<int>(), deferred)));
    bool called = false;
    async_initiate<decltype(token), void(), void(int)>(start, token)([&](auto...) { called = true; });
    EXPECT_TRUE(seen);
    EXPECT_TRUE(called);
}

struct either {
    io_context& context;
    bool with_number;
    bool started = false;
    template <class Self> void operator()(Self& self) {
        if (!std::exchange(started, true))
            post(context, std::move(self));
        else if (with_number)
            self.complete(7);
        else
            self.complete();
    }
};

struct count_arguments {
    std::string* log;
    void operator()() const { *log += '0'; }
    void operator()(int) const { *log += '1'; }
};

TEST(SeveralSignatures, ComposedOperationsMayHaveThem) {
    io_context context;
    std::string log;
    count_arguments handler{&log};
    async_compose<count_arguments, void(), void(int)>(either{context, true}, handler, context);
    async_compose<count_arguments, void(), void(int)>(either{context, false}, handler, context);
    async_initiate<count_arguments, void(), void(int)>(co_composed<void(), void(int)>(
                                                           [](auto, io_context& c) -> void {
                                                               co_await post(c, deferred);
                                                               co_return {5};
                                                           },
                                                           context),
                                                       handler, std::ref(context));
    context.run();
    EXPECT_EQ(log, "101");
}

TEST(SeveralSignatures, ACancelledCoroutineCompletesWithTheLastValuesItWasGiven) {
    for (bool const number_last : {false, true}) {
        std::string log;
        io_context context;
        cancellation_signal signal;
        auto handler = bind_cancellation_slot(signal.slot(), count_arguments{&log});
        async_initiate<decltype(handler), void(), void(int)>(co_composed<void(), void(int)>(
                                                                 [](auto state, io_context& c, bool last) -> void {
                                                                     if (last)
                                                                         state.on_cancellation_complete_with();
                                                                     state.on_cancellation_complete_with(5);
                                                                     if (!last)
                                                                         state.on_cancellation_complete_with();
                                                                     for (;;)
                                                                         co_await post(c, deferred);
                                                                 },
                                                                 context),
                                                             handler, std::ref(context), number_last);
        context.run_one();
        signal.emit(cancellation_type::terminal);
        context.run();
        EXPECT_EQ(log, number_last ? "1" : "0");
    }
}

TEST(SeveralSignatures, InitiateWithTheSignaturesAloneTakesTheTokenAsItIs) {
    auto const start = [](auto handler, int n) { std::move(handler)(n); };
    int got = 0;
    auto own = std::make_unique<int>(1); // A handler that can only be moved.
    async_initiate<void(int)>(start, [&got, own = std::move(own)](int n) { got += n + *own; }, 6);
    EXPECT_EQ(got, 7);
    auto op = async_initiate<void(int)>(start, deferred, 5);
    static_assert(std::same_as<decltype(op), async_op<void(int)>>);
    std::move(op)([&got](int n) { got += n; });
    EXPECT_EQ(got, 12);

    std::string log;
    answer token{&log};
    async_initiate<void(error_code), void(error_code, int, std::string)>(
        [](auto handler) { std::move(handler)(error_code(), 3, std::string("three")); }, token);
    EXPECT_EQ(log, "three=3 ");
}

TEST(SeveralSignatures, InitiateWithNoneCompletesWithWhateverItLikes) {
    std::string log;
    auto const start = [](auto handler, int n) {
        if (n < 0)
            std::move(handler)();
        else
            std::move(handler)(n);
    };
    count_arguments handler{&log};
    async_initiate(start, handler, 5);
    async_initiate(start, count_arguments{&log}, -5);
    async_initiate<count_arguments>(start, handler, 5);
    async_initiate<count_arguments&>(start, handler, 5);
    EXPECT_EQ(log, "1011");
    auto op = async_initiate(start, deferred, -5);
    std::move(op)(handler);
    EXPECT_EQ(log, "10110");
    int calls = 0;
    async_initiate([&calls](auto h) { std::move(h)(++calls, "whatever"); }, detached);
    EXPECT_EQ(calls, 1);
}

TEST(SeveralSignatures, AsyncCompletionTakesThemToo) {
    std::string log;
    answer token{&log};
    async_completion<answer, void(error_code), void(error_code, int, std::string)> init(token);
    std::move(init.completion_handler)(error_code());
    init.result.get();
    EXPECT_EQ(log, "empty ");
}

} // namespace
} // namespace fairlead
