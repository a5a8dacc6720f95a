// Memory for encrypted bytes on their way, held only while there are some: an idle stream has none.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

namespace fairlead::ssl::impl {

/// Those that the thread keeps: for both directions of a stream, and for what a write has made while another one flies.
class spare_memory {
public:
    static constexpr unsigned most = 4;

    spare_memory() noexcept = default;
    spare_memory(spare_memory const&) = delete;
    spare_memory& operator=(spare_memory const&) = delete;
    ~spare_memory() {
        while (auto* const bytes = take())
            ::operator delete(bytes);
        count_ = most; // From now on the thread keeps none, and finds none.
        has_ended_ = true;
    }
    /// Null: there is none.
    std::byte* take() noexcept { return count_ == 0 || has_ended_ ? nullptr : all_[--count_]; }
    void keep(std::byte* bytes) noexcept {
        if (count_ < most)
            all_[count_++] = bytes;
        else
            ::operator delete(bytes);
    }

private:
    std::byte* all_[most];
    unsigned count_ = 0;
    bool has_ended_ = false;
};
inline thread_local spare_memory spare;

/// A place of fixed size: bytes go in behind and come out in front. A thread keeps some that were given back.
class lent_memory {
public:
    /// Four records of the largest size, with what is around them.
    static constexpr std::size_t capacity = 4 * (16'384 + 256 + 5);

    lent_memory() noexcept = default;
    lent_memory(lent_memory&& other) noexcept : at_(std::exchange(other.at_, nullptr)) {}
    lent_memory& operator=(lent_memory&& other) noexcept {
        std::swap(at_, other.at_);
        return *this;
    }
    ~lent_memory() { give_back(); }

    bool empty() const noexcept { return size() == 0; }
    std::size_t size() const noexcept { return at_ ? at_->end - at_->begin : 0; }
    /// Of memory that is there.
    std::byte* data() noexcept { return bytes() + at_->begin; }
    std::byte const* data() const noexcept { return bytes() + at_->begin; }
    /// False: no memory.
    bool borrow() noexcept {
        if (at_)
            return true;
        auto* place = spare.take();
        if (!place)
            place = static_cast<std::byte*>(::operator new(sizeof(positions) + capacity, std::nothrow));
        at_ = place ? new (place) positions : nullptr;
        return at_;
    }
    void give_back() noexcept {
        if (at_)
            spare.keep(reinterpret_cast<std::byte*>(std::exchange(at_, nullptr)));
    }
    std::byte* space() noexcept { return bytes() + at_->end; }
    std::size_t space_left() const noexcept { return at_ ? capacity - at_->end : capacity; }
    void commit(std::size_t n) noexcept {
        if (n != 0)
            at_->end += n;
    }
    void consume(std::size_t n) noexcept {
        if (n == 0) // Perhaps there is none.
            return;
        at_->begin += n;
        if (at_->begin == at_->end)
            at_->begin = at_->end = 0;
    }
    /// Where there is space for it. False: no memory.
    bool put(void const* from, std::size_t n) noexcept {
        if (!borrow())
            return false;
        std::memcpy(space(), from, n);
        commit(n);
        return true;
    }
    /// As many bytes as there are, up to n.
    std::size_t take(void* into, std::size_t n) noexcept {
        n = n < size() ? n : size();
        if (n == 0)
            return 0;
        std::memcpy(into, data(), n);
        consume(n);
        return n;
    }

private:
    /// In front of the bytes: a stream that holds none has but a pointer.
    struct positions {
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    std::byte* bytes() const noexcept { return reinterpret_cast<std::byte*>(at_ + 1); }

    positions* at_ = nullptr;
};

} // namespace fairlead::ssl::impl
