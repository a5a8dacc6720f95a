// The result of an initiating function with use_await (the default token) and deferred: one type for each completion
// signature.
//
// The type says nothing about the operation behind it (P0162R0 §5.4), and awaiting allocates nothing (P0055R1). The
// value holds just the erased initiation; the operation's record lies with the awaiting coroutines.
#pragma once

#include <fairlead/base/copy_bytes.hpp>
#include <fairlead/base/disposition_traits.hpp>
#include <fairlead/base/error.hpp>
#include <fairlead/operation/default_token.hpp>
#include <fairlead/operation/initiation_storage.hpp>
#include <fairlead/operation/initiation_table.hpp>
#include <fairlead/operation/wait_for.hpp>

#include <coroutine>
#include <exception>
#include <string>
#include <utility>

namespace fairlead {
namespace impl::sender {
template <class Sender, class Receiver> class connected_op;
template <class Signature> struct foreign_signatures;
} // namespace impl::sender
namespace execution {
/// Senders name it as their `sender_concept` (sender/protocol.hpp).
struct sender_tag {};
} // namespace execution

/// Token: the initiating function returns an async_op, to be awaited. The default of every operation.
struct use_await_t : impl::operation::can_be_default<use_await_t> {
    constexpr use_await_t() noexcept = default;
};
/// `co_await timer.async_wait(use_await)` is `co_await timer.async_wait()`.
inline constexpr use_await_t use_await{};

/// Asio's name for the same thing. A template, because Asio's programs write `use_awaitable_t<>` and
/// `use_awaitable_t<Executor>`, which an alias of use_await_t would not allow. The executor changes nothing here, since
/// an operation is awaited on whatever executor the coroutine has.
template <class Executor = any_io_executor> struct use_awaitable_t
    : impl::operation::can_be_default<use_awaitable_t<Executor>> {
    constexpr use_awaitable_t() noexcept = default;
};
/// `co_await timer.async_wait(use_awaitable)` is the same.
inline constexpr use_awaitable_t<> use_awaitable{};

template <class Signature, std::size_t Storage = impl::operation::initiation_storage> class async_op;

template <class Function> class deferred_function;
class deferred_conditional;

/// Token: the initiating function returns an async_op that starts when it is called with another token, or awaited.
/// Its use with functions and values is in token/deferred.hpp.
struct deferred_t : impl::operation::can_be_default<deferred_t> {
    constexpr deferred_t() noexcept = default;

