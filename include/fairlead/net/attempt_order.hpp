// In which order async_connect tries the endpoints of a range, where attempts may overlap.
//
// Source: RFC 8305 §4.
#pragma once

#include <fairlead/base/iterator_steps.hpp>

#include <cstddef>

namespace fairlead::impl::net {

/// In which order the endpoints of a range are tried: as they stand, or those of the first one's family and all others
/// in turn.
template <class Endpoint> class attempt_order {
public:
    explicit attempt_order(bool by_family) noexcept : by_family_(by_family) {}

    /// Whether there is one that has not been taken.
    template <class Range> bool find(Range const& endpoints) {
        return find_of_kind(endpoints) || (turn(), find_of_kind(endpoints));
    }
    /// After find().
    template <class Range> Endpoint take(Range const& endpoints) {
        auto& at = position();
        Endpoint e = *std::next(endpoints.begin(), at);
        ++at;
        if (by_family_)
            turn();
        return e;
    }

private:
    std::ptrdiff_t& position() noexcept { return is_first_kind_ ? of_first_kind_ : of_other_kind_; }
    void turn() noexcept { is_first_kind_ = !is_first_kind_; }
    template <class Range> bool find_of_kind(Range const& endpoints) {
        auto& at = position();
        for (auto i = std::next(endpoints.begin(), at); i != endpoints.end(); ++i, ++at)
            if (is_of_first_kind(endpoints, *i) == is_first_kind_)
                return true;
        return false;
    }
    template <class Range> bool is_of_first_kind(Range const& endpoints, Endpoint const& e) const {
        Endpoint const& first = *endpoints.begin();
        return !by_family_ || e.protocol().family() == first.protocol().family();
    }

    std::ptrdiff_t of_first_kind_ = 0;
    std::ptrdiff_t of_other_kind_ = 0;
    bool is_first_kind_ = true;
    bool by_family_;
};

} // namespace fairlead::impl::net
