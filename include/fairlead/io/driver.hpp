// The only door to the world: sockets, clock, entropy, name look-up. Backends implement it; nothing above calls the
// system.
//
// Rules. submit() never fails and never allocates: errors are completions. cancel() is a request; the op still
// completes exactly once. Nothing is called back: what completes is pushed onto the loop's run queue. One thread at a
// time calls the asynchronous verbs: the loop's owner. While the driver is shared, others do, too; see share(). The
// thread that uses a descriptor may call the synchronous doors.
#pragma once

#include <fairlead/base/buffer.hpp>
#include <fairlead/base/error.hpp>
#include <fairlead/base/owned.hpp>
#include <fairlead/exec/execution_context.hpp>
#include <fairlead/exec/op.hpp>

#include <cstdint>

namespace fairlead {
class loop;
}

namespace fairlead::io {

/// A descriptor of a driver: a place in its table, and which of the place's tenants is meant.
struct handle {
    static constexpr std::uint32_t none = 0xffffffffU;
    std::uint32_t index = none;
    std::uint32_t generation = 0;

    bool is_open() const noexcept { return index != none; }
    friend bool operator==(handle, handle) noexcept = default;
};

/// The request of an io_op to a descriptor.
enum class kind : std::uint8_t {
    // Read side of a descriptor.
    receive,     ///< at least one byte
    receive_all, ///< until the buffer is full
    accept,      ///< result.n is the new handle
    wait_read,
    wait_error,
    receive_from, ///< a datagram_op
    // Write side.
    send,     ///< at least one byte
    send_all, ///< until the buffer is empty
    connect,
    wait_write,
    send_to, ///< a datagram_op
};
/// Whether an op waits at the write side of its descriptor.
constexpr bool is_write(kind k) noexcept { return k >= kind::send; }

/// One piece of memory, laid out as the kernel's iovec.
using slice = detail::io_slice; // laid out as the kernel's iovec

/// The kind of thing behind a descriptor, as far as drivers treat it differently.
enum class medium : std::uint8_t {
    socket,
    unix_stream, ///< a short read may have ended at a descriptor that the peer passed
    pipe,        ///< read and written without the calls of sockets
    file,        ///< anything else: so, too, and a read may end early: at a line of a terminal, for instance
};

/// A pending operation on a descriptor.
struct io_op : op {
    io::handle handle;
    void* data; ///< bytes; array of `slice` when `slices` is set; address for connect; address to fill, or null, for
                ///< accept
    std::size_t size;  ///< bytes, or number of slices, or length of the address (accept: its capacity)
    int message_flags; ///< MSG_… of recv and send; accept: not 0 reports connections that are gone again
    io::kind kind;
    bool slices;
    bool stream;       ///< 0 bytes mean end of stream; the driver's
    io::medium medium; ///< the driver's

    io_op() noexcept {}
    /// Everything but run. result.n counts from here on, over all attempts.
    void set(io::handle h, io::kind k, void* d = nullptr, std::size_t n = 0, int flags = 0,
             bool are_slices = false) noexcept {
        result = {0, 0, 0};
        cancel = nullptr;
        handle = h;
        data = d;
        size = n;
        message_flags = flags;
        kind = k;
        slices = are_slices;
        medium = io::medium::socket;
    }
};
static_assert(sizeof(io_op) == 80);

/// A pending receive_from or send_to: with the address of the other side. A datagram is moved whole. One that does not
/// fit ends a receive with EMSGSIZE, its sender and the bytes that did fit. That holds for the receive of a connected
/// socket, too.
struct datagram_op : io_op {
    void* address;
    std::uint32_t address_size; ///< receive_from: the capacity; when it is done, the size of the sender's address. That
                                ///< is 0 when the sender has no name or there is no datagram

