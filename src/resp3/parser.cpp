#include <fairlead/base/assert.hpp>
#include <fairlead/resp3/parser.hpp>

#include <bit>
#include <charconv>
#include <cstring>
#include <utility>

namespace fairlead::resp3 {
namespace {

enum class outcome : unsigned char { done, more, bad };

// Results of read_length() besides a number. Numbers have at most 19 digits, so they stay below both.
constexpr std::uint64_t null_length = UINT64_MAX;
constexpr std::uint64_t streamed_length = UINT64_MAX - 1;
constexpr std::ptrdiff_t length_digits_max = 19;

constexpr std::ptrdiff_t format_bytes = 4; // of a verbatim string: "txt:"

// Eight bytes at once. A test on a word marks the high bit of bytes that pass it. The lowest mark is always right.
// Those above it may be wrong because of carries, so only first_marked() looks at the result.
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

// Index of the first mark in two words, 16 if there is none. No branch: where a short line ends is hard to predict.
FAIRLEAD_ALWAYS_INLINE std::ptrdiff_t first_marked(std::uint64_t low, std::uint64_t high) noexcept {
    int const in_low = std::countr_zero(low);
    int const in_high = std::countr_zero(high);
    return (low ? in_low : 64 + in_high) / 8;
}

// The hasty readers look at an element at `p` with at least haste_margin bytes before `end`. They return where it ends,
// or null when it is longer than they can tell, incomplete or wrong.
constexpr std::ptrdiff_t haste_margin = 20;        // type byte, sign, two words and the LF behind a CR that ends them
constexpr std::ptrdiff_t haste_margin_of_bulk = 6; // "$000\r\n": no reader of lengths looks further
constexpr std::uint64_t hasty_length_max = 999;
constexpr std::size_t hasty_line_max = 17;

FAIRLEAD_ALWAYS_INLINE char const* hasty_length(char const* p, std::uint64_t& length) noexcept {
    // One to three digits are nearly every length. Branches, unlike arithmetic on all of them, let the processor run
    // ahead to the element that follows.
    unsigned const a = static_cast<unsigned char>(p[1] - '0');
    unsigned const b = static_cast<unsigned char>(p[2] - '0');
    unsigned const c = static_cast<unsigned char>(p[3] - '0');
    if (a > 9) [[unlikely]]
        return nullptr;
    if (p[2] == '\r') {
        length = a;
        return p[3] == '\n' ? p + 4 : nullptr;
    }
    if (b > 9) [[unlikely]]
        return nullptr;
    if (p[3] == '\r') {
        length = a * 10 + b;
        return p[4] == '\n' ? p + 5 : nullptr;
    }
    if (c > 9 || p[4] != '\r' || p[5] != '\n') [[unlikely]]
        return nullptr;
    length = (a * 10 + b) * 10 + c;
    return p + 6;
}

FAIRLEAD_ALWAYS_INLINE char const* hasty_bulk(char const* p, char const* end, std::string_view& value) noexcept {
    std::uint64_t length = 0;
    char const* const body = hasty_length(p, length);
    if (!body || static_cast<std::uint64_t>(end - body) < length + 2) [[unlikely]]
        return nullptr;
    char const* const tail = body + length;
    if (tail[0] != '\r' || tail[1] != '\n') [[unlikely]]
        return nullptr;
    value = {body, static_cast<std::size_t>(length)};
    return tail + 2;
}

FAIRLEAD_ALWAYS_INLINE char const* hasty_line(char const* p, std::string_view& value) noexcept {
    char const* const text = p + 1;
    std::ptrdiff_t const n = first_marked(mark_line_ends(load(text)), mark_line_ends(load(text + 8)));
    if (text[n] != '\r' || text[n + 1] != '\n') [[unlikely]]
        return nullptr;
    value = {text, static_cast<std::size_t>(n)};
    return text + n + 2;
}

FAIRLEAD_ALWAYS_INLINE char const* hasty_number(char const* p, std::string_view& value) noexcept {
    char const* const text = p + 1;
    char const* const digits = text + (*text == '-');
    std::ptrdiff_t const n = first_marked(mark_non_digits(load(digits)), mark_non_digits(load(digits + 8)));
    if (n == 0 || digits[n] != '\r' || digits[n + 1] != '\n') [[unlikely]]
        return nullptr;
    value = {text, static_cast<std::size_t>(digits + n - text)};
    return digits + n + 2;
}

} // namespace

// One call of parse_some(). The function element() and its callees can read everything. They return how far the element
// came. Done: delivered, p moved behind it. More: its bytes are not all there, p is as before except that a bulk's
// header is consumed. Bad: p is at the offending element. Before it, hurry() takes the many short and complete
// elements.
struct parser::cursor {
    parser& self;
    char const* p; // the first byte not consumed
    char const* const begin;
    char const* const end;
    char const* mark;           // self.message_bytes_ counts what was consumed before this
    std::size_t const searched; // of the element at `begin`: so many bytes behind its type hold no line end
    node* out;
    char const* next = nullptr; // behind the line or header that was read last
    std::uint64_t length = 0;   // what that header said
    std::uint64_t missing = 0;  // with more
    error why{};                // with bad

