#pragma once

#include <fairlead/legacy/property.hpp>

#include <asio/fairlead.hpp>
