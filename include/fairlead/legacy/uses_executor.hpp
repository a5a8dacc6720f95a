// Construction with an executor.
#pragma once

#include <type_traits>

namespace fairlead {

/// Says that the argument behind it is an executor, in constructors.
struct executor_arg_t {
    constexpr executor_arg_t() noexcept = default;
};
/// The only value of its type.
inline constexpr executor_arg_t executor_arg{};

/// Whether T can be constructed with executor_arg and an Executor: false unless it is specialised.
template <class T, class Executor> struct uses_executor : std::false_type {};

} // namespace fairlead
