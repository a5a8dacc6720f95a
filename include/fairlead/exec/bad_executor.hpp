// The exception that says that there is no executor.
#pragma once

#include <fairlead/base/config.hpp>

#include <exception>

namespace fairlead {

/// Thrown when an empty any_io_executor is used.
class FAIRLEAD_EXPORT bad_executor : public std::exception {
public:
    char const* what() const noexcept override;
};

namespace execution {
using fairlead::bad_executor;
} // namespace execution

} // namespace fairlead
