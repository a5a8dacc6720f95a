// An operation whose type names its primitive: a coroutine of ours tries it without a call.
//
// It is for what is usually there, a message in a channel. The attempt is compiled where the await stands, and neither
// reads nor writes the await record. Everywhere else it becomes an async_op, with a token, in a group or as a sender.
// Streams have no such operations: their initiating functions return one type for each signature (P0162R0 §5.4).
#pragma once

#include <fairlead/operation/async_op.hpp>
#include <fairlead/operation/initiate_on.hpp>

#include <coroutine>
#include <type_traits>
#include <utility>

namespace fairlead::impl::operation {

/// Primitives with an attempt for that:
///   place                has room for what is received
///   attempt_in_place(p)  true: done, and p has what was received; false: nothing happened
///   result_in_place(p)   static: what an await returns then
///   attempt_or_wait(r)   true: done, the result is in r; false: r has been prepared, and waits
///   move_result(r, p)    static: of an op that has waited and succeeded
///   runs_handlers(), executor()  as those of its object
///   leave(), is_left()   for one that was moved away or awaited
template <class Init>
concept tried_in_place =
    primitive_initiation<Init> && requires(Init& i, Init const& c, typename Init::place& p, typename Init::record& r) {
        { c.attempt_in_place(p) } noexcept -> std::same_as<bool>;
        { c.attempt_or_wait(r) } noexcept -> std::same_as<bool>;
        { Init::result_in_place(p) } -> std::same_as<awaited_t<typename Init::signature>>;
        { Init::move_result(r, p) } noexcept;
        { c.runs_handlers() } noexcept -> std::same_as<bool>;
        c.executor();
        i.leave();
        { c.is_left() } noexcept -> std::same_as<bool>;
    };

template <class Init> class direct_awaiter;

/// Once started, or moved, it is no operation any more.
template <tried_in_place Init>
class [[nodiscard("the operation starts only when it is awaited or called with a token")]] direct_op {
public:
    using signature = typename Init::signature;
    using async_op_type = async_op_of<signature, Init>;
    using values = typename async_op_type::values;
    using awaiter_type = direct_awaiter<Init>;
    static constexpr bool hears_requests = can_be_cancelled<Init>();

    explicit direct_op(Init&& init) noexcept(std::is_nothrow_move_constructible_v<Init>) : init_(std::move(init)) {}
    direct_op(direct_op&& other) noexcept(std::is_nothrow_move_constructible_v<Init>) : init_(std::move(other.init_)) {
        other.init_.leave();
    }
    direct_op& operator=(direct_op&&) = delete;

    /// Here it matters on which executor a handler runs. A coroutine resumes on its own.
    async_op_type as_async_op() && noexcept(std::is_nothrow_move_constructible_v<Init>) {
        using executor = std::decay_t<decltype(init_.executor())>;
        direct_op taken(std::move(*this));
        FAIRLEAD_ASSERT(!taken.init_.is_left());
        if constexpr (!exec::always_loop<executor>)
            if (!taken.init_.runs_handlers()) [[unlikely]]
                return async_op_type(
                    primitive_elsewhere<Init, executor>{{std::move(taken.init_)}, taken.init_.executor()});
        return async_op_type(std::move(taken.init_));
    }
    template <std::size_t Storage> operator async_op<signature, Storage>() && {
        return async_op<signature, Storage>(std::move(*this).as_async_op());
    }
    /// Starts the operation with another token.
    template <class Token> decltype(auto) operator()(Token&& token) && {
        return std::move(*this).as_async_op()(std::forward<Token>(token));
    }
    template <class Token>
        requires(!std::same_as<std::decay_t<Token>, signature_probe>)
    void operator()(Token&&) & {
        static_assert(!sizeof(Token), "an operation is started once: std::move(op)(token)");
    }

    using sender_concept = execution::sender_tag;
    template <class Receiver> auto connect(Receiver r) && {
        return std::move(*this).as_async_op().connect(std::move(r));
    }
    template <class Self, class... Env> static consteval auto get_completion_signatures() {
        return async_op_type::template get_completion_signatures<async_op_type, Env...>();
    }

