// Keys, values and lists of them, as the builders of commands take them: views of whatever type the caller has.
#pragma once

#include <fairlead/redis/command_text.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace fairlead::redis {

/// Describes the members of a struct that is a hash (redis/described.hpp): a program specialises it.
template <class T> struct described;

namespace impl {

template <class T>
concept described_type = requires { redis::described<T>::members; };
template <described_type T> std::size_t count_described(T const& object);
template <described_type T> void append_described(command_text& out, void const* object, std::size_t count);
template <described_type T> std::size_t count_field_names() noexcept;
template <described_type T> void append_field_names(command_text& out, void const* object, std::size_t count);

template <class T>
concept text_like = std::convertible_to<T const&, std::string_view> && !std::is_null_pointer_v<T>;
template <class T>
concept bytes_like = !text_like<T> && std::convertible_to<T const&, std::span<std::byte const>>;
template <class T>
concept number_like = resp3::argument<T> && !text_like<T>;
template <class T>
concept element_like = text_like<T> || bytes_like<T> || number_like<T>;
template <class T>
concept pair_like = requires(T const& pair) {
    pair.first;
    pair.second;
};

template <class T> std::string_view text_of(T const& from) {
    if constexpr (text_like<T>) {
        return std::string_view(from);
    } else {
        std::span<std::byte const> const bytes = from;
        return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
    }
}

} // namespace impl

/// The name of a key, or of a channel, a stream or a group: text, or a span of bytes. Valid as long as that is.
class key_view {
public:
    template <class T>
        requires(impl::text_like<T> || impl::bytes_like<T>)
    key_view(T const& text) : text_(impl::text_of(text)) {}
    template <class T>
        requires(!impl::text_like<T> && !impl::bytes_like<T>)
    FAIRLEAD_REFUSED("a key is text or a span of bytes: write std::to_string(n) for a number, *x for an optional, and "
                     "one key where the command takes one")
    key_view(T const&);

    std::string_view text() const noexcept { return text_; }

private:
    std::string_view text_;
};

/// A value: text, a number, or a span of bytes. Of a number it holds the digits, the shortest that read back as the
/// same value. Valid as long as the text is.
class value_view {
public:
    template <class T>
        requires(impl::text_like<T> || impl::bytes_like<T>)
    value_view(T const& text) : text_(impl::text_of(text)) {}
    template <impl::number_like T> value_view(T number) noexcept {
        if constexpr (std::floating_point<T>)
            write(number);
        else if constexpr (std::signed_integral<T>)
            write(static_cast<std::int64_t>(number));
        else
            write(static_cast<std::uint64_t>(number));
    }
    value_view(key_view key) noexcept : text_(key.text()) {}
    template <class T>
        requires(!impl::element_like<T>)
    FAIRLEAD_REFUSED("a value is text, a number or a span of bytes: write *x for an optional, x.count() for a "
                     "duration, and int(x) for a bool or an enumeration")
    value_view(T const&);

    std::string_view text() const noexcept { return size_ == 0 ? text_ : std::string_view(digits_, size_); }

private:
    FAIRLEAD_EXPORT void write(std::int64_t number) noexcept;
    FAIRLEAD_EXPORT void write(std::uint64_t number) noexcept;
    FAIRLEAD_EXPORT void write(float number) noexcept;
    FAIRLEAD_EXPORT void write(double number) noexcept;
    FAIRLEAD_EXPORT void write(long double number) noexcept;

    std::string_view text_{};
    unsigned char size_ = 0; // of the digits; 0: it is text
    char digits_[47];
};

