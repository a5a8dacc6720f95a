// The host that this process runs on: its clocks, look-ups of names, and the signals of the process.
#pragma once

#include <fairlead/io/host.hpp>

#include <io/resolve.hpp>

#include <atomic>

namespace fairlead::io {

/// A reactor that lets its loop know when a signal has come.
class signal_watcher {
public:
    signal_watcher(signal_watcher const&) = delete;
    signal_watcher& operator=(signal_watcher const&) = delete;
    /// From now on. Returns an errno value. Any thread, and more than once.
    virtual int watch_signals() noexcept = 0;

protected:
    signal_watcher() noexcept = default;
    ~signal_watcher() = default;
};

class kernel_host final : public host {
public:
    explicit kernel_host(signal_watcher& w) noexcept : watcher_(w) {}

    void attach(loop& l) noexcept override { loop_ = &l; }
    void take_pending(op_queue& into) noexcept override;
    outcome notify_fork(execution_context::fork_event event) noexcept override;

    std::int64_t now_ns() noexcept override;
    std::int64_t wall_ns() noexcept override;
    bool sleep_until(std::int64_t until_ns) noexcept override;

    void resolve(resolve_op& o) noexcept override { resolving_.start(*loop_, o); }
    void cancel_resolve(resolve_op& o) noexcept override { resolving_.cancel(o); }
    void resolve_blocking(resolve_op& o) noexcept override { resolving::perform(o); }

    outcome open_signals(signal_source*& source) noexcept override;
    outcome add_signal(signal_source& s, int number, int flags) noexcept override;
    void wait_signal(signal_source& s, signal_op& o) noexcept override;
    bool cancel_signal(signal_op& o) noexcept override;
    std::size_t cancel_signals(signal_source& s) noexcept override;

private:
    signal_watcher& watcher_;
    loop* loop_ = nullptr;
    std::atomic<bool> has_signals_{false};
    resolving resolving_;
};

} // namespace fairlead::io
