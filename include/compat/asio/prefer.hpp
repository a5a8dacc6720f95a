#pragma once

#include <fairlead/exec/property.hpp>

#include <asio/fairlead.hpp>
