#include <fairlead/base/assert.hpp>
#include <fairlead/resp3/parser.hpp>

#include <bit>
#include <charconv>
#include <cstring>

namespace fairlead::resp3 {
namespace {

enum class outcome : unsigned char { done, more, bad };

// What read_length() says besides a number. Numbers have at most 19 digits, so they stay below both.
constexpr std::uint64_t null_length = UINT64_MAX;
constexpr std::uint64_t streamed_length = UINT64_MAX - 1;
constexpr std::ptrdiff_t length_digits_max = 19;

// Eight bytes at once. A test on a word marks the high bit of bytes that pass it; the lowest mark is always right, those
// above it may be wrong because of carries, hence only first_marked() looks at the result.
constexpr std::uint64_t ones = 0x0101010101010101;
constexpr std::uint64_t highs = 0x8080808080808080;

FAIRLEAD_ALWAYS_INLINE std::uint64_t load(char const* p) noexcept {
    std::uint64_t word;
    std::memcpy(&word, p, sizeof word);
    if constexpr (std::endian::native == std::endian::big)
        word = __builtin_bswap64(word);
    return word;
}
FAIRLEAD_ALWAYS_INLINE std::uint64_t mark_zeros(std::uint64_t word) noexcept { return (word - ones) & ~word & highs; }
FAIRLEAD_ALWAYS_INLINE std::uint64_t mark_line_ends(std::uint64_t word) noexcept {
    return mark_zeros(word ^ ones * '\r') | mark_zeros(word ^ ones * '\n');
}
FAIRLEAD_ALWAYS_INLINE std::uint64_t mark_non_digits(std::uint64_t word) noexcept {
    word ^= ones * '0';
    return ((word + ones * 0x76) | word) & highs;
}
FAIRLEAD_ALWAYS_INLINE std::ptrdiff_t first_marked(std::uint64_t marks) noexcept { return std::countr_zero(marks) / 8; }

FAIRLEAD_ALWAYS_INLINE bool is_digit(char c) noexcept { return static_cast<unsigned char>(c - '0') <= 9; }

std::string_view without_sign(std::string_view text) noexcept {
    if (!text.empty() && (text.front() == '+' || text.front() == '-'))
        text.remove_prefix(1);
    return text;
}

// Removes the digits in front of `text`; false if there was none.
bool skip_digits(std::string_view& text) noexcept {
    std::size_t n = 0;
    while (n != text.size() && is_digit(text[n]))
        ++n;
    text.remove_prefix(n);
    return n != 0;
}

bool is_number(std::string_view text) noexcept {
    std::int64_t value = 0;
    if (text.starts_with('+')) {
        text.remove_prefix(1);
        if (text.starts_with('-'))
            return false; // from_chars would take it
    }
    auto const [stop, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    return ec == std::errc{} && stop == text.data() + text.size();
}

bool is_big_number(std::string_view text) noexcept {
    text = without_sign(text);
    return skip_digits(text) && text.empty();
}

bool equals_lower(std::string_view text, std::string_view lower) noexcept {
    if (text.size() != lower.size())
        return false;
    for (std::size_t i = 0; i != text.size(); ++i)
        if ((text[i] | 0x20) != lower[i])
            return false;
    return true;
}

bool is_real(std::string_view text) noexcept {
    text = without_sign(text); // also of nan: printf gives servers a "-nan"
    if (skip_digits(text)) {
        if (text.starts_with('.')) {
            text.remove_prefix(1);
            if (!skip_digits(text))
                return false;
        }
        if (text.starts_with('e') || text.starts_with('E')) {
            text.remove_prefix(1);
            text = without_sign(text);
            if (!skip_digits(text))
                return false;
        }
        return text.empty();
    }
    return equals_lower(text, "inf") || equals_lower(text, "nan");
}

} // namespace

// One call of parse_some(). The steps return how far an element came: done (delivered, p moved behind it), more (its
// bytes are not all there, p as before except that a bulk's header is consumed) or bad (p at the offending element).
struct parser::cursor {
    parser& self;
    char const* p; // the first byte not consumed
    char const* const end;
    char const* mark; // self.message_bytes_ counts what was consumed before this
    node* out;
    std::uint64_t missing = 0;
    error why{};

    outcome fail(error e) noexcept {
        why = e;
        return outcome::bad;
    }
    outcome need(std::uint64_t bytes) noexcept {
        missing = bytes;
        return outcome::more;
    }
    std::size_t have() const noexcept { return static_cast<std::size_t>(end - p); }

