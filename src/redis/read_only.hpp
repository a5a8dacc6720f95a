// May a request be sent a second time without harm, as far as the server's own table tells?
#pragma once

#include <fairlead/redis/request.hpp>

namespace fairlead::redis::impl {

/// All of its commands only read. O(bytes of the request).
bool only_reads(request const& r) noexcept;

} // namespace fairlead::redis::impl
