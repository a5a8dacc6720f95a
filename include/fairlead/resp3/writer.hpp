// Commands, and a server's replies, appended to a string that is about to be sent.
#pragma once

#include <fairlead/base/config.hpp>
#include <fairlead/resp3/node.hpp>

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>

namespace fairlead::resp3 {

/// The types that are letters rather than numbers.
template <typename T>
concept character = std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
                    std::same_as<T, char16_t> || std::same_as<T, char32_t>;

/// An argument of a command: text, or a number that is written in decimal. Not bool, nullptr or a character: its
/// meaning in a command would be a guess.
template <typename T>
concept argument = (std::convertible_to<T const&, std::string_view> && !std::is_null_pointer_v<T>) ||
                   std::floating_point<T> || (std::integral<T> && !std::same_as<T, bool> && !character<T>);

namespace impl {

/// One argument as text; of a number it holds the digits, the shortest that read back as the same value.
template <typename T> class argument_text {
public:
    explicit argument_text(T const& value) noexcept {
        auto const result = std::to_chars(digits_, digits_ + sizeof digits_, value);
        size_ = static_cast<std::size_t>(result.ptr - digits_);
    }
    std::string_view view() const noexcept { return {digits_, size_}; }

private:
    char digits_[std::floating_point<T> ? 48 : 24];
    std::size_t size_;
};
template <typename T>
    requires std::convertible_to<T const&, std::string_view>
class argument_text<T> {
public:
    explicit argument_text(T const& value) noexcept(noexcept(std::string_view(value))) : text_(value) {}
    std::string_view view() const noexcept { return text_; }

private:
    std::string_view text_;
};

FAIRLEAD_EXPORT void append_command_texts(std::string& out, std::string_view const* texts, std::size_t count);

template <typename T>
concept pair_of_arguments = requires(T const& pair) {
    requires argument<std::remove_cvref_t<decltype(pair.first)>>;
    requires argument<std::remove_cvref_t<decltype(pair.second)>>;
};

} // namespace impl

/// Starts a command of `arguments` arguments, its name included; exactly so many append_argument() have to follow.
FAIRLEAD_EXPORT void append_command_header(std::string& out, std::size_t arguments);

/// One argument. Its length is written first, so it may hold any bytes: CR, LF and NUL cannot end it.
FAIRLEAD_EXPORT void append_argument(std::string& out, std::string_view text);
template <argument T>
    requires(!std::convertible_to<T const&, std::string_view>)
void append_argument(std::string& out, T const& number) {
    append_argument(out, impl::argument_text<T>(number).view());
}

namespace impl {

template <typename Range>
concept range_of_arguments =
    std::ranges::forward_range<Range> &&
    (argument<std::ranges::range_value_t<Range>> || pair_of_arguments<std::ranges::range_value_t<Range>>);

/// As append_command(), into any text for which append_command_texts() is found.
template <class Text, argument... Arguments> void write_command(Text& out, Arguments const&... arguments) {
    // The texts of numbers live in temporaries, hence the call within their full expression.
    [&out](auto const&... texts) {
        std::string_view const views[] = {texts.view()...};
        append_command_texts(out, views, sizeof...(texts));
    }(argument_text<std::decay_t<Arguments const&>>(arguments)...);
}

/// As append_command_range(), into any text for which append_command_header() and append_argument() are found.
template <class Text, range_of_arguments Range, argument... Arguments>
void write_command_range(Text& out, Range const& range, Arguments const&... arguments) {
    constexpr bool has_pairs = !argument<std::ranges::range_value_t<Range>>;
    auto const elements = static_cast<std::size_t>(std::ranges::distance(range));
    append_command_header(out, sizeof...(Arguments) + elements * (has_pairs ? 2 : 1));
    (append_argument(out, arguments), ...);
    for (auto const& element : range) {
        if constexpr (has_pairs) {
            append_argument(out, element.first);
            append_argument(out, element.second);
        } else {
            append_argument(out, element);
        }
    }
}

} // namespace impl

/// One command: append_command(out, "SET", key, 42, "EX", seconds). Adds all of it or throws bad_alloc.
template <argument... Arguments>
    requires(sizeof...(Arguments) > 0)
void append_command(std::string& out, Arguments const&... arguments) {
    impl::write_command(out, arguments...);
}

/// A command whose last arguments are the elements of a range: append_command_range(out, keys, "DEL"). Elements are
/// arguments, or pairs of them, which count as two: append_command_range(out, fields, "HSET", key).
template <impl::range_of_arguments Range, argument... Arguments>
    requires(sizeof...(Arguments) > 0)
void append_command_range(std::string& out, Range const& range, Arguments const&... arguments) {
    impl::write_command_range(out, range, arguments...);
}

// Replies, for servers and for tests. Kinds that RESP2 lacks become what Redis sends in their place to such clients.

/// CR and LF in `text` become spaces, in these two only: a line cannot hold them.
FAIRLEAD_EXPORT void append_simple_string(std::string& out, std::string_view text);
/// As append_simple_string(), but an error: `text` begins with its code, as in "ERR ...".
FAIRLEAD_EXPORT void append_simple_error(std::string& out, std::string_view text);

/// An integer.
FAIRLEAD_EXPORT void append_number(std::string& out, std::int64_t value);
/// A text of any bytes.
FAIRLEAD_EXPORT void append_blob_string(std::string& out, std::string_view body);

/// RESP2: a simple error.
FAIRLEAD_EXPORT void append_blob_error(std::string& out, std::string_view body, version to);
/// RESP2: the null bulk "$-1"; append_null_array() gives the other one, "*-1".
FAIRLEAD_EXPORT void append_null(std::string& out, version to);
/// RESP2: the null array "*-1".
FAIRLEAD_EXPORT void append_null_array(std::string& out, version to);
/// RESP2: 1 or 0.
FAIRLEAD_EXPORT void append_boolean(std::string& out, bool value, version to);
/// RESP2: a bulk. Shortest text that reads back as the same value.
FAIRLEAD_EXPORT void append_real(std::string& out, double value, version to);
/// RESP2: a bulk. `digits` is a sign or none, then digits.
FAIRLEAD_EXPORT void append_big_number(std::string& out, std::string_view digits, version to);
/// RESP2: a bulk without the format. `format` has three characters.
FAIRLEAD_EXPORT void append_verbatim_string(std::string& out, std::string_view format, std::string_view text,
                                            version to);

/// Headers. Exactly `elements` values follow, 2 * `pairs` for maps.
FAIRLEAD_EXPORT void append_array_header(std::string& out, std::size_t elements);
/// RESP2: an array.
FAIRLEAD_EXPORT void append_set_header(std::string& out, std::size_t elements, version to);
/// RESP2: an array.
FAIRLEAD_EXPORT void append_push_header(std::string& out, std::size_t elements, version to);
/// RESP2: an array of keys and values in turn.
FAIRLEAD_EXPORT void append_map_header(std::string& out, std::size_t pairs, version to);
/// RESP3 only: to a RESP2 client send no attribute at all.
FAIRLEAD_EXPORT void append_attribute_header(std::string& out, std::size_t pairs);

} // namespace fairlead::resp3
