// experimental::coro: a coroutine that may yield values, and is resumed with any token. For programs written for Asio.
#pragma once

#include <fairlead/coro/coro_promise.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/operation/completion.hpp>
#include <fairlead/token/post.hpp>

#include <concepts>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace fairlead {
namespace impl::coro {

/// A handler with an executor of its own, or one of a coroutine that throws nothing.
template <bool IsNoexcept, class Handler> struct resume_handler {
    Handler handler;
    operation::handler_work<Handler> work;

    resume_handler(Handler&& h, loop* l) : handler(std::move(h)), work(handler, l) {}
    template <class... Result> void operator()([[maybe_unused]] std::exception_ptr e, Result... result) {
        Handler h(std::move(handler));
        [[maybe_unused]] operation::handler_work<Handler> const kept(std::move(work)); // until it has been called
        if constexpr (IsNoexcept) {
            FAIRLEAD_ASSERT(!e);
            std::move(h)(std::move(result)...);
        } else {
            std::move(h)(std::move(e), std::move(result)...);
        }
    }
};

/// Starts a chain on `executor` that resumes a coroutine.
template <class Promise> struct resume_initiation {
    any_io_executor executor;
    resumption<Promise> resume;

    any_io_executor get_executor() const noexcept { return executor; }
    template <class Handler> void operator()(Handler&& handler) {
        using handler_type = std::decay_t<Handler>;
        spawn_initiation<typename Promise::result_type, resumption<Promise>> spawn{executor, std::move(resume)};
        if constexpr (Promise::is_noexcept || operation::has_own_executor<handler_type>)
            spawn.start(resume_handler<Promise::is_noexcept, handler_type>(handler_type(std::forward<Handler>(handler)),
                                                                           executor.native_loop()));
        else
            spawn.start(std::forward<Handler>(handler));
    }
};

/// A coro called with a value: to be awaited, or resumed with a token.
template <class T, class Coroutine> struct coro_with_input {
    T value;
    Coroutine& coroutine;

    coro_with_input(T v, Coroutine& c) : value(std::move(v)), coroutine(c) {}
    template <class Token> decltype(auto) async_resume(Token&& token) && {
        return coroutine.async_resume(std::move(value), std::forward<Token>(token));
    }
};

/// Resumes a coroutine whose executor is not the one of the awaiting chain.
template <class Promise>
awaitable<typename Promise::result_type> resume_elsewhere(any_io_executor ex, resumption<Promise> r) {
    using traits = typename Promise::traits;
    auto op = completion_token_transform<typename traits::completion_handler>(
        as_tuple(use_await), resume_initiation<Promise>{std::move(ex), std::move(r)});
    auto values = co_await std::move(op);
    if constexpr (!Promise::is_noexcept)
        if (auto const& e = std::get<0>(values))
            std::rethrow_exception(e);
    if constexpr (!std::is_void_v<typename Promise::result_type>)
        co_return std::get<Promise::is_noexcept ? 0 : 1>(std::move(values));
}

struct coro_access;

} // namespace impl::coro

namespace experimental {

/// A coroutine that is resumed again and again, up to its next co_yield or its end. It runs on the executor that is its
/// first or second argument, or that this one gives with get_executor().
///
/// `Yield` is the type of the yielded values, or a function. Of `int(char) noexcept` each co_yield gives an int and
/// gets a char, and no exception leaves the coroutine. `Return` is the type of its result at the end. An Allocator that
/// is not std::allocator<void> is among the arguments, behind std::allocator_arg.
///
/// It awaits other coros (`co_await c`, or `co_await c(value)`), operations, objects with async_wait(), and all that an
/// awaitable awaits. Operations complete with all their values where no exception may leave it.
///
/// Move-only. Destroyed, it lets a resumption that is under way end first. The context of its executor outlives it, for
/// the coroutine is destroyed there.
/// Source     Asio, experimental::coro
template <class Yield = void, class Return = void, class Executor = any_io_executor,
          class Allocator = std::allocator<void>>
struct coro {
    using traits = coro_traits<Yield, Return, Executor>;
    using input_type = typename traits::input_type;
    using yield_type = typename traits::yield_type;
    using return_type = typename traits::return_type;
    using result_type = typename traits::result_type;
    using signature_type = typename traits::signature_type;
    static constexpr bool is_noexcept = traits::is_noexcept;
    using error_type = typename traits::error_type;
    using completion_handler = typename traits::completion_handler;
    using promise_type = impl::coro::coro_promise<Yield, Return, Executor, Allocator>;
    using executor_type = Executor;
    using allocator_type = Allocator;

