// The way of a loop to its host, a computer that is real or simulated: clocks, names and signals.
#pragma once

#include <fairlead/exec/execution_context.hpp>
#include <fairlead/exec/op.hpp>
#include <fairlead/io/io_op.hpp>

#include <cstdint>

namespace fairlead {
class loop;
}

namespace fairlead::io {

/// One address as a look-up found it.
struct resolved_address {
    unsigned char bytes[28];
    std::uint32_t size;
};

/// The names that an address was found to have.
struct resolved_name {
    char host[1025];
    char service[32];
};

/// A name look-up. The strings must live until the op is run.
struct resolve_op : op {
    char const* host;    ///< null or empty: the flags decide (passive or loopback); reverse: the address, a sockaddr
    char const* service; ///< null or empty: port 0, which raw sockets want; without host, too: not found
    int family;          ///< AF_…
    int type;            ///< SOCK_…
    int protocol;
    int flags;    ///< AI_…
    int failure;  ///< result: EAI_… value, 0 when result.error says it all
    bool reverse; ///< from an address of `protocol` bytes to its names
    bool late;    ///< result: these are numbers; whoever takes the result asks resolve_blocking(), and has the memory
    union {
        resolved_address* found; ///< result: an array from new[], the receiver's
        resolved_name* name;     ///< result, reverse: from new, the receiver's
    };
    std::size_t found_count; ///< reverse: 1 or 0
    void* query;             ///< the host's; null before it is started
    resolve_op() noexcept {}
};

/// The part of one signal set that its host keeps. It may be there when the host has gone.
class signal_source {
public:
    signal_source(signal_source const&) = delete;
    signal_source& operator=(signal_source const&) = delete;
    /// Forgets a signal, 0: all of them, and what has come and was not fetched.
    virtual outcome remove(int number) noexcept = 0;
    /// Ends all waits with operation_aborted, forgets the signals, and goes.
    virtual void close() noexcept = 0;

protected:
    signal_source() noexcept = default;
    ~signal_source() = default;
};

/// A pending wait for a signal: result.n is its number.
struct signal_op : op {
    signal_source* source;
    signal_op() noexcept {}
};

/// Look-ups and waits for signals complete as those of a reactor do: they are pushed or posted to the loop.
class host {
public:
    host(host const&) = delete;
    host& operator=(host const&) = delete;
    virtual ~host() = default;

    /// Called once, before anything else: completed ops go to this loop.
    virtual void attach(loop& l) noexcept = 0;
    /// Takes all look-ups and waits that are pending, for abandoning. Owner.
    virtual void take_pending(op_queue& into) noexcept = 0;
    /// The process is about to fork, or has: in the child, look-ups that were under way start over.
    virtual outcome notify_fork(execution_context::fork_event) noexcept { return {0, 0}; }

    // ---- clocks, threads (any thread)
    virtual std::int64_t now_ns() noexcept = 0;  ///< steady
    virtual std::int64_t wall_ns() noexcept = 0; ///< since 1970, UTC; may jump
    /// False: what belongs to this host runs on one thread, whatever the program does.
    virtual bool has_threads() const noexcept { return true; }
    /// Blocks the calling thread until `until_ns`. False: this host has no threads to block.
    virtual bool sleep_until(std::int64_t until_ns) noexcept = 0;
    /// The name of the computer, with a NUL behind it.
    virtual outcome host_name(char* into, std::size_t capacity) noexcept { return system_host_name(into, capacity); }
    /// Of the real computer.
    FAIRLEAD_EXPORT static outcome system_host_name(char* into, std::size_t capacity) noexcept;

    // ---- name look-up: completes on the loop; cancel makes it complete with operation_aborted soon
    virtual void resolve(resolve_op& o) noexcept = 0;
    /// Any thread, for as long as the op lives; one that has not been started yet is then not looked up.
    virtual void cancel_resolve(resolve_op& o) noexcept = 0;
    virtual void resolve_blocking(resolve_op& o) noexcept = 0;

    // ---- signals (any thread). A process has them, real or simulated. A source does the rest itself.
    virtual outcome open_signals(signal_source*& source) noexcept {
        source = nullptr;
        return not_supported;
    }
    /// `flags` are those of sigaction, -1: whatever the signal has already.
    virtual outcome add_signal(signal_source&, int /*number*/, int /*flags*/) noexcept { return not_supported; }
    virtual void wait_signal(signal_source&, signal_op&) noexcept {}
    /// Ends one wait with operation_aborted; false when it is not pending.
    virtual bool cancel_signal(signal_op&) noexcept { return false; }
    virtual std::size_t cancel_signals(signal_source&) noexcept { return 0; }

protected:
    host() noexcept = default;
};

} // namespace fairlead::io