namespace impl {

/// `count` arguments, to be written behind the name of a command.
struct argument_list {
    using append_function = void (*)(command_text& out, void const* object, std::size_t count);
    void const* object;
    std::size_t count;
    append_function append;
};

template <class Element, class T> void append_one(command_text& out, void const* object, std::size_t) {
    append_argument(out, Element(*static_cast<T const*>(object)).text());
}
template <class Element, class Range> void append_range(command_text& out, void const* object, std::size_t) {
    for (auto const& each : *static_cast<Range const*>(object))
        append_argument(out, Element(each).text());
}
template <class Element> void append_elements(command_text& out, void const* object, std::size_t count) {
    for (auto const& each : std::span(static_cast<Element const*>(object), count))
        append_argument(out, each.text());
}
template <bool SecondFirst, class Range> void append_pairs(command_text& out, void const* object, std::size_t) {
    for (auto const& each : *static_cast<Range const*>(object)) {
        if constexpr (SecondFirst)
            append_argument(out, value_view(each.second).text());
        append_argument(out, value_view(each.first).text());
        if constexpr (!SecondFirst)
            append_argument(out, value_view(each.second).text());
    }
}

template <class R, class Element>
concept range_of = std::ranges::forward_range<R const> && !element_like<R> &&
                   !pair_like<std::ranges::range_value_t<R const>> && !std::same_as<R, std::initializer_list<Element>>;
template <class R>
concept range_of_pairs =
    std::ranges::forward_range<R const> && !element_like<R> && pair_like<std::ranges::range_value_t<R const>>;

/// One or more elements: a text, a list in braces, or any range.
template <class Element> class list_view {
public:
    list_view(std::initializer_list<Element> list) noexcept
        : list_{list.begin(), list.size(), &append_elements<Element>} {}
    template <range_of<Element> Range> list_view(Range const& range)
        : list_{std::addressof(range), static_cast<std::size_t>(std::ranges::distance(range)),
                &append_range<Element, Range>} {}
    template <class T>
        requires(!std::ranges::forward_range<T const> || element_like<T>)
    list_view(T const& one) noexcept : list_{std::addressof(one), 1, &append_one<Element, T>} {}

    argument_list const& list() const noexcept { return list_; }
    std::size_t size() const noexcept { return list_.count; }

private:
    argument_list list_;
};

/// Pairs of values: a list in braces, a map, any range of pairs, or a described struct. The command may have the second
/// one first.
template <bool SecondFirst> class pair_list_view {
    using pair = std::pair<value_view, value_view>;

public:
    pair_list_view(std::initializer_list<pair> list) noexcept
        : list_{list.begin(), 2 * list.size(), [](command_text& out, void const* object, std::size_t count) {
                    std::span const pairs(static_cast<pair const*>(object), count / 2);
                    append_pairs<SecondFirst, decltype(pairs)>(out, &pairs, count);
                }} {}
    template <range_of_pairs Range> pair_list_view(Range const& range)
        : list_{std::addressof(range), 2 * static_cast<std::size_t>(std::ranges::distance(range)),
                &append_pairs<SecondFirst, Range>} {}
    template <described_type T>
        requires(!SecondFirst)
    pair_list_view(T const& object)
        : list_{std::addressof(object), 2 * count_described(object), &append_described<T>} {}
    template <class T>
        requires(!range_of_pairs<T> && !described_type<T> && !std::same_as<T, std::initializer_list<pair>>)
    FAIRLEAD_REFUSED("pairs are a list in braces, {{\"a\", 1}, {\"b\", 2}}, a map, or another range of pairs")
    pair_list_view(T const&);

    argument_list const& list() const noexcept { return list_; }
    std::size_t size() const noexcept { return list_.count; }

private:
    argument_list list_;
};

/// Of commands that take names and values one by one.
template <class... Argument> consteval void check_pairs() {
    constexpr bool are_pairs = sizeof...(Argument) % 2 == 0;
    static_assert(are_pairs, "names and values come in turn: write a value behind each name");
}

} // namespace impl

/// One key or more: `"a"`, `{"a", "b"}`, or any range of them. Valid as long as these are.
using keys_view = impl::list_view<key_view>;
/// One value or more: `1`, `{1, "two"}`, or any range of them.
using values_view = impl::list_view<value_view>;
/// Names and their values: `{{"name", "ann"}, {"age", 7}}`, a map, any range of pairs, or a described struct.
using fields_view = impl::pair_list_view<false>;
/// Members and their scores: `{{"ann", 1.5}}`, a map, or any range of pairs.
using scores_view = impl::pair_list_view<true>;

} // namespace fairlead::redis