    // Whether the message stays within its limit when its bytes up to `next` and `body` more are counted.
    FAIRLEAD_ALWAYS_INLINE bool fits(char const* next, std::uint64_t body = 0) const noexcept {
        return self.message_bytes_ + static_cast<std::uint64_t>(next - mark) + body <= self.limits_.message_bytes_max;
    }

    // A value is complete, and perhaps the aggregates that it was the last child of. True: the message too.
    // Amortised O(1): each turn closes what one header opened.
    FAIRLEAD_ALWAYS_INLINE bool close() noexcept {
        while (!self.stack_.empty()) {
            frame& top = self.stack_.back();
            if (top.left == unknown_size) [[unlikely]] {
                top.half_pair = top.kind == type::map && !top.half_pair;
                return false;
            }
            if (--top.left != 0)
                return false;
            bool const was_attribute = top.kind == type::attribute;
            self.stack_.pop_back();
            if (was_attribute) {
                --self.attributes_; // It is no value: what it describes is still to come.
                return false;
            }
        }
        self.message_bytes_ = 0;
        mark = p;
        return true;
    }

    // Delivers a value without children, which ends at `next`.
    FAIRLEAD_ALWAYS_INLINE outcome deliver(type kind, std::string_view value, char const* next) noexcept {
        node& n = *out++;
        n.value = value;
        n.size = 0;
        n.depth = static_cast<std::uint32_t>(self.stack_.size());
        n.kind = kind;
        n.in_attribute = self.attributes_ != 0;
        n.format = {};
        p = next;
        n.last = close();
        return outcome::done;
    }

    // Finds the CR of the line that starts behind the type byte; its LF is there too.
    FAIRLEAD_ALWAYS_INLINE outcome find_line(char const*& cr) noexcept {
        char const* const text = p + 1;
        if (end - text > 16) [[likely]] {
            std::ptrdiff_t at = 16;
            if (std::uint64_t const marks = mark_line_ends(load(text)))
                at = first_marked(marks);
            else if (std::uint64_t const more_marks = mark_line_ends(load(text + 8)))
                at = 8 + first_marked(more_marks);
            if (at != 16) [[likely]] {
                cr = text + at;
                if (cr[0] != '\r' || cr[1] != '\n') [[unlikely]]
                    return fail(error::bad_line_end);
                if (static_cast<std::size_t>(at) > self.limits_.line_bytes_max) [[unlikely]]
                    return fail(error::line_too_long);
                return fits(cr + 2) ? outcome::done : fail(error::message_too_long);
            }
        }
        return find_long_line(cr);
    }

    FAIRLEAD_NOINLINE outcome find_long_line(char const*& cr) noexcept {
        char const* const text = p + 1;
        FAIRLEAD_ASSERT(self.searched_ <= static_cast<std::size_t>(end - text)); // The caller kept the unread bytes.
        char const* const from = text + self.searched_;
        cr = static_cast<char const*>(std::memchr(from, '\r', static_cast<std::size_t>(end - from)));
        char const* const stop = cr ? cr : end;
        if (std::memchr(from, '\n', static_cast<std::size_t>(stop - from)))
            return fail(error::bad_line_end);
        if (static_cast<std::size_t>(stop - text) > self.limits_.line_bytes_max)
            return fail(error::line_too_long);
        if (!cr || cr + 1 == end) {
            self.searched_ = static_cast<std::size_t>(stop - text);
            return need(cr ? 1 : 2);
        }
        if (cr[1] != '\n')
            return fail(error::bad_line_end);
        self.searched_ = 0;
        return fits(cr + 2) ? outcome::done : fail(error::message_too_long);
    }

    // A line whose text has to pass a test.
    template <typename Test> FAIRLEAD_ALWAYS_INLINE outcome line(type kind, error otherwise, Test is_good) noexcept {
        char const* cr;
        if (outcome const found = find_line(cr); found != outcome::done)
            return found;
        std::string_view const text(p + 1, static_cast<std::size_t>(cr - p - 1));
        return is_good(text) ? deliver(kind, text, cr + 2) : fail(otherwise);
    }

