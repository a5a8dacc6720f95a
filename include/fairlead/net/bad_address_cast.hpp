// The exception that says that an address is of the other version.
#pragma once

#include <fairlead/base/config.hpp>

#include <typeinfo>

namespace fairlead::ip {

/// Thrown when an address is asked for as the version that it is not.
class FAIRLEAD_EXPORT bad_address_cast : public std::bad_cast {
public:
    char const* what() const noexcept override;
};

} // namespace fairlead::ip
