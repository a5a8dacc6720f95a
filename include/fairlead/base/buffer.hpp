// Buffers: pieces of memory that somebody else owns, alone or in sequences, and how to make and copy them.
#pragma once

#include <fairlead/base/config.hpp>

#include <concepts>
#include <cstddef>
#include <cstring>
#include <span> // also the iterator concepts and enable_borrowed_range: <iterator> and <ranges> weigh twice as much
#include <type_traits>
#include <utility> // tuple_size

namespace fairlead {
namespace impl::base {

template <typename T>
concept single_byte = sizeof(T) == 1 && std::is_trivially_copyable_v<T> && !std::is_volatile_v<T>;

template <typename> inline constexpr bool has_shape_of_span = false;
template <template <typename, std::size_t> typename Span, single_byte T, std::size_t Extent>
inline constexpr bool has_shape_of_span<Span<T, Extent>> = true;

/// std::span of bytes, and what is made like it. These become buffers by themselves: what has subspan() owns nothing.
template <typename S, typename Pointer>
concept byte_span = has_shape_of_span<S> && requires(S const& s) {
    { s.data() } -> std::convertible_to<Pointer>;
    { s.size() } -> std::convertible_to<std::size_t>;
    s.subspan(0, 0);
};

} // namespace impl::base

class FAIRLEAD_VIEW const_buffer;

/// Memory that may be written. Does not own it; a copy refers to the same bytes.
class FAIRLEAD_VIEW mutable_buffer {
public:
    constexpr mutable_buffer() noexcept = default;
    constexpr mutable_buffer(void* data, std::size_t size) noexcept : data_(data), size_(size) {}
    /// The bytes of a std::span, or of one of the program's own.
    template <impl::base::byte_span<void*> Span> constexpr mutable_buffer(Span const& bytes) noexcept
        : data_(bytes.data()),
          size_(bytes.size()) {}

    /// Memory that is only read stays so. Declared so that the compiler says that, and not which buffers there are.
    template <std::same_as<const_buffer> Read> mutable_buffer(Read const&) = delete;

    constexpr void* data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }

    /// Drops up to n bytes from the front.
    mutable_buffer& operator+=(std::size_t n) noexcept {
        std::size_t const step = n < size_ ? n : size_;
        data_ = static_cast<char*>(data_) + step;
        size_ -= step;
        return *this;
    }

private:
    void* data_ = nullptr; // This order is struct iovec's; src/base/buffer.cpp asserts it.
    std::size_t size_ = 0;
};

/// Memory that is only read. Does not own it; a copy refers to the same bytes.
class FAIRLEAD_VIEW const_buffer {
public:
    constexpr const_buffer() noexcept = default;
    constexpr const_buffer(void const* data, std::size_t size) noexcept : data_(data), size_(size) {}
    constexpr const_buffer(mutable_buffer const& b) noexcept : data_(b.data()), size_(b.size()) {}
    /// The bytes of a std::span, or of one of the program's own.
    template <impl::base::byte_span<void const*> Span> constexpr const_buffer(Span const& bytes) noexcept
        : data_(bytes.data()),
          size_(bytes.size()) {}

    constexpr void const* data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }

    /// Drops up to n bytes from the front.
    const_buffer& operator+=(std::size_t n) noexcept {
        std::size_t const step = n < size_ ? n : size_;
        data_ = static_cast<char const*>(data_) + step;
        size_ -= step;
        return *this;
    }

private:
    void const* data_ = nullptr;
    std::size_t size_ = 0;
};

[[nodiscard]] inline mutable_buffer operator+(mutable_buffer b, std::size_t n) noexcept { return b += n; }
[[nodiscard]] inline mutable_buffer operator+(std::size_t n, mutable_buffer b) noexcept { return b += n; }
[[nodiscard]] inline const_buffer operator+(const_buffer b, std::size_t n) noexcept { return b += n; }
[[nodiscard]] inline const_buffer operator+(std::size_t n, const_buffer b) noexcept { return b += n; }

// ---- buffer(): a view of memory that a container, an array or a pointer names -------------------------------------

