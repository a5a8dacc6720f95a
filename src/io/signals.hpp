// Signals of the process, for all drivers together: a handler counts, an eventfd wakes the loops, a loop hands out.
#pragma once

#include <fairlead/exec/loop.hpp>
#include <fairlead/io/driver.hpp>

namespace fairlead::io {

namespace signals {
constexpr int number_most = 64;
}

/// The signals of one set: which it wants, and what came while nobody waited.
class process_source final : public signal_source, op_link, fairlead::impl::exec::in_context_memory {
public:
    outcome remove(int number) noexcept override;
    void close() noexcept override;

private:
    friend class signal_hub;
    explicit process_source(loop& l) noexcept : loop_(l) {}
    ~process_source() = default;

    loop& loop_;
    std::uint64_t wanted_ = 0;                       ///< bit n - 1 for signal n
    unsigned queued_[signals::number_most + 1] = {}; ///< not fetched yet
    op_queue waits_;
};

/// There is one in the process. All is guarded by its mutex but what the handler touches.
class signal_hub {
public:
    signal_hub(signal_hub const&) = delete;
    signal_hub& operator=(signal_hub const&) = delete;
    static signal_hub& of_process() noexcept;

    /// The descriptor that becomes readable, with an edge, whenever a signal has come. Errors: minus an errno value.
    int wake_fd() noexcept;
    void dispatch() noexcept;

    /// In the memory of the loop's context. Null: there is none.
    process_source* open(loop& l) noexcept;
    int add(process_source& s, int number, int flags) noexcept;
    int remove(process_source& s, int number) noexcept;
    void wait(process_source& s, signal_op& o) noexcept;
    bool cancel(signal_op& o) noexcept;
    std::size_t cancel_all(process_source& s) noexcept;
    void close(process_source& s) noexcept;
    /// The waits of one loop, for abandoning.
    void take_pending(loop const& l, op_queue& into) noexcept;

private:
    signal_hub() noexcept;
    struct registration;
    static void before_fork() noexcept;
    static void after_fork_in_parent() noexcept;
    static void after_fork_in_child() noexcept;
    void collect() noexcept;
    void serve(process_source& s) noexcept;
    void finish(signal_op& o, int error, int number) noexcept;
    int drop(process_source& s, int number) noexcept;
    static int open_wake_fd() noexcept;

    op_link sources_;
};

} // namespace fairlead::io
