#include <fairlead/io/io_context.hpp>

#include <fairlead/io/metrics.hpp>

#include <algorithm>
#include <limits>

namespace fairlead {
namespace {

constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

/// 0 means "do not wait", and what is less has no limit. A time that has passed is neither.
std::int64_t limit_ns(std::int64_t deadline_ns) noexcept { return std::max<std::int64_t>(deadline_ns, 1); }

} // namespace

io_context::io_context() : io_context(-1) {}
io_context::io_context(int concurrency_hint) : io_context(io::make_driver()) {
    if (concurrency_hint != 1)
        impl::exec::shares::prepare_early();
}
io_context::io_context(impl::base::owned<io::driver> d) : loop_(io_loop::make(*this, std::move(d))) {}
io_context::io_context(impl::exec::context_memory_ref memory)
    : execution_context(std::move(memory)),
      loop_(io_loop::make(*this, io::make_driver(impl::exec::service_access::memory_of(*this)))) {}
io_context::io_context(service_maker const& initial, int concurrency_hint) : io_context(concurrency_hint) {
    initial.make(*this);
}
io_metrics io_context::metrics() const noexcept {
    auto const c = counters();
    auto const y = yields();
    return {.turns = c.turns,
            .items = c.items,
            .polls = c.polls,
            .sleeps = c.sleeps,
            .spins = c.spins,
            .spins_in_vain = c.spins_in_vain,
            .system_calls = c.system_calls,
            .posts_remote = c.posts_remote,
            .timers_expired = c.timers_expired,
            .verifications = c.verifications,
            .yields_budget = y.budget,
            .yields_deadline = y.deadline,
            .yields_remote = y.remote,
            .operations_pending = loop_->reactor().pending(),
            .timers_pending = loop_->timers_pending()};
}
io_context::~io_context() {
    shutdown();
    loop_->abandon_all();
    destroy();
    loop_->retire(); // Also what destructors of services started or closed.
    loop_->release();
}

io_context::service::~service() = default;
void io_context::service::shutdown() {}

void io_context::on_fork(fork_event event) {
    if (auto const r = loop_->notify_fork(event); r.error)
        impl::base::throw_error({r.error, error::get_system_category()}, "io_context::notify_fork");
}

std::size_t io_context::run() { return loop_->run_until_ns(all, -1); }
std::size_t io_context::run_one() { return loop_->run_until_ns(1, -1); }
std::size_t io_context::poll() { return loop_->run_until_ns(all, 0); }
std::size_t io_context::poll_one() { return loop_->run_until_ns(1, 0); }
std::size_t io_context::run_until_ns(std::int64_t deadline_ns) {
    return loop_->run_until_ns(all, limit_ns(deadline_ns));
}
std::size_t io_context::run_one_until_ns(std::int64_t deadline_ns) {
    return loop_->run_until_ns(1, limit_ns(deadline_ns));
}

} // namespace fairlead
