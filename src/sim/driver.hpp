// The door between a host's context and the simulated network.
#pragma once

#include "network.hpp"

namespace fairlead::sim {

/// Both outlive the driver.
fairlead::impl::base::owned<io::driver> make_driver(network& n, host_state& m);

} // namespace fairlead::sim
