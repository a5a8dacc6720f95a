// An allocator that keeps books, for tests of whose memory an operation takes.
#pragma once

#include <cstddef>
#include <new>

namespace fairlead::test {

struct account {
    int live = 0, taken = 0;
};
template <class T> struct counting_allocator {
    using value_type = T;
    account* books;
    explicit counting_allocator(account* a) : books(a) {}
    template <class U> counting_allocator(counting_allocator<U> const& other) : books(other.books) {}
    T* allocate(std::size_t k) {
        auto* const taken = static_cast<T*>(::operator new(k * sizeof(T))); // May throw: then nothing is booked.
        ++books->live;
        ++books->taken;
        return taken;
    }
    void deallocate(T* p, std::size_t) {
        --books->live;
        ::operator delete(p);
    }
    template <class U> bool operator==(counting_allocator<U> const& other) const { return books == other.books; }
};

} // namespace fairlead::test