namespace impl::base {

template <typename T, typename Buffer>
concept is_buffer = std::convertible_to<std::remove_cvref_t<T> const*, Buffer const*>;

/// Elements whose bytes may be sent. Buffers are not: the bytes of a pointer are never what was meant.
template <typename T>
concept buffer_element = std::is_object_v<T> && std::is_trivially_copyable_v<T> && !std::is_volatile_v<T> &&
                         !is_buffer<T, const_buffer> && !is_buffer<T, mutable_buffer>;

template <typename C>
concept has_data = std::is_pointer_v<decltype(std::declval<C&>().data())> && requires(C& c) {
    { *c.data() } -> std::same_as<std::remove_pointer_t<decltype(c.data())>&>;
};
template <typename C>
concept has_contiguous_begin = requires(C& c) {
    { c.begin() } -> std::contiguous_iterator;
};

template <typename C>
    requires has_data<C> || has_contiguous_begin<C>
constexpr auto* first_element(C& c) noexcept {
    if constexpr (has_data<C>)
        return c.data();
    else
        return c.size() != 0 ? std::addressof(*c.begin()) : nullptr;
}

/// array, vector, string, string_view, span and what looks like them.
template <typename C>
concept buffer_container =
    (byte_span<std::remove_const_t<C>, void const*> ||
     (!std::convertible_to<C const&, const_buffer> && !std::convertible_to<C const&, mutable_buffer>)) &&
    requires(C& c) {
        { c.size() } -> std::convertible_to<std::size_t>;
        requires buffer_element<std::remove_pointer_t<decltype(first_element(c))>>;
    };

template <typename C> inline constexpr bool is_view =
    std::ranges::enable_borrowed_range<std::remove_cv_t<C>> || byte_span<std::remove_cv_t<C>, void const*>;

template <typename T> using buffer_for = std::conditional_t<std::is_const_v<T>, const_buffer, mutable_buffer>;

constexpr std::size_t limited(std::size_t size, std::size_t max_size) noexcept {
    return size < max_size ? size : max_size;
}

template <typename T> constexpr buffer_for<T> make_buffer(T* data, std::size_t count, std::size_t max_size) noexcept {
    return {data, limited(count * sizeof(T), max_size)};
}

template <typename C> constexpr auto make_buffer(C& container, std::size_t max_size) noexcept {
    return make_buffer(first_element(container), container.size(), max_size);
}

inline constexpr std::size_t no_limit = static_cast<std::size_t>(-1);

} // namespace impl::base

/// The same buffer, at most max_size bytes of it.
[[nodiscard]] constexpr mutable_buffer buffer(mutable_buffer const& b,
                                              std::size_t max_size = impl::base::no_limit) noexcept {
    return {b.data(), impl::base::limited(b.size(), max_size)};
}
[[nodiscard]] constexpr const_buffer buffer(const_buffer const& b,
                                            std::size_t max_size = impl::base::no_limit) noexcept {
    return {b.data(), impl::base::limited(b.size(), max_size)};
}

/// size bytes from data on.
[[nodiscard]] constexpr mutable_buffer buffer(void* data, std::size_t size) noexcept { return {data, size}; }
[[nodiscard]] constexpr const_buffer buffer(void const* data, std::size_t size) noexcept { return {data, size}; }

/// The elements of an array, at most max_size bytes of them. A string literal counts with its final NUL.
template <typename T, std::size_t N>
    requires impl::base::buffer_element<T>
[[nodiscard]] constexpr impl::base::buffer_for<T> buffer(T (&data FAIRLEAD_LIFETIMEBOUND)[N],
                                                         std::size_t max_size = impl::base::no_limit) noexcept {
    return impl::base::make_buffer(data, N, max_size);
}

/// The elements of a container with data(), or with contiguous iterators, at most max_size bytes of them. They are
/// trivially copyable. Mutable if the container gives mutable access: not for const containers and string views.
/// Lifetime   the buffer refers to the container's memory; whatever invalidates its pointers invalidates the buffer
template <impl::base::buffer_container C>
    requires(!impl::base::is_view<C>)
[[nodiscard]] constexpr auto buffer(C& data FAIRLEAD_LIFETIMEBOUND,
                                    std::size_t max_size = impl::base::no_limit) noexcept {
    return impl::base::make_buffer(data, max_size);
}
template <typename C>
    requires(impl::base::buffer_container<C const> && !impl::base::is_view<C>)
[[nodiscard]] constexpr auto buffer(C const& data FAIRLEAD_LIFETIMEBOUND,
                                    std::size_t max_size = impl::base::no_limit) noexcept {
    return impl::base::make_buffer(data, max_size);
}
template <impl::base::buffer_container View>
    requires impl::base::is_view<View>
[[nodiscard]] constexpr auto buffer(View data, std::size_t max_size = impl::base::no_limit) noexcept {
    return impl::base::make_buffer(data, max_size);
}

// ---- Sequences ----------------------------------------------------------------------------------------------------

