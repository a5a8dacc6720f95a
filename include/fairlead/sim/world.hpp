// A world for tests: one seed decides everything that could happen otherwise.
//
// Programs run in it unchanged. Time is virtual and jumps to whatever happens next. The network lies in memory; it
// delays, it cuts what is read and written at any byte, it says "not yet" although data is there. What is runnable runs
// in any order. Each of these is drawn from the seed, how often too, so that the same seed replays the same run, with
// every compiler and build type, and another seed is another run.
#pragma once

#include <fairlead/io/io_context.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace fairlead::sim {

/// What has happened so far; for tests that want to know that something was exercised.
struct counters {
    std::uint64_t batches;      ///< times that the order of what is runnable was decided
    std::uint64_t events;       ///< happenings in the network
    std::uint64_t sent;         ///< bytes
    std::uint64_t received;     ///< bytes
    std::uint64_t short_reads;  ///< receives that got less than was there for them
    std::uint64_t short_writes; ///< sends that were taken less from than there was room for
    std::uint64_t not_ready;    ///< attempts that were put off although they were possible
    std::uint64_t connected;
    std::uint64_t refused;
    std::uint64_t resets;
};

/// Owns virtual time, chance and the network. Threads: one.
///
/// Differences from the kernel that a program can see: ports of IPv4 and IPv6 are apart (no dual-stack listeners); the
/// only addresses are loopback and "any"; a UNIX path is free again once its socket is closed; only stream sockets
/// exist; options are stored and returned, but of them only SO_LINGER with time 0 (close resets) and SO_REUSEADDR do
/// something.
class FAIRLEAD_EXPORT world {
public:
    explicit world(std::uint64_t seed);
    /// Abandons what is pending, as ~io_context does.
    ~world();
    world(world const&) = delete;
    world& operator=(world const&) = delete;

    /// Everything that is made with it lives in this world. Call run() of the world, not of the context: that one just
    /// returns when nothing can happen any more. Nothing blocks: what would wait fails with
    /// resource_deadlock_would_occur.
    io_context& context() noexcept;

    /// Runs until nothing is left to do, or stop(). Returns how many handlers ran.
    /// Throws     what a handler threw
    ///            std::runtime_error   operations wait that nothing will ever complete, or the limit of steps is
    ///            exceeded;
    ///                                 names seed, time, the waiting operations and the last events
    std::size_t run();

    /// Virtual time; begins at one second.
    steady_clock::time_point now() const noexcept;
    std::uint64_t seed() const noexcept;
    /// A hash over everything that happened: decisions, times, bytes. Equal digests mean equal runs.
    std::uint64_t digest() const noexcept;
    sim::counters const& counts() const noexcept;

    /// Lets look-ups find `address` (in numbers) under `name`; a name may have several. "localhost" is known.
    /// Throws     system_error    not an address
    void add_name(std::string_view name, std::string_view address);
    /// Batches and events that one run() may take: a program that is busy for ever ends with an exception.
    void step_limit(std::uint64_t most) noexcept;

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

} // namespace fairlead::sim
