// The interface to the place of those requests that a shared connection cannot execute.
#pragma once

#include <fairlead/redis/connection.hpp>

#include <cstddef>

namespace fairlead::redis::impl {

/// Called by the owner of the connection's loop. Its requests are completed through the connection that gave them.
class request_taker {
public:
    /// Of fitness::alone. Its limit has begun. False: it stays the caller's.
    virtual bool take(exec_op& o) noexcept = 0;
    /// As the functions of a multiplexer, for the requests that it has; those given up are completed.
    virtual bool cancel(exec_op& o) noexcept = 0;
    virtual std::size_t cancel(request const* r) noexcept = 0;
    virtual exec_op* find(op const* where, void* ticket) noexcept = 0;
    virtual exec_op* find_marked() noexcept = 0;

protected:
    ~request_taker() = default;
};

} // namespace fairlead::redis::impl
