#include <fairlead/coro/operation_member.hpp>

namespace fairlead::impl::coro {

void throw_cancelled_part() {
    base::throw_error_now(error::make_error_code(error::operation_aborted), "a part of a group, which was cancelled");
}

exec::record_hooks const operation_root::hooks_of_all{
    .resume = [](await_record* r) { static_cast<operation_root*>(r)->resume_(static_cast<operation_root&>(*r)); },
    .abandon = &abandon,
    .destroy = [](await_record* r) { abandon(r); }, // It was not started.
    .is_asked = &hooks_of_member<operation_root>::is_asked,
    .requests = &hooks_of_member<operation_root>::requests,
    .member = &hooks_of_member<operation_root>::member,
    .is_to_be_destroyed = &hooks_of_member<operation_root>::is_to_be_destroyed,
};

operation_root::operation_root(void (*resume)(operation_root&) noexcept) noexcept
    : await_record(hooks_of_all),
      resume_(resume) {
    notes = can_be_asked | is_member;
}

void operation_root::ask(cancellation_type type) {
    signal_.remember(type);
    signal_.ask(type);
}

bool operation_root::ask_in_place(cancellation_type type) noexcept {
    signal_.remember(type);
    return signal_.ask_awaited(type);
}

void operation_root::abandon(await_record* r) noexcept {
    r->end = exec::chain_end::awaits_bytes;
    if (!r->lent) // Otherwise this is called again when the operation has given them back.
        static_cast<operation_root*>(r)->leave(member_end::destroyed);
}

} // namespace fairlead::impl::coro