    FAIRLEAD_ALWAYS_INLINE outcome number() noexcept {
        char const* const text = p + 1;
        if (end - text > 18) [[likely]] { // sign, two words, and the LF behind the last byte of the second
            char const* const digits = text + (*text == '-');
            std::ptrdiff_t n = 0;
            if (std::uint64_t const marks = mark_non_digits(load(digits)))
                n = first_marked(marks);
            else if (std::uint64_t const more_marks = mark_non_digits(load(digits + 8)))
                n = 8 + first_marked(more_marks);
            char const* const cr = digits + n;
            auto const bytes = static_cast<std::size_t>(cr - text);
            if (n != 0 && cr[0] == '\r' && cr[1] == '\n' && bytes <= self.limits_.line_bytes_max && fits(cr + 2))
                [[likely]]
                return deliver(type::number, {text, bytes}, cr + 2);
        }
        return any_number();
    }
    FAIRLEAD_NOINLINE outcome any_number() noexcept { return line(type::number, error::bad_number, is_number); }

    // Reads "<digits>\r\n" behind the type byte.
    FAIRLEAD_ALWAYS_INLINE outcome read_length(std::uint64_t& length, char const*& next) noexcept {
        if (end - p >= 6) [[likely]] {
            // One to three digits are nearly every length. Branches, unlike arithmetic on all of them, let the
            // processor run ahead to the element that follows.
            unsigned const a = static_cast<unsigned char>(p[1] - '0');
            unsigned const b = static_cast<unsigned char>(p[2] - '0');
            unsigned const c = static_cast<unsigned char>(p[3] - '0');
            if (a <= 9) [[likely]] {
                if (p[2] == '\r') {
                    length = a;
                    next = p + 4;
                } else if (p[3] == '\r' && b <= 9) {
                    length = a * 10 + b;
                    next = p + 5;
                } else if (p[4] == '\r' && b <= 9 && c <= 9) {
                    length = (a * 10 + b) * 10 + c;
                    next = p + 6;
                } else {
                    return read_any_length(length, next);
                }
                if (next[-1] == '\n') [[likely]]
                    return outcome::done;
            }
        }
        return read_any_length(length, next);
    }

    FAIRLEAD_NOINLINE outcome read_any_length(std::uint64_t& length, char const*& next) noexcept {
        char const* q = p + 1;
        if (q == end)
            return need(3);
        if (*q == '-') {
            // Only "-1", and the caller decides for which types.
            if (++q == end)
                return need(3);
            if (*q++ != '1')
                return fail(error::bad_length);
            length = null_length;
        } else if (*q == '?') {
            ++q;
            length = streamed_length;
        } else {
            for (length = 0; q != end && is_digit(*q); ++q) {
                if (q - p > length_digits_max)
                    return fail(error::bad_length);
                length = length * 10 + static_cast<unsigned char>(*q - '0');
            }
            if (q == p + 1)
                return fail(error::bad_length);
        }
        if (q == end)
            return need(2);
        if (*q++ != '\r')
            return fail(error::bad_length);
        if (q == end)
            return need(1);
        if (*q++ != '\n')
            return fail(error::bad_line_end);
        next = q;
        return outcome::done;
    }

    FAIRLEAD_ALWAYS_INLINE outcome bulk(type kind) noexcept {
        std::uint64_t length;
        char const* next;
        if (outcome const read = read_length(length, next); read != outcome::done) [[unlikely]]
            return read;
        if (length > self.limits_.bulk_bytes_max) [[unlikely]]
            return special_bulk(kind, length, next);
        if (!fits(next, length + 2)) [[unlikely]]
            return fail(error::message_too_long);
        p = next;
        return body(kind, length);
    }

    FAIRLEAD_NOINLINE outcome special_bulk(type kind, std::uint64_t length, char const* next) noexcept {
        if (length < streamed_length)
            return fail(error::bulk_too_long);
        if (kind != type::blob_string)
            return fail(error::bad_length);
        if (length == null_length)
            return fits(next) ? deliver(type::null, {}, next) : fail(error::message_too_long);
        outcome const opened = open_stream(type::streamed_string, next);
        if (opened == outcome::done)
            self.phase_ = phase::chunks;
        return opened;
    }