    outcome fail(error e) noexcept {
        why = e;
        return outcome::bad;
    }
    outcome need(std::uint64_t bytes) noexcept {
        missing = bytes;
        return outcome::more;
    }
    std::size_t have() const noexcept { return static_cast<std::size_t>(end - p); }

    // Whether the message stays within its limit with its bytes up to `next` and `body` more.
    bool fits(std::uint64_t body = 0) const noexcept {
        return self.message_bytes_ + static_cast<std::uint64_t>(next - mark) + body <= self.limits_.message_bytes_max;
    }

    // A push between the elements of what is open, so many levels deep.
    bool stands_outside(type kind, std::size_t depth) const noexcept {
        return kind == type::push && depth != 0 && self.limits_.pushes_stand_outside;
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
            bool const was_outside = stands_outside(top.kind, self.stack_.size() - 1);
            self.stack_.pop_back();
            if (was_outside) [[unlikely]]
                return false;
            if (was_attribute) {
                --self.attributes_; // It is no value: what it describes is still to come.
                return false;
            }
        }
        return true;
    }

    void put(type kind, std::string_view value, std::uint64_t size) noexcept {
        *out++ = {.value = value,
                  .size = size,
                  .depth = static_cast<std::uint32_t>(self.stack_.size()),
                  .kind = kind,
                  .in_attribute = self.attributes_ != 0 || kind == type::attribute,
                  .last = false,
                  .format = {}};
    }

    // The value put last is complete; it ends at `stop`.
    void finish(char const* stop) noexcept {
        p = stop;
        if (close()) {
            out[-1].last = true;
            self.message_bytes_ = 0;
            mark = p;
        }
    }

    outcome deliver(type kind, std::string_view value, char const* stop) noexcept {
        put(kind, value, 0);
        finish(stop);
        return outcome::done;
    }

    // Takes elements that are common, short and complete; stops in front of any other. Its checks of limits are made
    // once for all bytes, so it does nothing when one of them is near. Locals, because whatever a field's address was
    // given away for lives in memory.
    void hurry(node* const out_end) noexcept {
        limits const& l = self.limits_;
        if (self.message_bytes_ + static_cast<std::uint64_t>(end - mark) > l.message_bytes_max ||
            l.bulk_bytes_max < hasty_length_max || l.elements_max < 2 * hasty_length_max ||
            l.line_bytes_max < hasty_line_max)
            return;
        char const* at = p;
        node* to = out;
        while (to != out_end && end - at >= haste_margin) {
            auto const kind = static_cast<type>(*at);
            std::string_view value;
            std::uint64_t children = 0;
            char const* stop = nullptr;
            switch (kind) {
            case type::blob_string: stop = hasty_bulk(at, end, value); break;
            case type::number: stop = hasty_number(at, value); break;
            case type::simple_string: stop = hasty_line(at, value); break;
            case type::real:
                stop = hasty_line(at, value);
                if (stop && !is_real(value))
                    stop = nullptr;
                break;
            case type::null: stop = at[1] == '\r' && at[2] == '\n' ? at + 3 : nullptr; break;
            case type::map:
                stop = hasty_length(at, children);
                children *= 2;
                break;
            case type::array:
            case type::set:
            case type::push: stop = hasty_length(at, children); break;
            default: break;
            }
            std::size_t const depth = self.stack_.size();
            if (!stop || (children == 0 && stands_outside(kind, depth)) ||
                (children != 0 && (depth == self.stack_.capacity() || depth >= l.depth_max))) [[unlikely]]
                break;
            node& n = *to++;
            n.value = value;
            n.size = children;
            n.depth = static_cast<std::uint32_t>(depth);
            n.kind = kind;
            n.in_attribute = self.attributes_ != 0;
            n.last = false;
            n.format = {};
            at = stop;
            if (children != 0) {
                self.stack_.push_back({children, kind, false});
            } else if (close()) {
                n.last = true;
                self.message_bytes_ = 0;
                mark = at;
            }
        }
        p = at;
        out = to;
    }

