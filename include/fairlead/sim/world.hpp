// A world for tests: one seed decides everything that could happen otherwise.
//
// Programs run in it unchanged. Time is virtual and jumps to the next event. The network lies in memory. It delays,
// loses and cuts; it says "not yet" although data is there. Runnable items run in any order. All of that is drawn from
// the seed, with its rates. The same seed replays the same run, with every compiler and build type; another seed is
// another run.
#pragma once

#include <fairlead/io/clock.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/sim/host.hpp>
#include <fairlead/sim/link.hpp>
#include <fairlead/sim/random.hpp>
#include <fairlead/sim/rule.hpp>

#include <cstddef>
#include <cstdint>
#include <fairlead/base/durations.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace fairlead::sim {

/// Counts of events so far; for tests that want to know that something was exercised.
struct counters {
    std::uint64_t turns;    ///< times that a host ran what was runnable on it
    std::uint64_t events;   ///< happenings in the network
    std::uint64_t sent;     ///< bytes
    std::uint64_t received; ///< bytes
    std::uint64_t connected;
    std::uint64_t refused;
    std::uint64_t resets;
    std::uint64_t faults;          ///< sum of the following
    std::uint64_t injected[rules]; ///< by rule
    std::uint64_t of(rule r) const noexcept { return injected[static_cast<std::size_t>(r)]; }
};

/// Owns virtual time, chance, the network and its hosts. Threads: one.
///
/// docs/testing-with-sim.md says what differs from a real network; the conformance tests hold that list.
class FAIRLEAD_EXPORT world {
public:
    /// `settings` overrides the seed's decisions, e.g. "short_read=0,faults=12". It can set the rate of a rule (of
    /// 1024), the number of faults after which there are no more, and the results of choose().
    /// Throws     std::invalid_argument    settings that nobody understands
    explicit world(std::uint64_t seed, std::string_view settings = {});
    /// Abandons what is pending, as ~io_context does.
    ~world();
    world(world const&) = delete;
    world& operator=(world const&) = delete;

    // ---- hosts

    /// Adds a host that look-ups find by its name. `program` is called when the world runs, and again after
    /// restart(), with nothing, the io_context& or the host&. It returns void, or an awaitable, which is spawned. An
    /// exception that leaves it leaves run().
    template <class F> host& add_host(std::string_view name, F program) {
        return add(name, impl::make_starter(std::move(program)), false);
    }
    /// As add_host(), for a host that serves: the world does not wait for it to be done.
    template <class F> host& add_server(std::string_view name, F program) {
        return add(name, impl::make_starter(std::move(program)), true);
    }
    /// Without a program; use its context().
    host& add_host(std::string_view name) { return add(name, nullptr, false); }
    /// For tests that need no second host: one called "localhost" that exists from the start.
    io_context& context() noexcept;
    host& localhost() noexcept;

    // ---- time

    /// Runs until everything is done: nothing is left to run, to arrive or to expire. Servers may still wait for
    /// clients (accept, receive on a bound port), and so may hosts of add_server(). Ends also when somebody stops
    /// context(). Returns how many handlers ran.
    /// Throws     what a handler or program threw
    ///            std::runtime_error   operations wait that nothing will ever complete, or the limit of steps is
    ///                                 exceeded; names seed, time, the waiting operations and the last events
    std::size_t run();
    /// Runs until everything is done, or so much time has passed. True: done.
    bool run_for(std::chrono::nanoseconds d);
    /// Runs `action` once so much time has passed since the beginning; between the turns of the hosts.
    void at(std::chrono::nanoseconds since_beginning, std::function<void()> action);
    /// Virtual time; begins at one second.
    steady_clock::time_point now() const noexcept;
    /// Since the beginning.
    std::chrono::nanoseconds elapsed() const noexcept;

    // ---- network

    /// Nothing gets from one to the other any more. TCP sends again until heal().
    void partition(host& a, host& b);
    /// In one direction only.
    void partition_one_way(host& from, host& to);
    /// Cuts it off from all hosts that exist now.
    void isolate(host& h);
    /// Ends all partitions.
    void heal();
    void heal(host& a, host& b);
    /// Replaces what the seed drew for the way between two hosts.
    void set_link(host& a, host& b, link_options const& o);
    void set_link_one_way(host& from, host& to, link_options const& o);

    /// Lets look-ups find `address` (in numbers) under `name`; a name may have several. Hosts remember an answer for
    /// `ttl`. "localhost" and the hosts are known.
    /// Throws     system_error    not an address
    void add_name(std::string_view name, std::string_view address, std::chrono::nanoseconds ttl = {});
    /// Forgets a name and its addresses, which hosts may remember for some time yet.
    void remove_name(std::string_view name);

    // ---- faults

    /// Lets the seed decide whether and how often `r` happens from now on.
    void allow(rule r);
    /// All of them: a world in which everything goes wrong now and then.
    void allow_everything();
    /// So many times of 1024.
    void set(rule r, std::uint32_t of_1024);
    /// The second phase of a test: partitions are healed, paused hosts resumed, those that are down restarted, and no
    /// rule applies any more. A healthy program must now be done soon.
    void calm();
    /// The n-th allocation from now on that programs make fails, once; 0: none. Needs <fairlead/sim/failing_new.hpp>
    /// in one source file of the test. Which allocation is the n-th depends on compiler and build type.
    void fail_allocation(std::uint64_t n) noexcept;
    bool allocation_has_failed() const noexcept;

    // ---- chance

    /// A number that the test leaves to the seed, from `least` to `most`. Shrinking a failing seed tries smaller ones,
    /// hence the name, which must be unique.
    std::uint64_t choose(std::string_view name, std::uint64_t least, std::uint64_t most);
    /// The test's own stream.
    random_stream& random() noexcept;

    // ---- afterwards

    std::uint64_t seed() const noexcept;
    /// A hash over everything that happened: decisions, times, bytes. Equal digests mean equal runs.
    std::uint64_t digest() const noexcept;
    sim::counters const& counts() const noexcept;
    /// A line of one's own among the events.
    void note(std::string_view text);
    /// The seed's decisions: rules that apply, links, choices.
    std::string description() const;
    /// One line for each of the latest events, oldest first.
    std::string last_events() const;
    /// Turns and events that one run() may take: a program that is busy for ever ends with an exception.
    void step_limit(std::uint64_t most) noexcept;

private:
    struct parts;
    host& add(std::string_view name, impl::starter start, bool serves);

    std::unique_ptr<parts> parts_;
};

} // namespace fairlead::sim
