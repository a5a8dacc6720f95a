// The hosts of a world, and who of them is next.
#include <fairlead/sim/world.hpp>

#include "driver.hpp"
#include "network.hpp"

#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/exec/recycler.hpp>
#include <fairlead/net/ip.hpp>
#include <fairlead/sim/allocations.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <deque>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

namespace fairlead::sim {

constinit thread_local impl::allocations* sim::impl::watched_allocations = nullptr;

host_state::host_state(network& n, std::uint32_t number, std::string_view called, impl::starter program,
                       bool serves_others)
    : net(n),
      face(*this),
      id(number),
      name(called),
      start(std::move(program)),
      serves(serves_others),
      disk(n),
      context(make_driver(n, *this)) {
    // 10.0.0.1 and fd00::1 are the first that add_host() makes.
    v4 = ip::address_v4(0x0a000000U + number);
    ip::address_v6::bytes_type b{0xfd};
    b[14] = static_cast<unsigned char>(number >> 8);
    b[15] = static_cast<unsigned char>(number);
    v6 = ip::address_v6(b);
}
host_state::~host_state() = default;

struct world::parts {
    parts(std::uint64_t s, std::string_view settings) : seed(s), net(s, settings), own(s, 1000) {}

    host_state& add(std::string_view name, impl::starter start, bool serves) {
        hosts.push_back(std::make_unique<host_state>(net, static_cast<std::uint32_t>(hosts.size()), name,
                                                     std::move(start), serves));
        auto& m = *hosts.back();
        m.act = [this, &m](deed d) { between_turns([this, &m, d] { perform(m, d); }); };
        net.join(m);
        return m;
    }

    /// Now if no program runs, otherwise as soon as the current turn is over, in the order of the calls.
    template <class F> void between_turns(F f) {
        if (!in_turn)
            return f();
        after_turn.push_back(std::move(f));
        net.actions.at(net.now_ns(), [this] {
            auto const next = std::move(after_turn.front());
            after_turn.pop_front();
            next();
        });
    }

    void start(host_state& m) {
        if (!m.start)
            return;
        m.is_done = false;
        net.trace.note(net.now_ns(), m.id, what::started, ++m.boot);
        m.start(m.face, [&m, boot = m.boot](std::exception_ptr e) {
            if (boot != m.boot)
                return;
            m.is_done = true;
            if (e)
                std::rethrow_exception(e);
        });
    }

    void end_process(host_state& m, bool silently) {
        if (!m.is_up)
            return;
        net.trace.note(net.now_ns(), m.id, silently ? what::crashed : what::killed, m.boot);
        ++m.boot; // Its later reports are ignored.
        m.is_up = !silently && m.is_up;
        m.is_paused = false;
        m.starved_until_ns = 0;
        // First the descriptors: a dying process says nothing any more, whatever its destructors try.
        net.shut(m, silently);
        if (silently)
            m.disk.lose_power();
        m.context.abandon_all();
        net.shut(m, silently);
        m.signals.end();
        m.is_done = true;
    }

    void perform(host_state& m, deed d) {
        switch (d) {
        case deed::kill: return end_process(m, false);
        case deed::crash: return end_process(m, true);
        case deed::restart:
            end_process(m, false);
            m.is_up = true;
            return start(m);
        case deed::pause:
        case deed::resume:
            m.is_paused = d == deed::pause;
            net.trace.note(net.now_ns(), m.id, m.is_paused ? what::paused : what::resumed, m.boot);
        }
    }

    /// Nothing of it will ever happen again by itself.
    bool is_quiet(host_state& m) {
        auto const l = m.context.as_loop().look();
        if (!m.is_up || m.context.stopped())
            return true;
        return !l.runnable && l.deadline_ns >= network::never_ns && is_passive(m, l.promised);
    }
    /// It waits for nothing but clients.
    bool is_passive(host_state& m, bool promised) {
        if (m.pending == 0)
            return !promised;
        return net.waiting_for_clients(m) == m.pending;
    }

    bool runnable(host_state& m) {
        if (!m.may_run(net.now_ns()) || m.context.stopped())
            return false;
        auto const l = m.context.as_loop().look();
        return l.runnable || (l.deadline_ns < network::never_ns && l.deadline_ns <= m.clock.steady_ns(net.now_ns()));
    }

    host_state* next() {
        std::uint32_t n = 0;
        for (auto const& m : hosts)
            n += runnable(*m);
        if (n == 0)
            return nullptr;
        auto chosen = net.time.pick(n);
        for (auto const& m : hosts)
            if (runnable(*m) && chosen-- == 0)
                return m.get();
        return nullptr;
    }

