// Running a function elsewhere and waiting for its end.
#pragma once

#include <fairlead/exec/blocking_wait.hpp>

#include <exception>
#include <utility>

namespace fairlead::impl::exec {

/// Calls a function that stays with the waiting thread; the wait also ends when it is given up instead.
template <class F> class waited_call {
public:
    waited_call(F& f, blocking_wait& end, std::exception_ptr& thrown) noexcept
        : function_(&f),
          end_(&end),
          thrown_(&thrown) {}
    waited_call(waited_call&& other) noexcept
        : function_(other.function_),
          end_(std::exchange(other.end_, nullptr)),
          thrown_(other.thrown_) {}
    waited_call& operator=(waited_call&&) = delete;
    ~waited_call() {
        if (end_)
            end_->finish();
    }
    void operator()() {
        try {
            std::move (*function_)();
        } catch (...) {
            *thrown_ = std::current_exception();
        }
        std::exchange(end_, nullptr)->finish();
    }

private:
    F* function_;
    blocking_wait* end_;
    std::exception_ptr* thrown_;
};

/// Gives `f` to queue(), and returns when it has ended there; what it throws leaves this call.
template <class F, class Queue> void call_and_wait(F& f, Queue const& queue) {
    std::exception_ptr thrown;
    blocking_wait end;
    queue(waited_call<F>(f, end, thrown));
    end.wait();
    if (thrown)
        std::rethrow_exception(std::move(thrown));
}

} // namespace fairlead::impl::exec
