// Include this in exactly one source file of a test program: it replaces the global operator new by one that fails when
// world::fail_allocation() says so.
#pragma once

#include <fairlead/sim/allocations.hpp>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace fairlead::sim::detail {

inline void* allocate_unless_watched(std::size_t size) noexcept {
    if (auto* const a = impl::watched_allocations; a && a->next_fails()) [[unlikely]]
        return nullptr;
    return std::malloc(size != 0 ? size : 1);
}
inline void* allocate_unless_watched(std::size_t size, std::align_val_t align) noexcept {
    if (auto* const a = impl::watched_allocations; a && a->next_fails()) [[unlikely]]
        return nullptr;
    auto const to = static_cast<std::size_t>(align);
    return std::aligned_alloc(to, (size + to - 1) / to * to);
}
inline void* or_throw(void* p) {
    if (!p)
        throw std::bad_alloc();
    return p;
}

} // namespace fairlead::sim::detail

// Weak, because clang's thread sanitizer brings its own and keeps it: there no allocation fails.
// NOLINTBEGIN(misc-definitions-in-headers): that they are defined is what the header is for
[[gnu::weak]] void* operator new(std::size_t size) {
    return fairlead::sim::detail::or_throw(fairlead::sim::detail::allocate_unless_watched(size));
}
[[gnu::weak]] void* operator new[](std::size_t size) {
    return fairlead::sim::detail::or_throw(fairlead::sim::detail::allocate_unless_watched(size));
}
[[gnu::weak]] void* operator new(std::size_t size, std::align_val_t align) {
    return fairlead::sim::detail::or_throw(fairlead::sim::detail::allocate_unless_watched(size, align));
}
[[gnu::weak]] void* operator new[](std::size_t size, std::align_val_t align) {
    return fairlead::sim::detail::or_throw(fairlead::sim::detail::allocate_unless_watched(size, align));
}
[[gnu::weak]] void* operator new(std::size_t size, std::nothrow_t const&) noexcept {
    return fairlead::sim::detail::allocate_unless_watched(size);
}
[[gnu::weak]] void* operator new[](std::size_t size, std::nothrow_t const&) noexcept {
    return fairlead::sim::detail::allocate_unless_watched(size);
}
[[gnu::weak]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::weak]] void operator delete[](void* p) noexcept { std::free(p); }
[[gnu::weak]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::weak]] void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
[[gnu::weak]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::weak]] void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::weak]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
[[gnu::weak]] void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
[[gnu::weak]] void operator delete(void* p, std::nothrow_t const&) noexcept { std::free(p); }
[[gnu::weak]] void operator delete[](void* p, std::nothrow_t const&) noexcept { std::free(p); }
// NOLINTEND(misc-definitions-in-headers)
