// A std::streambuf that is a dynamic buffer: what operations read, programs parse with operator>>, and the reverse.
#pragma once

#include <fairlead/base/dynamic_buffer.hpp>
#include <fairlead/legacy/streambuf_fwd.hpp>

#include <memory>
#include <streambuf>
#include <vector>

namespace fairlead {

/// One piece of memory: first the bytes that wait to be read, then those that are being written. Operations take it by
/// reference, streams by address.
/// Errors     length_error  prepare() beyond max_size(); nothing changed
/// Threads    unsynchronised
/// Allocates  when there is no space; the memory stays until the object goes
template <class Allocator> class basic_streambuf : public std::streambuf {
public:
    using const_buffers_type = const_buffer;
    using mutable_buffers_type = mutable_buffer;

    explicit basic_streambuf(std::size_t max_size = impl::base::no_limit, Allocator const& allocator = Allocator())
        : bytes_(allocator),
          max_size_(max_size) {
        bytes_.resize(impl::base::limited(max_size, first_size));
        point_at(0, 0);
    }
    basic_streambuf(basic_streambuf const&) = delete;
    basic_streambuf& operator=(basic_streambuf const&) = delete;

    std::size_t size() const noexcept { return static_cast<std::size_t>(pptr() - gptr()); }
    std::size_t max_size() const noexcept { return max_size_; }
    std::size_t capacity() const noexcept { return impl::base::limited(bytes_.capacity(), max_size_); }

    const_buffers_type data() const noexcept { return {gptr(), size()}; }
    mutable_buffers_type prepare(std::size_t n) {
        make_space(n);
        return {pptr(), n};
    }
    /// Moves up to `n` bytes from what prepare() gave to the end of data().
    void commit(std::size_t n) noexcept {
        std::size_t const space = static_cast<std::size_t>(epptr() - pptr());
        point_at(begin(), end() + impl::base::limited(n, space));
    }
    void consume(std::size_t n) noexcept { point_at(begin() + impl::base::limited(n, size()), end()); }

protected:
    int_type underflow() override {
        if (size() == 0)
            return traits_type::eof();
        point_at(begin(), end());
        return traits_type::to_int_type(*gptr());
    }
    int_type overflow(int_type c) override {
        if (traits_type::eq_int_type(c, traits_type::eof()))
            return traits_type::not_eof(c);
        if (pptr() == epptr())
            make_space(size() < max_size_ && max_size_ - size() < growth ? max_size_ - size() : growth);
        *pptr() = traits_type::to_char_type(c);
        commit(1);
        return c;
    }

private:
    static constexpr std::size_t first_size = 128;
    static constexpr std::size_t growth = 128;

    std::size_t begin() const noexcept { return static_cast<std::size_t>(gptr() - eback()); }
    std::size_t end() const noexcept { return static_cast<std::size_t>(pptr() - eback()); }
    /// Also tells the stream what of the written it can read. setp() and not pbump(), which takes an int.
    void point_at(std::size_t begin, std::size_t end) noexcept {
        char* const first = bytes_.data();
        setg(first, first + begin, first + end);
        setp(first + end, first + bytes_.size());
    }
    void make_space(std::size_t n) {
        if (static_cast<std::size_t>(epptr() - pptr()) >= n)
            return;
        std::size_t const used = size();
        if (used > max_size_ || n > max_size_ - used)
            impl::base::throw_buffer_too_long();
        if (used != 0)
            std::memmove(bytes_.data(), gptr(), used);
        point_at(0, used);
        if (bytes_.size() < used + n) {
            bytes_.resize(used + n);
            point_at(0, used);
        }
    }

    std::vector<char, Allocator> bytes_;
    std::size_t max_size_;
};
/// The one with memory of std::allocator.
using streambuf = basic_streambuf<>;

/// A streambuf as a dynamic buffer that operations may move and copy.
template <class Allocator> class basic_streambuf_ref {
public:
    using const_buffers_type = const_buffer;
    using mutable_buffers_type = mutable_buffer;

    explicit basic_streambuf_ref(basic_streambuf<Allocator>& b) noexcept : streambuf_(&b) {}

    std::size_t size() const noexcept { return streambuf_->size(); }
    std::size_t max_size() const noexcept { return streambuf_->max_size(); }
    std::size_t capacity() const noexcept { return streambuf_->capacity(); }
    const_buffers_type data() const noexcept { return streambuf_->data(); }
    mutable_buffers_type prepare(std::size_t n) { return streambuf_->prepare(n); }
    void commit(std::size_t n) noexcept { streambuf_->commit(n); }
    void consume(std::size_t n) noexcept { streambuf_->consume(n); }

private:
    basic_streambuf<Allocator>* streambuf_;
};

} // namespace fairlead