    /// None: is_open() is false.
    coro() noexcept = default;
    coro(coro&& other) noexcept : frame_(std::move(other.frame_)) {}
    coro& operator=(coro&& other) noexcept {
        coro taken(std::move(other));
        frame_.swap(taken.frame_);
        return *this;
    }
    /// The coroutine is destroyed on its executor.
    ~coro() {
        if (!frame_ || !frame_->handle)
            return;
        any_io_executor const ex(frame_->executor);
        if (ex)
            dispatch(ex, [frame = std::move(frame_)] {});
    }

    /// Throws     logic_error without a coroutine, where an executor has no default constructor
    executor_type get_executor() const {
        if (frame_)
            return frame_->executor;
        if constexpr (std::default_initializable<Executor>)
            return Executor();
        else
            throw std::logic_error("a coro without a coroutine has no executor");
    }
    /// Throws     logic_error without a coroutine, where an allocator has no default constructor
    allocator_type get_allocator() const {
        if (frame_ && frame_->handle)
            return promise().allocator();
        if constexpr (std::default_initializable<Allocator>)
            return Allocator();
        else
            throw std::logic_error("a coro without a coroutine has no allocator");
    }
    /// Whether it can be resumed.
    bool is_open() const noexcept { return frame_ && frame_->handle && !frame_->handle.done(); }
    explicit operator bool() const noexcept { return is_open(); }

    /// Goes on with the coroutine up to its next co_yield or its end.
    /// Completes  (exception_ptr e, result_type r). There is no e if the coroutine throws nothing. There is no r if it
    ///            has no results. A std::optional holds what it yields, a std::variant if it returns another type, too
    /// Errors     what the coroutine throws, as e
    ///            error::broken_pipe        it has ended before
    ///            error::fault              it was destroyed with the context in which it ran before
    /// Cancel     terminal, until this_coro::reset_cancellation_state() says otherwise. The awaited operation is asked.
    ///            The filters hold for one resumption
    /// Lifetime   the coro may go; what the arguments of the coroutine refer to outlives it
    /// Threads    one resumption at a time; a coro without a coroutine makes the call itself throw bad_executor
    /// Allocates  a block from the handler's allocator, by default the recycler, which a frame comes from, too
    template <class Token>
        requires std::is_void_v<input_type>
    auto async_resume(Token&& token) & {
        return start(impl::coro::resumption<promise_type>(frame_), std::forward<Token>(token));
    }
    /// The same function for a coroutine that gets a value. The first value is not seen: it gets that of the next
    /// resumption for what it yields in this one.
    template <class Token, std::convertible_to<input_type> T> auto async_resume(T&& input, Token&& token) & {
        return start(impl::coro::resumption<promise_type>(frame_, std::forward<T>(input)), std::forward<Token>(token));
    }
    /// To be awaited in another coro: `co_await c(value)`.
    template <std::convertible_to<input_type> T> auto operator()(T&& input) {
        return impl::coro::coro_with_input<std::decay_t<T>, coro>(std::forward<T>(input), *this);
    }

private:
    template <class Y, class R, class E, class A> friend class impl::coro::coro_promise;
    friend impl::coro::coro_access;

    explicit coro(std::shared_ptr<impl::coro::coro_frame<Executor>> f) noexcept : frame_(std::move(f)) {}

    promise_type& promise() const noexcept {
        return std::coroutine_handle<promise_type>::from_address(frame_->handle.address()).promise();
    }
    template <class Token> auto start(impl::coro::resumption<promise_type> r, Token&& token) const {
        return completion_token_transform<completion_handler>(
            std::forward<Token>(token),
            impl::coro::resume_initiation<promise_type>{any_io_executor(get_executor()), std::move(r)});
    }
    /// As a part of the chain of `r`, if that runs where the coroutine does.
    template <class... Input> awaitable<result_type> resume_from(await_record const& r, Input&&... input) {
        any_io_executor const ex(get_executor());
        impl::coro::resumption<promise_type> function(frame_, std::forward<Input>(input)...);
        if (!ex || ex == *r.executor)
            return function();
        return impl::coro::resume_elsewhere(ex, std::move(function));
    }

    std::shared_ptr<impl::coro::coro_frame<Executor>> frame_;
};

/// A coro that yields values and returns none.
template <class T, class Executor = any_io_executor, class Allocator = std::allocator<void>> using generator =
    coro<T, void, Executor, Allocator>;
/// A coro that yields nothing and returns a value.
template <class T, class Executor = any_io_executor, class Allocator = std::allocator<void>> using task =
    coro<void(), T, Executor, Allocator>;

} // namespace experimental

template <template <class, class> class A, bool IsNoexcept, class H, class D>
struct associator<A, impl::coro::resume_handler<IsNoexcept, H>, D>
    : impl::operation::pass_on<A, impl::coro::resume_handler<IsNoexcept, H>, H, D> {};

} // namespace fairlead
