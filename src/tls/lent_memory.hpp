// Memory for encrypted bytes on their way, held only while there are some: an idle stream has none.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

namespace fairlead::ssl::impl {

/// The one that the thread keeps.
struct spare_memory {
    std::byte* bytes = nullptr;
    ~spare_memory() { ::operator delete(std::exchange(bytes, nullptr)); }
};
inline thread_local spare_memory spare;

/// A place of fixed size: bytes go in behind and come out in front. A thread keeps the last one that was given back.
class lent_memory {
public:
    /// Four records of the largest size, with what is around them.
    static constexpr std::size_t capacity = 4 * (16'384 + 256 + 5);

    lent_memory() noexcept = default;
    lent_memory(lent_memory&& other) noexcept
        : bytes_(std::exchange(other.bytes_, nullptr)),
          begin_(std::exchange(other.begin_, 0)),
          end_(std::exchange(other.end_, 0)) {}
    lent_memory& operator=(lent_memory&& other) noexcept {
        std::swap(bytes_, other.bytes_);
        std::swap(begin_, other.begin_);
        std::swap(end_, other.end_);
        return *this;
    }
    ~lent_memory() { give_back(); }

    bool empty() const noexcept { return begin_ == end_; }
    std::size_t size() const noexcept { return end_ - begin_; }
    std::byte* data() noexcept { return bytes_ + begin_; }
    /// False: no memory.
    bool borrow() noexcept {
        if (!bytes_ && !(bytes_ = std::exchange(spare.bytes, nullptr)))
            bytes_ = static_cast<std::byte*>(::operator new(capacity, std::nothrow));
        return bytes_;
    }
    void give_back() noexcept {
        begin_ = end_ = 0;
        ::operator delete(std::exchange(spare.bytes, std::exchange(bytes_, nullptr)));
    }
    std::byte* space() noexcept { return bytes_ + end_; }
    std::size_t space_left() const noexcept { return bytes_ ? capacity - end_ : capacity; }
    void commit(std::size_t n) noexcept { end_ += n; }
    void consume(std::size_t n) noexcept {
        begin_ += n;
        if (begin_ == end_)
            begin_ = end_ = 0;
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
        if (n != 0)
            std::memcpy(into, data(), n);
        consume(n);
        return n;
    }

private:
    std::byte* bytes_ = nullptr;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

} // namespace fairlead::ssl::impl
