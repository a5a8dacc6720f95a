// The polymorphic executor of the Networking TS, for programs that were written before any_io_executor.
#pragma once

#include <fairlead/exec/executor.hpp>
#include <fairlead/legacy/ts_members.hpp>

#include <new>

namespace fairlead {

/// any_io_executor with dispatch(), post() and defer(). Either is made of the other.
class executor : public any_io_executor, public impl::exec::ts_members<executor> {
public:
    using any_io_executor::any_io_executor;
    executor(any_io_executor const& e) noexcept : any_io_executor(e) {}
    executor(std::nothrow_t, any_io_executor const& e) noexcept : any_io_executor(e) {}
};
static_assert(sizeof(executor) == sizeof(any_io_executor));

} // namespace fairlead