    /// When something happens next, if nothing is runnable now.
    std::int64_t next_time() {
        auto t = net.time.next_event_ns();
        for (auto const& m : hosts) {
            if (!m->is_up || m->is_paused || m->context.stopped())
                continue;
            auto const l = m->context.as_loop().look();
            auto at = l.runnable                          ? net.now_ns()
                      : l.deadline_ns < network::never_ns ? m->clock.world_ns(l.deadline_ns)
                                                          : network::never_ns;
            if (at < network::never_ns)
                t = std::min(t, std::max(at, m->starved_until_ns));
        }
        return t;
    }

    /// True: everything is done. False: the limit has come.
    bool run(std::int64_t limit_ns) {
        net.verdict = verdict::none;
        net.time.steps = 0;
        auto& first = hosts.front()->context;
        first.restart();
        // Between the turns, too, the library's clock shows the world's time.
        auto& current = fairlead::impl::exec::this_thread.current;
        loop* const outer = std::exchange(current, &first.as_loop());
        fairlead::impl::base::at_scope_end const restored([&current, outer] { current = outer; });
        bool busy = false;
        bool const has_servers = std::any_of(hosts.begin(), hosts.end(), [](auto const& m) { return m->serves; });
        for (;;) {
            // As soon as what comes first is due.
            net.deliver();
            if (net.time.steps > net.time.steps_most)
                fail(verdict::too_many_steps);
            if (has_servers &&
                std::all_of(hosts.begin(), hosts.end(), [&](auto const& m) { return m->serves || is_quiet(*m); }) &&
                !net.actions.has_any())
                return true;
            if (host_state* const m = next()) {
                if (net.faults.happens(rule::starve)) {
                    auto const ns = std::int64_t{1} + net.faults.stream(rule::starve).below(10'000'000);
                    m->starved_until_ns = net.now_ns() + ns;
                    net.trace.note(net.now_ns(), m->id, what::starved, static_cast<std::uint64_t>(ns));
                    continue;
                }
                // A busy host takes time; events that are due at one instant happen at that instant.
                if (std::exchange(busy, true))
                    net.time.pass(net.time.turn_time());
                run_turn(*m);
                if (net.verdict != verdict::none)
                    fail(net.verdict);
                if (first.stopped())
                    return true;
                continue;
            }
            busy = false;
            auto const t = next_time();
            if (t > limit_ns || (t == network::never_ns && limit_ns != network::never_ns)) {
                net.jump(limit_ns);
                return t == network::never_ns && all_quiet();
            }
            if (t == network::never_ns) {
                if (!all_quiet())
                    fail(verdict::stuck);
                return true;
            }
            net.jump(t);
        }
    }

    bool all_quiet() {
        return std::all_of(hosts.begin(), hosts.end(), [&](auto const& m) { return is_quiet(*m); });
    }

    void run_turn(host_state& m) {
        in_turn = true;
        fairlead::impl::base::at_scope_end const turn_over([this] { in_turn = false; });
        impl::allocation_watch const watch(allocations);
        handlers += m.context.as_loop().turn();
    }

    [[noreturn]] void fail(sim::verdict v) {
        auto const where = "simulated world with seed " + std::to_string(seed) + " at " + seconds(net.now_ns()) + ": ";
        auto const why = v == verdict::stuck
                             ? std::string("operations wait, but nothing is left that could complete them")
                             : "no end after " + std::to_string(net.time.steps_most) + " steps";
        throw std::runtime_error(where + why + "\nwaiting:\n" + net.waiting() + "last events:\n" + last_events());
    }

    std::string last_events() const {
        return net.trace.last_lines([&](std::uint32_t host) { return std::string_view(hosts[host]->name); });
    }

