// Replaces global operator new and delete of the executable by ones that count. Included by exactly one file of it.
// Sanitizers still see each block, since it comes from malloc; they no longer see a mix of new and free.
#pragma once

#include <support/counting_new.hpp>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace fairlead::test {
namespace {

constinit thread_local new_counters counters;

void* counted_new(std::size_t size, std::size_t alignment) noexcept {
    ++counters.calls;
    counters.bytes += size;
    if (alignment <= alignof(std::max_align_t))
        return std::malloc(size ? size : 1);
    return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
void* counted_new_or_throw(std::size_t size, std::size_t alignment = 0) {
    if (void* p = counted_new(size, alignment))
        return p;
    throw std::bad_alloc();
}

} // namespace

new_counters const& this_thread_new() noexcept { return counters; }

} // namespace fairlead::test

void* operator new(std::size_t n) { return fairlead::test::counted_new_or_throw(n); }
void* operator new[](std::size_t n) { return fairlead::test::counted_new_or_throw(n); }
void* operator new(std::size_t n, std::align_val_t a) {
    return fairlead::test::counted_new_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
    return fairlead::test::counted_new_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new(std::size_t n, std::nothrow_t const&) noexcept { return fairlead::test::counted_new(n, 0); }
void* operator new[](std::size_t n, std::nothrow_t const&) noexcept { return fairlead::test::counted_new(n, 0); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::nothrow_t const&) noexcept { std::free(p); }
void operator delete[](void* p, std::nothrow_t const&) noexcept { std::free(p); }
