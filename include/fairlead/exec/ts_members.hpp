// The members that executors have in the Networking TS, for programs that call them: dispatch, post and defer. And the
// one that makes them schedulers.
#pragma once

#include <utility>

namespace stdexec {
struct scheduler_tag;
}

namespace fairlead::impl::sender {
template <class Scheduler> class schedule_sender;
}

namespace fairlead::impl::exec {

/// Does their work, for those who include <fairlead/legacy/ts_members.hpp>.
struct ts_functions;

/// Derived has execute(f), which never runs f inside the call, and running_in_this_thread().
template <class Derived> class ts_members {
public:
    /// Runs f() at once if the caller runs on the executor, otherwise as post().
    template <class F, class Allocator, class Functions = ts_functions> void dispatch(F&& f, Allocator const& a) const {
        Functions::dispatch(derived(), std::forward<F>(f), a);
    }
    /// Runs f() on the executor, never inside this call; f is kept in memory of `a`.
    template <class F, class Allocator, class Functions = ts_functions> void post(F&& f, Allocator const& a) const {
        Functions::post(derived(), std::forward<F>(f), a);
    }
    /// As post(): the caller goes on first in either case.
    template <class F, class Allocator, class Functions = ts_functions> void defer(F&& f, Allocator const& a) const {
        Functions::post(derived(), std::forward<F>(f), a);
    }
    /// As a scheduler of C++26 (sender/scheduler.hpp). No scheduler here is told by its tag: this one is for stdexec.
    using scheduler_concept = stdexec::scheduler_tag;
    sender::schedule_sender<Derived> schedule() const noexcept;

private:
    Derived const& derived() const noexcept { return static_cast<Derived const&>(*this); }
};

} // namespace fairlead::impl::exec
