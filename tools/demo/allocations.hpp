// How often the calling thread has called global operator new.
#pragma once

#include <cstdint>

namespace demo {

std::uint64_t allocations_of_this_thread() noexcept;

} // namespace demo
