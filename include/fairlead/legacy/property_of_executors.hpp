// The members of every property of executors.
#pragma once

#include <fairlead/exec/function_executor.hpp>

namespace fairlead::impl::legacy {

struct property_of_executors {
    template <class T> static constexpr bool is_applicable_property_v = execution::is_executor_v<T>;
    static constexpr bool is_requirable = false;
    static constexpr bool is_preferable = false;
};

} // namespace fairlead::impl::legacy
