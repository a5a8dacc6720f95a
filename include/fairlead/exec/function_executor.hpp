// The least that an executor is: it runs functions.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace fairlead {

namespace impl::exec {

template <class T>
concept has_execute = requires(T const& e, void (*f)()) { e.execute(f); };
/// Stands for whatever allocator there is, so that asking what an executor is does not take all of <memory>.
template <class T> struct allocator_archetype {
    using value_type = T;
    allocator_archetype() = default;
    template <class U> allocator_archetype(allocator_archetype<U> const&) noexcept;
    T* allocate(std::size_t);
    void deallocate(T*, std::size_t) noexcept;
    friend bool operator==(allocator_archetype const&, allocator_archetype const&) = default;
};
/// As executors of users were written for the Networking TS.
template <class T>
concept has_post_in_place_of_execute =
    !has_execute<T> && requires(T const& e, void (*f)(), allocator_archetype<char> a) {
        e.dispatch(f, a);
        e.post(f, a);
        e.defer(f, a);
    };

// execute comes first: comparing could otherwise try to make an any_io_executor.
template <class T>
concept runs_functions =
    (has_execute<T> || has_post_in_place_of_execute<T>) && std::copy_constructible<T> && std::equality_comparable<T>;

} // namespace impl::exec

namespace execution {

/// An object that has properties of executors: it runs functions, also without a context, as in Asio. I/O objects need
/// an io_executor.
template <class T>
concept executor = impl::exec::runs_functions<T>;
/// The concept as a value.
template <class T> inline constexpr bool is_executor_v = executor<T>;
/// The concept as a type. fairlead::is_executor asks for what the Networking TS has.
template <class T> struct is_executor : std::bool_constant<is_executor_v<T>> {};

} // namespace execution

} // namespace fairlead
