#pragma once

#include <asio/fairlead.hpp>

#include <chrono>

namespace fairlead {
namespace chrono = std::chrono; // Asio has it since before there was <chrono>; its tutorials still use it.
}
