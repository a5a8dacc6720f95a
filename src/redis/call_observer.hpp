// Watches the calls of one client: counts them, and calls the program's hooks.
//
// A call that is watched has a record of its own. That stands in the place of the caller's response, and hands each
// reply on to it. So neither the op nor the way of a call that nobody watches knows of it.
#pragma once

#include <fairlead/exec/loop.hpp>
#include <fairlead/redis/call_hooks.hpp>
#include <fairlead/redis/call_statistics.hpp>
#include <fairlead/redis/connection.hpp>

#include <memory>

namespace fairlead::redis::impl {

class call_observer {
public:
    /// One of them is there at least.
    call_observer(std::shared_ptr<call_statistics> statistics, before_call_hook before, after_call_hook after)
        : statistics_(std::move(statistics)),
          before_(std::move(before)),
          after_(std::move(after)) {}
    call_observer(call_observer const&) = delete;
    call_observer& operator=(call_observer const&) = delete;

    /// In the thread that makes the call. Without memory the call goes on, and is not watched.
    void begin(exec_op& o, fairlead::loop& clock) const noexcept;
    /// The caller's response, also of a call that is watched.
    static response_ref response_of(exec_op const& o) noexcept;
    /// By the owner of the loop, once. Nothing happens for a call that is not watched.
    void end(exec_op& o) const noexcept;

private:
    struct call;
    static error_code deliver(void* object, std::size_t index, reply_view const& reply);
    void count(call& c, call_outcome outcome, std::size_t bytes_received) const noexcept;
    void tell_begin(call& c) const noexcept;
    void tell_end(call const& c, exec_op const& o) const noexcept;

    std::shared_ptr<call_statistics> statistics_; // or null
    before_call_hook before_;
    after_call_hook after_;
};

/// The kind of an error of a call.
call_outcome outcome_of(error_code const& ec) noexcept;

} // namespace fairlead::redis::impl
