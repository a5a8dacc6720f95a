// The properties of initiations, and the functions that ask for them. Does the operation hear requests to end early?
// Where does it run? Can the calling thread perform it?
#pragma once

#include <fairlead/base/config.hpp>
#include <fairlead/exec/cancellation_type.hpp>

#include <concepts>

namespace fairlead {

class loop;
class loop_executor;
struct op;

namespace impl::operation {

/// Records that can be asked to end early have a function `cancellation_of(record, loop)`, found by their namespace. It
/// returns an object with three members. `accepts` are the types that are honoured. `request(record)` is for any
/// thread while the op cannot go. It waits for no other one: the caller may hold a lock that the op's end takes.
/// `end(record)` is for the owner of the loop while the op lives, pending or not.
template <class Record>
concept cancellable_record = requires(Record& r, loop& l) {
    { cancellation_of(r, l).accepts } -> std::convertible_to<cancellation_type>;
    cancellation_of(r, l).request(r);
};

/// Initiations whose operation hears the request of a slot. Those of users do, for all that is known; those that do not
/// say so by a member `is_cancellable`, and primitives by their record.
template <class I> consteval bool can_be_cancelled() {
    if constexpr (requires { I::is_cancellable; })
        return I::is_cancellable;
    else if constexpr (requires { typename I::record; })
        return cancellable_record<typename I::record>;
    else
        return true;
}

/// Initiations that hear no request and need none: they wait for nothing but their turn, and say so by `only_queues`.
template <class I>
concept only_queues = requires { requires I::only_queues; };
/// Initiations that take a time limit, a slot or a stop token: those that only queue complete in their turn all the
/// same.
template <class I> consteval bool takes_requests() { return can_be_cancelled<I>() || only_queues<I>; }

/// Initiations that say where they run: by an executor, or, those of the library, by their loop.
template <class I>
concept names_executor = requires(I const& i) { i.get_executor(); } || requires(I const& i) { i.home(); };
template <names_executor I> auto executor_of(I const& i) noexcept {
    if constexpr (requires { i.get_executor(); })
        return i.get_executor();
    else
        return loop_executor(i.home());
}

/// Operations that can be performed in the calling thread, in one of three forms: block_as<Values>() of adapters,
/// block() for values without a default constructor, block(values).
template <class I, class Values>
concept can_block = requires(I& i) { i.template block_as<Values>(); } || requires(I& i) {
    { i.block() } -> std::same_as<Values>;
} || requires(I& i, Values& v) { i.block(v); };

template <class Values, class I>
    requires can_block<I, Values>
Values perform_blocking(I& i) {
    if constexpr (requires { i.template block_as<Values>(); }) {
        return i.template block_as<Values>();
    } else if constexpr (requires {
                             { i.block() } -> std::same_as<Values>;
                         }) {
        return i.block();
    } else {
        Values v;
        i.block(v);
        return v;
    }
}

/// Initiations that copied their arguments without an exception, and say whether there was memory for that.
template <class Init>
concept may_lack_memory = requires(Init const& i) {
    { i.lacks_memory() } -> std::same_as<bool>;
};

/// Throws std::bad_alloc: an operation that there was no memory for is started.
[[noreturn]] FAIRLEAD_EXPORT void start_without_memory();

// ---- primitives (operation/initiate.hpp)

template <class Init>
concept primitive_initiation = requires { typename Init::primitive_tag; };
/// Those that any thread may try, whoever owns the loop: they wait for no driver.
template <class Init>
concept tried_anywhere = requires { requires Init::is_tried_anywhere; };
template <class Init>
concept takes_here = requires(Init const& i, typename Init::record& r) { i.take_here(r); };

} // namespace impl::operation
} // namespace fairlead
