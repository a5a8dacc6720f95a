// The bytes of a sequence of buffers, one after the other, as a range with random access.
#pragma once

#include <fairlead/base/buffer.hpp>

#include <iterator>

namespace fairlead {
namespace detail {

/// Iterates over one buffer, which it holds: what it was made of may be gone.
template <typename Buffer> class single_iterator {
public:
    using value_type = Buffer;
    using reference = Buffer;
    using pointer = void;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::bidirectional_iterator_tag;

    constexpr single_iterator() noexcept = default;
    constexpr single_iterator(Buffer buffer, bool at_end) noexcept : buffer_(buffer), at_end_(at_end) {}

    constexpr Buffer operator*() const noexcept { return buffer_; }
    constexpr single_iterator& operator++() noexcept { return at_end_ = true, *this; }
    constexpr single_iterator& operator--() noexcept { return at_end_ = false, *this; }
    constexpr single_iterator operator++(int) noexcept { return {buffer_, std::exchange(at_end_, true)}; }
    constexpr single_iterator operator--(int) noexcept { return {buffer_, std::exchange(at_end_, false)}; }
    friend constexpr bool operator==(single_iterator const& a, single_iterator const& b) noexcept {
        return a.at_end_ == b.at_end_;
    }

private:
    Buffer buffer_{};
    bool at_end_ = false;
};

} // namespace detail

/// Points at a byte of a sequence, which must live on, unless it is a single buffer: that the iterator holds. A jump
/// passes over the buffers in between.
template <class Buffers, class ByteType = char> class buffers_iterator {
    using buffer_type = std::conditional_t<mutable_buffer_sequence<Buffers>, mutable_buffer, const_buffer>;
    static constexpr bool is_single = impl::base::buffer_like<Buffers const&, const_buffer>;
    static auto edge(Buffers const& buffers, bool at_end) noexcept {
        if constexpr (is_single)
            return detail::single_iterator<buffer_type>(impl::base::as_buffer<buffer_type>(buffers), at_end);
        else
            return impl::base::sequence_edge(buffers, at_end);
    }
    using buffer_iterator = decltype(edge(std::declval<Buffers const&>(), false));
    using byte_type = std::conditional_t<mutable_buffer_sequence<Buffers>, ByteType, std::add_const_t<ByteType>>;
    static_assert(sizeof(ByteType) == 1, "a buffer is a sequence of bytes");

public:
    using difference_type = std::ptrdiff_t;
    using value_type = ByteType;
    using pointer = byte_type*;
    using reference = byte_type&;
    using iterator_category = std::random_access_iterator_tag;

    buffers_iterator() noexcept = default;
    static buffers_iterator begin(Buffers const& buffers) {
        buffers_iterator i(buffers);
        i.skip_empty();
        return i;
    }
    static buffers_iterator end(Buffers const& buffers) {
        return begin(buffers) + static_cast<difference_type>(buffer_size(buffers));
    }

    reference operator*() const noexcept { return bytes()[offset_]; }
    pointer operator->() const noexcept { return &**this; }
    reference operator[](difference_type n) const { return *(*this + n); }

    buffers_iterator& operator++() {
        ++position_;
        if (++offset_ == size())
            next_buffer(), skip_empty();
        return *this;
    }
    buffers_iterator operator++(int) {
        auto const before = *this;
        ++*this;
        return before;
    }
    buffers_iterator& operator--() {
        --position_;
        while (offset_ == 0)
            previous_buffer();
        --offset_;
        return *this;
    }
    buffers_iterator operator--(int) {
        auto const before = *this;
        --*this;
        return before;
    }
    buffers_iterator& operator+=(difference_type n) {
        position_ += n;
        if (n < 0) {
            auto left = static_cast<std::size_t>(-n);
            for (; left > offset_; previous_buffer())
                left -= std::exchange(offset_, 0);
            offset_ -= left;
        } else {
            auto left = static_cast<std::size_t>(n);
            for (; current_ != end_ && left >= size() - offset_; next_buffer())
                left -= size() - offset_;
            offset_ += left;
        }
        return *this;
    }
    buffers_iterator& operator-=(difference_type n) { return *this += -n; }

    friend buffers_iterator operator+(buffers_iterator i, difference_type n) { return i += n; }
    friend buffers_iterator operator+(difference_type n, buffers_iterator i) { return i += n; }
    friend buffers_iterator operator-(buffers_iterator i, difference_type n) { return i -= n; }
    friend difference_type operator-(buffers_iterator const& a, buffers_iterator const& b) noexcept {
        return a.position_ - b.position_;
    }
    friend bool operator==(buffers_iterator const& a, buffers_iterator const& b) noexcept {
        return a.position_ == b.position_;
    }
    friend auto operator<=>(buffers_iterator const& a, buffers_iterator const& b) noexcept {
        return a.position_ <=> b.position_;
    }

private:
    explicit buffers_iterator(Buffers const& buffers) : current_(edge(buffers, false)), end_(edge(buffers, true)) {}

    std::size_t size() const noexcept { return impl::base::as_buffer<buffer_type>(*current_).size(); }
    byte_type* bytes() const noexcept {
        return static_cast<byte_type*>(impl::base::as_buffer<buffer_type>(*current_).data());
    }
    /// `offset_` is 0 afterwards, and `position_` the caller's business.
    void next_buffer() noexcept {
        ++current_;
        offset_ = 0;
    }
    void skip_empty() noexcept {
        while (current_ != end_ && size() == 0)
            next_buffer();
    }
    void previous_buffer() noexcept {
        --current_;
        offset_ = size();
    }

    buffer_iterator current_{};
    buffer_iterator end_{};
    std::size_t offset_ = 0;       ///< in the current buffer; less than its size, except at the end
    difference_type position_ = 0; ///< in the whole sequence
};

/// The first byte of a sequence of buffers.
template <const_buffer_sequence Buffers> [[nodiscard]] buffers_iterator<Buffers> buffers_begin(Buffers const& buffers) {
    return buffers_iterator<Buffers>::begin(buffers);
}
/// Behind the last one.
template <const_buffer_sequence Buffers> [[nodiscard]] buffers_iterator<Buffers> buffers_end(Buffers const& buffers) {
    return buffers_iterator<Buffers>::end(buffers);
}

} // namespace fairlead
