#pragma once

#include <fairlead/net/resolver_results.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>

#include <cstddef>
#include <iterator>

namespace fairlead::ip {

/// Goes through what a look-up found, which it keeps; one that is made of nothing is the end of each. Results turn into
/// it.
template <class Protocol> class basic_resolver_iterator {
    using results = basic_resolver_results<Protocol>;

public:
    using difference_type = std::ptrdiff_t;
    using value_type = basic_resolver_entry<Protocol>;
    using pointer = value_type const*;
    using reference = value_type const&;
    using iterator_category = std::forward_iterator_tag;

    basic_resolver_iterator() = default;
    basic_resolver_iterator(results const& found) : results_(found) {}

    reference operator*() const { return results_.begin()[static_cast<difference_type>(index_)]; }
    pointer operator->() const { return &**this; }
    basic_resolver_iterator& operator++() {
        if (++index_ == results_.size())
            *this = {};
        return *this;
    }
    basic_resolver_iterator operator++(int) {
        auto before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(basic_resolver_iterator const& a, basic_resolver_iterator const& b) {
        return a.index_ == b.index_ && a.results_ == b.results_;
    }

private:
    results results_;
    std::size_t index_ = 0;
};

} // namespace fairlead::ip
