// Dynamic buffers: strings, vectors and lazy_buffer as memory that a read appends to and a parser consumes.
#pragma once

#include <fairlead/base/buffer.hpp>
#include <fairlead/base/taken_from.hpp>

#include <string>
#include <vector>

namespace fairlead {

namespace impl::base {

/// Throws length_error: an operation would have made a dynamic buffer larger than its max_size().
[[noreturn]] FAIRLEAD_EXPORT void throw_buffer_too_long();

} // namespace impl::base

/// A string or vector of bytes that somebody else owns, as a dynamic buffer of both versions. The first prepare()
/// chooses version 1. From then on size() counts the committed bytes, and the container also holds the prepared ones.
/// The function consume() erases at the front, which moves the rest; lazy_buffer does so seldom.
/// Errors     length_error    prepare() or grow() beyond max_size(); nothing changed
template <typename Container> class dynamic_container_buffer {
    static_assert(sizeof(typename Container::value_type) == 1, "dynamic buffers count bytes");

public:
    using const_buffers_type = const_buffer;
    using mutable_buffers_type = mutable_buffer;

    explicit dynamic_container_buffer(Container& container FAIRLEAD_LIFETIMEBOUND,
                                      std::size_t max_size = impl::base::no_limit) noexcept
        : container_(&container),
          max_size_(max_size) {}

    std::size_t size() const noexcept {
        return committed_ != impl::base::no_limit ? committed_ : impl::base::limited(container_->size(), max_size_);
    }
    std::size_t max_size() const noexcept { return max_size_; }
    std::size_t capacity() const noexcept { return impl::base::limited(container_->capacity(), max_size_); }

    /// Not more than the container has, whoever has made it shorter.
    const_buffer data() const noexcept {
        return {container_->data(),
                impl::base::limited(container_->size(), committed_ != impl::base::no_limit ? committed_ : max_size_)};
    }
    mutable_buffer prepare(std::size_t n) {
        std::size_t const start = size();
        check_space(n);
        container_->resize(start + n);
        committed_ = start;
        return {container_->data() + start, n};
    }
    void commit(std::size_t n) {
        std::size_t const start = size();
        committed_ = start + impl::base::limited(n, container_->size() - start);
        container_->resize(committed_);
    }

    mutable_buffer data(std::size_t pos, std::size_t n) noexcept {
        return buffer(buffer(*container_, max_size_) + pos, n);
    }
    const_buffer data(std::size_t pos, std::size_t n) const noexcept {
        return buffer(buffer(*container_, max_size_) + pos, n);
    }
    void grow(std::size_t n) {
        check_space(n);
        container_->resize(size() + n);
    }
    void shrink(std::size_t n) { container_->resize(size() - impl::base::limited(n, size())); }

    void consume(std::size_t n) {
        std::size_t const count = impl::base::limited(n, size());
        container_->erase(container_->begin(), container_->begin() + static_cast<std::ptrdiff_t>(count));
        if (committed_ != impl::base::no_limit)
            committed_ -= count;
    }

private:
    void check_space(std::size_t n) const {
        if (size() > max_size_ || max_size_ - size() < n)
            impl::base::throw_buffer_too_long();
    }

    Container* container_;
    std::size_t committed_ = impl::base::no_limit; // no_limit: nothing was prepared yet, the container's size counts.
    std::size_t max_size_;
};

/// The result of dynamic_buffer() for a string.
template <typename Elem, typename Traits, typename Allocator> using dynamic_string_buffer =
    dynamic_container_buffer<std::basic_string<Elem, Traits, Allocator>>;
/// The result of dynamic_buffer() for a vector.
template <typename Elem, typename Allocator> using dynamic_vector_buffer =
    dynamic_container_buffer<std::vector<Elem, Allocator>>;

/// Lets operations append to, and consume from, a string or vector of bytes; it never exceeds max_size by them.
template <typename Elem, typename Traits, typename Allocator>
[[nodiscard]] dynamic_string_buffer<Elem, Traits, Allocator>
dynamic_buffer(std::basic_string<Elem, Traits, Allocator>& data FAIRLEAD_LIFETIMEBOUND,
               std::size_t max_size = impl::base::no_limit) noexcept {
    return dynamic_string_buffer<Elem, Traits, Allocator>(data, max_size);
}
template <typename Elem, typename Allocator> [[nodiscard]] dynamic_vector_buffer<Elem, Allocator>
dynamic_buffer(std::vector<Elem, Allocator>& data FAIRLEAD_LIFETIMEBOUND,
               std::size_t max_size = impl::base::no_limit) noexcept {
    return dynamic_vector_buffer<Elem, Allocator>(data, max_size);
}
/// A temporary is gone before the operation has ended.
template <class Temporary>
    requires(!std::is_lvalue_reference_v<Temporary>)
FAIRLEAD_REFUSED("a dynamic buffer refers to this object, which has to outlive the operation: give it a name")
dynamic_container_buffer<std::remove_cv_t<Temporary>> dynamic_buffer(Temporary&&, std::size_t = 0) noexcept;

/// How large a lazy_buffer may become, and how rarely it moves its bytes.
struct lazy_buffer_options {
    std::size_t max_size = impl::base::no_limit; ///< Most bytes that size() may reach.
    std::size_t offset_threshold = 16 * 1024;    ///< Most consumed bytes to leave in front; 0 moves at every consume().
};

/// Owns contiguous bytes for reading and parsing. A call of consume() only advances an offset. Once the offset is
/// beyond the threshold, the bytes that are left move to the front together. Bytes from grow() and prepare() are
/// uninitialised, which saves a memset. Every non-const member but commit() and shrink() invalidates the buffers handed
/// out before.
/// Errors     length_error    prepare() or grow() beyond max_size(); nothing changed
///            bad_alloc       likewise; nothing changed
/// Threads    unsynchronised
/// Allocates  when prepare() or grow() find no space; the storage at least doubles and never shrinks
class lazy_buffer {
public:
    using const_buffers_type = const_buffer;
    using mutable_buffers_type = mutable_buffer;

