#include <redis/endings.hpp>

#include <fairlead/exec/short_lock.hpp>
#include <fairlead/redis/unexpected_error.hpp>

#include <array>
#include <mutex>
#include <utility>

namespace fairlead::redis {
namespace impl {
namespace {

struct ending {
    std::uint32_t number = 0;
    std::shared_ptr<std::string const> events;
};

struct endings {
    fairlead::impl::exec::short_lock lock;
    std::uint32_t last = 0;
    std::array<ending, 16> all;
};

endings& of_process() {
    static endings e;
    return e;
}

constexpr std::uint32_t number_max = UINT32_MAX / 2; // A place in a multiplexer's ring is larger.

} // namespace

std::uint32_t note_ending(std::string&& events) noexcept {
    try {
        auto text = std::make_shared<std::string const>(std::move(events));
        auto& e = of_process();
        std::lock_guard const guard(e.lock);
        e.last = e.last % number_max + 1;
        auto& place = e.all[e.last % e.all.size()];
        place.number = e.last;
        place.events.swap(text); // The old one goes after the lock.
        return e.last;
    } catch (...) {
        return 0;
    }
}

std::shared_ptr<std::string const> find_ending(std::uint64_t number) noexcept {
    if (number == 0 || number > number_max)
        return nullptr;
    auto& e = of_process();
    std::lock_guard const guard(e.lock);
    auto const& place = e.all[number % e.all.size()];
    return place.number == number ? place.events : nullptr;
}

void forget_endings() noexcept {
    auto& e = of_process();
    decltype(e.all) old; // goes after the lock
    std::lock_guard const guard(e.lock);
    e.all.swap(old);
}

} // namespace impl

unexpected_error::unexpected_error(error_code const& ec, std::string const& what,
                                   std::shared_ptr<std::string const> events)
    : system_error(ec, what),
      events_(std::move(events)) {}
unexpected_error::~unexpected_error() = default;

} // namespace fairlead::redis
