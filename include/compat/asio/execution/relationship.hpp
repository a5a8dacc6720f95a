#pragma once

#include <fairlead/legacy/properties.hpp>

#include <asio/fairlead.hpp>
