// The members that executors have in the Networking TS, for programs that call them: dispatch, post and defer.
#pragma once

#include <fairlead/exec/executor_concept.hpp>
#include <fairlead/exec/function_op.hpp>
#include <fairlead/exec/is_executor.hpp>
#include <fairlead/exec/uses_executor.hpp>

#include <type_traits>
#include <utility>

namespace fairlead {
namespace detail {

/// Derived has execute(f), which never runs f inside the call, and running_in_this_thread().
template <class Derived> class ts_members {
public:
    /// Runs f() at once if the caller runs on the executor, otherwise as post().
    template <class F, class Allocator> void dispatch(F&& f, Allocator const& a) const {
        if (derived().running_in_this_thread()) {
            std::decay_t<F> function(std::forward<F>(f));
            std::move(function)();
        } else {
            post(std::forward<F>(f), a);
        }
    }
    /// Runs f() on the executor, never inside this call; f is kept in memory of `a`.
    template <class F, class Allocator> void post(F&& f, Allocator const& a) const {
        op_function function(*allocated_function_op<std::decay_t<F>, Allocator>::make(std::forward<F>(f), a));
        queue_function(derived(), std::move(function));
    }
    /// As post(): the caller goes on first in either case.
    template <class F, class Allocator> void defer(F&& f, Allocator const& a) const { post(std::forward<F>(f), a); }

private:
    Derived const& derived() const noexcept { return static_cast<Derived const&>(*this); }
};

} // namespace detail
} // namespace fairlead