namespace impl::base {

/// Writable memory is also readable. For the compiler these are two conversions.
template <typename T, typename Buffer>
concept buffer_like = std::convertible_to<T, Buffer> || std::convertible_to<T, mutable_buffer>;

template <typename Buffer, typename T>
    requires buffer_like<T const&, Buffer>
constexpr Buffer as_buffer(T const& value) noexcept {
    if constexpr (std::convertible_to<T const&, Buffer>) {
        return value;
    } else {
        mutable_buffer const b = value;
        return b;
    }
}

template <typename S, typename Buffer>
concept buffer_range = requires(S const& s) {
    { s.begin() } -> std::bidirectional_iterator;
    { s.end() } -> std::same_as<decltype(s.begin())>;
    { *s.begin() } -> buffer_like<Buffer>;
};

template <typename S, typename Buffer>
concept buffer_sequence = buffer_like<S const&, Buffer> || buffer_range<S, Buffer>;

template <typename S> constexpr auto sequence_edge(S const& s, std::ptrdiff_t at_end) noexcept {
    if constexpr (is_buffer<S, mutable_buffer>)
        return static_cast<mutable_buffer const*>(std::addressof(s)) + at_end;
    else if constexpr (is_buffer<S, const_buffer>)
        return static_cast<const_buffer const*>(std::addressof(s)) + at_end;
    else if constexpr (buffer_like<S const&, const_buffer>)
        return std::addressof(s) + at_end; // of one that converts when somebody looks
    else
        return at_end != 0 ? s.end() : s.begin();
}

} // namespace impl::base

/// One const_buffer (or what converts to it), or a bidirectional range of such.
template <typename S>
concept const_buffer_sequence = impl::base::buffer_sequence<std::remove_cvref_t<S>, const_buffer>;

/// One mutable_buffer (or what converts to it), or a bidirectional range of such.
template <typename S>
concept mutable_buffer_sequence = impl::base::buffer_sequence<std::remove_cvref_t<S>, mutable_buffer>;

/// The messages of functions that are given something else.
#define FAIRLEAD_NO_BUFFERS                                                                                            \
    "these are no buffers: write fairlead::buffer(x) of a string, an array or a container, and of a literal "          \
    "fairlead::buffer(std::string_view(\"abc\"))"
#define FAIRLEAD_NO_MUTABLE_BUFFERS                                                                                    \
    "these are no buffers that can be written to: write fairlead::buffer(x) of an array or a container that is not "   \
    "const"

/// const_buffer_sequence as a type, for programs that ask for it in that way.
template <typename S> struct is_const_buffer_sequence : std::bool_constant<const_buffer_sequence<S>> {};
/// mutable_buffer_sequence as a type.
template <typename S> struct is_mutable_buffer_sequence : std::bool_constant<mutable_buffer_sequence<S>> {};

/// Iterators over a sequence; a single buffer is a sequence of one.
template <const_buffer_sequence S>
[[nodiscard]] constexpr auto buffer_sequence_begin(S const& s FAIRLEAD_LIFETIMEBOUND) noexcept {
    return impl::base::sequence_edge(s, 0);
}
/// The end of the same.
template <const_buffer_sequence S>
[[nodiscard]] constexpr auto buffer_sequence_end(S const& s FAIRLEAD_LIFETIMEBOUND) noexcept {
    return impl::base::sequence_edge(s, 1);
}

namespace impl::base {

template <typename S> constexpr std::size_t static_extent() noexcept {
    if constexpr (buffer_like<S const&, const_buffer>)
        return 1;
    else if constexpr (requires { std::tuple_size<S>::value; })
        return std::tuple_size<S>::value; // std::array
    else if constexpr (requires { std::integral_constant<std::size_t, S::extent>(); })
        return S::extent; // std::span
    else
        return no_limit;
}

/// Known at compile time to be exactly one buffer: one read or write instead of a vectored one.
/// Whether an operation with these buffers only waits until it could go on: their type says so by a member type of this
/// name.
template <typename S> inline constexpr bool waits_only = requires { typename S::waits_only; };

template <typename S> inline constexpr bool is_single_buffer =
    const_buffer_sequence<S> && static_extent<std::remove_cvref_t<S>>() == 1;

/// The one buffer of such a sequence.
template <typename Buffer, typename S>
    requires is_single_buffer<S>
constexpr Buffer single_buffer(S const& s) noexcept {
    return as_buffer<Buffer>(*buffer_sequence_begin(s));
}

/// The kernel's struct iovec, without its header.
struct io_slice {
    void* base;
    std::size_t size;
};

/// Writes the buffers of s to slices, without the first `skip` bytes and without empty buffers.
/// Returns how many slices it wrote, at most slices_max; 0 means that no byte is left.
template <const_buffer_sequence S>
std::size_t fill_slices(S const& s, io_slice* slices, std::size_t slices_max, std::size_t skip = 0) noexcept {
    std::size_t count = 0;
    auto const end = buffer_sequence_end(s);
    for (auto it = buffer_sequence_begin(s); it != end && count != slices_max; ++it) {
        auto const whole = as_buffer<const_buffer>(*it);
        const_buffer const rest = whole + skip;
        skip -= whole.size() - rest.size();
        if (rest.size() != 0)
            slices[count++] = {const_cast<void*>(rest.data()), rest.size()};
    }
    return count;
}

inline std::size_t copy_one(mutable_buffer const& target, const_buffer const& source) noexcept {
    std::size_t const n = limited(source.size(), target.size());
    if (n != 0) // memcpy(nullptr, nullptr, 0) is undefined.
        std::memcpy(target.data(), source.data(), n);
    return n;
}

} // namespace impl::base

