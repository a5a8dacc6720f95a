// The exception of a call that ended with its connection: with what came before.
#pragma once

#include <fairlead/base/error.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace fairlead::redis {

/// Thrown by an await, a `block` or a future of `use_future` whose connection has ended, other than by cancel(). It is
/// that of async_exec(), a typed command, a script or a value in pieces. So do those of async_run(): of a connection at
/// its end, of a client that gives up. what() is short. The events are for a log:
///
///     catch (redis::unexpected_error const& e) {
///         log(e.what(), e.recent_events());
///     }
///
/// Calls that ended with one connection share the text. The process keeps those of the last 16 connections that ended
/// with calls under way. An exception that is thrown much later is a plain system_error.
class FAIRLEAD_EXPORT unexpected_error : public system_error {
public:
    /// For the library.
    unexpected_error(error_code const& ec, std::string const& what, std::shared_ptr<std::string const> events);
    unexpected_error(unexpected_error const&) noexcept = default;
    unexpected_error& operator=(unexpected_error const&) noexcept = default;
    ~unexpected_error() override;

    /// As connection::recent_events(), at the end of the connection.
    std::string_view recent_events() const noexcept { return events_ ? std::string_view(*events_) : ""; }

private:
    std::shared_ptr<std::string const> events_;
};

} // namespace fairlead::redis