    // The body of a bulk, p at its first byte. Its bytes were counted against the limits with its header.
    FAIRLEAD_ALWAYS_INLINE outcome body(type kind, std::uint64_t length) noexcept {
        if (have() < length + 2) [[unlikely]] {
            self.phase_ = phase::body;
            self.body_kind_ = kind;
            self.body_bytes_ = length;
            return need(length + 2 - have());
        }
        char const* const tail = p + length;
        if (tail[0] != '\r' || tail[1] != '\n') [[unlikely]]
            return fail(error::bad_body_end);
        if (kind == type::verbatim_string) [[unlikely]]
            return verbatim(length);
        return deliver(kind, {p, static_cast<std::size_t>(length)}, tail + 2);
    }

    FAIRLEAD_NOINLINE outcome verbatim(std::uint64_t length) noexcept {
        if (length < 4 || p[3] != ':')
            return fail(error::bad_verbatim);
        node& n = *out;
        std::array<char, 3> const format = {p[0], p[1], p[2]};
        deliver(type::verbatim_string, {p + 4, static_cast<std::size_t>(length - 4)}, p + length + 2);
        n.format = format;
        return outcome::done;
    }

    FAIRLEAD_ALWAYS_INLINE outcome aggregate(type kind) {
        std::uint64_t length;
        char const* next;
        if (outcome const read = read_length(length, next); read != outcome::done) [[unlikely]]
            return read;
        bool const has_pairs = kind == type::map || kind == type::attribute;
        // Not length * 2 > max: that overflows.
        if (length > (has_pairs ? self.limits_.elements_max / 2 : self.limits_.elements_max)) [[unlikely]]
            return special_aggregate(kind, length, next);
        if (!fits(next)) [[unlikely]]
            return fail(error::message_too_long);
        std::uint64_t const children = has_pairs ? length * 2 : length;
        if (children != 0)
            return open(kind, children, next);
        if (kind != type::attribute)
            return deliver(kind, {}, next);
        // An attribute is no value, not even an empty one.
        put_header(kind, 0, next);
        out[-1].in_attribute = true;
        return outcome::done;
    }

    FAIRLEAD_NOINLINE outcome special_aggregate(type kind, std::uint64_t length, char const* next) {
        if (length < streamed_length)
            return fail(error::too_many_elements);
        if (length == streamed_length && (kind == type::array || kind == type::map || kind == type::set))
            return open_stream(kind, next);
        if (length == null_length && kind == type::array)
            return fits(next) ? deliver(type::null, {}, next) : fail(error::message_too_long);
        return fail(error::bad_length);
    }

    FAIRLEAD_ALWAYS_INLINE void put_header(type kind, std::uint64_t children, char const* next) noexcept {
        *out++ = {.value = {},
                  .size = children,
                  .depth = static_cast<std::uint32_t>(self.stack_.size()),
                  .kind = kind,
                  .in_attribute = self.attributes_ != 0,
                  .last = false,
                  .format = {}};
        p = next;
    }

    FAIRLEAD_ALWAYS_INLINE outcome open(type kind, std::uint64_t children, char const* next) {
        if (self.stack_.size() >= self.limits_.depth_max) [[unlikely]]
            return fail(error::too_deep);
        put_header(kind, children, next);
        self.stack_.push_back({children, kind, false});
        if (kind == type::attribute) {
            out[-1].in_attribute = true;
            ++self.attributes_;
        }
        return outcome::done;
    }

    outcome open_stream(type kind, char const* next) {
        if (!self.limits_.streamed_types)
            return fail(error::streamed_type);
        if (!fits(next))
            return fail(error::message_too_long);
        return open(kind, unknown_size, next);
    }

    // '.' closes the innermost aggregate of unknown size.
    FAIRLEAD_NOINLINE outcome stream_end() noexcept {
        if (self.stack_.empty() || self.stack_.back().left != unknown_size || self.stack_.back().half_pair)
            return fail(self.limits_.streamed_types ? error::bad_stream : error::streamed_type);
        char const* cr;
        if (outcome const found = find_line(cr); found != outcome::done)
            return found;
        return cr == p + 1 ? end_stream(cr + 2) : fail(error::bad_stream);
    }

    outcome end_stream(char const* next) noexcept {
        put_header(type::stream_end, 0, next);
        self.stack_.pop_back();
        out[-1].last = close();
        return outcome::done;
    }

