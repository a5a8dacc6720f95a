// execution::occupancy.
#pragma once

#include <fairlead/legacy/property_of_executors.hpp>

#include <cstddef>

namespace fairlead::execution {

/// How many functions an executor runs at the same time.
struct occupancy_t : impl::legacy::property_of_executors {
    using polymorphic_query_result_type = std::size_t;
};
/// `query(ex, execution::occupancy)`
inline constexpr occupancy_t occupancy{};

} // namespace fairlead::execution