    std::uint64_t seed;
    network net;
    random_stream own;
    impl::allocations allocations;
    bool in_turn = false;
    std::deque<std::function<void()>> after_turn; ///< actions at one time have no order of their own
    std::size_t handlers = 0;
    std::vector<std::unique_ptr<host_state>> hosts; // go before the network
};

world::world(std::uint64_t seed, std::string_view settings) : parts_(std::make_unique<parts>(seed, settings)) {
    parts_->add("localhost", nullptr, false);
}
world::~world() = default;

// ---- hosts

host& world::add(std::string_view name, impl::starter start, bool serves) {
    auto& p = *parts_;
    auto& m = p.add(name, std::move(start), serves);
    p.net.zone.add(name, m.v4, {});
    p.start(m);
    return m.face;
}

io_context& world::context() noexcept { return parts_->hosts.front()->context; }
host& world::localhost() noexcept { return parts_->hosts.front()->face; }

std::string_view host::name() const noexcept { return state_.name; }
ip::address_v4 host::address() const noexcept { return state_.v4; }
ip::address_v6 host::address_v6() const noexcept { return state_.v6; }
io_context& host::context() noexcept { return state_.context; }
sim::disk& host::disk() noexcept { return state_.disk; }
bool host::is_up() const noexcept { return state_.is_up; }
bool host::is_done() const noexcept { return state_.is_done; }
void host::kill() { state_.act(deed::kill); }
void host::crash() { state_.act(deed::crash); }
void host::restart() { state_.act(deed::restart); }
void host::pause() { state_.act(deed::pause); }
void host::resume() { state_.act(deed::resume); }
bool host::raise(int number) noexcept {
    if (!state_.is_up || !state_.signals.raise(number))
        return false;
    state_.net.trace.note(state_.net.now_ns(), state_.id, what::signalled, static_cast<std::uint64_t>(number));
    return true;
}
void host::descriptor_limit(std::size_t most) noexcept { state_.descriptors_most = most; }
void host::clock_drift(int ppm) noexcept {
    state_.clock.drift(state_.net.now_ns(), std::clamp(ppm, -500'000, 500'000));
}
void host::jump_wall_clock(std::chrono::nanoseconds by) noexcept { state_.clock.jump(by); }

// ---- time

std::size_t world::run() {
    auto const before = parts_->handlers;
    parts_->run(network::never_ns);
    return parts_->handlers - before;
}
bool world::run_for(std::chrono::nanoseconds d) {
    // At the end of time a world that waits for nothing would be stuck; one that is run for so long is just quiet.
    return parts_->run(std::min(timeline::later(parts_->net.now_ns(), d), network::never_ns - 1));
}

void world::at(std::chrono::nanoseconds since_beginning, std::function<void()> action) {
    parts_->net.actions.at(timeline::later(network::beginning_ns, since_beginning), std::move(action));
}

steady_clock::time_point world::now() const noexcept {
    return steady_clock::time_point(
        std::chrono::duration_cast<steady_clock::duration>(std::chrono::nanoseconds(parts_->net.now_ns())));
}
std::chrono::nanoseconds world::elapsed() const noexcept {
    return std::chrono::nanoseconds(parts_->net.now_ns() - network::beginning_ns);
}

// ---- network

void world::partition(host& a, host& b) {
    partition_one_way(a, b);
    partition_one_way(b, a);
}
void world::partition_one_way(host& from, host& to) { parts_->net.links.cut(from.state_, to.state_, true); }
void world::isolate(host& h) {
    for (auto const& m : parts_->hosts)
        if (m.get() != &h.state_)
            partition(h, m->face);
}
void world::heal() { parts_->net.links.heal(); }
void world::heal(host& a, host& b) {
    parts_->net.links.cut(a.state_, b.state_, false);
    parts_->net.links.cut(b.state_, a.state_, false);
}
void world::set_link(host& a, host& b, link_options const& o) {
    set_link_one_way(a, b, o);
    set_link_one_way(b, a, o);
}
void world::set_link_one_way(host& from, host& to, link_options const& o) {
    parts_->net.links.set(from.state_, to.state_, o);
}

void world::add_name(std::string_view name, std::string_view address, std::chrono::nanoseconds ttl) {
    error_code ec;
    auto const a = ip::make_address(address, ec);
    fairlead::impl::base::throw_error(ec, "sim::world::add_name");
    parts_->net.zone.add(name, a, ttl);
}
void world::remove_name(std::string_view name) { parts_->net.zone.remove(name); }

// ---- faults

void world::allow(rule r) { parts_->net.faults.allow(r); }
void world::allow_everything() {
    for (auto i = first_drastic_rule; i != rules; ++i)
        allow(static_cast<rule>(i));
}
void world::set(rule r, std::uint32_t of_1024) { parts_->net.faults.set(r, of_1024); }

void world::calm() {
    auto& p = *parts_;
    p.net.links.heal();
    p.net.faults.end();
    for (auto const& m : p.hosts) {
        m->starved_until_ns = 0;
        if (m->is_paused)
            m->face.resume();
        if (!m->is_up)
            m->face.restart();
    }
}

void world::fail_allocation(std::uint64_t n) noexcept {
    fairlead::impl::exec::recycler_trim(); // Blocks of earlier runs must not decide which allocation is the n-th.
    parts_->allocations.fail_at(n);
}
bool world::allocation_has_failed() const noexcept { return parts_->allocations.has_failed(); }

// ---- chance

std::uint64_t world::choose(std::string_view name, std::uint64_t least, std::uint64_t most) {
    return parts_->net.faults.choose(name, least, most);
}
random_stream& world::random() noexcept { return parts_->own; }

// ---- afterwards

std::uint64_t world::seed() const noexcept { return parts_->seed; }
std::uint64_t world::digest() const noexcept { return parts_->net.trace.digest(); }
counters const& world::counts() const noexcept { return parts_->net.counts; }
void world::note(std::string_view text) { parts_->net.trace.note(parts_->net.now_ns(), 0, text); }
std::string world::description() const {
    return parts_->net.faults.description() + '\n' + parts_->net.links.describe();
}
std::string world::last_events() const { return parts_->last_events(); }
void world::step_limit(std::uint64_t most) noexcept { parts_->net.time.steps_most = most; }

} // namespace fairlead::sim
