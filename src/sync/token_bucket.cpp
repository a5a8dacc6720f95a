#include <fairlead/sync/token_bucket.hpp>

#include <algorithm>

namespace fairlead::impl::sync {

token_bucket::token_bucket(bucket_shape const& s, std::int64_t now_ns) noexcept
    : tokens_(s.tokens),
      period_ns_(static_cast<std::uint64_t>(s.period_ns)),
      burst_(s.burst),
      filled_ns_(now_ns),
      content_(bucket_units(s.burst) * static_cast<std::uint64_t>(s.period_ns)) {
    FAIRLEAD_ASSERT(s.tokens != 0);
    FAIRLEAD_ASSERT(s.period_ns > 0);
}

void token_bucket::fill(std::int64_t now_ns) noexcept {
    if (now_ns <= filled_ns_)
        return;
    // Less than 2^127, as the content is: the sum of both is less than 2^128.
    auto const passed = static_cast<std::uint64_t>(now_ns) - static_cast<std::uint64_t>(filled_ns_);
    auto const come = bucket_units(passed) * tokens_;
    content_ = std::min(content_ + come, units(burst_));
    filled_ns_ = now_ns;
}

bool token_bucket::take(std::size_t n) noexcept {
    if (content_ < units(n))
        return false;
    content_ -= units(n);
    return true;
}

std::int64_t token_bucket::filled_at_ns(std::size_t n) const noexcept {
    if (content_ >= units(n))
        return filled_ns_;
    auto const wait = (units(n) - content_ + (tokens_ - 1)) / tokens_;
    auto const most = static_cast<std::uint64_t>(INT64_MAX) - static_cast<std::uint64_t>(filled_ns_);
    return wait < most ? filled_ns_ + static_cast<std::int64_t>(wait) : INT64_MAX;
}

} // namespace fairlead::impl::sync