    datagram_op() noexcept {}
};

/// Result of a synchronous door: a value, or an errno in `error`.
struct outcome {
    int error;
    std::int64_t value;
};

/// Which end's address a driver is asked for.
enum class name_of : std::uint8_t { local, peer };

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
    void* ticket;            ///< the driver's; null before it is started
    resolve_op() noexcept {}
};

/// The part of one signal set that its driver keeps.
class signal_source;

/// A pending wait for a signal: result.n is its number.
struct signal_op : op {
    signal_source* source;
    signal_op() noexcept {}
};

/// A backend: it carries out the ops of one loop. The kernel has one (epoll), each simulated host another.
class driver {
public:
    driver(driver const&) = delete;
    driver& operator=(driver const&) = delete;
    virtual ~driver() = default;

    /// Called once: completed ops go to this loop's run queue.
    virtual void attach(loop& l) noexcept = 0;
    virtual char const* name() const noexcept = 0;
    /// False: what belongs to this driver runs on one thread, whatever the program does.
    virtual bool has_threads() const noexcept { return true; }
    virtual std::uint64_t verifications() const noexcept { return 0; }
    /// Calls into the system for transfers, readiness and waiting; 0 where there is no system.
    virtual std::uint64_t system_calls() const noexcept { return 0; }

    // ---- asynchronous verbs (owner only)
    virtual void submit(io_op& o) noexcept = 0;
    /// Owner. On: threads with a share of the loop may call submit(), ready() and try_now(), at the same time as the
    /// owner calls anything. Returns whether that is so from now on. A driver need not be able to, and the end may have
    /// to wait.
    virtual bool share(bool /*on*/) noexcept { return false; }
    /// May an attempt be worth it, from what is known without asking the system?
    virtual bool ready(handle h, kind k, std::size_t size) noexcept = 0;
    /// Tries at once, if nobody is queued before. True: done, the result is in the op, which stays the caller's.
    virtual bool try_now(io_op& o) noexcept = 0;
    /// Completes the pending op with operation_aborted; false when it is not pending here.
    virtual bool cancel(io_op& o) noexcept = 0;
    /// Does so with the op of a descriptor whose `cancel` is `ticket`; the op may have gone.
    virtual bool cancel(handle h, void* ticket) noexcept = 0;
    /// Does so with all pending ops of a descriptor; returns how many.
    virtual std::size_t cancel_all(handle h) noexcept = 0;
    /// Waits until something happens or `until_ns` (on now()) has come; 0: looks only; negative: no limit.
    virtual void poll(std::int64_t until_ns) noexcept = 0;
    /// Ops that are pending here.
    virtual std::size_t pending() const noexcept = 0;
    /// May reorder what is about to run; kernel drivers leave it alone.
    virtual void arrange(op_queue&) noexcept {}
    /// Takes all pending ops, look-ups too, for abandoning.
    virtual void take_pending(op_queue& into) noexcept = 0;

    // ---- any thread
    virtual void wake() noexcept = 0;
    virtual std::int64_t now_ns() noexcept = 0;
    virtual std::int64_t wall_ns() noexcept = 0; ///< since 1970, UTC; may jump
    virtual std::uint64_t entropy() noexcept = 0;

    // ---- name look-up: completes on the loop; cancel makes it complete with operation_aborted soon
    virtual void resolve(resolve_op& o) noexcept = 0;
    /// Any thread, for as long as the op lives; one that has not been started yet is then not looked up.
    virtual void cancel_resolve(resolve_op& o) noexcept = 0;
    virtual void resolve_blocking(resolve_op& o) noexcept = 0;

