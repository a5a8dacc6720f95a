// The names of stdexec that senders of this library speak. They are only declared, so that nothing of it is needed.
// Each file of a program thus means the same, whether it includes stdexec or not
// (docs/decisions/034-operations-are-senders.md).
#pragma once

#include <exception>

namespace stdexec {
struct set_value_t;
struct set_error_t;
struct set_stopped_t;
template <class... Signatures> struct completion_signatures;
struct get_stop_token_t;
struct get_scheduler_t;
struct get_start_scheduler_t;
struct get_allocator_t;
} // namespace stdexec

namespace fairlead::impl::sender {

/// The ends of an operation in the words of stdexec, for a signature or a sender. stdexec asks for them, and nobody
/// else.
template <class Of> struct foreign_signatures;

} // namespace fairlead::impl::sender
