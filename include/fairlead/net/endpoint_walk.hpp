// The endpoints that a connection is tried to: a range or two iterators, a condition, and their text for a message.
#pragma once

#include <fairlead/base/config.hpp>
#include <fairlead/base/error.hpp>
#include <fairlead/base/iterator_steps.hpp>

#include <concepts>
#include <cstddef>
#include <string>
#include <utility>

namespace fairlead::impl::net {

struct connect_any {
    template <class Endpoint> bool operator()(error_code const&, Endpoint const&) const noexcept { return true; }
};

/// Says yes or no to an endpoint.
template <class C, class Endpoint>
concept judges_endpoints = std::predicate<C&, error_code const&, Endpoint const&>;
/// A completion handler. It may be generic, and nobody can ask whether its body compiles with something else.
template <class C, class Endpoint>
concept takes_endpoints = requires(C& c, error_code const& ec, Endpoint const& e) {
    { c(ec, e) } -> std::same_as<void>;
};
/// The older form of a condition: given the next position, says with which one to go on.
template <class C, class Iterator, class Endpoint>
concept chooses_positions = !takes_endpoints<C, Endpoint> && requires(C& c, error_code const& ec, Iterator i) {
    { c(ec, i) } -> std::same_as<Iterator>;
};
template <class C, class Iterator, class Endpoint>
concept connect_condition = judges_endpoints<C, Endpoint> || chooses_positions<C, Iterator, Endpoint>;

/// The first position from `at` on that the condition wants tried, or the end.
template <class Endpoint, class Iterator, class Condition>
Iterator choose(Iterator at, Iterator const& end, Condition& condition, error_code const& ec) {
    if constexpr (judges_endpoints<Condition, Endpoint>) {
        while (at != end && !condition(ec, static_cast<Endpoint const&>(*at)))
            ++at;
        return at;
    } else {
        return at == end ? at : condition(ec, at);
    }
}

/// The endpoints of a range, which is kept here; the result is the endpoint that was connected to.
template <class Range, class Endpoint> class range_walk {
public:
    using result_type = Endpoint;

    explicit range_walk(Range const& r) noexcept(std::is_nothrow_copy_constructible_v<Range>) : range_(r) {}
    /// Goes to the next endpoint that the condition wants tried; false when there is none.
    template <class Condition> bool choose(Condition& condition, error_code const& ec) {
        Range const& range = range_;
        auto const begin = range.begin(); // Not kept: the range moves from attempt to attempt.
        auto const at = net::choose<Endpoint>(std::next(begin, position_), range.end(), condition, ec);
        position_ = std::distance(begin, at);
        return at != range.end();
    }
    Endpoint current() const { return *std::next(range_.begin(), position_); }
    void advance() noexcept { ++position_; }
    result_type found() const { return current(); }
    result_type not_found() const { return Endpoint(); }
    Range const& range() const noexcept { return range_; }

private:
    Range range_;
    std::ptrdiff_t position_ = 0;
};
/// The results of a look-up, which know what was looked up.
template <class Range>
concept names_host = requires(Range const& r) {
    { r.begin()->host_name() } -> std::convertible_to<std::string>;
    { r.size() } -> std::convertible_to<std::size_t>;
};

inline constexpr char const* connect_to_one = "connect to one of several endpoints";
/// Endpoints of the program's own, which can be written down.
template <class Range>
concept prints_endpoints = requires(Range const& r) {
    { r.begin()->to_string() } -> std::convertible_to<std::string>;
    { r.size() } -> std::convertible_to<std::size_t>;
};
template <class Range>
concept shows_endpoints = names_host<Range> || prints_endpoints<Range>;
/// For the message when each of them has failed.
template <class Range> FAIRLEAD_COLD std::string text_of_connect(Range const& endpoints) {
    if constexpr (shows_endpoints<Range>)
        if (auto const count = endpoints.size(); count != 0) {
            std::string text = "connect to ";
            if constexpr (names_host<Range>)
                text += endpoints.begin()->host_name() + ':' + endpoints.begin()->service_name();
            else
                text += endpoints.begin()->to_string();
            if (count == 1)
                return text;
            if constexpr (names_host<Range>)
                return text + " (each of " + std::to_string(count) + " endpoints)";
            else
                return text + " and to " + std::to_string(count - 1) + (count == 2 ? " other" : " others");
        }
    return connect_to_one;
}

/// The endpoints between two iterators of the caller's; the result is an iterator.
template <class Iterator, class Endpoint> class iterator_walk {
public:
    using result_type = Iterator;

    iterator_walk(Iterator begin, Iterator end) noexcept(std::is_nothrow_move_constructible_v<Iterator>)
        : at_(std::move(begin)),
          end_(std::move(end)) {}
    template <class Condition> bool choose(Condition& condition, error_code const& ec) {
        at_ = net::choose<Endpoint>(std::move(at_), end_, condition, ec);
        return at_ != end_;
    }
    Endpoint current() const { return *at_; }
    void advance() { ++at_; }
    result_type found() const { return at_; }
    result_type not_found() const { return end_; }

private:
    Iterator at_;
    Iterator end_;
};

template <class R, class Endpoint>
concept endpoint_range = requires(R const& r) {
    { *r.begin() } -> std::convertible_to<Endpoint>;
    r.end();
};

template <class I, class Endpoint>
concept endpoint_iterator = std::copyable<I> && !endpoint_range<I, Endpoint> && requires(I i, I const& c) {
    { *c } -> std::convertible_to<Endpoint>;
    ++i;
    { c == c } -> std::convertible_to<bool>;
};
template <class R> using iterator_of = decltype(std::declval<R const&>().begin());

} // namespace fairlead::impl::net
