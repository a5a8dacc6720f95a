// A line of input as the words of a command, with the quotes of redis-cli.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Nothing: a quote has no end, or text stands directly behind one. In double quotes \n \r \t \b \a \\ \" and \xHH
/// stand for bytes, in single quotes \' alone.
std::optional<std::vector<std::string>> split(std::string_view line);

/// Text in double quotes, as split() reads it.
std::string quoted(std::string_view text);

} // namespace cli
