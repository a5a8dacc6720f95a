// A simulated world, and coroutines of it that wait for one another.
#pragma once

#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>

#include <gtest/gtest.h>

#include <string>

namespace waiting {

using namespace fairlead;
using namespace std::chrono_literals;

class World : public testing::Test {
public:
    template <class F> void spawn(F f) { co_spawn(context, std::move(f), rethrow); }
    /// Whole seconds: in a simulated world what runs takes a little time, too.
    std::chrono::seconds passed() const { return std::chrono::floor<std::chrono::seconds>(world.now() - created); }
    awaitable<void> sleep(steady_clock::duration d) {
        steady_timer t(context, d);
        co_await t.async_wait();
    }

    sim::world world{1};
    io_context& context = world.context();
    steady_clock::time_point const created = world.now();
    std::string log;
};

} // namespace waiting
