// How often this thread has called global operator new. The operators are replaced by counting_new_here.hpp, which
// exactly one file of an executable includes.
#pragma once

#include <cstdint>
#include <new>

namespace fairlead::test {

struct new_counters {
    std::uint64_t calls = 0; ///< of operator new in any form
    std::uint64_t bytes = 0;
};

/// The calling thread's counters, since its start.
new_counters const& this_thread_new() noexcept;

/// Counts the calls of operator new in this thread from its construction on.
class new_counter {
public:
    new_counter() noexcept : before_(this_thread_new()) {}
    std::uint64_t calls() const noexcept { return this_thread_new().calls - before_.calls; }
    std::uint64_t bytes() const noexcept { return this_thread_new().bytes - before_.bytes; }

private:
    new_counters before_;
};

/// False where the operators cannot be replaced: the thread sanitizer of clang insists on its own.
inline bool is_new_counted() {
    new_counter const calls;
    ::operator delete(::operator new(1));
    return calls.calls() != 0;
}

} // namespace fairlead::test