    // ---- signals (any thread). The process has them, hence a driver without one has none.
    virtual outcome open_signals(signal_source*& source) noexcept {
        source = nullptr;
        return not_supported();
    }
    /// Ends all waits with operation_aborted, and forgets the signals.
    virtual void close_signals(signal_source&) noexcept {}
    /// `flags` are those of sigaction, -1: whatever the signal has already.
    virtual outcome add_signal(signal_source&, int /*number*/, int /*flags*/) noexcept { return not_supported(); }
    /// Forgets a signal, 0: all of them, and what has come and was not fetched.
    virtual outcome remove_signal(signal_source&, int /*number*/) noexcept { return not_supported(); }
    virtual void wait_signal(signal_source&, signal_op&) noexcept {}
    /// Ends one wait with operation_aborted; false when it is not pending.
    virtual bool cancel(signal_op&) noexcept { return false; }
    virtual std::size_t cancel_signals(signal_source&) noexcept { return 0; }

    // ---- synchronous doors
    virtual outcome open(int family, int type, int protocol, handle& h) noexcept = 0;
    virtual outcome pair(int family, int type, int protocol, handle& a, handle& b) noexcept = 0;
    /// Not only sockets. A descriptor that never makes its reader wait (a regular file) is always ready.
    virtual outcome adopt(int fd, handle& h) noexcept = 0;
    /// Closes a descriptor that was released and that nobody could adopt.
    virtual void discard(int /*fd*/) noexcept {}
    /// Makes the two ends of a pipe.
    virtual outcome pipe(handle& /*reads*/, handle& /*writes*/) noexcept { return not_supported(); }
    virtual outcome release(handle h) noexcept = 0; ///< value: the descriptor, no longer ours
    virtual outcome close(handle h) noexcept = 0;   ///< pending ops complete with operation_aborted
    virtual outcome bind(handle h, void const* address, std::size_t size) noexcept = 0;
    virtual outcome listen(handle h, int backlog) noexcept = 0;
    virtual outcome shutdown(handle h, int how) noexcept = 0;
    virtual outcome set_option(handle h, int level, int name, void const* data, std::size_t size) noexcept = 0;
    virtual outcome get_option(handle h, int level, int name, void* data, std::size_t size) noexcept = 0;
    virtual outcome address(handle h, name_of which, void* data, std::size_t capacity) noexcept = 0;
    virtual outcome available(handle h) noexcept = 0;
    /// ioctl
    virtual outcome control(handle, unsigned long /*command*/, void* /*data*/) noexcept { return not_supported(); }
    /// For calls of others on the descriptor. The driver's own never wait; an asynchronous one, other than a wait for
    /// readiness, turns this off.
    virtual outcome native_blocking(handle, bool /*on*/) noexcept { return not_supported(); }
    virtual bool is_native_blocking(handle) noexcept { return false; }
    /// The descriptor, -1 where there is none. Calls of others on it wait, unless that has been turned off.
    virtual int native(handle h) noexcept = 0;
    /// Performs the op in the calling thread, waiting as long as it takes, or not at all; the result is in the op.
    virtual void perform(io_op& o, bool may_wait) noexcept = 0;
    /// Blocks the calling thread until `until_ns`. False: this driver has no threads to block.
    virtual bool sleep_until(std::int64_t until_ns) noexcept = 0;
    /// The name of this machine, with a NUL behind it.
    virtual outcome host_name(char* into, std::size_t capacity) noexcept { return system_host_name(into, capacity); }
    /// The process is about to fork, or has: the child's driver stops sharing what the parent's still uses.
    virtual outcome notify_fork(execution_context::fork_event) noexcept { return {0, 0}; }

    /// Of the real machine.
    FAIRLEAD_EXPORT static outcome system_host_name(char* into, std::size_t capacity) noexcept;

protected:
    driver() noexcept = default;

private:
    static outcome not_supported() noexcept { return {static_cast<int>(error::operation_not_supported), 0}; }
};

/// The driver of this machine: epoll.
FAIRLEAD_EXPORT fairlead::detail::owned<driver> make_driver(fairlead::detail::context_memory_ref const& memory = {});
/// The driver of a loop whose context has gone: it has no descriptors, and nothing that is started comes to an end.
fairlead::detail::owned<driver> make_retired_driver(fairlead::detail::context_memory_ref const& memory);

} // namespace fairlead::io