    lazy_buffer() noexcept : lazy_buffer(lazy_buffer_options{}) {}
    FAIRLEAD_EXPORT explicit lazy_buffer(lazy_buffer_options options) noexcept;
    lazy_buffer(lazy_buffer&& other) noexcept : lazy_buffer(other.options()) { swap(other); }
    lazy_buffer& operator=(lazy_buffer&& other) noexcept {
        lazy_buffer(std::move(other)).swap(*this);
        return *this;
    }
    FAIRLEAD_EXPORT ~lazy_buffer();
    FAIRLEAD_EXPORT void swap(lazy_buffer& other) noexcept;

    std::size_t size() const noexcept { return end_ - begin_; }
    std::size_t max_size() const noexcept { return max_size_; }
    /// The size that is possible before the bytes must move.
    std::size_t capacity() const noexcept { return impl::base::limited(capacity_ - begin_, max_size_); }

    const_buffer data() const noexcept { return {storage_ + begin_, size()}; }
    mutable_buffer data(std::size_t pos, std::size_t n) noexcept {
        return buffer(mutable_buffer(storage_ + begin_, size()) + pos, n);
    }
    const_buffer data(std::size_t pos, std::size_t n) const noexcept { return buffer(data() + pos, n); }

    mutable_buffer prepare(std::size_t n) {
        make_space(n);
        prepared_ = n;
        return {storage_ + end_, n};
    }
    void commit(std::size_t n) noexcept { end_ += impl::base::limited(n, impl::base::taken_from(prepared_)); }

    void grow(std::size_t n) {
        make_space(n);
        prepared_ = 0;
        end_ += n;
    }
    void shrink(std::size_t n) noexcept {
        prepared_ = 0;
        end_ -= impl::base::limited(n, size());
    }
    void consume(std::size_t n) noexcept {
        prepared_ = 0;
        begin_ += impl::base::limited(n, size());
        if (begin_ == end_)
            begin_ = end_ = 0; // Nothing to move, and no rotation: the usual end of a batch.
        else if (begin_ > offset_threshold_)
            rotate();
    }

    std::size_t offset_threshold() const noexcept { return offset_threshold_; }
    /// Takes effect at the next consume().
    void offset_threshold(std::size_t n) noexcept { offset_threshold_ = n; }

    /// How often bytes moved to the front of the storage. New storage does not count.
    std::size_t rotations() const noexcept { return rotations_; }

private:
    lazy_buffer_options options() const noexcept { return {max_size_, offset_threshold_}; }
    void make_space(std::size_t n) {
        if (capacity_ - end_ < n || max_size_ - size() < n) [[unlikely]]
            make_space_by_moving(n);
    }
    FAIRLEAD_EXPORT void make_space_by_moving(std::size_t n);
    FAIRLEAD_EXPORT void rotate() noexcept;

    // [0, begin_) consumed  [begin_, end_) data  [end_, capacity_) uninitialised, the first prepared_ bytes of it lent
    char* storage_ = nullptr;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t capacity_ = 0;
    std::size_t prepared_ = 0;
    std::size_t max_size_;
    std::size_t offset_threshold_;
    std::size_t rotations_ = 0;
};

/// A lazy_buffer as a dynamic buffer of both versions: one pointer, copied freely; the bytes and limits stay there.
class dynamic_lazy_buffer {
public:
    using const_buffers_type = const_buffer;
    using mutable_buffers_type = mutable_buffer;

    explicit dynamic_lazy_buffer(lazy_buffer& storage FAIRLEAD_LIFETIMEBOUND) noexcept : storage_(&storage) {}

    std::size_t size() const noexcept { return storage_->size(); }
    std::size_t max_size() const noexcept { return storage_->max_size(); }
    std::size_t capacity() const noexcept { return storage_->capacity(); }
    const_buffer data() const noexcept { return std::as_const(*storage_).data(); }
    mutable_buffer data(std::size_t pos, std::size_t n) noexcept { return storage_->data(pos, n); }
    const_buffer data(std::size_t pos, std::size_t n) const noexcept { return std::as_const(*storage_).data(pos, n); }
    mutable_buffer prepare(std::size_t n) { return storage_->prepare(n); }
    void commit(std::size_t n) noexcept { storage_->commit(n); }
    void grow(std::size_t n) { storage_->grow(n); }
    void shrink(std::size_t n) noexcept { storage_->shrink(n); }
    void consume(std::size_t n) noexcept { storage_->consume(n); }

private:
    lazy_buffer* storage_;
};

[[nodiscard]] inline dynamic_lazy_buffer dynamic_buffer(lazy_buffer& storage FAIRLEAD_LIFETIMEBOUND) noexcept {
    return dynamic_lazy_buffer(storage);
}

} // namespace fairlead
