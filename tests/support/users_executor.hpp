// Executors that a user may write, of which the library knows nothing; they count what goes through them.
#pragma once

#include <fairlead/exec/execution_context.hpp>

#include <utility>

namespace fairlead::test {

/// Passes functions on to the loop `where`.
template <class Context> struct counting_executor {
    Context* where;
    int* count;
    execution_context& context() const noexcept { return *where; }
    template <class F> void execute(F&& f) const {
        ++*count;
        where->get_executor().execute(std::forward<F>(f));
    }
    bool operator==(counting_executor const&) const = default;
};

/// Executors of type `Below` convert to it. For objects that take over one with another type of executor.
template <class Below> struct counting_conversion {
    static inline int count = 0;
    Below below;
    counting_conversion(Below const& e) noexcept : below(e) {}
    execution_context& context() const noexcept { return below.context(); }
    template <class F> void execute(F&& f) const {
        ++count;
        below.execute(std::forward<F>(f));
    }
    bool operator==(counting_conversion const&) const = default;
};

/// Runs functions at once. Without a context it is good for handlers, not for I/O objects.
struct executor_without_context {
    int* count;
    template <class F> void execute(F&& f) const {
        ++*count;
        std::forward<F>(f)();
    }
    friend bool operator==(executor_without_context, executor_without_context) noexcept = default;
};

} // namespace fairlead::test
