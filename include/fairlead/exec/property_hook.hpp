// The hook for properties of executors. A room above knows these (legacy/property_hook.hpp); executors of the library
// do not.
#pragma once

#include <cstdint>

namespace fairlead {

class any_io_executor;

namespace impl::exec {

/// Says that an executor may have no context.
struct any_executor_at_all {};

/// A property that can be asked of an executor whose type is not known any more.
enum class any_property : std::uint8_t { never, possibly, untracked, tracked, fork, continuation };

/// The answers for an executor in its memory, in a table for each type of executors that has them.
struct property_table {
    /// Each as the number of its value.
    struct values {
        std::int8_t blocking, relationship, work;
    };
    values (*query)(void const*);
    any_io_executor (*prefer)(void const*, any_property);
};

/// For executors whose type knows properties: `functions`, `never(e)`, and `promises_never`, which says whether that is
/// more than a wish. Such a type names properties, so the specialisation is there wherever the type is.
template <class E> struct property_hook {
    static constexpr property_table const* functions = nullptr;
};
/// The answers of any_io_executor itself.
struct properties_of_any;

template <class E> struct executor_table;

} // namespace impl::exec
} // namespace fairlead