    // Finds the end of the line that starts behind the type byte: its text is [p + 1, next - 2). Looks no further than
    // the limit, so that what is wrong first decides, however the bytes were cut.
    outcome find_line() noexcept {
        char const* const text = p + 1;
        char const* const from = p == begin ? text + searched : text;
        FAIRLEAD_ASSERT(from <= end); // else the caller did not keep the unread bytes
        std::size_t const line_bytes_max = self.limits_.line_bytes_max;
        char const* const horizon = have() - 1 > line_bytes_max ? text + line_bytes_max + 1 : end;
        auto const* const cr =
            static_cast<char const*>(std::memchr(from, '\r', static_cast<std::size_t>(horizon - from)));
        char const* const stop = cr ? cr : horizon;
        if (std::memchr(from, '\n', static_cast<std::size_t>(stop - from)))
            return fail(error::bad_line_end);
        if (static_cast<std::size_t>(stop - text) > line_bytes_max)
            return fail(error::line_too_long);
        if (stop == end || stop + 1 == end) {
            self.searched_ = static_cast<std::size_t>(stop - text);
            return need(stop == end ? 2 : 1);
        }
        if (stop[1] != '\n')
            return fail(error::bad_line_end);
        next = stop + 2;
        return fits() ? outcome::done : fail(error::message_too_long);
    }

    // A line whose text has to pass a test.
    outcome line(type kind, error otherwise, bool (*is_good)(std::string_view)) noexcept {
        if (outcome const found = find_line(); found != outcome::done)
            return found;
        std::string_view const text(p + 1, static_cast<std::size_t>(next - p - 3));
        return is_good(text) ? deliver(kind, text, next) : fail(otherwise);
    }

