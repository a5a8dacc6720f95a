#include <fairlead/operation/async_operation.hpp>

#include <fairlead/io/io_context.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/any_completion_handler.hpp>
#include <fairlead/token/append.hpp>
#include <fairlead/token/block.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <gtest/gtest.h>

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>

using namespace fairlead;
using namespace std::chrono_literals;

namespace elsewhere {

// Tokens of users, in the three ways that there are.
struct by_overload {};
template <completion_signature Signature, class Invoker> int completion_token_transform(by_overload, Invoker&&) {
    return 1;
}
struct by_initiate {};
struct of_two_parts {};
struct of_two_parts_handler {
    explicit of_two_parts_handler(of_two_parts) {}
    void operator()(auto&&...) const {}
};
struct no_token {};

} // namespace elsewhere

template <class Signature> class fairlead::async_result<elsewhere::by_initiate, Signature> {
public:
    template <class Initiation> static int initiate(Initiation&&, elsewhere::by_initiate) { return 2; }
};
template <class Signature> class fairlead::async_result<elsewhere::of_two_parts, Signature> {
public:
    using completion_handler_type = elsewhere::of_two_parts_handler;
    using return_type = int;
    explicit async_result(completion_handler_type&) {}
    int get() { return 3; }
};

namespace {

using read = void(error_code, std::size_t);

// ---- signatures and handlers

static_assert(completion_signature<void()>);
static_assert(completion_signature<read>);
static_assert(completion_signature<void(std::unique_ptr<int>)>);
static_assert(!completion_signature<int>);
static_assert(!completion_signature<void (*)()>);

using reader = decltype([](error_code, std::size_t) {});
static_assert(completion_handler_for<reader, read>);
static_assert(completion_handler_for<reader&, read>);
static_assert(!completion_handler_for<reader, void(error_code)>);
static_assert(completion_handler_for<decltype([](auto&&...) {}), read, void(error_code)>, "for each of several");
static_assert(!completion_handler_for<reader, read, void(error_code)>);
static_assert(!completion_handler_for<int, void()>);

// ---- tokens

static_assert(completion_token_for<use_await_t, read>);
static_assert(completion_token_for<use_awaitable_t<> const&, read>);
static_assert(completion_token_for<deferred_t, read>);
static_assert(completion_token_for<detached_t, read>);
static_assert(completion_token_for<use_future_t<>, read>);
static_assert(completion_token_for<decltype(use_future([](error_code, std::size_t) {})), read>);
static_assert(completion_token_for<decltype(as_tuple), read>);
static_assert(completion_token_for<as_tuple_t<use_future_t<>>, read>);
static_assert(completion_token_for<partial_redirect_error, read>);
static_assert(completion_token_for<redirect_error_t<deferred_t>, read>);
static_assert(completion_token_for<append_t<use_await_t, int>, read>);
static_assert(completion_token_for<executor_binder<detached_t, any_io_executor>, read>);
static_assert(completion_token_for<reader, read>);
static_assert(completion_token_for<any_completion_handler<read>, read>);
static_assert(completion_token_for<elsewhere::by_overload, read>);
static_assert(completion_token_for<elsewhere::by_initiate, read>);
static_assert(completion_token_for<elsewhere::of_two_parts, read, void()>);
static_assert(!completion_token_for<elsewhere::no_token, read>);
static_assert(!completion_token_for<int, read>);
static_assert(!completion_token_for<reader, void(error_code)>);
static_assert(!completion_token_for<decltype([] {}), read>);

// ---- operations

using op = async_op<read>;
static_assert(async_operation<op>);
static_assert(std::same_as<completion_signature_of_t<op>, read>);
static_assert(!async_operation<op&>, "an operation is started as an rvalue");
static_assert(is_async_operation<op>::value);
static_assert(!is_async_operation<int>::value);
static_assert(!is_async_operation<reader>::value);
constexpr auto post_to = [](io_context& c, auto&& token) { return post(c, std::forward<decltype(token)>(token)); };
static_assert(async_operation<decltype(post_to), io_context&>);
static_assert(std::same_as<completion_signature_of_t<decltype(post_to), io_context&>, void()>);
template <class T>
concept has_signature = requires { typename completion_signature_of<T>::type; };
static_assert(has_signature<op>);
static_assert(!has_signature<int>);

// ---- associations: by member, by default, in both forms

struct bound {
    using executor_type = io_context::executor_type;
    using immediate_executor_type = io_context::executor_type;
    using cancellation_slot_type = cancellation_slot;
    io_context* context;
    executor_type get_executor() const noexcept { return context->get_executor(); }
    immediate_executor_type get_immediate_executor() const noexcept { return context->get_executor(); }
    cancellation_slot_type get_cancellation_slot() const noexcept { return {}; }
};

TEST(Traits, AssociationsHaveBothFormsAndTypes) {
    io_context context, other;
    auto plain = [] {};
    bound const b{&context};
    EXPECT_EQ(get_associated_executor(b), context.get_executor());
    EXPECT_EQ(get_associated_executor(b, other.get_executor()), context.get_executor());
    EXPECT_EQ(get_associated_executor(plain, other.get_executor()), other.get_executor());
    EXPECT_EQ(get_associated_executor(plain, other), other.get_executor());
    EXPECT_EQ(get_associated_immediate_executor(b, other.get_executor()), context.get_executor());
    EXPECT_EQ(get_associated_immediate_executor(b, other), context.get_executor());
    static_assert(std::same_as<associated_executor_t<bound>, io_context::executor_type>);
    static_assert(std::same_as<associated_executor_t<decltype(plain), any_io_executor>, any_io_executor>);
    static_assert(std::same_as<associated_immediate_executor_t<bound>, io_context::executor_type>);
    static_assert(std::same_as<associated_allocator_t<bound>, std::allocator<void>>);
    static_assert(std::same_as<associated_cancellation_slot_t<bound>, cancellation_slot>);
    EXPECT_FALSE(get_associated_cancellation_slot(b).is_connected());
    EXPECT_FALSE(get_associated_cancellation_slot(plain).is_connected());
    EXPECT_FALSE(get_associated_cancellation_slot(plain, cancellation_slot()).is_connected());
}

TEST(Traits, UsersTokensOfAllKindsDriveAnOperation) {
    io_context context;
    EXPECT_EQ(post(context, elsewhere::by_overload()), 1);
    EXPECT_EQ(post(context, elsewhere::by_initiate()), 2);
    EXPECT_EQ(post(context, elsewhere::of_two_parts()), 3);
}

TEST(Traits, RedirectErrorIsAPartialToken) {
    io_context context;
    steady_timer timer(context, 1h);
    error_code ec;
    int calls = 0;
    auto const into_ec = redirect_error(ec);
    timer.async_wait(into_ec([&] { ++calls; }));
    static_assert(std::same_as<decltype(timer.async_wait(into_ec)), async_op<void()>>);
    timer.cancel();
    context.run();
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_EQ(calls, 1);
}

TEST(Traits, DetachedTakesAssociations) {
    io_context context, other;
    steady_timer timer(context, 0s);
    timer.async_wait(bind_executor(other, detached));
    EXPECT_EQ(other.poll(), 0U);
    EXPECT_FALSE(other.stopped()) << "its handler is on its way there";
    context.run();
    EXPECT_EQ(other.run(), 1U);
}

// ---- P0162R0's two parts, for the library's own tokens

std::function<void(error_code, std::size_t)> started;
template <class Handler> void do_something_to_call(Handler handler) {
    auto kept = std::make_shared<Handler>(std::move(handler));
    started = [kept](error_code ec, std::size_t n) { std::move (*kept)(ec, n); };
}
template <class CompletionToken>
typename async_result<std::decay_t<CompletionToken>, read>::return_type async_receive_long(CompletionToken&& token) {
    typename async_result<std::decay_t<CompletionToken>, read>::completion_handler_type completion_handler(
        std::forward<CompletionToken>(token));
    async_result<std::decay_t<CompletionToken>, read> result(completion_handler);
    do_something_to_call(std::move(completion_handler));
    return result.get();
}

TEST(Traits, LongFormTakesCallbacksFuturesAndDetached) {
    std::size_t got = 0;
    async_receive_long([&](error_code, std::size_t n) { got = n; });
    started(error_code(), 4);
    EXPECT_EQ(got, 4U);
    auto future = async_receive_long(use_future);
    static_assert(std::same_as<decltype(future), std::future<std::size_t>>);
    started(error_code(), 5);
    EXPECT_EQ(future.get(), 5U);
    async_receive_long(detached);
    started(error_code(), 6);
    started = nullptr;
}

} // namespace
