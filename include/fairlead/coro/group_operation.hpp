// The parts of a group that are awaited together: the result of when_all() and its relatives.
#pragma once

#include <fairlead/coro/operation_member.hpp>

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace fairlead::impl::coro {

template <class Parts, class Results> class group_operation;

/// A part that is a group itself has a chain of its own.
template <class T, class Parts, class Results> awaitable<T> await_group(group_operation<Parts, Results> g) {
    co_return co_await std::move(g);
}

/// The member that a part becomes.
template <class Part> struct member_for;
template <class Signature, std::size_t Storage> struct member_for<async_op<Signature, Storage>> {
    using type = operation_member<Signature, Storage>;
};
template <operation::brings_awaiter Op> struct member_for<Op> : member_for<typename Op::async_op_type> {};
template <class T> struct member_for<awaitable<T>> {
    using type = coroutine_member<T>;
};
template <class Parts, class Results> struct member_for<group_operation<Parts, Results>> {
    using type = coroutine_member<typename group_operation<Parts, Results>::value_type>;
};
template <class Part>
concept group_part = std::move_constructible<Part> && requires { typename member_for<Part>::type; };
template <class Range> using element_of = std::decay_t<decltype(*std::declval<Range&>().begin())>;
template <class Range>
concept range_of_parts = requires(Range& r) {
    r.end();
    requires group_part<element_of<Range>>;
};

/// Arguments that a group can be made of: parts, or one range of them, each of which is moved.
template <class... T>
concept parts_or_range = (!std::is_lvalue_reference_v<T> && ...) &&
                         ((group_part<T> && ...) || (sizeof...(T) == 1 && (range_of_parts<T> && ...)));
struct refused_group : operation::refused_await<std::type_identity<void>> {};
/// The sentence for everything else.
#define FAIRLEAD_NO_PARTS                                                                                              \
    "groups are made of operations, awaitables and other groups, or of one range of these: move those that have a "    \
    "name"

template <class Part> Part&& as_part(Part&& p) noexcept { return std::move(p); }
template <class Parts, class Results> auto as_part(group_operation<Parts, Results>&& g) {
    return await_group<typename group_operation<Parts, Results>::value_type>(std::move(g));
}

/// A fixed number of members.
template <class... Parts> class fixed_parts {
public:
    using outcomes = std::tuple<outcome<typename member_for<Parts>::type::value_type>...>;
    using values = std::tuple<regular_t<typename member_for<Parts>::type::value_type>...>;

    explicit fixed_parts(Parts&&... parts) : members_(as_part(std::move(parts))...) {}
    template <class F> void for_each(F f) {
        std::apply([&](auto&... m) { (f(m), ...); }, members_);
    }
    template <class F> auto gather(F f) {
        return std::apply([&](auto&... m) { return std::tuple<decltype(f(m))...>{f(m)...}; }, members_); // in order
    }

private:
    std::tuple<typename member_for<Parts>::type...> members_;
};

/// As many members as a range has.
template <class Part> class counted_parts {
public:
    using member = typename member_for<Part>::type;
    using outcomes = std::vector<outcome<typename member::value_type>>;
    using values = std::vector<regular_t<typename member::value_type>>;

    template <class Range> explicit counted_parts(Range&& parts) {
        if constexpr (requires { parts.size(); })
            members_.reserve(parts.size());
        for (auto&& p : parts)
            members_.emplace_back(as_part(std::move(p)));
    }
    template <class F> void for_each(F f) {
        for (auto& m : members_)
            f(m);
    }
    template <class F> auto gather(F f) {
        std::vector<decltype(f(members_.front()))> all;
        all.reserve(members_.size());
        for (auto& m : members_)
            all.push_back(f(m));
        return all;
    }

private:
    std::vector<member> members_;
};

/// The place of a member among the parts; 0 if there is none.
template <class Parts> std::size_t position_of(Parts& parts, group_member const* m) {
    std::size_t found = 0, at = 0;
    parts.for_each([&](auto& member) {
        if (&member == m)
            found = at;
        ++at;
    });
    return found;
}

/// The result of which Results makes one value when all have ended.
template <class Parts, class Results> class [[nodiscard("a group runs only when it is awaited")]] group_operation {
public:
    using value_type = decltype(Results::of(std::declval<Parts&>(), std::declval<group_member const*>()));

    template <class... Args> explicit group_operation(std::in_place_t, Args&&... args)
        : parts_(std::forward<Args>(args)...) {}
    /// Before the start.
    group_operation(group_operation&& other) noexcept : parts_(std::move(other.parts_)) {}
    group_operation& operator=(group_operation&&) = delete;

    bool await_ready() const noexcept { return false; }
    template <class Promise> bool await_suspend(std::coroutine_handle<Promise> h) {
        static_assert(
            requires { h.promise().link.record; },
            "a group is awaited by a coroutine of this library: an awaitable, or what co_spawn starts");
        await_record& r = *h.promise().link.record;
        parts_.for_each([&](auto& member) { member.join(group_, r); });
        return group_.start_all(r);
    }
    value_type await_resume() {
        group_.rethrow_refusal();
        return Results::of(parts_, group_.decided_by());
    }

private:
    static constexpr group_hearing hearing =
        requires { Results::waits_for_members; } ? group_hearing::waits_for_members : group_hearing::asks_members;
    Parts parts_;
    chain_group group_{Results::asks_at, hearing};
};

template <class Parts, class Results> struct awaitable_result<group_operation<Parts, Results>> {
    using type = typename group_operation<Parts, Results>::value_type;
};

} // namespace fairlead::impl::coro

namespace fairlead {

/// Starts a group on `ex`, in a coroutine of its own that awaits it.
/// Completes  (exception_ptr e, value), with what the awaited group completes with
/// Errors     as the group's; an empty executor makes the call itself throw bad_executor
/// Cancel     terminal: all parts are asked
/// Immediate  as a coroutine's
/// Lifetime   the group is moved
/// Threads    any
/// Allocates  a frame, and a block from the handler's allocator
template <io_executor Executor, class Parts, class Results, class Token = default_completion_token_t<Executor>>
decltype(auto) co_spawn(Executor const& ex, impl::coro::group_operation<Parts, Results> group, Token&& token = {}) {
    return co_spawn(ex, impl::coro::as_part(std::move(group)), std::forward<Token>(token));
}
template <execution_context_type Context, class Parts, class Results,
          class Token = default_completion_token_t<typename Context::executor_type>>
decltype(auto) co_spawn(Context& c, impl::coro::group_operation<Parts, Results> group, Token&& token = {}) {
    return co_spawn(c.get_executor(), std::move(group), std::forward<Token>(token));
}

} // namespace fairlead
