#include <fairlead/coro/operation_member.hpp>

namespace fairlead::impl::coro {

void throw_cancelled_part() {
    base::throw_error_now(error::make_error_code(error::operation_aborted), "a part of a group, which was cancelled");
}

exec::record_hooks const operation_root::hooks_of_all{
    .resume = [](await_record* r) { of(*r).resume_(of(*r)); },
    .abandon = &abandon,
    .destroy = [](await_record* r) { abandon(r); }, // It was not started.
    .is_asked =
        [](await_record& r) noexcept {
            return of(r).is_to_be_destroyed() || !!of(r).signal_.cancelled.load(std::memory_order_relaxed);
        },
    .requests = [](await_record& r) noexcept -> operation::chain_requests& { return of(r).requests_; },
    .member = [](await_record const& r) noexcept -> group_member const& {
        return static_cast<operation_root const&>(r);
    },
    .is_to_be_destroyed =
        [](await_record const& r) noexcept { return static_cast<operation_root const&>(r).is_to_be_destroyed(); },
};

operation_root::operation_root(void (*resume)(operation_root&) noexcept) noexcept
    : await_record(hooks_of_all),
      resume_(resume),
      signal_(*this),
      requests_{.parent = {}, .state = cancellation_state(signal_)} {
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

void operation_root::leave(bool failed) noexcept {
    end_ = failed ? end_of_operation::failure : end_of_operation::value;
    chain_group::chain_has_gone(*this);
    requests_.state = cancellation_state();
}

void operation_root::abandon(await_record* r) noexcept {
    r->end = exec::chain_end::awaits_bytes;
    if (r->lent)
        return; // Called again when the operation has given them back.
    chain_group::chain_has_gone(of(*r));
    of(*r).requests_.state = cancellation_state();
}

void operation_root::has_left(operation::chained_signal& s) noexcept {
    operation_root& self = static_cast<own_signal&>(s).owner;
    if (!self.group_) // It never became a member.
        return;
    chain_group& group = *self.group_;
    if (self.end_ == end_of_operation::destroyed)
        group.one_less();
    else
        group.has_ended(self, self.end_ == end_of_operation::failure);
}

} // namespace fairlead::impl::coro
