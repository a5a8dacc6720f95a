// Reads requests out of the bytes that a client sends.
#include <redis_server/state.hpp>
#include <redis_server/text.hpp>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

namespace fairlead::redis::server_impl {
namespace {

void end_with_protocol_error(server_session& self, std::string_view text) {
    resp3::append_simple_error(self.output, "ERR Protocol error: " + std::string(text));
    self.closing = true;
}

// Reads requests out of `bytes`, which start with the request under way. A request is either an array of bulks or, for
// people with a terminal, a line of words.
class request_reader {
public:
    request_reader(server_session& self, std::string_view bytes) : self_(self), bytes_(bytes) {}

    /// Serves every complete request. Returns how many bytes of the front those were.
    std::size_t serve_all() {
        while (!self_.closing && !self_.waits && next())
            ;
        return begin_;
    }

private:
    // One request, or one step towards it; false when bytes are missing or the client is to be closed.
    bool next() {
        if (self_.arguments_missing > 0)
            return bulks();
        if (self_.read_at == bytes_.size())
            return false;
        return bytes_[self_.read_at] == '*' ? header() : words();
    }

    // The line at read_at without its end, which is LF or CRLF. False: not there yet, or too long.
    bool line(std::string_view& text, std::size_t bytes_max, std::string_view complaint) {
        std::size_t const end = bytes_.find('\n', self_.read_at + self_.searched);
        std::size_t const so_far = (end == bytes_.npos ? bytes_.size() : end) - self_.read_at;
        if (so_far > bytes_max) {
            end_with_protocol_error(self_, complaint);
            return false;
        }
        if (end == bytes_.npos) {
            self_.searched = so_far;
            return false;
        }
        text = bytes_.substr(self_.read_at, so_far);
        if (text.ends_with('\r'))
            text.remove_suffix(1);
        self_.searched = 0;
        self_.read_at = end + 1;
        return true;
    }

    bool header() {
        std::string_view text;
        if (!line(text, header_bytes_max, "too big mbulk count string"))
            return false;
        std::int64_t n = 0;
        if (!parse_integer(text.substr(1), n) || n > static_cast<std::int64_t>(self_.server.options.arguments_max)) {
            end_with_protocol_error(self_, "invalid multibulk length");
            return false;
        }
        if (!self_.authenticated && n > 10) {
            end_with_protocol_error(self_, "unauthenticated multibulk length");
            return false;
        }
        if (n <= 0)
            begin_ = self_.read_at; // an empty request is none
        self_.arguments_missing = std::max<std::int64_t>(n, 0);
        return true;
    }

    bool bulks() {
        while (self_.arguments_missing > 0) {
            if (self_.bulk_bytes < 0 && !bulk_header())
                return false;
            auto const size = static_cast<std::size_t>(self_.bulk_bytes);
            if (bytes_.size() - self_.read_at < size + 2)
                return false;
            self_.pieces.push_back({self_.read_at, size});
            self_.read_at += size + 2; // As Redis, without looking at the two.
            self_.bulk_bytes = -1;
            --self_.arguments_missing;
        }
        self_.arguments.clear();
        for (auto const& piece : self_.pieces)
            self_.arguments.push_back(bytes_.substr(piece.at, piece.size));
        finish();
        return true;
    }

    bool bulk_header() {
        if (self_.read_at == bytes_.size())
            return false;
        if (char const kind = bytes_[self_.read_at]; kind != '$') {
            end_with_protocol_error(self_, "expected '$', got '" + std::string(1, kind) + "'");
            return false;
        }
        std::string_view text;
        if (!line(text, header_bytes_max, "too big bulk count string"))
            return false;
        std::int64_t n = 0;
        if (!parse_integer(text.substr(1), n) || n < 0 ||
            n > static_cast<std::int64_t>(self_.server.options.bulk_bytes_max)) {
            end_with_protocol_error(self_, "invalid bulk length");
            return false;
        }
        if (!self_.authenticated && n > 16384) {
            end_with_protocol_error(self_, "unauthenticated bulk length");
            return false;
        }
        self_.bulk_bytes = n;
        return true;
    }

    bool words() {
        std::string_view text;
        if (!line(text, self_.server.options.inline_bytes_max, "too big inline request"))
            return false;
        std::vector<std::string> split;
        if (!split_words(text, split)) {
            end_with_protocol_error(self_, "unbalanced quotes in request");
            return false;
        }
        self_.arguments.assign(split.begin(), split.end());
        finish();
        return true;
    }

    // Blanks separate; "..." knows escapes, '...' only \'. False when a quote is not closed, or not followed by a
    // blank.
    static bool split_words(std::string_view text, std::vector<std::string>& words) {
        auto const is_blank = [](char b) { return b == ' ' || (b >= '\t' && b <= '\r'); };
        for (std::size_t i = 0; i < text.size();) {
            if (is_blank(text[i])) {
                ++i;
                continue;
            }
            std::string& word = words.emplace_back();
            while (i < text.size() && !is_blank(text[i])) {
                char const quote = text[i++];
                if (quote != '"' && quote != '\'') {
                    word += quote;
                    continue;
                }
                for (;; ++i) {
                    if (i == text.size())
                        return false;
                    if (text[i] == quote)
                        break;
                    if (text[i] == '\\' && i + 1 < text.size() && (quote == '"' || text[i + 1] == '\''))
                        word += quote == '"' ? unescape(text, ++i) : text[++i];
                    else
                        word += text[i];
                }
                if (++i < text.size() && !is_blank(text[i]))
                    return false;
            }
        }
        return true;
    }

    // The byte that text[i], behind a backslash, stands for; i moves to the last character used.
    static char unescape(std::string_view text, std::size_t& i) {
        switch (text[i]) {
        case 'n': return '\n';
        case 'r': return '\r';
        case 't': return '\t';
        case 'b': return '\b';
        case 'a': return '\a';
        case 'x':
            if (unsigned byte = 0; i + 2 < text.size()) {
                char const* const digits = text.data() + i + 1;
                if (std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
                    i += 2;
                    return static_cast<char>(byte);
                }
            }
            return 'x';
        default: return text[i];
        }
    }

    void finish() {
        if (!self_.arguments.empty())
            serve(self_, self_.arguments);
        self_.pieces.clear();
        begin_ = self_.read_at;
    }

    static constexpr std::size_t header_bytes_max = 64 * 1024;

    server_session& self_;
    std::string_view bytes_;
    std::size_t begin_ = 0; // of the request under way
};

} // namespace

void consume(server_session& self, std::string_view bytes) {
    // Requests are read where they are; only what is left of the last one moves into `input`.
    bool const has_rest = !self.input.empty();
    if (has_rest)
        self.input += bytes;
    std::string_view const unread = has_rest ? std::string_view(self.input) : bytes;
    std::size_t const used = request_reader(self, unread).serve_all();
    if (self.closing) {
        self.input = {};
        return;
    }
    if (has_rest)
        self.input.erase(0, used);
    else
        self.input = unread.substr(used);
    self.read_at -= used;
    for (auto& piece : self.pieces)
        piece.at -= used;
}

} // namespace fairlead::redis::server_impl
