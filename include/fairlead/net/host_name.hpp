// The name of this computer.
#pragma once

#include <fairlead/base/error.hpp>

#include <string>

namespace fairlead::ip {

/// The name of this computer; inside run() of a simulated host, that host's.
FAIRLEAD_EXPORT std::string host_name();
FAIRLEAD_EXPORT std::string host_name(error_code& ec);

} // namespace fairlead::ip
