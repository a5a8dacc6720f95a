// The door between a context and the simulated network.
#pragma once

#include "network.hpp"

namespace fairlead::sim {

/// The network outlives the driver.
std::unique_ptr<io::driver> make_driver(network& n);

} // namespace fairlead::sim