    foreign_awaiter<signature, async_op_type::storage_size> operator co_await() && noexcept {
        return std::move(*this).as_async_op().operator co_await();
    }

private:
    friend class direct_awaiter<Init>;
    Init init_;
};

template <class Init, class Signature> struct direct_start;
template <class Init, class R, class... Args> struct direct_start<Init, R(Args...)> {
    using table = primitive_functions<Init, Args...>;
    static constexpr auto state_of_success = table::plain_result ? exec::await_state::plain : exec::await_state::idle;

    /// Starts what was tried in vain. False: it has completed, do not suspend. A chain that can be asked to end, or
    /// has another home, goes the way of any async_op, whose storage would hold the primitive.
    FAIRLEAD_NOINLINE static bool start(Init& i, await_record& r, bool is_exhausted) {
        if (is_exhausted || (r.notes & await_record::can_be_asked) || r.home != i.home()) [[unlikely]]
            return start_by_table(&i, r, is_exhausted);
        auto& o = r.make<typename Init::record>();
        r.state = state_of_success;
        o.run = Init::drops ? &table::awaited_run : nullptr;
        // The coroutine may be running again before this returns: nothing of the frame is touched below.
        return !i.attempt_or_wait(o);
    }

private:
    FAIRLEAD_NOINLINE static bool start_by_table(void* storage, await_record& r, bool is_exhausted) {
        auto const& f = table::functions;
        if (is_exhausted) {
            r.state = exec::await_state::exhausted;
        } else {
            exec::this_thread.item.give_back(); // It is taken anew.
            if (f.try_step && f.try_step(storage, r) == step::ready)
                return false;
        }
        return f.start_await(storage, r);
    }
};

/// Awaits a direct_op in a coroutine of ours.
template <class Init> class direct_awaiter {
    using signature_type = typename Init::signature;
    using starter = direct_start<Init, signature_type>;

public:
    explicit direct_awaiter(direct_op<Init>& o) noexcept : init_(o.init_) {}
    direct_awaiter(direct_awaiter const&) = delete;
    direct_awaiter& operator=(direct_awaiter const&) = delete;

    FAIRLEAD_ALWAYS_INLINE bool await_ready() {
        FAIRLEAD_ASSERT(!init_.is_left());
        if (!exec::spend()) [[unlikely]] {
            found_ = found::no_budget;
            return false;
        }
        bool const is_there = init_.attempt_in_place(place_);
        found_ = is_there ? found::result : found::nothing;
        return is_there;
    }
    template <class Promise> bool await_suspend(std::coroutine_handle<Promise> h) {
        record_ = h.promise().link.record;
        return starter::start(init_, *record_, found_ == found::no_budget);
    }
    FAIRLEAD_ALWAYS_INLINE awaited_t<signature_type> await_resume() {
#if !defined(NDEBUG) && !defined(__OPTIMIZE__)
        leaves const then{init_};
#endif
        if (found_ != found::result && !has_come_later()) [[unlikely]]
            return take_by_table();
        return Init::result_in_place(place_);
    }
    /// A function whose name has the operation in it.
    void const* names_operation() const noexcept {
        return reinterpret_cast<void const*>(starter::table::functions.start);
    }

private:
    enum class found : unsigned char { result, nothing, no_budget };
    struct leaves {
        Init& init;
        ~leaves() { init.leave(); }
    };

    FAIRLEAD_ALWAYS_INLINE bool has_come_later() noexcept {
        auto& o = record_->template get<typename Init::record>();
        if (record_->state != starter::state_of_success || o.result.error != 0) [[unlikely]]
            return false;
        Init::move_result(o, place_);
        return true;
    }
    FAIRLEAD_NOINLINE awaited_t<signature_type> take_by_table() {
        return take_with<signature_type>(&starter::table::functions, &init_, *record_);
    }

    Init& init_;
    await_record* record_; ///< written when it suspends: what is there needs none
    typename Init::place place_;
    found found_;
};

/// Whether such an operation of `Object` is of use: its default token is use_await, and an async_op has room for it.
template <class Object, class Init> inline constexpr bool can_be_direct =
    std::is_same_v<default_completion_token_t<typename Object::executor_type>, use_await_t> &&
    async_op_of<typename Init::signature, Init>::template inside<Init>;

/// As initiate_on() with the default token of the object.
template <class Object, tried_in_place Init> FAIRLEAD_ALWAYS_INLINE decltype(auto)
initiate_directly(Object const& object,
                  Init init) noexcept(nothrow_token<default_completion_token_t<typename Object::executor_type>, Init>) {
    if constexpr (can_be_direct<Object, Init>)
        return direct_op<Init>(std::move(init));
    else
        return initiate_on<typename Init::signature>(
            object, default_completion_token_t<typename Object::executor_type>(), std::move(init));
}

} // namespace fairlead::impl::operation
