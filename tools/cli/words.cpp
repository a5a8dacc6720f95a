#include "words.hpp"

#include <cstdio>

namespace cli {
namespace {

bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

int digit(char c) noexcept {
    if (c >= '0' && c <= '9')
        return c - '0';
    char const small = static_cast<char>(c | 0x20);
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

/// Behind a backslash in double quotes.
void take_escape(std::string_view& rest, std::string& word) {
    if (rest.size() >= 3 && rest[0] == 'x' && digit(rest[1]) >= 0 && digit(rest[2]) >= 0) {
        word.push_back(static_cast<char>(digit(rest[1]) * 16 + digit(rest[2])));
        rest.remove_prefix(3);
        return;
    }
    constexpr std::string_view letters = "nrtba", bytes = "\n\r\t\b\a";
    auto const at = letters.find(rest[0]);
    word.push_back(at == letters.npos ? rest[0] : bytes[at]);
    rest.remove_prefix(1);
}

/// From behind the opening quote to behind the closing one. False: there is none.
bool take_quoted(std::string_view& rest, char quote, std::string& word) {
    while (!rest.empty()) {
        char const c = rest[0];
        rest.remove_prefix(1);
        if (c == quote)
            return rest.empty() || is_space(rest[0]);
        if (c == '\\' && quote == '"' && !rest.empty())
            take_escape(rest, word);
        else if (c == '\\' && quote == '\'' && !rest.empty() && rest[0] == '\'') {
            word.push_back('\'');
            rest.remove_prefix(1);
        } else
            word.push_back(c);
    }
    return false;
}

} // namespace

std::optional<std::vector<std::string>> split(std::string_view line) {
    std::vector<std::string> words;
    for (;;) {
        while (!line.empty() && is_space(line[0]))
            line.remove_prefix(1);
        if (line.empty())
            return words;
        auto& word = words.emplace_back();
        while (!line.empty() && !is_space(line[0])) {
            char const c = line[0];
            line.remove_prefix(1);
            if (c != '"' && c != '\'')
                word.push_back(c);
            else if (!take_quoted(line, c, word))
                return std::nullopt;
        }
    }
}

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (char const c : text) {
        constexpr std::string_view bytes = "\n\r\t\b\a\\\"", letters = "nrtba\\\"";
        if (auto const at = bytes.find(c); at != bytes.npos) {
            out.append({'\\', letters[at]});
        } else if (c >= ' ' && c < 0x7f) {
            out.push_back(c);
        } else {
            char hex[8];
            std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
            out.append(hex);
        }
    }
    return out + '"';
}

} // namespace cli
