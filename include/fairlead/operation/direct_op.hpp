// An async_op whose type names its primitive: a coroutine of ours tries it without a call.
//
// It is for what is usually there, a message in a channel. The attempt is compiled where the await stands, and neither
// reads nor writes the await record. Everything else goes the way of any async_op, which this is. Streams have no such
// operations: their initiating functions return one type for each signature (P0162R0 §5.4).
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
template <class Init>
concept tried_in_place =
    primitive_initiation<Init> && requires(Init const& i, typename Init::place& p, typename Init::record& r) {
        { i.attempt_in_place(p) } noexcept -> std::same_as<bool>;
        { i.attempt_or_wait(r) } noexcept -> std::same_as<bool>;
        { Init::result_in_place(p) } -> std::same_as<awaited_t<typename Init::signature>>;
        { Init::move_result(r, p) } noexcept;
    };

template <class Init> class direct_awaiter;

template <tried_in_place Init> class direct_op : public async_op_of<typename Init::signature, Init> {
public:
    using async_op_type = async_op_of<typename Init::signature, Init>;
    using awaiter_type = direct_awaiter<Init>;
    using async_op_type::async_op_type;
};

template <class Init, class Signature> struct direct_start;
template <class Init, class R, class... Args> struct direct_start<Init, R(Args...)> {
    using table = primitive_functions<Init, Args...>;
    using functions_type = initiation_functions<Args...>;
    static constexpr auto state_of_success = table::plain_result ? exec::await_state::plain : exec::await_state::idle;

    /// Starts what was tried in vain. False: it has completed, do not suspend. A chain that can be asked to end, or
    /// has another home, goes the way of any async_op.
    FAIRLEAD_NOINLINE static bool start(functions_type const* f, void* storage, await_record& r, bool is_exhausted) {
        if (is_exhausted || f != &table::functions || (r.notes & await_record::can_be_asked)) [[unlikely]]
            return start_by_table(f, storage, r, is_exhausted);
        Init& i = table::in(storage);
        if (r.home != i.home()) [[unlikely]]
            return start_by_table(f, storage, r, is_exhausted);
        auto& o = r.make<typename Init::record>();
        r.state = state_of_success;
        o.run = Init::drops ? &table::awaited_run : nullptr;
        // The coroutine may be running again before this returns: nothing of the frame is touched below.
        return !i.attempt_or_wait(o);
    }

private:
    FAIRLEAD_NOINLINE static bool start_by_table(functions_type const* f, void* storage, await_record& r,
                                                 bool is_exhausted) {
        if (is_exhausted) {
            r.state = exec::await_state::exhausted;
        } else {
            exec::this_thread.item.give_back(); // It is taken anew.
            if (f->try_step && f->try_step(storage, r) == step::ready)
                return false;
        }
        return f->start_await(storage, r);
    }
};

/// Awaits a direct_op in a coroutine of ours.
template <class Init> class direct_awaiter {
    using signature_type = typename Init::signature;
    using async_op_type = typename direct_op<Init>::async_op_type;
    using starter = direct_start<Init, signature_type>;

public:
    direct_awaiter(direct_op<Init>& o, await_record& r) noexcept : op_(o), record_(r) {}
    direct_awaiter(direct_awaiter const&) = delete;
    direct_awaiter& operator=(direct_awaiter const&) = delete;

    FAIRLEAD_ALWAYS_INLINE bool await_ready() {
        if (!exec::spend()) [[unlikely]] {
            found_ = found::no_budget;
            return false;
        }
        // One with an executor of its own has another table. The compiler has just seen which one it is.
        bool const is_there = op_access::functions(op_) == &starter::table::functions &&
                              starter::table::in(op_access::storage(op_)).attempt_in_place(place_);
        found_ = is_there ? found::result : found::nothing;
        return is_there;
    }
    bool await_suspend(std::coroutine_handle<>) {
        return starter::start(op_access::functions(op_), op_access::storage(op_), record_, found_ == found::no_budget);
    }
    FAIRLEAD_ALWAYS_INLINE awaited_t<signature_type> await_resume() {
#if !defined(NDEBUG) && !defined(__OPTIMIZE__)
        has_been_awaited<async_op_type> const then{op_};
#endif
        if (found_ != found::result && !has_come_later()) [[unlikely]]
            return take_by_table();
        return Init::result_in_place(place_);
    }
    /// A function whose name has the operation in it.
    void const* names_operation() const noexcept {
        return reinterpret_cast<void const*>(op_access::functions(op_)->start);
    }

private:
    enum class found : unsigned char { result, nothing, no_budget };

    FAIRLEAD_ALWAYS_INLINE bool has_come_later() noexcept {
        auto& o = record_.template get<typename Init::record>();
        if (op_access::functions(op_) != &starter::table::functions || record_.state != starter::state_of_success ||
            o.result.error != 0) [[unlikely]]
            return false;
        Init::move_result(o, place_);
        return true;
    }
    FAIRLEAD_NOINLINE awaited_t<signature_type> take_by_table() {
        return resume_with<signature_type>(static_cast<async_op_type&>(op_), record_);
    }

    direct_op<Init>& op_;
    await_record& record_;
    typename Init::place place_;
    found found_;
};

/// As initiate_on() with the default token of the object.
template <class Object, tried_in_place Init> FAIRLEAD_ALWAYS_INLINE decltype(auto)
initiate_directly(Object const& object,
                  Init init) noexcept(nothrow_token<default_completion_token_t<typename Object::executor_type>, Init>) {
    using executor = typename Object::executor_type;
    using token = default_completion_token_t<executor>;
    using op = direct_op<Init>;
    if constexpr (!std::is_same_v<token, use_await_t> || !op::template inside<Init>) {
        return initiate_on<typename Init::signature>(object, token(), std::move(init));
    } else {
        // Not by go_elsewhere(): behind that the compiler does not know the table, and the await asks it.
        if constexpr (!exec::always_loop<executor>)
            if (!object.runs_handlers()) [[unlikely]]
                return op(primitive_elsewhere<Init, executor>{{std::move(init)}, object.get_executor()});
        return op(std::move(init));
    }
}

} // namespace fairlead::impl::operation
