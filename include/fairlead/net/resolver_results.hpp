// The results of a look-up.
#pragma once

#include <fairlead/net/resolver_entry.hpp>

#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::ip {

/// The results of a look-up: a range of entries, cheap to copy.
template <class Protocol> class basic_resolver_results {
    using entries = std::vector<basic_resolver_entry<Protocol>>;

public:
    using protocol_type = Protocol;
    using value_type = basic_resolver_entry<Protocol>;
    using reference = value_type&;
    using const_reference = value_type const&;
    using difference_type = std::ptrdiff_t;
    using size_type = std::size_t;
    using endpoint_type = typename Protocol::endpoint;
    using const_iterator = typename entries::const_iterator;
    using iterator = const_iterator;

    basic_resolver_results() = default;
    explicit basic_resolver_results(entries e) : entries_(std::make_shared<entries const>(std::move(e))) {}
    /// Results of another source than a resolver: a fake in a test, or a directory of services.
    static basic_resolver_results create(endpoint_type const& endpoint, std::string const& host,
                                         std::string const& service) {
        return create(&endpoint, &endpoint + 1, host, service);
    }
    template <std::input_iterator Iterator>
        requires std::convertible_to<std::iter_reference_t<Iterator>, endpoint_type>
    static basic_resolver_results create(Iterator begin, Iterator end, std::string const& host,
                                         std::string const& service) {
        entries all;
        for (; begin != end; ++begin)
            all.emplace_back(*begin, host, service);
        return basic_resolver_results(std::move(all));
    }

    const_iterator begin() const noexcept { return entries_ ? entries_->begin() : const_iterator(); }
    const_iterator end() const noexcept { return entries_ ? entries_->end() : const_iterator(); }
    const_iterator cbegin() const noexcept { return begin(); }
    const_iterator cend() const noexcept { return end(); }
    std::size_t size() const noexcept { return entries_ ? entries_->size() : 0; }
    std::size_t max_size() const noexcept { return size(); }
    bool empty() const noexcept { return size() == 0; }
    void swap(basic_resolver_results& other) noexcept { entries_.swap(other.entries_); }

    /// Both are the results of one look-up, or both are empty.
    friend bool operator==(basic_resolver_results const& a, basic_resolver_results const& b) noexcept {
        return a.entries_ == b.entries_ || (a.empty() && b.empty());
    }

private:
    std::shared_ptr<entries const> entries_;
};

} // namespace fairlead::ip
