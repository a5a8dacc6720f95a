#pragma once

#include <fairlead/legacy/occupancy_property.hpp>

#include <asio/fairlead.hpp>
