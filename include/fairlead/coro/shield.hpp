// shield: clean-up that goes on when its coroutine has been asked to end.
#pragma once

#include <fairlead/coro/group_operation.hpp>

namespace fairlead {
namespace impl::coro {

/// The result of the one part.
struct shielded_result {
    static constexpr group_end asks_at = group_end::of_all;
    static constexpr bool waits_for_members = true;
    template <class Parts> static decltype(auto) of(Parts& parts, group_member const*) {
        return std::get<0>(parts.gather([](auto& member) { return member.take(); })).value();
    }
};

} // namespace impl::coro

/// `co_await shield(s.async_shutdown())` performs an operation, a coroutine or a group to its end. It does so also in a
/// coroutine that has been asked to end, before or meanwhile: the next await after it hears of that. Give it a limit of
/// its own: `co_await shield(cancel_after(2s, say_goodbye()))`.
/// Completes  with what the part completes with
/// Errors     as the part's
/// Cancel     the part hears nothing of it. The destruction of the whole chain reaches it
/// Immediate  does not suspend if the part completes at once
/// Lifetime   the part is moved; it runs with the awaiting coroutine's executor
/// Threads    as the awaiting coroutine
/// Allocates  nothing; for a part that is a group a frame
template <impl::coro::group_part Part>
    requires(!std::is_lvalue_reference_v<Part>)
auto shield(Part&& part) {
    using parts = impl::coro::fixed_parts<Part>;
    return impl::coro::group_operation<parts, impl::coro::shielded_result>(std::in_place, std::move(part));
}

/// Nothing else is shielded.
template <class Part>
    requires(!impl::coro::group_part<Part> || std::is_lvalue_reference_v<Part>)
FAIRLEAD_REFUSED("shield() takes an operation, an awaitable or a group: move one that has a name")
impl::coro::refused_group shield(Part&&) {
    return {};
}

} // namespace fairlead
