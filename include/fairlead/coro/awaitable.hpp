// awaitable<T>: a coroutine that runs on an executor and is awaited by another one.
#pragma once

#include <fairlead/base/taken_from.hpp>
#include <fairlead/coro/frame.hpp>

#include <optional>

namespace fairlead {

template <class T> class basic_awaitable;
/// The second parameter is for Asio's programs and changes nothing: a coroutine runs on any executor.
template <class T = void, class Executor = any_io_executor> using awaitable = basic_awaitable<T>;

namespace impl::sender {
template <class Sender> class sender_awaiter;
} // namespace impl::sender

namespace impl::coro {

template <class T> class awaitable_promise;
template <class T> class child_awaiter;
struct awaitable_access;

/// As std::future, which is not included for this.
template <class F>
concept blocking_future = requires(F& f) {
    f.valid();
    f.wait();
    f.get();
};

/// Senders of another library that have no sender_concept. The header for that library tells them (sender/stdexec.hpp).
template <class S> inline constexpr bool is_foreign_sender = false;

/// Senders of C++26 that are neither operations of this library nor awaiters.
template <class S>
concept names_sender = !operation::is_async_op<std::remove_cvref_t<S>> && !requires(S& s) {
    s.await_resume();
} && (requires { typename std::remove_cvref_t<S>::sender_concept; } || is_foreign_sender<std::remove_cvref_t<S>>);

FAIRLEAD_EXPORT void keep_exception(std::exception_ptr& e) noexcept;
[[noreturn]] FAIRLEAD_EXPORT void rethrow(std::exception_ptr const& e);
/// From then on there is none.
[[noreturn]] FAIRLEAD_EXPORT void rethrow_and_forget(std::exception_ptr& e);

template <class T> class awaitable_promise_base : public promise_base, public frame_memory {
public:
    awaitable_promise_base() noexcept = default;
    awaitable_promise_base(awaitable_promise_base const&) = delete;
    awaitable_promise_base& operator=(awaitable_promise_base const&) = delete;

    using promise_base::await_transform;
    template <class U> child_awaiter<U> await_transform(awaitable<U>&& child FAIRLEAD_AWAIT_PLACE) noexcept {
        FAIRLEAD_NOTE_AWAIT_PLACE(this->link);
        return child_awaiter<U>(std::move(child), *this);
    }
    template <class U> child_awaiter<U> await_transform(awaitable<U>& child) noexcept {
        static_assert(!sizeof(child), "a coroutine is awaited once: co_await std::move(a)");
        return await_transform(std::move(child));
    }
    /// A sender of C++26 (sender/await_sender.hpp).
    template <names_sender S> FAIRLEAD_NOTED_AWAITER(sender::sender_awaiter<S>)
    await_transform(S&& s FAIRLEAD_AWAIT_PLACE) {
        FAIRLEAD_NOTE_AWAIT_PLACE(this->link);
        return FAIRLEAD_NOTED_AWAITER(sender::sender_awaiter<S>)(std::forward<S>(s), this->link);
    }
    /// Any other awaitable object. It resumes the coroutine itself, and has to do so on the coroutine's executor.
    template <class A>
        requires requires(A& a) { a.await_resume(); }
    FAIRLEAD_NOTED_AWAITER(A&&)
    await_transform(A&& a FAIRLEAD_AWAIT_PLACE) noexcept {
        FAIRLEAD_NOTE_AWAIT_PLACE(this->link);
        return static_cast<FAIRLEAD_NOTED_AWAITER(A&&)>(std::forward<A>(a));
    }

    template <blocking_future A>
    FAIRLEAD_REFUSED("a future cannot be awaited, for it blocks its thread: co_await the operation itself, without "
                     "use_future, which is for callers that are no coroutines")
    operation::refused_await<std::type_identity<decltype(std::declval<A&>().get())>> await_transform(A&&) const;
    template <class A>
        requires(!blocking_future<A> && !names_sender<A> && !requires(A& a) { a.await_resume(); })
    FAIRLEAD_REFUSED("this cannot be awaited: co_await takes operations, awaitables, and what has await_ready(), "
                     "await_suspend() and await_resume()")
    operation::refused_await<std::type_identity<void>> await_transform(A&&) const;

    void unhandled_exception() noexcept { keep_exception(error_); }

protected:
    void rethrow_if_failed() const {
        if (error_) [[unlikely]]
            rethrow(error_);
    }
    void rethrow_once() {
        if (error_) [[unlikely]]
            rethrow_and_forget(error_);
    }

private:
    std::exception_ptr error_;
};

template <class T> class awaitable_promise final : public awaitable_promise_base<T> {
    static_assert(alignof(T) <= exec::chain_link::promise_offset,
                  "frames are aligned to 16 bytes: return a std::unique_ptr to a result that needs more");

public:
    awaitable_promise() noexcept { this->remember(std::coroutine_handle<awaitable_promise>::from_promise(*this)); }
    awaitable<T> get_return_object() noexcept;
    template <class U>
        requires std::convertible_to<U, T>
    void return_value(U&& v) {
        value_.emplace(std::forward<U>(v));
    }
    T take() {
        this->rethrow_if_failed();
        return std::move(*value_);
    }

private:
    std::optional<T> value_;
};

template <class T> class awaitable_promise<T&> final : public awaitable_promise_base<T&> {
public:
    awaitable_promise() noexcept { this->remember(std::coroutine_handle<awaitable_promise>::from_promise(*this)); }
    awaitable<T&> get_return_object() noexcept;
    void return_value(T& v) noexcept { value_ = std::addressof(v); }
    T& take() {
        this->rethrow_if_failed();
        return *value_;
    }

private:
    T* value_ = nullptr;
};

template <> class awaitable_promise<void> final : public awaitable_promise_base<void> {
public:
    awaitable_promise() noexcept { this->remember(std::coroutine_handle<awaitable_promise>::from_promise(*this)); }
    awaitable<void> get_return_object() noexcept;
    void return_void() const noexcept {}
    void take() { this->rethrow_if_failed(); }
};

} // namespace impl::coro

/// A coroutine that has not started. Awaiting it starts it on the awaiting coroutine's executor; co_spawn starts it on
/// one of the caller's choice. Destroyed unstarted, it never runs.
/// Move-only. Its frame comes from the calling thread's recycler: after warm-up calling it allocates nothing.
template <class T> class [[nodiscard("a coroutine runs only when it is awaited or spawned")]] basic_awaitable {
public:
    using value_type = T;
    using executor_type = any_io_executor;
    using promise_type = impl::coro::awaitable_promise<T>;

    /// None: valid() is false, and there is nothing to await.
    basic_awaitable() noexcept = default;
    basic_awaitable(basic_awaitable&& other) noexcept : handle_(impl::base::taken_from(other.handle_)) {}
    /// A coroutine that awaits `op`, for where the type is written out: `awaitable<std::size_t> a =
    /// s.async_read_some(b);`
    template <class Signature, std::size_t Storage>
        requires std::same_as<impl::operation::awaited_t<Signature>, T>
    basic_awaitable(async_op<Signature, Storage> op);
    template <impl::operation::brings_awaiter Op>
        requires std::same_as<impl::operation::awaited_t<typename Op::signature>, T>
    basic_awaitable(Op op) : basic_awaitable(impl::operation::as_async_op(std::move(op))) {}
    basic_awaitable& operator=(basic_awaitable&& other) noexcept {
        basic_awaitable taken(std::move(other));
        handle_ = impl::base::taken_from(taken.handle_, handle_);
        return *this;
    }
    ~basic_awaitable() {
        if (handle_)
            handle_.destroy();
    }
    bool valid() const noexcept { return static_cast<bool>(handle_); }

private:
    friend promise_type;
    friend class impl::coro::child_awaiter<T>;
    friend impl::coro::awaitable_access;
    explicit basic_awaitable(std::coroutine_handle<promise_type> h) noexcept : handle_(h) {}
    promise_type& promise() const noexcept {
        return std::coroutine_handle<promise_type>::from_address(handle_.address()).promise();
    }
    std::coroutine_handle<> handle_;
};

namespace impl::coro {

/// For what awaits a coroutine without being one.
struct awaitable_access {
    template <class T> static awaitable_promise<T>& promise(awaitable<T> const& a) noexcept {
        FAIRLEAD_ASSERT(a.valid() &&
                        "this awaitable has no coroutine: it was never given one, or moved or spawned before");
        return a.promise();
    }
    template <class T> static awaitable_promise<T>& promise(std::coroutine_handle<> h) noexcept {
        return std::coroutine_handle<awaitable_promise<T>>::from_address(h.address()).promise();
    }
    template <class T> static std::coroutine_handle<> release(awaitable<T>& a) noexcept {
        return impl::base::taken_from(a.handle_);
    }
};

/// A frame that goes when the block is left.
struct frame_until_scope_end {
    std::coroutine_handle<> h;
    ~frame_until_scope_end() { h.destroy(); }
};

template <class T> class child_awaiter {
public:
    /// Takes the coroutine over: whoever held it may go, or be given another one, while it is awaited.
    child_awaiter(awaitable<T>&& child, promise_base& parent) noexcept : child_(std::move(child)), parent_(parent) {}
    child_awaiter(child_awaiter const&) = delete;
    child_awaiter& operator=(child_awaiter const&) = delete;

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) noexcept {
        FAIRLEAD_ASSERT(child_.valid() &&
                        "this awaitable has no coroutine: it was never given one, or moved or awaited before");
        call(child_.promise().link, parent_.link, child_.handle_);
    }
    T await_resume() {
        // The child's frame goes before the caller continues, so that its next call finds the block again.
        auto& promise = child_.promise();
        frame_until_scope_end const own{impl::base::taken_from(child_.handle_)};
        return promise.take();
    }

private:
    awaitable<T> child_;
    promise_base& parent_;
};

template <class T> awaitable<T> awaitable_promise<T>::get_return_object() noexcept {
    return awaitable<T>(std::coroutine_handle<awaitable_promise>::from_promise(*this));
}
template <class T> awaitable<T&> awaitable_promise<T&>::get_return_object() noexcept {
    return awaitable<T&>(std::coroutine_handle<awaitable_promise>::from_promise(*this));
}
inline awaitable<void> awaitable_promise<void>::get_return_object() noexcept {
    return awaitable<void>(std::coroutine_handle<awaitable_promise>::from_promise(*this));
}

template <class T, class Signature, std::size_t Storage> awaitable<T> await_op(async_op<Signature, Storage> op) {
    co_return co_await std::move(op);
}

} // namespace impl::coro

template <class T> template <class Signature, std::size_t Storage>
    requires std::same_as<impl::operation::awaited_t<Signature>, T>
basic_awaitable<T>::basic_awaitable(async_op<Signature, Storage> op)
    : basic_awaitable(impl::coro::await_op<T>(std::move(op))) {}

} // namespace fairlead
