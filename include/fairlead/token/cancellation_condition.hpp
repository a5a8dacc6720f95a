// When the operations of a parallel group are asked to end: at the end of which of them, and how.
#pragma once

#include <fairlead/base/disposition_traits.hpp>
#include <fairlead/exec/cancellation_type.hpp>

namespace fairlead::experimental {

/// All operations are waited for, however they end.
class wait_for_all {
public:
    template <class... Args> constexpr cancellation_type operator()(Args&&...) const noexcept {
        return cancellation_type::none;
    }
};

/// The first operation that ends makes the others end.
class wait_for_one {
public:
    constexpr explicit wait_for_one(cancellation_type how = cancellation_type::all) noexcept : how_(how) {}
    template <class... Args> constexpr cancellation_type operator()(Args&&...) const noexcept { return how_; }

private:
    cancellation_type how_;
};

/// The first operation that ends without an error makes the others end. One without a disposition never has an error.
class wait_for_one_success {
public:
    constexpr explicit wait_for_one_success(cancellation_type how = cancellation_type::all) noexcept : how_(how) {}
    constexpr cancellation_type operator()() const noexcept { return how_; }
    template <class First, class... Rest>
    constexpr cancellation_type operator()(First const& first, Rest&&...) const noexcept {
        if constexpr (disposition<First>)
            return first == no_error ? how_ : cancellation_type::none;
        else
            return how_;
    }

private:
    cancellation_type how_;
};

/// The first operation that ends with an error makes the others end.
class wait_for_one_error {
public:
    constexpr explicit wait_for_one_error(cancellation_type how = cancellation_type::all) noexcept : how_(how) {}
    constexpr cancellation_type operator()() const noexcept { return cancellation_type::none; }
    template <class First, class... Rest>
    constexpr cancellation_type operator()(First const& first, Rest&&...) const noexcept {
        if constexpr (disposition<First>)
            return first == no_error ? cancellation_type::none : how_;
        else
            return cancellation_type::none;
    }

private:
    cancellation_type how_;
};

} // namespace fairlead::experimental