    // Inside a streamed string: one chunk, or the empty one that ends it.
    FAIRLEAD_NOINLINE outcome chunk() noexcept {
        if (*p != static_cast<char>(type::chunk))
            return fail(error::bad_stream);
        std::uint64_t length;
        char const* next;
        if (outcome const read = read_length(length, next); read != outcome::done)
            return read;
        if (length >= streamed_length)
            return fail(error::bad_length);
        if (length > self.limits_.bulk_bytes_max)
            return fail(error::bulk_too_long);
        if (!fits(next, length == 0 ? 0 : length + 2))
            return fail(error::message_too_long);
        if (length == 0) {
            self.phase_ = phase::element;
            return end_stream(next);
        }
        p = next;
        return body(type::chunk, length);
    }

    // An element that starts with a type byte, which is there.
    FAIRLEAD_ALWAYS_INLINE outcome element() {
        auto const any_text = [](std::string_view) { return true; };
        switch (auto const kind = static_cast<type>(*p)) {
        case type::blob_string: return bulk(type::blob_string);
        case type::number: return number();
        case type::simple_string: return line(type::simple_string, {}, any_text);
        case type::array: return aggregate(type::array);
        case type::map: return aggregate(type::map);
        case type::null: return line(kind, error::bad_null, [](std::string_view text) { return text.empty(); });
        case type::real: return line(kind, error::bad_real, is_real);
        case type::boolean:
            return line(kind, error::bad_boolean, [](std::string_view text) { return text == "t" || text == "f"; });
        case type::simple_error: return line(kind, {}, any_text);
        case type::big_number: return line(kind, error::bad_big_number, is_big_number);
        case type::set:
        case type::push:
        case type::attribute: return aggregate(kind);
        case type::blob_error:
        case type::verbatim_string: return bulk(kind);
        case type::stream_end: return stream_end();
        case type::chunk: return fail(self.limits_.streamed_types ? error::bad_stream : error::streamed_type);
        case type::streamed_string: break; // '?' is no type byte
        }
        return fail(error::unknown_type);
    }

    // Whatever phase the previous call, or the previous element, left behind.
    FAIRLEAD_NOINLINE outcome go_on() noexcept {
        phase const was = self.phase_;
        if (was == phase::chunks)
            return p == end ? need(4) : chunk();
        self.phase_ = self.body_kind_ == type::chunk ? phase::chunks : phase::element;
        if (was == phase::body)
            return body(self.body_kind_, self.body_bytes_);
        if (have() < 2) {
            self.phase_ = phase::tail;
            return need(2 - have());
        }
        if (p[0] != '\r' || p[1] != '\n')
            return fail(error::bad_body_end);
        return deliver(self.body_kind_, {}, p + 2);
    }
};

progress parser::parse_some(std::string_view unread, std::span<node> into) {
    FAIRLEAD_ASSERT(!into.empty());
    if (failure_)
        return {.consumed = 0, .nodes = 0, .missing = 0, .what = status::failed, .ec = failure_};
    char const* const begin = unread.data();
    node* const nodes_end = into.data() + into.size();
    cursor c{.self = *this, .p = begin, .end = begin + unread.size(), .mark = begin, .out = into.data()};

    outcome last = outcome::done;
    while (last == outcome::done && c.out != nodes_end) {
        if (phase_ != phase::element) [[unlikely]]
            last = c.go_on();
        else if (c.p == c.end) [[unlikely]]
            last = c.need(3); // the shortest element is "_\r\n"
        else
            last = c.element();
    }

    message_bytes_ += static_cast<std::uint64_t>(c.p - c.mark);
    progress result{.consumed = static_cast<std::size_t>(c.p - begin),
                    .nodes = static_cast<std::size_t>(c.out - into.data()),
                    .missing = c.missing,
                    .what = status::node,
                    .ec = {}};
    if (last == outcome::more) {
        result.what = status::need_more;
    } else if (last == outcome::bad) {
        failure_ = c.why;
        result.what = status::failed;
        result.ec = failure_;
    }
    return result;
}

void parser::reset() noexcept {
    stack_.clear();
    attributes_ = 0;
    phase_ = phase::element;
    body_bytes_ = 0;
    message_bytes_ = 0;
    searched_ = 0;
    failure_.clear();
}

node parser::claim_body() noexcept {
    FAIRLEAD_ASSERT(pending_body() != 0);
    phase_ = phase::tail;
    return {.value = {},
            .size = 0,
            .depth = static_cast<std::uint32_t>(stack_.size()),
            .kind = body_kind_,
            .in_attribute = attributes_ != 0,
            .last = false,
            .format = {}};
}

} // namespace fairlead::resp3
