// The allocator that P0162 writes by hand: one block, and never a second one while the first lives.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <type_traits>

namespace fairlead::test {

struct one_block {
    alignas(16) std::byte bytes[512];
    bool taken = false;
    std::size_t times = 0;
    std::size_t largest = 0;
};
template <class T> struct one_block_allocator {
    using value_type = T;
    one_block* memory;
    explicit one_block_allocator(one_block* s) noexcept : memory(s) {}
    template <class U> one_block_allocator(one_block_allocator<U> const& other) noexcept : memory(other.memory) {}
    T* allocate(std::size_t n)
        requires(!std::is_void_v<T>)
    {
        if (memory->taken || n * sizeof(T) > sizeof memory->bytes)
            throw std::bad_alloc();
        memory->taken = true;
        ++memory->times;
        memory->largest = std::max(memory->largest, n * sizeof(T));
        return reinterpret_cast<T*>(memory->bytes);
    }
    void deallocate(T*, std::size_t) noexcept
        requires(!std::is_void_v<T>)
    {
        memory->taken = false;
    }
    template <class U> bool operator==(one_block_allocator<U> const& other) const noexcept {
        return memory == other.memory;
    }
};

} // namespace fairlead::test