    // Reads "<digits>\r\n" behind the type byte into `length` and `next`. Never looks at more than 22 bytes, so that
    // it can start over when some of them are missing.
    outcome read_length() noexcept {
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

    outcome bulk(type kind) {
        if (outcome const read = read_length(); read != outcome::done)
            return read;
        if (length == null_length && kind == type::blob_string)
            return fits() ? deliver(type::null, {}, next) : fail(error::message_too_long);
        if (length == streamed_length && kind == type::blob_string)
            return open_stream(type::streamed_string);
        if (length >= streamed_length)
            return fail(error::bad_length);
        if (length > self.limits_.bulk_bytes_max)
            return fail(error::bulk_too_long);
        if (!fits(length + 2))
            return fail(error::message_too_long);
        if (kind == type::verbatim_string)
            if (outcome const read = read_format(); read != outcome::done)
                return read;
        p = next;
        return body(kind);
    }

    // The format of a verbatim string belongs to its header: the body is text, whoever takes it.
    outcome read_format() noexcept {
        if (length < format_bytes)
            return fail(error::bad_verbatim);
        auto const there = static_cast<std::uint64_t>(end - next);
        if (there < format_bytes)
            return need(length + 2 - there);
        if (next[3] != ':')
            return fail(error::bad_verbatim);
        self.format_ = {next[0], next[1], next[2]};
        next += format_bytes;
        length -= format_bytes;
        return outcome::done;
    }

    // The body of `length` bytes at p. They were counted against the limits with their header.
    outcome body(type kind) noexcept {
        if (have() < length + 2) {
            self.phase_ = phase::body;
            self.body_kind_ = kind;
            self.body_bytes_ = length;
            return need(length + 2 - have());
        }
        auto const bytes = static_cast<std::size_t>(length);
        char const* const tail = p + bytes;
        if (tail[0] != '\r' || tail[1] != '\n')
            return fail(error::bad_body_end);
        return deliver_body(kind, {p, bytes}, tail + 2);
    }

    // However its bytes came.
    outcome deliver_body(type kind, std::string_view value, char const* stop) noexcept {
        deliver(kind, value, stop);
        if (kind == type::verbatim_string)
            out[-1].format = self.format_;
        return outcome::done;
    }

    outcome aggregate(type kind) {
        if (outcome const read = read_length(); read != outcome::done)
            return read;
        if (length == null_length && kind == type::array)
            return fits() ? deliver(type::null, {}, next) : fail(error::message_too_long);
        if (length == streamed_length && (kind == type::array || kind == type::map || kind == type::set))
            return open_stream(kind);
        if (length >= streamed_length)
            return fail(error::bad_length);
        std::uint64_t const per_element = kind == type::map || kind == type::attribute ? 2 : 1;
        if (length > self.limits_.elements_max / per_element) // not length * 2: that overflows
            return fail(error::too_many_elements);
        if (!fits())
            return fail(error::message_too_long);
        if (length != 0)
            return open(kind, length * per_element);
        put(kind, {}, 0);
        if (kind == type::attribute || stands_outside(kind, self.stack_.size()))
            p = next; // It is no value, not even an empty one.
        else
            finish(next);
        return outcome::done;
    }

    outcome open(type kind, std::uint64_t children) {
        if (self.stack_.size() >= self.limits_.depth_max)
            return fail(error::too_deep);
        put(kind, {}, children);
        p = next;
        self.stack_.push_back({children, kind, false});
        self.attributes_ += kind == type::attribute;
        return outcome::done;
    }

    outcome open_stream(type kind) {
        if (!self.limits_.streamed_types)
            return fail(error::streamed_type);
        if (!fits())
            return fail(error::message_too_long);
        outcome const opened = open(kind, unknown_size);
        if (kind == type::streamed_string && opened == outcome::done)
            self.phase_ = phase::chunks;
        return opened;
    }

    // '.' closes the innermost aggregate of unknown size.
    outcome stream_end() noexcept {
        if (!self.limits_.streamed_types)
            return fail(error::streamed_type);
        if (self.stack_.empty() || self.stack_.back().left != unknown_size || self.stack_.back().half_pair)
            return fail(error::bad_stream);
        if (outcome const found = find_line(); found != outcome::done)
            return found;
        return next - p == 3 ? end_stream() : fail(error::bad_stream);
    }

    outcome end_stream() noexcept {
        put(type::stream_end, {}, 0);
        self.stack_.pop_back();
        finish(next);
        return outcome::done;
    }

    // Inside a streamed string: one chunk, or the empty one that ends it.
    outcome chunk() noexcept {
        if (*p != static_cast<char>(type::chunk))
            return fail(error::bad_stream);
        if (outcome const read = read_length(); read != outcome::done)
            return read;
        if (length >= streamed_length)
            return fail(error::bad_length);
        if (length > self.limits_.bulk_bytes_max)
            return fail(error::bulk_too_long);
        if (!fits(length == 0 ? 0 : length + 2))
            return fail(error::message_too_long);
        if (length == 0) {
            self.phase_ = phase::element;
            return end_stream();
        }
        p = next;
        return body(type::chunk);
    }

    // An element that starts with a type byte, which is there.
    outcome element() {
        switch (auto const kind = static_cast<type>(*p)) {
        case type::simple_string:
        case type::simple_error: return line(kind, {}, [](std::string_view) { return true; });
        case type::number: return line(kind, error::bad_number, is_number);
        case type::null: return line(kind, error::bad_null, [](std::string_view text) { return text.empty(); });
        case type::boolean:
            return line(kind, error::bad_boolean, [](std::string_view text) { return text == "t" || text == "f"; });
        case type::real: return line(kind, error::bad_real, is_real);
        case type::big_number: return line(kind, error::bad_big_number, is_big_number);
        case type::blob_string:
        case type::blob_error:
        case type::verbatim_string: return bulk(kind);
        case type::array:
        case type::map:
        case type::set:
        case type::push:
        case type::attribute: return aggregate(kind);
        case type::chunk: return fail(self.limits_.streamed_types ? error::bad_stream : error::streamed_type);
        case type::stream_end: return stream_end();
        case type::streamed_string: break; // '?' starts nothing: it stands where a length would.
        }
        return fail(error::unknown_type);
    }

    // The CRLF after a body that the caller took.
    outcome tail() noexcept {
        if (have() < 2) {
            self.phase_ = phase::tail;
            return need(2 - have());
        }
        return p[0] == '\r' && p[1] == '\n' ? deliver_body(self.body_kind_, {}, p + 2) : fail(error::bad_body_end);
    }

    // The phase that the previous call, or the previous element, left behind.
    outcome go_on() noexcept {
        phase const was = self.phase_;
        if (was == phase::chunks)
            return p == end ? need(4) : chunk();
        self.phase_ = self.body_kind_ == type::chunk ? phase::chunks : phase::element;
        length = self.body_bytes_;
        return was == phase::body ? body(self.body_kind_) : tail();
    }
};

progress parser::parse_some(std::string_view unread, std::span<node> into) {
    FAIRLEAD_ASSERT(!into.empty());
    if (failure_)
        return {.consumed = 0, .nodes = 0, .missing = 0, .what = status::failed, .ec = failure_};
    char const* const begin = unread.data();
    node* const out_end = into.data() + into.size();
    cursor c{.self = *this,
             .p = begin,
             .begin = begin,
             .end = begin + unread.size(),
             .mark = begin,
             .searched = std::exchange(searched_, 0),
             .out = into.data()};

    outcome last = outcome::done;
    while (last == outcome::done && c.out != out_end) {
        if (phase_ != phase::element) {
            last = c.go_on();
            continue;
        }
        c.hurry(out_end);
        if (c.out == out_end)
            break;
        last = c.p == c.end ? c.need(3) : c.element(); // 3: the shortest element is "_\r\n"
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

// Nothing of the parser changes: each message that is taken begins and ends here.
parser::text_pushes parser::take_text_pushes(std::string_view unread, std::span<text_push> into) const noexcept {
    char const* const begin = unread.data();
    char const* const end = begin + unread.size();
    char const* at = begin;
    text_push* to = into.data();
    text_push* const to_end = to + into.size();
    bool const is_far_from_limits = limits_.message_bytes_max >= unread.size() && limits_.depth_max != 0 &&
                                    limits_.bulk_bytes_max >= hasty_length_max &&
                                    limits_.elements_max >= text_push::texts_max;
    if (!is_idle() || searched_ != 0 || !is_far_from_limits)
        return {};
    constexpr std::ptrdiff_t push_header = 4;
    while (to != to_end && end - at >= push_header + haste_margin_of_bulk) {
        auto const size = static_cast<unsigned char>(at[1] - '0');
        if (at[0] != static_cast<char>(type::push) || static_cast<unsigned char>(size - 1) >= text_push::texts_max ||
            at[2] != '\r' || at[3] != '\n')
            break;
        char const* p = at + push_header;
        for (std::size_t i = 0; i != size; ++i) {
            if (end - p < haste_margin_of_bulk || *p != static_cast<char>(type::blob_string)) [[unlikely]]
                p = nullptr;
            else
                p = hasty_bulk(p, end, to->texts[i]);
            if (!p) [[unlikely]]
                break;
        }
        if (!p) [[unlikely]]
            break;
        to->size = size;
        ++to;
        at = p;
    }
    return {static_cast<std::size_t>(at - begin), static_cast<std::size_t>(to - into.data())};
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
    message_bytes_ += body_bytes_; // We shall not see them pass.
    return {.value = {},
            .size = 0,
            .depth = static_cast<std::uint32_t>(stack_.size()),
            .kind = body_kind_,
            .in_attribute = attributes_ != 0,
            .last = false,
            .format = body_kind_ == type::verbatim_string ? format_ : std::array<char, 3>()};
}

} // namespace fairlead::resp3
