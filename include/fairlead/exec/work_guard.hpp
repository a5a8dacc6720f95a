// The guard that keeps a loop from ending.
#pragma once

#include <fairlead/base/taken_from.hpp>
#include <fairlead/exec/executor_concept.hpp>

#include <utility>

namespace fairlead {

/// Keeps run() of the executor's context from returning for as long as it owns work.
template <class Executor> class executor_work_guard {
public:
    using executor_type = Executor;

    explicit executor_work_guard(Executor const& e) noexcept : executor_(e), owns_(true) { started(); }
    executor_work_guard(executor_work_guard const& other) noexcept : executor_(other.executor_), owns_(other.owns_) {
        if (owns_)
            started();
    }
    executor_work_guard(executor_work_guard&& other) noexcept
        : executor_(other.executor_),
          owns_(impl::base::taken_from(other.owns_)) {}
    executor_work_guard& operator=(executor_work_guard const&) = delete;
    ~executor_work_guard() { reset(); }

    executor_type get_executor() const noexcept { return executor_; }
    bool owns_work() const noexcept { return owns_; }
    void reset() noexcept {
        if (impl::base::taken_from(owns_)) {
            if constexpr (impl::exec::tracks_work<Executor>)
                executor_.on_work_finished();
        }
    }

private:
    void started() noexcept {
        if constexpr (impl::exec::tracks_work<Executor>)
            executor_.on_work_started();
    }
    Executor executor_;
    bool owns_;
};

template <execution::executor Executor> executor_work_guard<Executor> make_work_guard(Executor const& e) {
    return executor_work_guard<Executor>(e);
}
template <class Context>
    requires execution_context_type<Context>
auto make_work_guard(Context& c) {
    return executor_work_guard<typename Context::executor_type>(c.get_executor());
}
} // namespace fairlead
