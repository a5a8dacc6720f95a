// Waiting in the calling thread for an operation that cannot be performed in it, but has to be started.
#pragma once

#include <fairlead/base/error.hpp>
#include <fairlead/base/maybe.hpp>
#include <fairlead/base/taken_from.hpp>
#include <fairlead/exec/blocking_wait.hpp>

#include <exception>
#include <tuple>
#include <utility>

namespace fairlead::impl::operation {

/// Stores the values and ends the wait. So does its end without a call, which leaves no values.
template <class Values> class waiting_handler {
public:
    /// `why` may be null: nobody throws the error.
    waiting_handler(exec::blocking_wait& w, base::maybe<Values>& v, std::exception_ptr* why) noexcept
        : wait_(&w),
          values_(&v),
          why_(why) {}
    waiting_handler(waiting_handler&& other) noexcept
        : wait_(base::taken_from(other.wait_)),
          values_(other.values_),
          why_(other.why_) {}
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

    bool throws_errors() const noexcept { return why_; }
    void take_exception(std::exception_ptr why) noexcept { *why_ = std::move(why); }

private:
    exec::blocking_wait* wait_;
    base::maybe<Values>* values_;
    std::exception_ptr* why_;
};

/// Calls start(handler) and returns what the handler is called with. Throws operation_aborted when it never will be.
/// `why` takes the exception of an operation that has more to say than its error.
template <class Values, class Start> Values wait_for(Start&& start, std::exception_ptr* why = nullptr) {
    base::maybe<Values> values;
    exec::blocking_wait wait;
    std::forward<Start>(start)(waiting_handler<Values>(wait, values, why));
    wait.wait();
    if (!values)
        base::throw_error(error::operation_aborted, "block: the operation was given up with its context");
    return std::move(*values);
}

} // namespace fairlead::impl::operation
