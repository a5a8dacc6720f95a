// Checks of the layout that the buffer headers promise, and the slow paths of dynamic buffers.
#include <fairlead/base/buffer.hpp>
#include <fairlead/base/dynamic_buffer.hpp>

#include <cstddef>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

#include <sys/uio.h>

namespace fairlead {

// An array of any of these is handed to the kernel as it is.
template <typename T> constexpr bool is_like_iovec = sizeof(T) == sizeof(iovec) && alignof(T) == alignof(iovec) &&
                                                     std::is_standard_layout_v<T> && std::is_trivially_copyable_v<T>;
static_assert(is_like_iovec<const_buffer> && is_like_iovec<mutable_buffer> && is_like_iovec<impl::base::io_slice>);
static_assert(offsetof(impl::base::io_slice, base) == offsetof(iovec, iov_base));
static_assert(offsetof(impl::base::io_slice, size) == offsetof(iovec, iov_len));

static_assert(dynamic_buffer_v1<dynamic_container_buffer<std::string>>);
static_assert(dynamic_buffer_v2<dynamic_container_buffer<std::string>>);
static_assert(dynamic_buffer_v1<dynamic_lazy_buffer> && dynamic_buffer_v2<dynamic_lazy_buffer>);
static_assert(sizeof(dynamic_container_buffer<std::string>) == 3 * sizeof(void*));
static_assert(sizeof(dynamic_lazy_buffer) == sizeof(void*));

void impl::base::throw_buffer_too_long() { throw std::length_error("dynamic_buffer: beyond max_size()"); }

namespace {

// Memory beyond this cannot be had: a limit keeps the sums of sizes from wrapping.
constexpr std::size_t storage_max = std::numeric_limits<std::ptrdiff_t>::max() / 4;
constexpr std::size_t storage_min = 512;

} // namespace

lazy_buffer::lazy_buffer(lazy_buffer_options options) noexcept
    : max_size_(impl::base::limited(options.max_size, storage_max)),
      offset_threshold_(options.offset_threshold) {}

lazy_buffer::~lazy_buffer() { ::operator delete(storage_); }

void lazy_buffer::swap(lazy_buffer& other) noexcept {
    std::swap(storage_, other.storage_);
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
    std::swap(capacity_, other.capacity_);
    std::swap(prepared_, other.prepared_);
    std::swap(max_size_, other.max_size_);
    std::swap(offset_threshold_, other.offset_threshold_);
    std::swap(rotations_, other.rotations_);
}

void lazy_buffer::rotate() noexcept {
    std::memmove(storage_, storage_ + begin_, size());
    end_ -= std::exchange(begin_, 0);
    ++rotations_;
}

void lazy_buffer::make_space_by_moving(std::size_t n) {
    std::size_t const used = size();
    if (max_size_ - used < n)
        impl::base::throw_buffer_too_long();

    // Moving is paid for by the bytes consumed since the last move: at least a quarter of what is moved. With less in
    // front the storage is nearly full, and moving at every call would cost more than new storage does.
    if (capacity_ - used >= n && begin_ >= capacity_ / 4)
        return rotate();

    std::size_t capacity = capacity_ * 2;
    if (capacity < storage_min)
        capacity = storage_min;
    if (capacity < used + n)
        capacity = used + n;
    char* const storage = static_cast<char*>(::operator new(capacity));
    if (used != 0)
        std::memcpy(storage, storage_ + begin_, used);
    ::operator delete(storage_);
    storage_ = storage;
    capacity_ = capacity;
    begin_ = 0;
    end_ = used;
}

} // namespace fairlead