    /// A token: the operation is followed by the one that `function` returns for its results.
    template <class Function> constexpr deferred_function<std::decay_t<Function>> operator()(Function&& function) const;
    /// An operation that is deferred already stays as it is.
    template <class Signature, std::size_t Storage>
    async_op<Signature, Storage> operator()(async_op<Signature, Storage>&& op) const noexcept;
    template <class Op>
        requires requires { typename Op::async_op_type; }
    typename Op::async_op_type operator()(Op&& op) const noexcept {
        return std::move(op).as_async_op();
    }
    template <class Function>
    constexpr deferred_function<Function> operator()(deferred_function<Function> function) const;
    /// An operation that completes with `values` as soon as it is started.
    template <class... Values> static async_op<void(std::decay_t<Values>...)> values(Values&&... values);
    /// The choice between two operations of one signature: when(b).then(op).otherwise(op).
    static constexpr deferred_conditional when(bool b) noexcept;
};
/// `auto op = timer.async_wait(deferred);`, then `op(token)` or `co_await op`.
inline constexpr deferred_t deferred{};

namespace impl::operation {

/// The result of co_await for these arguments: errors thrown, one value bare, several as a tuple.
template <class... Rest> auto unwrap_rest(std::tuple<Rest...>&& rest) {
    if constexpr (sizeof...(Rest) == 1)
        return std::get<0>(std::move(rest));
    else if constexpr (sizeof...(Rest) > 1)
        return std::move(rest);
}
/// The properties of an operation before it is started.
template <class Initiation> std::string describe_call([[maybe_unused]] Initiation const& i, char const* otherwise) {
    if constexpr (requires { i.describe(); })
        return i.describe();
    else
        return otherwise;
}
/// And after it has failed: what takes a while to find out, too.
template <class Initiation> std::string describe_failed_call(Initiation const& i, char const* otherwise) {
    if constexpr (requires { i.describe_failed(); })
        return i.describe_failed();
    else
        return describe_call(i, otherwise);
}
struct named_call {
    std::string const& name;
    [[noreturn]] FAIRLEAD_COLD void raise(error_code const& ec) const { base::throw_error_now(ec, name.c_str()); }
};
/// Throws the error of an operation that has no name.
struct unnamed_operation {
    [[noreturn]] FAIRLEAD_COLD void raise(error_code const& ec) const { base::throw_error_now(ec, "co_await"); }
};
template <class First, class... Rest, class Name = unnamed_operation>
FAIRLEAD_ALWAYS_INLINE auto unwrap(std::tuple<First, Rest...>&& v, Name name = {}) {
    if constexpr (disposition<First>) {
        if constexpr (std::is_same_v<First, error_code>) {
            if (std::get<0>(v)) [[unlikely]]
                name.raise(std::get<0>(v));
        } else if (std::get<0>(v) != no_error)
            disposition_traits<First>::throw_exception(std::move(std::get<0>(v)));
        if constexpr (sizeof...(Rest) == 1)
            return std::get<1>(std::move(v));
        else
            return std::apply(
                [](First&, Rest&... rest) { return unwrap_rest(std::tuple<Rest...>(std::move(rest)...)); }, v);
    } else {
        return unwrap_rest(std::move(v));
    }
}
template <class Name = unnamed_operation> void unwrap(std::tuple<>&&, Name = {}) noexcept {}

/// The result of reads and writes that are refused. The compiler shows the name.
struct refused_transfer : refused_token<void(error_code, std::size_t)> {};

/// `describe` may be null.
[[noreturn]] FAIRLEAD_EXPORT void throw_named(error_code const& ec,
                                              std::string (*describe)(void const*, await_record const&),
                                              void const* storage, await_record const& record);
/// Throws the error of an awaited operation with its name. Never has an address: what does not throw stores nothing.
template <class Functions> struct operation_name {
    Functions const* functions;
    void const* storage;
    await_record const& record;
    [[noreturn]] FAIRLEAD_ALWAYS_INLINE void raise(error_code const& ec) const {
        throw_named(ec, functions->describe, storage, record);
    }
};

/// The result of a finished await that is not plain, or no success.
template <class Signature, class Functions>
awaited_t<Signature> instantiate_take(Functions const* f, void* storage, await_record& r) {
    using values = values_of<Signature>;
    if constexpr (plain_values<values>)
        if (r.state == exec::await_state::plain)
            throw_named(to_error_code(r.get<op>().result.error), f->describe, storage, r);
    if constexpr (std::is_same_v<values, std::tuple<>>) { // No such operation has anything to clean up.
        if (exec::this_thread.await_failed) [[unlikely]]  // Asking the record takes a tenth of a nanosecond longer.
            throw_failed(r);
    } else {
        if constexpr (has_one_value<values>)
            if (f->take_value && r.state == exec::await_state::idle && r.get<op>().result.error == 0) [[likely]]
                return f->take_value(r);
        if (r.state == exec::await_state::failed) [[unlikely]]
            throw_failed(r);
        if (r.state == exec::await_state::stored)
            return unwrap(take_result<values>(r), operation_name<Functions>{f, storage, r});
        return unwrap(f->take(storage, r), operation_name<Functions>{f, storage, r});
    }
}

/// instantiate_take(), wherever it is instantiated: for the common signatures in the library.
template <class Signature, class Functions>
awaited_t<Signature> take_with(Functions const* f, void* storage, await_record& r) {
    return instantiate_take<Signature>(f, storage, r);
}
template <>
FAIRLEAD_EXPORT void take_with<void(error_code)>(initiation_functions<error_code> const*, void*, await_record&);
template <> FAIRLEAD_EXPORT std::size_t
take_with<void(error_code, std::size_t)>(initiation_functions<error_code, std::size_t> const*, void*, await_record&);

/// The result of a finished await. After the suspension the compiler no longer knows which operation it was. So the
/// common kinds of result are read here rather than through a call.
template <class Signature, class Op> FAIRLEAD_ALWAYS_INLINE auto resume_with(Op& o, await_record& r) {
    using values = values_of<Signature>;
    if constexpr (plain_values<values>) {
        auto const& result = r.get<op>().result;
        if (r.state == exec::await_state::plain && result.error == 0) [[likely]] {
            if constexpr (std::tuple_size_v<values> == 2)
                return std::size_t{result.n};
            else
                return;
        }
    }
    return o.take(r);
}

struct op_access;
template <class Signature, std::size_t Storage = initiation_storage> class op_awaiter;
template <class Signature, std::size_t Storage = initiation_storage> class foreign_awaiter;

} // namespace impl::operation

/// An operation that has not started. Awaited it starts, with its state in the await record. Called with a token it
/// starts as the initiating function would have with that token. Destroyed it never starts. Movable until started.
/// Threads: as the object it was made from.
/// `Storage`: larger with tokens that keep something for the operation (cancel_after, bind_cancellation_slot,
/// bind_stop_token), for which no block is needed then. Such an op becomes an async_op<Signature> where one is wanted;
/// that takes a block.
template <class R, class... Args, std::size_t Storage>
class [[nodiscard("the operation starts only when it is awaited or called with a token")]]
async_op<R(Args...), Storage> {
public:
    using signature = R(Args...);
    using values = std::tuple<std::decay_t<Args>...>;
    static constexpr std::size_t storage_size = Storage;

    template <class Init> static constexpr bool inside = impl::operation::lies_inside<Init, Storage>;

    template <class Init>
        requires(!std::same_as<std::decay_t<Init>, async_op>)
    FAIRLEAD_ALWAYS_INLINE explicit async_op(Init&& init) noexcept(
        std::is_nothrow_constructible_v<std::decay_t<Init>, Init>) {
        using init_type = std::decay_t<Init>;
        void* place = storage_;
        functions_ = impl::operation::find_table<init_type, Storage, Args...>();
        if constexpr (inside<init_type>)
            ::new (place) init_type(std::forward<Init>(init));
        else
            ::new (place) impl::operation::boxed_initiation<init_type>(std::in_place, std::forward<Init>(init));
    }
    template <std::size_t Larger>
        requires(Larger > Storage)
    async_op(async_op<R(Args...), Larger>&& other) noexcept
        : async_op(typename async_op<R(Args...), Larger>::initiation{std::move(other)}) {}
    async_op(async_op&& other) noexcept : async_op(std::move(other), where_it_is_started()) {}
    async_op& operator=(async_op&&) = delete;
    FAIRLEAD_ALWAYS_INLINE ~async_op() {
        if (functions_->destroy) [[unlikely]] // Most have nothing to destroy.
            functions_->destroy(storage_);
    }

    /// Starts the operation with another token.
    template <class Token> decltype(auto) operator()(Token&& token) && {
        FAIRLEAD_ASSERT(functions_ != &impl::operation::no_functions<Args...>);
        return completion_token_transform<signature>(std::forward<Token>(token), initiation{std::move(*this)});
    }
    template <class Token>
        requires(!std::same_as<std::decay_t<Token>, impl::operation::signature_probe>)
    void operator()(Token&&) & {
        static_assert(!sizeof(Token), "an operation is started once: std::move(op)(token)");
    }

    /// As a sender of C++26; its operation state is in sender/connected_op.hpp.
    using sender_concept = execution::sender_tag;
    template <class Receiver>
    FAIRLEAD_ALWAYS_INLINE impl::sender::connected_op<async_op, Receiver> connect(Receiver r) && {
        return impl::sender::connected_op<async_op, Receiver>(std::move(*this), std::move(r));
    }
    template <class, class...> static consteval auto get_completion_signatures() {
        return typename impl::sender::foreign_signatures<signature>::type();
    }

    /// For coroutines of other libraries: the awaiter carries the record itself.
    impl::operation::foreign_awaiter<signature, Storage> operator co_await() && noexcept;

private:
    template <class S, std::size_t Other> friend class async_op;
    friend struct impl::operation::op_access;
    friend class impl::operation::op_awaiter<signature, Storage>;
    friend class impl::operation::foreign_awaiter<signature, Storage>;
    template <class S, class Op> friend auto impl::operation::resume_with(Op&, await_record&);

    auto take(await_record& r) { return impl::operation::take_with<signature>(functions_, storage_, r); }

    /// The compiler then knows the functions of an operation that was made a moment ago.
    struct where_it_is_started {};
    FAIRLEAD_ALWAYS_INLINE async_op(async_op&& other, where_it_is_started) noexcept : functions_(other.functions_) {
        if (functions_->relocate)
            functions_->relocate(other.storage_, storage_);
        else
            impl::base::copy_bytes(storage_, other.storage_, storage_size);
        other.functions_ = &impl::operation::no_functions<Args...>;
    }

    /// The operation as an initiation, for whatever token it meets next.
    struct initiation {
        async_op op;
        template <class Handler> void operator()(Handler&& handler) {
            std::decay_t<Handler> h(std::forward<Handler>(handler));
            auto* functions = op.functions_;
            functions->start(
                op.storage_,
                {std::addressof(h),
                 &impl::operation::erased_handler_table<std::decay_t<Handler>, std::decay_t<Args>...>::functions});
        }
        bool hears_requests() const noexcept { return op.functions_->takes_requests; }
        /// Empty when the operation runs anywhere.
        any_io_executor get_executor() const noexcept {
            if (op.functions_->executor)
                return op.functions_->executor(op.storage_);
            loop* const l = op.functions_->home(op.storage_);
            return l ? any_io_executor(loop_executor(l)) : any_io_executor();
        }
        values block(std::exception_ptr* why = nullptr) {
            if (op.functions_->block)
                return op.functions_->block(op.storage_);
            return impl::operation::wait_for<values>(std::move(*this), why);
        }
    };

    impl::operation::initiation_functions<Args...> const* functions_; ///< never null: there is one question less to ask
    alignas(8) std::byte storage_[storage_size];
};

namespace impl::operation {

/// For what awaits an operation without being a coroutine.
/// An operation with an awaiter of its own for coroutines of ours, which becomes an async_op everywhere else
/// (operation/direct_op.hpp).
template <class T>
concept brings_awaiter = requires {
    typename T::awaiter_type;
    typename T::async_op_type;
};
/// The async_op of an operation that is one, or becomes one.
template <class Signature, std::size_t Storage>
async_op<Signature, Storage>&& as_async_op(async_op<Signature, Storage>&& op) noexcept {
    return std::move(op);
}
template <brings_awaiter Op> typename Op::async_op_type as_async_op(Op&& op) noexcept {
    return std::move(op).as_async_op();
}
template <class T> inline constexpr bool is_async_op = brings_awaiter<T>;
template <class Signature, std::size_t Storage> inline constexpr bool is_async_op<async_op<Signature, Storage>> = true;

struct op_access {
    template <class Op> FAIRLEAD_ALWAYS_INLINE static auto* functions(Op const& o) noexcept { return o.functions_; }
    template <class Op> FAIRLEAD_ALWAYS_INLINE static Op move_to_start(Op&& o) noexcept {
        return Op(std::move(o), typename Op::where_it_is_started());
    }
    template <class Op> FAIRLEAD_ALWAYS_INLINE static void* storage(Op& o) noexcept { return o.storage_; }
    /// As if it had been moved away.
    template <class R, class... Args, std::size_t Storage>
    static void leave(async_op<R(Args...), Storage>& o) noexcept {
        if (o.functions_->destroy)
            o.functions_->destroy(o.storage_);
        leave_unmade(o);
    }
    /// Where its constructor has thrown.
    template <class R, class... Args, std::size_t Storage>
    static void leave_unmade(async_op<R(Args...), Storage>& o) noexcept {
        o.functions_ = &no_functions<Args...>;
    }
};
/// Awaiting the same operation again is a mistake, and is reported as that of one that was moved.
template <class Op> struct has_been_awaited {
    Op& op;
    ~has_been_awaited() { op_access::leave(op); }
};

/// Awaits an async_op in a coroutine of ours. Two pointers, because g++ keeps one of these for every await site.
template <class R, class... Args, std::size_t Storage> class op_awaiter<R(Args...), Storage> {
public:
    op_awaiter(async_op<R(Args...), Storage>& o, await_record& r) noexcept : op_(o), record_(r) {}
    op_awaiter(op_awaiter const&) = delete;
    op_awaiter& operator=(op_awaiter const&) = delete;

    FAIRLEAD_ALWAYS_INLINE bool await_ready() {
        auto* const f = op_.functions_;
        return f->try_step && f->try_step(op_.storage_, record_) == step::ready;
    }
    bool await_suspend(std::coroutine_handle<>) { return op_.functions_->start_await(op_.storage_, record_); }
    FAIRLEAD_ALWAYS_INLINE auto await_resume() {
#if !defined(NDEBUG) && !defined(__OPTIMIZE__) // Optimised, it would be felt where an operation is ready.
        has_been_awaited<async_op<R(Args...), Storage>> const then{op_};
#endif
        return resume_with<R(Args...)>(op_, record_);
    }

    /// A function whose name has the operation in it.
    void const* names_operation() const noexcept { return reinterpret_cast<void const*>(op_.functions_->start); }

private:
    async_op<R(Args...), Storage>& op_;
    await_record& record_;
};

FAIRLEAD_EXPORT extern exec::record_hooks const foreign_hooks;

/// A coroutine of another library has no link, and brings a record for each of its awaits.
struct foreign_record : await_record {
    std::coroutine_handle<> handle;
    foreign_record() noexcept : await_record(foreign_hooks) {}
};

template <class R, class... Args, std::size_t Storage> class foreign_awaiter<R(Args...), Storage> {
public:
    explicit foreign_awaiter(async_op<R(Args...), Storage>&& o) noexcept : op_(std::move(o)) {
        record_.home = op_.functions_->home(op_.storage_);
        if (!record_.home)
            record_.home = exec::this_thread.current;
    }
    foreign_awaiter(foreign_awaiter const&) = delete;
    foreign_awaiter& operator=(foreign_awaiter const&) = delete;

    bool await_ready() {
        // Outside its loop the coroutine has no budget to spend: it goes through the loop.
        auto* const f = op_.functions_;
        return f->try_step && (!record_.home || record_.home->runs_here()) &&
               f->try_step(op_.storage_, record_) == step::ready;
    }
    bool await_suspend(std::coroutine_handle<> h) {
        record_.handle = h;
        return op_.functions_->start_await(op_.storage_, record_);
    }
    auto await_resume() { return resume_with<R(Args...)>(op_, record_); }

private:
    async_op<R(Args...), Storage> op_;
    foreign_record record_;
};

/// The type that use_await and deferred make of an initiation.
template <class Signature, class Init> using async_op_of = async_op<Signature, storage_for<std::decay_t<Init>>()>;

/// A large initiation takes a block. Without memory for that the operation fails when it is started.
template <class Init> inline constexpr bool nothrow_token<use_await_t, Init> =
    std::is_nothrow_move_constructible_v<Init>;
template <class Executor, class Init> inline constexpr bool nothrow_token<use_awaitable_t<Executor>, Init> =
    nothrow_token<use_await_t, Init>;
template <class Init> inline constexpr bool nothrow_token<deferred_t, Init> = nothrow_token<use_await_t, Init>;

} // namespace impl::operation

template <class R, class... Args, std::size_t Storage>
impl::operation::foreign_awaiter<R(Args...), Storage> async_op<R(Args...), Storage>::operator co_await() && noexcept {
    return impl::operation::foreign_awaiter<R(Args...), Storage>(std::move(*this));
}

template <class Signature> class async_result<use_await_t, Signature> {
public:
    template <class Initiation> FAIRLEAD_ALWAYS_INLINE static impl::operation::async_op_of<Signature, Initiation>
    initiate(Initiation&& initiation,
             use_await_t) noexcept(std::is_nothrow_constructible_v<std::decay_t<Initiation>, Initiation>) {
        return impl::operation::async_op_of<Signature, Initiation>(std::forward<Initiation>(initiation));
    }
    template <class Initiation, class... Args>
        requires(sizeof...(Args) > 0)
    FAIRLEAD_ALWAYS_INLINE static async_op<Signature> initiate(Initiation&& initiation, use_await_t, Args&&... args) {
        return async_op<Signature>(
            impl::operation::bind_initiation(std::forward<Initiation>(initiation), std::forward<Args>(args)...));
    }
};
template <class Executor, class Signature> class async_result<use_awaitable_t<Executor>, Signature> {
public:
    template <class Initiation, class... Args> FAIRLEAD_ALWAYS_INLINE static auto
    initiate(Initiation&& initiation, use_awaitable_t<Executor>, Args&&... args) noexcept(
        noexcept(async_result<use_await_t, Signature>::initiate(std::forward<Initiation>(initiation), use_await,
                                                                std::forward<Args>(args)...))) {
        return async_result<use_await_t, Signature>::initiate(std::forward<Initiation>(initiation), use_await,
                                                              std::forward<Args>(args)...);
    }
};
template <class Signature> class async_result<deferred_t, Signature> {
public:
    template <class Initiation, class... Args>
    FAIRLEAD_ALWAYS_INLINE static auto initiate(Initiation&& initiation, deferred_t, Args&&... args) noexcept(
        noexcept(async_result<use_await_t, Signature>::initiate(std::forward<Initiation>(initiation), use_await,
                                                                std::forward<Args>(args)...))) {
        return async_result<use_await_t, Signature>::initiate(std::forward<Initiation>(initiation), use_await,
                                                              std::forward<Args>(args)...);
    }
};

} // namespace fairlead
