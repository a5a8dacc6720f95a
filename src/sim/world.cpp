#include <fairlead/sim/world.hpp>

#include "driver.hpp"

#include <chrono>
#include <stdexcept>
#include <string>

namespace fairlead::sim {

struct world::parts {
    explicit parts(std::uint64_t s) : seed(s), net(s), context(make_driver(net)) {}

    std::uint64_t seed;
    network net;
    io_context context; // goes before the network
};

world::world(std::uint64_t seed) : parts_(std::make_unique<parts>(seed)) {}
world::~world() = default;

io_context& world::context() noexcept { return parts_->context; }

std::size_t world::run() {
    auto& p = *parts_;
    p.net.verdict = verdict::none;
    p.net.steps = 0;
    p.context.restart();
    auto const n = p.context.run();
    if (p.net.verdict == verdict::none)
        return n;
    auto const where = "simulated world with seed " + std::to_string(p.seed) + " at " + seconds(p.net.now_ns()) + ": ";
    auto const why = p.net.verdict == verdict::stuck
                         ? std::string("operations wait, but nothing is left that could complete them")
                         : "no end after " + std::to_string(p.net.steps_most) + " steps";
    throw std::runtime_error(where + why + "\nwaiting:\n" + p.net.waiting() + "last events:\n" +
                             p.net.trace.last_lines());
}

steady_clock::time_point world::now() const noexcept { return parts_->context.now(); }
std::uint64_t world::seed() const noexcept { return parts_->seed; }
std::uint64_t world::digest() const noexcept { return parts_->net.trace.digest(); }
counters const& world::counts() const noexcept { return parts_->net.counts; }

void world::add_name(std::string_view name, std::string_view address) {
    error_code ec;
    auto const a = ip::make_address(address, ec);
    detail::throw_error(ec, "sim::world::add_name");
    parts_->net.add_name(name, a);
}

void world::step_limit(std::uint64_t most) noexcept { parts_->net.steps_most = most; }

} // namespace fairlead::sim
