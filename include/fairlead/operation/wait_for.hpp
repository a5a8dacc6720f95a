// Waiting in the calling thread for an operation that cannot be performed in it, but has to be started.
#pragma once

#include <fairlead/base/error.hpp>
#include <fairlead/base/maybe.hpp>
#include <fairlead/base/taken_from.hpp>
#include <fairlead/exec/blocking_wait.hpp>

#include <tuple>
#include <utility>

namespace fairlead::impl::operation {

/// Stores the values and ends the wait. So does its end without a call, which leaves no values.
template <class Values> class waiting_handler {
public:
    waiting_handler(exec::blocking_wait& w, base::maybe<Values>& v) noexcept : wait_(&w), values_(&v) {}
    waiting_handler(waiting_handler&& other) noexcept : wait_(base::taken_from(other.wait_)), values_(other.values_) {}
    waiting_handler& operator=(waiting_handler&&) = delete;
    ~waiting_handler() {
        if (wait_)
            wait_->finish();
    }
    template <class... Args>
        requires std::constructible_from<Values, Args...>
    void operator()(Args&&... args) {
        values_->emplace(std::forward<Args>(args)...);
        base::taken_from(wait_)->finish();
    }

private:
    exec::blocking_wait* wait_;
    base::maybe<Values>* values_;
};

/// Calls start(handler) and returns what the handler is called with. Throws operation_aborted when it never will be.
template <class Values, class Start> Values wait_for(Start&& start) {
    base::maybe<Values> values;
    exec::blocking_wait wait;
    std::forward<Start>(start)(waiting_handler<Values>(wait, values));
    wait.wait();
    if (!values)
        base::throw_error(error::operation_aborted, "block: the operation was given up with its context");
    return std::move(*values);
}

} // namespace fairlead::impl::operation
