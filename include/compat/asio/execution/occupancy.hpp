#pragma once

#include <fairlead/exec/occupancy_property.hpp>

#include <asio/fairlead.hpp>
