// How much is enough: conditions that end async_read and async_write.
#pragma once

#include <fairlead/base/error.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace fairlead {
namespace impl::stream {

inline constexpr std::size_t transfer_step = 65536;

struct transfer_all_t {
    std::size_t operator()(error_code const& ec, std::size_t) const noexcept { return ec ? 0 : transfer_step; }
};
struct transfer_at_least_t {
    std::size_t least;
    std::size_t operator()(error_code const& ec, std::size_t n) const noexcept {
        return ec || n >= least ? 0 : transfer_step;
    }
};
struct transfer_exactly_t {
    std::size_t size;
    std::size_t operator()(error_code const& ec, std::size_t n) const noexcept {
        if (ec || n >= size)
            return 0;
        return size - n < transfer_step ? size - n : transfer_step;
    }
};

template <class C>
concept completion_condition = requires(C& c, error_code const& ec, std::size_t n) {
    { c(ec, n) } -> std::convertible_to<std::size_t>;
};

/// How many bytes the next attempt may move; 0 is enough. A condition of the older kind says whether it is enough.
template <completion_condition C> std::size_t bytes_wanted(C& condition, error_code const& ec, std::size_t n) {
    if constexpr (std::same_as<decltype(condition(ec, n)), bool>)
        return condition(ec, n) ? 0 : transfer_step;
    else
        return condition(ec, n);
}

} // namespace impl::stream

/// Until the buffers are full, or an error.
inline impl::stream::transfer_all_t transfer_all() noexcept { return {}; }
/// Until at least n bytes have moved.
inline impl::stream::transfer_at_least_t transfer_at_least(std::size_t n) noexcept { return {n}; }
/// Until exactly n bytes have moved.
inline impl::stream::transfer_exactly_t transfer_exactly(std::size_t n) noexcept { return {n}; }

} // namespace fairlead
