// Names for the arguments of handlers made with std::bind.
#pragma once

#include <asio/fairlead.hpp>

#include <functional>

namespace fairlead::placeholders {

inline constexpr auto& error = std::placeholders::_1;
inline constexpr auto& bytes_transferred = std::placeholders::_2;
inline constexpr auto& iterator = std::placeholders::_2;
inline constexpr auto& results = std::placeholders::_2;
inline constexpr auto& endpoint = std::placeholders::_2;
inline constexpr auto& signal_number = std::placeholders::_2;

} // namespace fairlead::placeholders
