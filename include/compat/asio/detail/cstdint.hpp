#pragma once

#include <asio/detail/config.hpp>

#include <cstdint>

namespace fairlead {

using std::int16_t;
using std::int32_t;
using std::int64_t;
using std::int_least16_t;
using std::int_least32_t;
using std::int_least64_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint_least16_t;
using std::uint_least32_t;
using std::uint_least64_t;
using std::uintmax_t;
using std::uintptr_t;

} // namespace fairlead
