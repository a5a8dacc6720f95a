// Requests that wait for something other than their replies: room in a queue, or a connection.
#pragma once

#include <redis/due_timer.hpp>

#include <fairlead/redis/connection.hpp>

#include <atomic>
#include <cstddef>

namespace fairlead::redis::impl {

/// Those who wait, in their order; they may be given up, and their limits go on. Used by the owner of the loop, but for
/// size(). While there are some, they are work of the loop.
class request_line {
public:
    /// Through `home` requests are completed.
    request_line(connection_core& home, io_loop& l) noexcept;
    ~request_line();

    bool empty() const noexcept { return line_.empty(); }
    exec_op& front() noexcept { return static_cast<exec_op&>(*line_.front()); }
    unsigned count_up_to(unsigned most) const noexcept { return line_.count_up_to(most); }
    /// Any thread.
    std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
    /// As the connection's limits.
    void start_from(due_timer const& clock) noexcept { limits_.start_from(clock); }

    /// False: no memory, and it was completed.
    bool push_back(exec_op& o) noexcept;
    exec_op& pop_front() noexcept {
        auto& o = front();
        take_out(o);
        return o;
    }
    /// They wait because that connection cannot be made; null: no longer. Its events tell why.
    void wait_for(connection_core* broken) noexcept { broken_ = broken; }

    /// Completes it.
    void give_up(exec_op& o, error_code const& ec) noexcept;
    void give_all_up(error_code const& ec) noexcept;

    // ---- as the functions of a multiplexer; those given up are completed
    bool cancel(exec_op& o) noexcept;
    std::size_t cancel(request const* r) noexcept;
    exec_op* find(op const* where, void* ticket) noexcept;
    exec_op* find_marked() noexcept;

private:
    void note_first() noexcept;
    void take_out(exec_op& o) noexcept;
    void on_limits() noexcept;
    void give_up_late(exec_op& o) noexcept;

    connection_core& home_;
    io_loop& engine_;
    connection_core* broken_ = nullptr;
    op_queue line_;
    std::atomic<std::size_t> size_{0};
    due_timer limits_;
};

} // namespace fairlead::redis::impl
