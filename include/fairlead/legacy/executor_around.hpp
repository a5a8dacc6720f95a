// The base of executors that stand around another one.
#pragma once

#include <fairlead/exec/executor_concept.hpp>
#include <fairlead/legacy/context_property.hpp>
#include <fairlead/legacy/property.hpp>

#include <concepts>
#include <utility>

namespace fairlead::impl::legacy {

/// The base of an executor around an `Executor`. For the properties `Own` and their values, Derived answers itself. Any
/// other property is asked of the executor inside, and Derived::around() puts a Derived around the result. Derived
/// brings these members into view again with using, and has an execute().
template <class Derived, class Executor, class... Own> class executor_around {
    template <class P> static constexpr bool is_own = (std::convertible_to<P, Own> || ...);

public:
    using inner_executor_type = Executor;
    inner_executor_type get_inner_executor() const noexcept { return executor_; }

    decltype(auto) context() const
        requires io_executor<Executor>
    {
        return exec::context_of(executor_);
    }
    void on_work_started() const noexcept
        requires exec::tracks_work<Executor>
    {
        executor_.on_work_started();
    }
    void on_work_finished() const noexcept
        requires exec::tracks_work<Executor>
    {
        executor_.on_work_finished();
    }
    bool running_in_this_thread() const noexcept { return exec::runs_here(executor_); }
    /// Runs f() on the executor inside, never inside this call.
    template <class F> void queue(F&& f) const { exec::queue_function(executor_, std::forward<F>(f)); }

    template <class P>
        requires(!is_own<P> && can_require_v<Executor const&, P>)
    auto require(P const& p) const {
        return Derived::around(fairlead::require(executor_, p));
    }
    template <class P>
        requires(!is_own<P> && can_prefer_v<Executor const&, P>)
    auto prefer(P const& p) const {
        return Derived::around(fairlead::prefer(executor_, p));
    }
    template <class P>
        requires(!is_own<P> && can_query_v<Executor const&, P>)
    decltype(auto) query(P const& p) const {
        return fairlead::query(executor_, p);
    }

    friend bool operator==(executor_around const& a, executor_around const& b) noexcept {
        return a.executor_ == b.executor_;
    }

protected:
    executor_around() = default;
    explicit executor_around(Executor const& e) : executor_(e) {}
    Executor const& inner() const noexcept { return executor_; }

private:
    Executor executor_;
};

} // namespace fairlead::impl::legacy