/// Bytes in the whole sequence.
template <const_buffer_sequence S> [[nodiscard]] constexpr std::size_t buffer_size(S const& s) noexcept {
    std::size_t total = 0;
    auto const end = buffer_sequence_end(s);
    for (auto it = buffer_sequence_begin(s); it != end; ++it)
        total += impl::base::as_buffer<const_buffer>(*it).size();
    return total;
}

/// Copies as many bytes as both sequences have, at most max_size, and returns how many. They must not overlap.
template <mutable_buffer_sequence Target, const_buffer_sequence Source> std::size_t
buffer_copy(Target const& target, Source const& source, std::size_t max_size = impl::base::no_limit) noexcept {
    auto to = buffer_sequence_begin(target);
    auto from = buffer_sequence_begin(source);
    auto const to_end = buffer_sequence_end(target);
    auto const from_end = buffer_sequence_end(source);
    mutable_buffer space;
    const_buffer bytes;
    std::size_t total = 0;
    while (total != max_size) {
        for (; space.size() == 0 && to != to_end; ++to)
            space = impl::base::as_buffer<mutable_buffer>(*to);
        for (; bytes.size() == 0 && from != from_end; ++from)
            bytes = impl::base::as_buffer<const_buffer>(*from);
        std::size_t const n = impl::base::copy_one(space, buffer(bytes, max_size - total));
        if (n == 0)
            break;
        space += n;
        bytes += n;
        total += n;
    }
    return total;
}

// ---- Dynamic buffers: memory that grows. The models are in base/dynamic_buffer.hpp
// -----------------------------------

namespace impl::base {

template <typename T>
concept dynamic_buffer_base = requires(T& t, T const& c, std::size_t n) {
    requires const_buffer_sequence<typename T::const_buffers_type>;
    requires mutable_buffer_sequence<typename T::mutable_buffers_type>;
    { c.size() } -> std::convertible_to<std::size_t>;
    { c.max_size() } -> std::convertible_to<std::size_t>;
    { c.capacity() } -> std::convertible_to<std::size_t>;
    t.consume(n);
};

} // namespace impl::base

/// Moved into the operation: prepare() gives space, commit() turns its front into data(), consume() drops from there.
template <typename T>
concept dynamic_buffer_v1 =
    std::move_constructible<T> && impl::base::dynamic_buffer_base<T> && requires(T& t, T const& c, std::size_t n) {
        { c.data() } -> std::convertible_to<typename T::const_buffers_type>;
        { t.prepare(n) } -> std::convertible_to<typename T::mutable_buffers_type>;
        t.commit(n);
    };

/// A copyable reference to storage elsewhere: grow() and shrink() at the end, consume() at the front.
template <typename T>
concept dynamic_buffer_v2 =
    std::copy_constructible<T> && impl::base::dynamic_buffer_base<T> && requires(T& t, T const& c, std::size_t n) {
        { t.data(n, n) } -> std::convertible_to<typename T::mutable_buffers_type>;
        { c.data(n, n) } -> std::convertible_to<typename T::const_buffers_type>;
        t.grow(n);
        t.shrink(n);
    };

/// dynamic_buffer_v1 as a type, for programs that ask for it in that way.
template <typename T> struct is_dynamic_buffer_v1 : std::bool_constant<dynamic_buffer_v1<T>> {};
/// dynamic_buffer_v2 as a type.
template <typename T> struct is_dynamic_buffer_v2 : std::bool_constant<dynamic_buffer_v2<T>> {};
/// True for either kind of dynamic buffer.
template <typename T> struct is_dynamic_buffer : std::bool_constant<dynamic_buffer_v1<T> || dynamic_buffer_v2<T>> {};

} // namespace fairlead
