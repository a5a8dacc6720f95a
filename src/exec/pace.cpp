#include <fairlead/exec/pace.hpp>

namespace fairlead::impl::exec {
namespace {

constexpr std::int64_t waking_ns = 20'000;
constexpr std::int64_t tiny_ns = 150;

} // namespace

bool pace::is_worth_waking(unsigned items) const noexcept {
    return static_cast<std::int64_t>(items) * took_ns_ >= waking_ns * judged_;
}
bool pace::is_tiny() const noexcept { return judged_ >= unmeasured_most && took_ns_ < tiny_ns * judged_; }

} // namespace fairlead::impl::exec
