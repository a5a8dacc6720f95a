// How strongly an operation is asked to end early. Bits, because an operation may be asked for any of several.
//
// Source: Asio, overview/cancellation
#pragma once

namespace fairlead {

/// How much an operation may have done when it ends early. A request names the types that are good enough. The contract
/// of an operation says which ones it knows.
enum class cancellation_type : unsigned {
    none = 0,
    terminal = 1, ///< It may have had side effects, and the object is good for nothing but being closed.
    partial = 2,  ///< It may have had side effects, which the result tells; one can go on from there.
    total = 4,    ///< It must not have had any side effect that the caller could notice.
    all = 0xffffffff,
};
/// Asio's second name of it.
using cancellation_type_t = cancellation_type;

constexpr cancellation_type operator|(cancellation_type a, cancellation_type b) noexcept {
    return static_cast<cancellation_type>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr cancellation_type operator&(cancellation_type a, cancellation_type b) noexcept {
    return static_cast<cancellation_type>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
constexpr cancellation_type operator^(cancellation_type a, cancellation_type b) noexcept {
    return static_cast<cancellation_type>(static_cast<unsigned>(a) ^ static_cast<unsigned>(b));
}
constexpr cancellation_type operator~(cancellation_type a) noexcept {
    return static_cast<cancellation_type>(~static_cast<unsigned>(a));
}
constexpr cancellation_type& operator|=(cancellation_type& a, cancellation_type b) noexcept { return a = a | b; }
constexpr cancellation_type& operator&=(cancellation_type& a, cancellation_type b) noexcept { return a = a & b; }
constexpr cancellation_type& operator^=(cancellation_type& a, cancellation_type b) noexcept { return a = a ^ b; }
/// `!!(type & terminal)`, as with Asio.
constexpr bool operator!(cancellation_type a) noexcept { return a == cancellation_type::none; }

} // namespace fairlead
