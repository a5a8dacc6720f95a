// An operation as a member of a group: no coroutine awaits it. It brings the record that a chain would lend to it.
//
// Its requests come from the group alone, and lie in the member. An operation that a group awaits takes no other
// memory.
#pragma once

#include <fairlead/coro/chain_tree.hpp>
#include <fairlead/coro/outcome.hpp>

#include <utility>

namespace fairlead::impl::coro {

/// The part that is the same for all operations.
class FAIRLEAD_EXPORT operation_root : public group_member, public await_record {
public:
    operation_root(operation_root const&) = delete;
    operation_root& operator=(operation_root const&) = delete;

    /// Before the start: where it is to complete.
    void be_at_home_with(await_record const& awaiting) noexcept {
        home = awaiting.home;
        executor = awaiting.executor;
    }

protected:
    FAIRLEAD_EXPORT explicit operation_root(void (*resume)(operation_root&) noexcept) noexcept;
    ~operation_root() override = default;

    FAIRLEAD_EXPORT void ask(cancellation_type type) override;
    FAIRLEAD_EXPORT bool ask_in_place(cancellation_type type) noexcept override;

private:
    static void abandon(await_record* r) noexcept;
    static exec::record_hooks const hooks_of_all;

    void (*resume_)(operation_root&) noexcept;
};

/// Takes the result of an operation that has ended. None is made an exception of for having been cancelled.
template <class Signature, class Functions>
outcome<operation::awaited_t<Signature>> outcome_of(Functions const* f, void* storage, await_record& r) noexcept {
    using values = operation::values_of<Signature>;
    using result = outcome<operation::awaited_t<Signature>>;
    try {
        if (r.state == exec::await_state::failed)
            operation::throw_failed(r);
        if constexpr (std::is_same_v<values, std::tuple<>>) {
            return result(std::in_place);
        } else {
            values v = r.state == exec::await_state::stored ? operation::take_result<values>(r) : f->take(storage, r);
            if constexpr (std::is_same_v<std::tuple_element_t<0, values>, error_code>)
                if (base::is_cancelled(std::get<0>(v)))
                    return result();
            operation::operation_name<Functions> const name{f, storage, r};
            if constexpr (std::is_void_v<operation::awaited_t<Signature>>) {
                operation::unwrap(std::move(v), name);
                return result(std::in_place);
            } else {
                return result(std::in_place, operation::unwrap(std::move(v), name));
            }
        }
    } catch (...) {
        return result(std::current_exception());
    }
}

template <class Signature, std::size_t Storage> class operation_member final : public operation_root {
public:
    using value_type = operation::awaited_t<Signature>;

    explicit operation_member(async_op<Signature, Storage>&& op) noexcept
        : operation_root(&resumed),
          op_(std::move(op)) {}
    /// Before the start.
    operation_member(operation_member&& other) noexcept : operation_member(std::move(other.op_)) {}

    void join(chain_group& g, await_record const& awaiting) {
        be_at_home_with(awaiting);
        g.add(*this, *this);
    }
    outcome<value_type> take() noexcept { return std::move(outcome_); }

private:
    void start() override {
        bool ended = true;
        try {
            operation::op_awaiter<Signature, Storage> awaiter(op_, *this);
            ended = awaiter.await_ready() || !awaiter.await_suspend({});
        } catch (...) {
            operation::await_has_failed(*this, std::current_exception());
        }
        if (ended)
            finish();
    }
    static void resumed(operation_root& r) noexcept { static_cast<operation_member&>(r).finish(); }
    void finish() noexcept {
        using access = operation::op_access;
        outcome_ = outcome_of<Signature>(access::functions(op_), access::storage(op_), *this);
        leave(outcome_.has_value() ? member_end::value : member_end::failure);
    }

    async_op<Signature, Storage> op_;
    outcome<value_type> outcome_;
};

/// Takes the result of a coroutine that has ended.
template <class T> outcome<T> outcome_of_member(member_of<T>& m) {
    if (!m.result)
        return {};
    auto& values = *m.result;
    if (std::get<0>(values))
        return outcome<T>(std::get<0>(std::move(values)));
    if constexpr (std::is_void_v<T>)
        return outcome<T>(std::in_place);
    else if constexpr (std::is_same_v<typename spawn_value<T>::type, std::optional<T>>)
        return outcome<T>(std::in_place, *std::get<1>(std::move(values)));
    else
        return outcome<T>(std::in_place, std::get<1>(std::move(values)));
}

/// A coroutine as a member of a group.
template <class T> class coroutine_member final : public member_of<T> {
public:
    using value_type = T;

    explicit coroutine_member(awaitable<T>&& a) noexcept : coroutine_(std::move(a)) {}
    /// Before the start.
    coroutine_member(coroutine_member&& other) noexcept : coroutine_member(std::move(other.coroutine_)) {}

    void join(chain_group& g, await_record const& awaiting) { g.add(*this, *awaiting.executor); }
    outcome<T> take() { return outcome_of_member(*this); }

private:
    awaitable<T> begin() noexcept override { return std::move(coroutine_); }
    void release() noexcept override { coroutine_ = awaitable<T>(); }

    awaitable<T> coroutine_;
};

} // namespace fairlead::impl::coro
