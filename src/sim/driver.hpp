// The door between a host's context and the simulated network.
#pragma once

#include "network.hpp"

namespace fairlead::sim {

/// Both outlive the driver.
std::unique_ptr<io::driver> make_driver(network& n, machine& m);

} // namespace fairlead::sim
