// The associations of a completion handler: its allocator, its executors and its cancellation slot. They are found by
// member or by specialised trait.
//
// Source: P0162R0 §2.2 (allocator), §5.3 (executor); Networking TS [async.assoc].
#pragma once

#include <fairlead/base/allocator_traits.hpp>
#include <fairlead/exec/executor.hpp>
#include <fairlead/exec/inline_executor.hpp>
#include <fairlead/operation/associator.hpp>
#include <fairlead/operation/cancellation_signal.hpp>
#include <fairlead/operation/pass_on.hpp>

#include <cstddef>
#include <type_traits>

namespace fairlead {

namespace impl::operation {

template <template <class, class> class Associator, class T, class Default>
concept has_associator = requires { typename associator<Associator, T, Default>::type; };

template <class T, class D> struct association_by_default {
    using type = D;
    static type get(T const&) noexcept { return D(); }
    static type get(T const&, D const& d) noexcept { return d; }
};
template <class Member, class T, class D> struct association_by_member {
    using type = typename Member::template type_of<T>;
    static decltype(auto) get(T const& t) noexcept { return Member::get(t); }
    static decltype(auto) get(T const& t, D const&) noexcept { return Member::get(t); }
};
/// By the member of T, else as the associator says, else as ByDefault does.
template <template <class, class> class Associator, class Member, class T, class D,
          class ByDefault = association_by_default<T, D>>
consteval auto choose_association() {
    if constexpr (requires { typename Member::template type_of<T>; })
        return std::type_identity<association_by_member<Member, T, D>>{};
    else if constexpr (has_associator<Associator, T, D>)
        return std::type_identity<associator<Associator, T, D>>{};
    else
        return std::type_identity<ByDefault>{};
}

} // namespace impl::operation

// ---- allocator

template <class T, class Allocator = std::allocator<void>> struct associated_allocator;

namespace impl::operation {

struct allocator_member {
    template <class T> using type_of = typename T::allocator_type;
    template <class T> static decltype(auto) get(T const& t) noexcept { return t.get_allocator(); }
};

} // namespace impl::operation

/// Where an operation takes memory from: the handler's member get_allocator(), else what its associator says, else the
/// second argument. May be specialised.
template <class T, class Allocator> struct associated_allocator
    : decltype(impl::operation::choose_association<associated_allocator, impl::operation::allocator_member, T,
                                                   Allocator>())::type {};

/// The type of that allocator.
template <class T, class Allocator = std::allocator<void>> using associated_allocator_t =
    typename associated_allocator<T, Allocator>::type;

/// That allocator itself.
template <class T> associated_allocator_t<T> get_associated_allocator(T const& t) noexcept {
    return associated_allocator<T>::get(t);
}
template <class T, class Allocator>
associated_allocator_t<T, Allocator> get_associated_allocator(T const& t, Allocator const& fallback) noexcept {
    return associated_allocator<T, Allocator>::get(t, fallback);
}

// ---- executor

template <class T, class Executor = inline_executor> struct associated_executor;

namespace impl::operation {

struct executor_member {
    template <class T> using type_of = typename T::executor_type;
    template <class T> static decltype(auto) get(T const& t) noexcept { return t.get_executor(); }
};

} // namespace impl::operation

/// The executor on which a handler runs: the result of its member get_executor(), else that of its associator.
/// Otherwise it is the second argument; operations ask with that of their object. May be specialised.
template <class T, class Executor> struct associated_executor
    : decltype(impl::operation::choose_association<associated_executor, impl::operation::executor_member, T,
                                                   Executor>())::type {};

/// The type of that executor.
template <class T, class Executor = inline_executor> using associated_executor_t =
    typename associated_executor<T, Executor>::type;

/// That executor itself.
template <class T> associated_executor_t<T> get_associated_executor(T const& t) noexcept {
    return associated_executor<T>::get(t);
}
template <class T, class Executor>
    requires(!execution_context_type<Executor>)
associated_executor_t<T, Executor> get_associated_executor(T const& t, Executor const& fallback) noexcept {
    return associated_executor<T, Executor>::get(t, fallback);
}
template <class T, class Context>
    requires execution_context_type<Context>
associated_executor_t<T, typename Context::executor_type> get_associated_executor(T const& t, Context& c) noexcept {
    return associated_executor<T, typename Context::executor_type>::get(t, c.get_executor());
}

/// Work on the executor of an object, or of a handler. If the handler names none, `fallback` (an executor or context)
/// stands in. A guard of an inline_executor keeps nothing.
template <class T>
    requires(!execution::executor<T> && !execution_context_type<T>)
executor_work_guard<associated_executor_t<T>> make_work_guard(T const& t) {
    return executor_work_guard<associated_executor_t<T>>(associated_executor<T>::get(t));
}
template <class T, execution::executor Executor>
executor_work_guard<associated_executor_t<T, Executor>> make_work_guard(T const& t, Executor const& fallback) {
    return executor_work_guard<associated_executor_t<T, Executor>>(associated_executor<T, Executor>::get(t, fallback));
}
template <class T, execution_context_type Context> auto make_work_guard(T const& t, Context& fallback) {
    return make_work_guard(t, fallback.get_executor());
}

// ---- immediate executor

/// Where a handler wants to be run when its operation completes at once. A handler that names none is queued: what is
/// found for it is the fallback with blocking.never.
template <class T, class Executor = inline_executor> struct associated_immediate_executor;

namespace impl::operation {

struct no_immediate_executor {};
/// The fallback, told not to run the handler inside the call. One that cannot be told so is taken as it is.
template <class T, class D> struct immediate_by_default : association_by_default<T, D> {};
template <class T, class D>
    requires(!std::same_as<D, inline_executor> && exec::can_be_never_inline<D>)
struct immediate_by_default<T, D> {
    using type = std::decay_t<decltype(exec::never_inline(std::declval<D const&>()))>;
    static type get(T const&, D const& d) noexcept { return exec::never_inline(d); }
};
/// How the library asks whether there is one.
template <class T, std::same_as<inline_executor> D> struct immediate_by_default<T, D> {
    using type = no_immediate_executor;
    static type get(T const&) noexcept { return {}; }
    static type get(T const&, inline_executor const&) noexcept { return {}; }
};
struct immediate_executor_member {
    template <class T> using type_of = typename T::immediate_executor_type;
    template <class T> static decltype(auto) get(T const& t) noexcept { return t.get_immediate_executor(); }
};

} // namespace impl::operation

template <class T, class Executor> struct associated_immediate_executor
    : decltype(impl::operation::choose_association<associated_immediate_executor,
                                                   impl::operation::immediate_executor_member, T, Executor,
                                                   impl::operation::immediate_by_default<T, Executor>>())::type {};

/// The type of that executor.
template <class T, class Executor = inline_executor> using associated_immediate_executor_t =
    typename associated_immediate_executor<T, Executor>::type;

/// That executor itself; without one of its own, `ex` without blocking.
template <class T, class Executor>
    requires(!execution_context_type<Executor>)
associated_immediate_executor_t<T, Executor> get_associated_immediate_executor(T const& t,
                                                                               Executor const& ex) noexcept {
    return associated_immediate_executor<T, Executor>::get(t, ex);
}
template <class T, execution_context_type Context> associated_immediate_executor_t<T, typename Context::executor_type>
get_associated_immediate_executor(T const& t, Context& c) noexcept {
    return associated_immediate_executor<T, typename Context::executor_type>::get(t, c.get_executor());
}

// ---- cancellation slot

/// Through which slot an operation hears that it is to end early. A handler that names none is never disturbed.
template <class T, class Slot = cancellation_slot> struct associated_cancellation_slot;

namespace impl::operation {

struct cancellation_slot_member {
    template <class T> using type_of = typename T::cancellation_slot_type;
    template <class T> static decltype(auto) get(T const& t) noexcept { return t.get_cancellation_slot(); }
};

} // namespace impl::operation

template <class T, class Slot> struct associated_cancellation_slot
    : decltype(impl::operation::choose_association<associated_cancellation_slot,
                                                   impl::operation::cancellation_slot_member, T, Slot>())::type {};

/// The type of that slot.
template <class T, class Slot = cancellation_slot> using associated_cancellation_slot_t =
    typename associated_cancellation_slot<T, Slot>::type;

/// That slot itself.
template <class T> associated_cancellation_slot_t<T> get_associated_cancellation_slot(T const& t) noexcept {
    return associated_cancellation_slot<T>::get(t);
}
template <class T, class Slot>
associated_cancellation_slot_t<T, Slot> get_associated_cancellation_slot(T const& t, Slot const& fallback) noexcept {
    return associated_cancellation_slot<T, Slot>::get(t, fallback);
}

namespace impl::operation {

/// Nobody can ask for this.
struct no_cancellation_slot {
    constexpr bool is_connected() const noexcept { return false; }
};

/// True when T names a slot, even if it turns out to belong to no signal.
template <class T> inline constexpr bool has_cancellation_slot =
    !std::is_same_v<associated_cancellation_slot_t<T, no_cancellation_slot>, no_cancellation_slot>;

/// True when T wants to be run at once where an operation completes at once.
template <class T> inline constexpr bool has_immediate_executor =
    !std::is_same_v<associated_immediate_executor_t<T>, no_immediate_executor>;

/// True when T names an executor of its own, whatever it is.
template <class T> inline constexpr bool has_own_executor = !std::is_same_v<associated_executor_t<T>, inline_executor>;

template <class H> using handler_allocator = associated_allocator_t<H, recycling_allocator<void>>;

template <class T, class H> auto handler_allocator_for(H const& h) noexcept {
    using allocator = handler_allocator<H>;
    return typename std::allocator_traits<allocator>::template rebind_alloc<T>(
        get_associated_allocator(h, recycling_allocator<void>()));
}

/// True when the memory of a handler's operations comes from the recycler. Then no allocator is made: that would be six
/// functions for each operation with each handler, which a program compiles and which do nothing.
template <class H> inline constexpr bool takes_from_recycler =
    std::is_same_v<handler_allocator<H>, recycling_allocator<void>>;

/// Takes memory for a T from the allocator of `h` and makes one; the memory goes back when the constructor throws.
template <class T, class H, class... Args> T* allocate_with(H const& h, Args&&... args) {
    if constexpr (takes_from_recycler<H>) {
        static_assert(alignof(T) <= 16, "over-aligned types need an allocator of their own");
        void* const p = exec::recycle_allocate(sizeof(T));
        try {
            return ::new (p) T(std::forward<Args>(args)...);
        } catch (...) {
            exec::recycle_free_sized(p, sizeof(T));
            throw;
        }
    } else {
        auto allocator = handler_allocator_for<T>(h);
        T* p = std::to_address(allocator.allocate(1));
        try {
            return ::new (static_cast<void*>(p)) T(std::forward<Args>(args)...);
        } catch (...) {
            allocator.deallocate(p, 1);
            throw;
        }
    }
}

/// Gives the memory of `p` back; `h` is the handler that was moved out of it.
template <class T, class H> void deallocate_with(H const& h, T* p) noexcept {
    if constexpr (takes_from_recycler<H>) {
        p->~T();
        exec::recycle_free_sized(p, sizeof(T));
    } else {
        auto allocator = handler_allocator_for<T>(h); // before *p goes, in which h may lie
        p->~T();
        allocator.deallocate(p, 1);
    }
}

/// The unit of blocks whose size only the program knows.
using block_unit = std::max_align_t;
constexpr std::size_t block_units(std::size_t bytes) noexcept {
    return (bytes + sizeof(block_unit) - 1) / sizeof(block_unit);
}

/// The `extra` bytes behind an object in a block of allocate_with_extra_bytes() begin here.
template <class T> void* extra_bytes_behind(T* p) noexcept {
    return reinterpret_cast<block_unit*>(p) + block_units(sizeof(T));
}
template <class T, class H, class... Args> T* allocate_with_extra_bytes(H const& h, std::size_t extra, Args&&... args) {
    static_assert(alignof(T) <= alignof(block_unit));
    auto allocator = handler_allocator_for<block_unit>(h);
    auto const n = block_units(sizeof(T)) + block_units(extra);
    auto* const p = std::to_address(allocator.allocate(n));
    try {
        return ::new (static_cast<void*>(p)) T(std::forward<Args>(args)...);
    } catch (...) {
        allocator.deallocate(p, n);
        throw;
    }
}
template <class T, class H> void deallocate_with_extra_bytes(H const& h, T* p, std::size_t extra) noexcept {
    auto allocator = handler_allocator_for<block_unit>(h);
    p->~T();
    allocator.deallocate(reinterpret_cast<block_unit*>(p), block_units(sizeof(T)) + block_units(extra));
}

} // namespace impl::operation
} // namespace fairlead
