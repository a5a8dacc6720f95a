#include "allocations.hpp"

#include <cstdlib>
#include <new>

namespace {

constinit thread_local std::uint64_t count = 0;

void* allocate(std::size_t n) noexcept {
    ++count;
    return std::malloc(n ? n : 1);
}

} // namespace

std::uint64_t demo::allocations_of_this_thread() noexcept { return count; }

void* operator new(std::size_t n) {
    if (void* p = allocate(n))
        return p;
    throw std::bad_alloc();
}
void* operator new[](std::size_t n) { return operator new(n); }
void* operator new(std::size_t n, std::nothrow_t const&) noexcept { return allocate(n); }
void* operator new[](std::size_t n, std::nothrow_t const&) noexcept { return allocate(n); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
