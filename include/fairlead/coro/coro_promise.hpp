// The coroutine of an experimental::coro, and how it is resumed. It runs in the chain of whoever resumes it. A chain of
// its own is made for async_resume(), and another one to resume it where its executor is not that of the awaiting
// chain.
#pragma once

#include <fairlead/coro/allocated_frame.hpp>
#include <fairlead/coro/awaitable.hpp>
#include <fairlead/coro/coro_traits.hpp>
#include <fairlead/coro/spawn_root.hpp>
#include <fairlead/operation/async_operation.hpp>
#include <fairlead/token/adapters.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace fairlead {

namespace experimental {
template <class Yield, class Return, class Executor, class Allocator> struct coro;
} // namespace experimental

namespace impl::coro {

/// Holds the frame of a coroutine, for the coro and for whoever resumes it.
template <class Executor> struct coro_frame {
    std::coroutine_handle<> handle; ///< null: it was destroyed with the chain that had resumed it
    Executor executor;

    coro_frame(std::coroutine_handle<> h, Executor e) noexcept : handle(h), executor(std::move(e)) {}
    coro_frame(coro_frame const&) = delete;
    coro_frame& operator=(coro_frame const&) = delete;
    ~coro_frame() {
        if (handle)
            handle.destroy();
    }
};

template <class T, class Executor>
concept gives_executor = requires(T& t) {
    { t.get_executor() } -> std::convertible_to<Executor>;
};

/// The first or the second argument of the coroutine says where it runs.
template <class Executor, class First, class... Rest> Executor executor_among(First& first, Rest&... rest) {
    if constexpr (std::convertible_to<First&, Executor>) {
        return first;
    } else if constexpr (gives_executor<First, Executor>) {
        return first.get_executor();
    } else {
        static_assert(sizeof...(Rest) != 0,
                      "the first or the second parameter of a coro is its executor, or has get_executor()");
        return [](auto& second, auto&...) -> Executor {
            static_assert(std::convertible_to<decltype(second), Executor> ||
                              gives_executor<std::remove_reference_t<decltype(second)>, Executor>,
                          "the first or the second parameter of a coro is its executor, or has get_executor()");
            if constexpr (std::convertible_to<decltype(second), Executor>)
                return second;
            else
                return second.get_executor();
        }(rest...);
    }
}

/// The result of a resumption, while it is on its way.
template <class Yield, class Return> class coro_values {
public:
    using result_type = coro_result_t<Yield, Return>;

    result_type take_result() { return std::move(result_); }

protected:
    template <class V> void keep_yielded(V&& v) {
        if constexpr (std::is_same_v<Yield, Return> || std::is_void_v<Return>)
            result_ = std::forward<V>(v);
        else
            result_.template emplace<0>(std::forward<V>(v));
    }
    template <class V> void keep_returned(V&& v) {
        if constexpr (std::is_same_v<Yield, Return> || std::is_void_v<Yield>)
            result_ = std::forward<V>(v);
        else
            result_.template emplace<1>(std::forward<V>(v));
    }
    void keep_end() { result_.reset(); }

private:
    static_assert(std::default_initializable<result_type>,
                  "an error comes with a value, too: the type that a coro yields or returns has a default constructor");
    result_type result_{};
};
template <> class coro_values<void, void> {
public:
    void take_result() const noexcept {}

protected:
    void keep_end() const noexcept {}
};

template <class Yield, class Return> struct coro_returns : coro_values<Yield, Return> {
    void return_value(Return const& r)
        requires std::copy_constructible<Return>
    {
        this->keep_returned(r);
    }
    void return_value(Return&& r) { this->keep_returned(std::move(r)); }
};
template <class Yield> struct coro_returns<Yield, void> : coro_values<Yield, void> {
    void return_void() { this->keep_end(); }
};

/// Its value is that of the next resumption.
template <class Input> class coro_yield_awaiter {
public:
    coro_yield_awaiter(exec::chain_link& l, std::optional<Input>& input) noexcept : link_(l), input_(input) {}
    coro_yield_awaiter(coro_yield_awaiter const&) = delete;
    coro_yield_awaiter& operator=(coro_yield_awaiter const&) = delete;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const noexcept { return_for_now(link_); }
    Input await_resume() const { return std::move(*input_); }

private:
    exec::chain_link& link_;
    std::optional<Input>& input_;
};
struct no_input {};
template <> class coro_yield_awaiter<void> {
public:
    coro_yield_awaiter(exec::chain_link& l, no_input) noexcept : link_(l) {}
    coro_yield_awaiter(coro_yield_awaiter const&) = delete;
    coro_yield_awaiter& operator=(coro_yield_awaiter const&) = delete;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const noexcept { return_for_now(link_); }
    void await_resume() const noexcept {}

private:
    exec::chain_link& link_;
};

/// Awaits an operation that it owns.
template <class Op> class owning_op_awaiter;
template <class Signature, std::size_t Storage> class owning_op_awaiter<async_op<Signature, Storage>> {
public:
    owning_op_awaiter(async_op<Signature, Storage>&& o, await_record& r) : op_(std::move(o)), awaiter_(op_, r) {}
    owning_op_awaiter(owning_op_awaiter const&) = delete;
    owning_op_awaiter& operator=(owning_op_awaiter const&) = delete;
    bool await_ready() { return awaiter_.await_ready(); }
    bool await_suspend(std::coroutine_handle<> h) { return awaiter_.await_suspend(h); }
    auto await_resume() { return awaiter_.await_resume(); }

private:
    async_op<Signature, Storage> op_;
    operation::op_awaiter<Signature, Storage> awaiter_;
};
template <operation::brings_awaiter Op> class owning_op_awaiter<Op>
    : public owning_op_awaiter<typename Op::async_op_type> {
public:
    owning_op_awaiter(Op&& o, await_record& r)
        : owning_op_awaiter<typename Op::async_op_type>(operation::as_async_op(std::move(o)), r) {}
};

/// Awaits an operation in a coroutine that throws nothing: errors are values, and the operation begins also after a
/// request to end. `Op` completes with a tuple of all values.
template <class Op> class quiet_op_awaiter {
public:
    quiet_op_awaiter(Op&& o, await_record& r)
        : awaiter_(std::move(o), r),
          record_(r),
          went_on_before_(r.notes & await_record::goes_on) {
        r.notes |= await_record::goes_on;
    }
    quiet_op_awaiter(quiet_op_awaiter const&) = delete;
    quiet_op_awaiter& operator=(quiet_op_awaiter const&) = delete;
    bool await_ready() { return awaiter_.await_ready(); }
    bool await_suspend(std::coroutine_handle<> h) { return awaiter_.await_suspend(h); }
    auto await_resume() {
        if (!went_on_before_)
            record_.notes &= static_cast<unsigned char>(~await_record::goes_on);
        return operation::unwrap_rest(awaiter_.await_resume());
    }

private:
    owning_op_awaiter<Op> awaiter_;
    await_record& record_;
    bool const went_on_before_;
};

template <class T> inline constexpr bool is_coro = false;
template <class Y, class R, class E, class A> inline constexpr bool is_coro<experimental::coro<Y, R, E, A>> = true;

template <class T, class Coroutine> struct coro_with_input;
template <class T> inline constexpr bool is_coro_with_input = false;
template <class T, class Coroutine> inline constexpr bool is_coro_with_input<coro_with_input<T, Coroutine>> = true;

/// Where the frame lies. Always inlined, for g++ 12 warns that a template does not fit its operator delete.
template <class Allocator> struct coro_memory {
    template <class... Args> FAIRLEAD_ALWAYS_INLINE static void* operator new(std::size_t bytes, Args const&... args) {
        return allocated_frame<Allocator>::allocate(bytes, allocator_among<Allocator>(args...));
    }
    FAIRLEAD_ALWAYS_INLINE static void operator delete(void* p, std::size_t bytes) noexcept {
        allocated_frame<Allocator>::deallocate(p, bytes);
    }
};
template <> struct coro_memory<std::allocator<void>> : frame_memory {};

template <class Yield, class Return, class Executor, class Allocator> class coro_promise final
    : public awaitable_promise_base<void>,
      public coro_memory<Allocator>,
      public coro_returns<typename experimental::coro_traits<Yield, Return, Executor>::yield_type,
                          typename experimental::coro_traits<Yield, Return, Executor>::return_type> {
    using base = awaitable_promise_base<void>;
    using yield_type = typename experimental::coro_traits<Yield, Return, Executor>::yield_type;
    static constexpr bool has_input =
        !std::is_void_v<typename experimental::coro_traits<Yield, Return, Executor>::input_type>;
    static constexpr bool is_in_recycler = std::is_same_v<Allocator, std::allocator<void>>;

public:
    using traits = experimental::coro_traits<Yield, Return, Executor>;
    using executor_type = Executor;
    using allocator_type = Allocator;
    using input_type = typename traits::input_type;
    using result_type = typename traits::result_type;
    using frame = coro_frame<Executor>;
    static constexpr bool is_noexcept = traits::is_noexcept;

    template <class... Args> explicit coro_promise(Args&... args)
        : executor_(executor_among<Executor>(args...)),
          allocator_(allocator_of(args...)) {
        this->remember(std::coroutine_handle<coro_promise>::from_promise(*this));
    }
    experimental::coro<Yield, Return, Executor, Allocator> get_return_object() {
        return experimental::coro<Yield, Return, Executor, Allocator>(
            std::allocate_shared<frame>(recycling_allocator<frame>(), link.handle(), executor_));
    }

    using coro_memory<Allocator>::operator new;
    using coro_memory<Allocator>::operator delete;

    Executor const& executor() const noexcept { return executor_; }
    Allocator allocator() const { return allocator_; }

    last_return_awaiter final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept {
        if constexpr (is_noexcept)
            std::terminate();
        else
            base::unhandled_exception();
    }

    // Templates, as void cannot be a parameter.
    template <class Y = yield_type>
        requires(!std::is_void_v<Y>)
    coro_yield_awaiter<input_type> yield_value(std::type_identity_t<Y>&& y) {
        this->keep_yielded(std::move(y));
        return coro_yield_awaiter<input_type>(link, input_);
    }
    template <class Y = yield_type>
        requires(!std::is_void_v<Y> && std::copy_constructible<Y>)
    coro_yield_awaiter<input_type> yield_value(std::type_identity_t<Y> const& y) {
        this->keep_yielded(y);
        return coro_yield_awaiter<input_type>(link, input_);
    }

    /// Another coro, an operation, an object with async_wait(), and everything that an awaitable awaits.
    template <class A> decltype(auto) await_transform(A&& a FAIRLEAD_AWAIT_PLACE) {
        FAIRLEAD_NOTE_AWAIT_PLACE_AT_END(link); // The function below notes this file.
        using bare = std::remove_cvref_t<A>;
        if constexpr (std::is_same_v<bare, this_coro::executor_t>) {
            return value_awaiter<Executor>(Executor(executor_));
        } else if constexpr (is_coro<bare>) {
            return base::await_transform(a.resume_from(*link.record));
        } else if constexpr (is_coro_with_input<bare>) {
            return base::await_transform(a.coroutine.resume_from(*link.record, std::move(a.value)));
        } else if constexpr (requires { a.async_wait(use_await); }) {
            return await_owned(a.async_wait(use_await));
        } else if constexpr (std::is_lvalue_reference_v<A> || !async_operation<bare>) {
            return base::await_transform(std::forward<A>(a));
        } else if constexpr (is_noexcept) {
            return await_owned(std::move(a));
        } else if constexpr (!operation::is_async_op<bare>) {
            return await_owned(std::move(a)(use_await));
        } else {
            return base::await_transform(std::forward<A>(a));
        }
    }

    template <class Input> void give(Input&& i) { input_.emplace(std::forward<Input>(i)); }
    /// The value that it has yielded or returned.
    result_type take() {
        this->rethrow_once();
        return this->take_result();
    }

private:
    template <class... Args> static Allocator allocator_of([[maybe_unused]] Args const&... args) {
        if constexpr (is_in_recycler)
            return Allocator();
        else
            return allocator_among<Allocator>(args...);
    }
    template <class Op> auto await_owned(Op op) {
        if constexpr (is_noexcept) {
            auto quiet = std::move(op)(as_tuple(use_await));
            return quiet_op_awaiter<decltype(quiet)>(std::move(quiet), *link.record);
        } else {
            return owning_op_awaiter<Op>(std::move(op), *link.record);
        }
    }

    [[no_unique_address]] Executor executor_;
    [[no_unique_address]] Allocator allocator_;
    [[no_unique_address]] std::conditional_t<has_input, std::optional<std::conditional_t<has_input, input_type, int>>,
                                             no_input> input_;
};

/// Resumes the coroutine inside the chain of the awaiting one, up to its next co_yield or its end.
template <class Promise> class resume_awaiter {
public:
    explicit resume_awaiter(std::coroutine_handle<>& frame) noexcept : frame_(frame) {}
    /// Before it is awaited.
    resume_awaiter(resume_awaiter const& other) noexcept : frame_(other.frame_) {}
    resume_awaiter& operator=(resume_awaiter const&) = delete;

    bool await_ready() {
        if (frame_ && !frame_.done())
            return false;
        FAIRLEAD_ASSERT(!Promise::is_noexcept && "a coro that throws nothing is not resumed after its end");
        base::throw_error_now(frame_ ? error::make_error_code(error::broken_pipe)
                                     : error::make_error_code(error::fault),
                              "resume of a coroutine that has ended");
    }
    template <class Caller> void await_suspend(std::coroutine_handle<Caller> h) noexcept {
        exec::chain_link& callee = promise().link;
        FAIRLEAD_ASSERT(!callee.owner && "this coro has been resumed already, and has not yielded since");
        call(callee, h.promise().link, frame_);
    }
    auto await_resume() { return promise().take(); }

private:
    Promise& promise() const noexcept {
        return std::coroutine_handle<Promise>::from_address(frame_.address()).promise();
    }
    std::coroutine_handle<>& frame_;
};

/// A function that resumes a coroutine once. It holds the frame, which whoever has the coro may give up meanwhile.
template <class Promise> class resumption {
public:
    using promise_type = Promise;
    using result_type = typename Promise::result_type;
    static constexpr bool begins_when_asked = true; ///< the coroutine itself sees the request

    explicit resumption(std::shared_ptr<typename Promise::frame> f) noexcept : frame_(std::move(f)) {}
    template <class Input> resumption(std::shared_ptr<typename Promise::frame> f, Input&& input)
        : frame_(std::move(f)),
          input_(std::forward<Input>(input)) {}

    awaitable<result_type> operator()() { return run(std::move(*this)); }

private:
    static constexpr bool has_input = !std::is_void_v<typename Promise::input_type>;

    static awaitable<result_type> run(resumption self) {
        auto& frame = self.frame_->handle;
        if constexpr (has_input)
            if (frame)
                std::coroutine_handle<Promise>::from_address(frame.address()).promise().give(std::move(*self.input_));
        co_return co_await resume_awaiter<Promise>(frame);
    }

    std::shared_ptr<typename Promise::frame> frame_;
    [[no_unique_address]] std::conditional_t<
        has_input, std::optional<std::conditional_t<has_input, typename Promise::input_type, int>>, no_input> input_;
};

} // namespace impl::coro
} // namespace fairlead
