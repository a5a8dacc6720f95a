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
    std::byte const* data() const noexcept { return bytes_ + begin_; }
    /// False: no memory.
    bool borrow() noexcept {
        if (!bytes_ && !(bytes_ = spare.take()))
            bytes_ = static_cast<std::byte*>(::operator new(capacity, std::nothrow));
        return bytes_;
    }
    void give_back() noexcept {
        begin_ = end_ = 0;
        if (bytes_)
            spare.keep(std::exchange(bytes_, nullptr));
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
