#pragma once

#include <fairlead/exec/properties.hpp>

#include <asio/fairlead.hpp>
