// The bytes of commands, in memory that goes round.
#pragma once

#include <fairlead/base/config.hpp>
#include <fairlead/exec/recycler.hpp>
#include <fairlead/resp3/writer.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace fairlead::redis::impl {

/// A text whose memory comes from the recycler: a typed command is made anew for each call.
class command_text : std::basic_string<char, std::char_traits<char>, recycling_allocator<char>> {
    using base = std::basic_string<char, std::char_traits<char>, recycling_allocator<char>>;

public:
    command_text() noexcept = default;
    using base::append, base::capacity, base::clear, base::data, base::empty, base::reserve, base::resize, base::size;
    operator std::string_view() const noexcept { return {base::data(), base::size()}; }
};

FAIRLEAD_EXPORT void append_command_texts(command_text& out, std::string_view const* texts, std::size_t count);
FAIRLEAD_EXPORT void append_command_header(command_text& out, std::size_t arguments);
FAIRLEAD_EXPORT void append_argument(command_text& out, std::string_view text);
/// Of an argument whose bytes come later, and the line end behind them.
FAIRLEAD_EXPORT void append_bulk_header(command_text& out, std::uint64_t bytes);
template <resp3::argument T>
    requires(!std::convertible_to<T const&, std::string_view>)
void append_argument(command_text& out, T const& number) {
    append_argument(out, resp3::impl::argument_text<T>(number).view());
}

} // namespace fairlead::redis::impl
