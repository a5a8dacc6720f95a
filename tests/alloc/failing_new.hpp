// Global operator new of this test program: it counts, and it fails when it is told to.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>

namespace fairlead::test {

// Of the whole process: the loop's thread is not the only one.
extern std::atomic<std::size_t> allocations;
extern std::atomic<std::size_t> largest; ///< bytes asked for at once
extern std::atomic<std::size_t> allocated_bytes;
extern std::atomic<long> live_blocks; ///< allocated and not freed

/// False where a sanitizer keeps an operator new of its own: then nothing is counted and nothing fails.
/// (Not in failing_new.cpp, where calls find the operators of that file.)
inline bool new_is_replaced() {
    auto const before = allocations.load();
    ::operator delete(::operator new(1));
    return allocations != before;
}

/// Lets allocations fail for as long as it lives; those of the calling thread if nothing else is said.
class failing_new {
public:
    /// The n-th from now (1: the next), and none after it.
    static failing_new only(std::size_t n) noexcept { return failing_new(n, false); }
    /// The n-th and all after it.
    static failing_new from(std::size_t n) noexcept { return failing_new(n, true); }
    /// All of every other thread.
    static failing_new elsewhere() noexcept;
    failing_new(failing_new const&) = delete;
    failing_new& operator=(failing_new const&) = delete;
    ~failing_new();

    /// How many have failed.
    std::size_t failed() const noexcept;

private:
    failing_new(std::size_t n, bool all_after) noexcept;
};

} // namespace fairlead::test
