#pragma once

#include <asio/fairlead.hpp>

#include <string_view>

namespace fairlead {
using std::basic_string_view; // From before every library had them; libraries for Asio name delimiters so.
using std::string_view;
} // namespace fairlead
