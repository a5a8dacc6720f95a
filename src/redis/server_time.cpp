#include <fairlead/redis/cmd/server.hpp>

namespace fairlead::redis::impl {

using clock = std::chrono::system_clock;

error_code read_time(reply_reader& in, void* value) {
    std::pair<std::int64_t, std::int64_t> parts;
    auto const ec = in.read(parts);
    auto const since = std::chrono::seconds(parts.first) + std::chrono::microseconds(parts.second);
    *static_cast<clock::time_point*>(value) = clock::time_point(since);
    return ec;
}

error_code read_seconds(reply_reader& in, void* value) {
    std::int64_t seconds = 0;
    auto const ec = in.read(seconds);
    *static_cast<clock::time_point*>(value) = clock::time_point(std::chrono::seconds(seconds));
    return ec;
}

} // namespace fairlead::redis::impl
