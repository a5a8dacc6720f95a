// generator<T>: a coroutine that yields values one after the other, and awaits in between.
#pragma once

#include <fairlead/coro/awaitable.hpp>

#include <concepts>
#include <memory> // addressof
#include <optional>
#include <type_traits>
#include <utility>

namespace fairlead {

template <class T> class generator;

namespace impl::coro {

/// The yielded object lies in the generator's frame: a variable of it, or a temporary of the co_yield.
struct yielded_awaiter {
    exec::chain_link& generator;
    explicit yielded_awaiter(exec::chain_link& g) noexcept : generator(g) {}
    yielded_awaiter(yielded_awaiter const&) = delete;
    yielded_awaiter& operator=(yielded_awaiter const&) = delete;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const noexcept { return_for_now(generator); }
    void await_resume() const noexcept {}
};

/// A variable that a generator of values yields stays as it is: next() moves from this copy.
template <class T> struct copied_awaiter : yielded_awaiter {
    T copy;
    copied_awaiter(exec::chain_link& g, T*& yielded, T const& original) : yielded_awaiter(g), copy(original) {
        yielded = std::addressof(copy);
    }
};

template <class T> class generator_promise final : public awaitable_promise_base<T> {
    using object = std::remove_reference_t<T>;
    static_assert(std::is_object_v<object> && !std::is_rvalue_reference_v<T>,
                  "a generator yields values, or lvalues by reference: generator<T> or generator<T&>");
    static_assert(std::is_reference_v<T> || !std::is_const_v<T>,
                  "next() moves values out: generator<T> yields them, generator<T const&> lets them be looked at");
    static_assert(std::is_reference_v<T> || alignof(object) <= exec::chain_link::promise_offset,
                  "frames are aligned to 16 bytes: yield a std::unique_ptr to a value that needs more");

public:
    generator_promise() noexcept { this->remember(std::coroutine_handle<generator_promise>::from_promise(*this)); }
    generator<T> get_return_object() noexcept {
        return generator<T>(std::coroutine_handle<generator_promise>::from_promise(*this));
    }

    yielded_awaiter yield_value(object& o) noexcept
        requires std::is_reference_v<T>
    {
        yielded_ = std::addressof(o);
        return yielded_awaiter(this->link);
    }
    yielded_awaiter yield_value(object&& o) noexcept
        requires(!std::is_reference_v<T>)
    {
        yielded_ = std::addressof(o);
        return yielded_awaiter(this->link);
    }
    copied_awaiter<object> yield_value(object const& o)
        requires(!std::is_reference_v<T> && std::copy_constructible<object>)
    {
        return copied_awaiter<object>(this->link, yielded_, o);
    }

    void return_void() noexcept { yielded_ = nullptr; }
    void unhandled_exception() noexcept {
        yielded_ = nullptr;
        awaitable_promise_base<T>::unhandled_exception();
    }
    last_return_awaiter final_suspend() const noexcept { return {}; }

    /// The yielded object. Null: the coroutine has ended.
    object* take() {
        if (!yielded_)
            this->rethrow_once();
        return yielded_;
    }

private:
    object* yielded_ = nullptr;
};

/// Goes on with the generator up to its next co_yield, inside the chain of the awaiting coroutine.
template <class T> class next_awaiter {
    using promise_type = generator_promise<T>;

public:
    using result_type = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, std::optional<T>>;

    explicit next_awaiter(std::coroutine_handle<>& generator) noexcept : generator_(generator) {}
    /// Before it is awaited.
    next_awaiter(next_awaiter const& other) noexcept : generator_(other.generator_) {}
    next_awaiter& operator=(next_awaiter const&) = delete;

    bool await_ready() const noexcept {
        FAIRLEAD_ASSERT(generator_ && "this generator has no coroutine: it was never given one, or moved before");
        return generator_.done();
    }
    template <class Promise> void await_suspend(std::coroutine_handle<Promise> h) noexcept {
        static_assert(
            requires { h.promise().link.record; },
            "next() is awaited by coroutines of this library: an awaitable, or another generator");
        exec::chain_link& callee = promise().link;
        FAIRLEAD_ASSERT(!callee.owner && "next() of this generator is awaited already");
        call(callee, h.promise().link, generator_);
    }
    result_type await_resume() {
        auto* const yielded = promise().take();
        if constexpr (std::is_reference_v<T>)
            return yielded;
        else
            return yielded ? result_type(std::move(*yielded)) : result_type();
    }

private:
    promise_type& promise() const noexcept {
        return std::coroutine_handle<promise_type>::from_address(generator_.address()).promise();
    }

    std::coroutine_handle<>& generator_;
};

} // namespace impl::coro

/// A coroutine that has not started, which yields values of type T with `co_yield`, and may await everything that an
/// awaitable may. It goes on whenever next() is awaited: `while (auto v = co_await g.next()) use(*v);`. Destroyed
/// between two calls of next(), or before the first, it goes no further, and its variables are destroyed. If these are
/// generators themselves, each is destroyed within the destructor of the one that holds it.
/// Move-only. Its frame comes from the calling thread's recycler: after warm-up calling it allocates nothing.
template <class T> class [[nodiscard("a generator runs only when next() is awaited")]] generator {
public:
    using value_type = std::remove_cvref_t<T>;
    using promise_type = impl::coro::generator_promise<T>;

    /// None: valid() is false, and there is nothing to await.
    generator() noexcept = default;
    generator(generator&& other) noexcept : handle_(impl::base::taken_from(other.handle_)) { expect_nobody_inside(); }
    generator& operator=(generator&& other) noexcept {
        generator taken(std::move(other));
        handle_ = impl::base::taken_from(taken.handle_, handle_);
        return *this;
    }
    ~generator() {
        expect_nobody_inside();
        if (handle_)
            handle_.destroy();
    }
    bool valid() const noexcept { return static_cast<bool>(handle_); }

    /// Awaits the next value. The generator runs as a part of the awaiting coroutine, on its executor and under its
    /// requests to end. The next call may come from another coroutine.
    /// Completes  std::optional<T> with the value, which is moved out; empty when the generator has ended, also each
    ///            time after that. Of a generator<T&> a T*, which is null at the end; a temporary that was yielded to a
    ///            T const& lives until the next call
    /// Errors     throws what the generator throws, once; the generator has ended then
    /// Immediate  does not wait unless the generator does
    /// Lifetime   the generator is neither moved nor destroyed from this call on until the await has completed
    /// Threads    one call at a time
    /// Allocates  nothing
    [[nodiscard("the generator goes on when this is awaited")]] impl::coro::next_awaiter<T> next() noexcept {
        return impl::coro::next_awaiter<T>(handle_);
    }

private:
    friend promise_type;
    explicit generator(std::coroutine_handle<promise_type> h) noexcept : handle_(h) {}
    void expect_nobody_inside() const noexcept {
        FAIRLEAD_ASSERT((!handle_ || !promise().link.owner) &&
                        "a generator is neither moved nor destroyed while its next() is awaited");
    }
    promise_type& promise() const noexcept {
        return std::coroutine_handle<promise_type>::from_address(handle_.address()).promise();
    }
    std::coroutine_handle<> handle_;
};

} // namespace fairlead
