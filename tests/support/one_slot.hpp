// The allocator that P0162 writes by hand: one block, and never a second one while the first lives.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <type_traits>

namespace fairlead::test {

struct one_slot {
    alignas(16) std::byte bytes[512];
    bool taken = false;
    std::size_t times = 0;
    std::size_t largest = 0;
};
template <class T> struct one_slot_allocator {
    using value_type = T;
    one_slot* slot;
    explicit one_slot_allocator(one_slot* s) noexcept : slot(s) {}
    template <class U> one_slot_allocator(one_slot_allocator<U> const& other) noexcept : slot(other.slot) {}
    T* allocate(std::size_t n)
        requires(!std::is_void_v<T>)
    {
        if (slot->taken || n * sizeof(T) > sizeof slot->bytes)
            throw std::bad_alloc();
        slot->taken = true;
        ++slot->times;
        slot->largest = std::max(slot->largest, n * sizeof(T));
        return reinterpret_cast<T*>(slot->bytes);
    }
    void deallocate(T*, std::size_t) noexcept
        requires(!std::is_void_v<T>)
    {
        slot->taken = false;
    }
    template <class U> bool operator==(one_slot_allocator<U> const& other) const noexcept { return slot == other.slot; }
};

} // namespace fairlead::test
