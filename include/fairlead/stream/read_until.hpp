// Reading up to a delimiter, without I/O when the buffer already has one.
#pragma once

#include <fairlead/base/buffers_iterator.hpp>
#include <fairlead/stream/read.hpp>

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace fairlead {
namespace impl::stream {

/// Up to seven characters to look for, in one word: the first in its lowest byte, their number in its highest. It is
/// written, copied and read as a whole, so that no load waits for several stores, and has nothing to destroy.
class short_delimiter {
public:
    static constexpr std::size_t most = 7;

    explicit constexpr short_delimiter(std::uint64_t word) noexcept : word_(word) {}
    /// Of a string with at most so many.
    explicit constexpr short_delimiter(std::string_view s) noexcept : word_(word_of_number(s.size())) {
        for (std::size_t i = 0; i != s.size(); ++i)
            word_ |= word_of_character(s[i], i);
    }
    std::uint64_t word() const noexcept { return word_; }
    std::size_t size() const noexcept { return word_ >> 56; }
    /// Looks for its first occurrence from `from` on; `n`: where that ends. False: there is none.
    FAIRLEAD_ALWAYS_INLINE bool find(std::string_view text, std::size_t from, std::size_t& n) const noexcept {
        auto const* const at = first_in(text, from);
        if (!at)
            return find_empty(from, n);
        if (is_at(at, text)) [[likely]] {
            n = static_cast<std::size_t>(at - text.data()) + size();
            return true;
        }
        n = find_beyond(at, text, from);
        return n != std::string_view::npos;
    }
    /// How many bytes at the end of a text may begin one.
    std::size_t kept() const noexcept { return size() - 1; }

protected:
    static constexpr std::uint64_t word_of_number(std::size_t n) noexcept { return std::uint64_t{n} << 56; }
    static constexpr std::uint64_t word_of_character(char c, std::size_t at) noexcept {
        return std::uint64_t{static_cast<unsigned char>(c)} << 8 * at;
    }
    /// Where the first character is.
    char const* candidate(std::string_view text, std::size_t from) const noexcept { return first_in(text, from); }
    FAIRLEAD_ALWAYS_INLINE char const* first_in(std::string_view text, std::size_t from) const noexcept {
        if (text.size() <= from)
            return nullptr;
        return static_cast<char const*>(
            std::memchr(text.data() + from, static_cast<unsigned char>(word_), text.size() - from));
    }
    /// For a text without the first character: the empty delimiter alone is in it.
    bool find_empty(std::size_t from, std::size_t& n) const noexcept {
        n = from;
        return size() == 0;
    }
    /// Rare ways are not inlined: the rest then has few registers to save.
    FAIRLEAD_NOINLINE std::size_t find_beyond(char const* at, std::string_view text, std::size_t from) const noexcept {
        if (size() == 0)
            return from;
        while (at && !is_at(at, text))
            at = candidate(text, static_cast<std::size_t>(at - text.data()) + 1);
        return at ? static_cast<std::size_t>(at - text.data()) + size() : std::string_view::npos;
    }

private:
    bool is_at(char const* at, std::string_view text) const noexcept {
        auto const last = size() - 1;
        if (last >= static_cast<std::size_t>(text.data() + text.size() - at)) // also when there is nothing to look for
            return false;
        auto rest = word_;
        for (std::size_t i = 0; i != last;)
            if (at[++i] != static_cast<char>(rest >>= 8))
                return false;
        return true;
    }
    std::uint64_t word_;
};

/// That of a literal with `Length` characters, or of an array that has space for so many and may hold fewer. The
/// compiler compares all of them at once.
template <std::size_t Length> class literal_delimiter : public short_delimiter {
public:
    FAIRLEAD_ALWAYS_INLINE explicit literal_delimiter(char const (&s)[Length + 1]) noexcept
        : short_delimiter(word_of(s, std::make_index_sequence<Length>())) {}
    FAIRLEAD_ALWAYS_INLINE bool find(std::string_view text, std::size_t from, std::size_t& n) const noexcept {
        auto const* const at = candidate(text, from);
        if (!at)
            return find_empty(from, n);
        // Where the compilers know the word, what is left of the second line is one comparison of the characters.
        if (Length <= static_cast<std::size_t>(text.data() + text.size() - at) &&
            (characters_at(at, std::make_index_sequence<Length>()) ^ word()) == word_of_number(Length)) [[likely]] {
            n = static_cast<std::size_t>(at - text.data()) + Length;
            return true;
        }
        n = find_beyond(at, text, from);
        return n != std::string_view::npos;
    }

private:
    template <std::size_t... I>
    FAIRLEAD_ALWAYS_INLINE static std::uint64_t characters_at(char const* at, std::index_sequence<I...>) noexcept {
        return (word_of_character(at[I], I) | ...);
    }
    template <std::size_t... I>
    FAIRLEAD_ALWAYS_INLINE static std::uint64_t word_of(char const* s, std::index_sequence<I...> all) noexcept {
        if ((s[I] && ...)) [[likely]]
            return characters_at(s, all) | word_of_number(Length);
        return short_delimiter(std::string_view(s)).word();
    }
};
static_assert(std::is_trivially_copyable_v<literal_delimiter<2>> && sizeof(literal_delimiter<2>) == 8);

/// A string of any length, in eight bytes too: one that is too long for a short_delimiter lies in a block of `Memory`.
template <class Memory> class basic_delimiter {
public:
    FAIRLEAD_ALWAYS_INLINE explicit basic_delimiter(std::string_view s, Memory memory = {})
        : text_(s.size() <= short_delimiter::most ? short_delimiter(s)
                                                  : outside(memory.allocate(bytes_for(s.size())), s)),
          memory_(std::move(memory)) {}
    basic_delimiter(short_delimiter s, Memory memory) noexcept : text_(s), memory_(std::move(memory)) {}
    /// Without memory nothing is found.
    FAIRLEAD_ALWAYS_INLINE basic_delimiter(std::string_view s, operation::copies_without_exception) noexcept
        : text_(s.size() <= short_delimiter::most ? short_delimiter(s)
                                                  : outside(exec::recycle_take_or_null(bytes_for(s.size())), s)) {}
    basic_delimiter(basic_delimiter&& other) noexcept
        : text_(std::exchange(other.text_, short_delimiter(0))),
          memory_(other.memory_) {}
    basic_delimiter& operator=(basic_delimiter&&) = delete;
    FAIRLEAD_ALWAYS_INLINE ~basic_delimiter() { give_back(); }
    /// Before the handler is called.
    FAIRLEAD_ALWAYS_INLINE void give_back() noexcept {
        if (is_outside()) [[unlikely]]
            free_outside();
    }

    FAIRLEAD_ALWAYS_INLINE bool find(std::string_view text, std::size_t from, std::size_t& n) const noexcept {
        return is_outside() ? find_outside(text, from, n) : text_.find(text, from, n);
    }
    bool lacks_memory() const noexcept { return is_outside() && !block(); }
    /// A copy of it in the memory of `h`.
    template <class Handler> auto start_for(Handler const& h) const {
        auto memory = operation::memory_of(h);
        using type = basic_delimiter<decltype(memory)>;
        if (!is_outside())
            return type(text_, std::move(memory));
        return type(view_outside(), std::move(memory));
    }
    std::size_t kept() const noexcept { return (is_outside() ? view_outside().size() : text_.size()) - 1; }

private:
    static constexpr std::size_t number_outside = 0xff; // and then the address of the block
    static constexpr std::uint64_t address_bits = ~(std::uint64_t{number_outside} << 56);

    static constexpr std::size_t bytes_for(std::size_t n) noexcept { return sizeof(std::size_t) + n; }
    static short_delimiter outside(void* p, std::string_view s) noexcept {
        auto* const block = static_cast<char*>(p);
        auto const n = s.size();
        if (block) [[likely]] {
            std::memcpy(block, &n, sizeof n);
            std::memcpy(block + sizeof n, s.data(), n);
        }
        return short_delimiter(reinterpret_cast<std::uintptr_t>(block) |
                               ~address_bits); // A user-space address has 47 bits.
    }
    bool is_outside() const noexcept { return text_.size() == number_outside; }
    char* block() const noexcept {
        return reinterpret_cast<char*>(static_cast<std::uintptr_t>(text_.word() & address_bits));
    }
    std::string_view view_outside() const noexcept {
        if (!block())
            return {};
        std::size_t n;
        std::memcpy(&n, block(), sizeof n);
        return {block() + sizeof n, n};
    }
    FAIRLEAD_NOINLINE bool find_outside(std::string_view text, std::size_t from, std::size_t& n) const noexcept {
        if (!block())
            return false;
        auto const wanted = view_outside();
        auto const at = text.find(wanted, from);
        n = at + wanted.size();
        return at != std::string_view::npos;
    }
    FAIRLEAD_NOINLINE void free_outside() noexcept {
        if (block())
            memory_.give_back(block(), bytes_for(view_outside().size()));
        text_ = short_delimiter(0);
    }
    short_delimiter text_;
    [[no_unique_address]] Memory memory_;
};
using delimiter = basic_delimiter<operation::library_memory>;
static_assert(sizeof(delimiter) == 8);

/// One that lies where the caller has it, until there is a handler with memory for it.
struct callers_delimiter {
    std::string_view text;

    bool find(std::string_view in, std::size_t from, std::size_t& n) const noexcept {
        auto const at = in.find(text, from);
        n = at + text.size();
        return at != std::string_view::npos;
    }
    std::size_t kept() const noexcept { return text.size() - 1; }
    template <class Handler> auto start_for(Handler const& h) const {
        auto memory = operation::memory_of(h);
        return basic_delimiter<decltype(memory)>(text, std::move(memory));
    }
};
template <class Way> FAIRLEAD_ALWAYS_INLINE auto
make_delimiter(std::string_view s, Way) noexcept(!std::is_same_v<Way, operation::copies_at_once>) {
    if constexpr (std::is_same_v<Way, operation::copies_from_handler>)
        return callers_delimiter{s};
    else if constexpr (std::is_same_v<Way, operation::copies_without_exception>)
        return delimiter(s, Way());
    else
        return delimiter(s);
}
/// The delimiter of an operation that starts, in the memory of `h`.
template <class Handler, class Delimiter>
decltype(auto) delimiter_for([[maybe_unused]] Handler const& h, Delimiter& d) {
    if constexpr (!operation::keeps_copies<Handler> && requires { d.start_for(h); })
        return d.start_for(h);
    else
        return std::move(d);
}

using until_values = std::tuple<error_code, std::size_t>;

/// One character to look for: nothing to copy with care, and nothing to destroy.
struct character_delimiter {
    char c;
    bool find(std::string_view text, std::size_t from, std::size_t& n) const noexcept {
        auto const* const at = text.size() > from ? std::memchr(text.data() + from, c, text.size() - from) : nullptr;
        if (!at)
            return false;
        n = static_cast<std::size_t>(static_cast<char const*>(at) - text.data()) + 1;
        return true;
    }
    static std::size_t kept() noexcept { return 0; }
};

/// Looks for the delimiter in what the buffer holds. `from`: how many bytes are known not to begin one; updated. False:
/// it is not there, and there is space for more.
template <class Buffer, class Delimiter> FAIRLEAD_ALWAYS_INLINE bool
find_delimiter(Buffer const& data, Delimiter const& wanted, std::size_t& from, op_result& r) {
    auto const b = dynamic_data(data);
    std::string_view const text(static_cast<char const*>(b.data()), b.size());
    if (wanted.find(text, from, r.n)) [[likely]] {
        r.error = 0;
        return true;
    }
    if (text.size() >= data.max_size()) {
        r.error = -static_cast<int>(error::not_found);
        r.n = 0;
        return true;
    }
    auto const keep = wanted.kept();
    from = text.size() > keep ? text.size() - keep : 0;
    return false;
}

template <class Buffer> using byte_of = buffers_iterator<typename Buffer::const_buffers_type>;

/// A function of two iterators over bytes, whose result is a third one and whether the match ends there. Without a
/// match the next search begins where the third one points.
template <class Match, class Buffer>
concept match_condition_for = std::move_constructible<Match> && requires(Match& m, byte_of<Buffer> i) {
    { m(i, i) } -> std::convertible_to<std::pair<byte_of<Buffer>, bool>>;
};

template <class Buffer, match_condition_for<Buffer> Match>
bool find_delimiter(Buffer const& data, Match& match, std::size_t& from, op_result& r) {
    typename Buffer::const_buffers_type const b = dynamic_data(data);
    auto const begin = buffers_begin(b);
    std::pair<byte_of<Buffer>, bool> const at = match(begin + static_cast<std::ptrdiff_t>(from), buffers_end(b));
    from = static_cast<std::size_t>(at.first - begin);
    bool const is_full = data.size() >= data.max_size();
    r.error = at.second || !is_full ? 0 : -static_cast<int>(error::not_found);
    r.n = at.second ? from : 0;
    return at.second || is_full;
}

/// `Delimiter` is one of those above, or a match condition.
template <class Stream, class Buffer, class Delimiter, class Handler> struct read_until_op
    : operation::composed_cancellation<Handler> {
    Stream* stream;
    Handler handler;
    Buffer data;
    Delimiter wanted; ///< goes before the handler, whose allocator it may need
    std::size_t searched;
    std::size_t prepared;

    template <class H> read_until_op(Stream* s, Buffer b, Delimiter d, std::size_t already, H&& h)
        : operation::composed_cancellation<Handler>(h, enable_partial_cancellation()),
          stream(s),
          handler(std::forward<H>(h)),
          data(std::move(b)),
          wanted(std::move(d)),
          searched(already),
          prepared(0) {}
    void operator()(error_code ec, std::size_t n) {
        op_result r;
        dynamic_commit(data, prepared, n);
        if (ec || n == 0)
            complete(ec, 0);
        else if (find_delimiter(data, wanted, searched, r))
            complete(operation::to_error_code(r.error), r.n);
        else if (this->is_cancelled())
            complete(error::operation_aborted, 0);
        else
            next();
    }
    void complete(error_code ec, std::size_t n) {
        this->end_cancellation(handler);
        if constexpr (requires { wanted.give_back(); })
            wanted.give_back();
        std::move(handler)(ec, n);
    }
    void next() {
        prepared = dynamic_step(data, transfer_step);
        auto const b = dynamic_prepare(data, prepared);
        auto* const s = stream;
        this->begin_step([&] { s->async_read_some(b, std::move(*this)); });
    }
};

template <class Stream, class Buffer, class Delimiter> struct read_until_initiation {
    Stream* stream;
    Buffer data;
    Delimiter wanted;

    auto get_executor() const noexcept { return stream->get_executor(); }
    loop* home() const noexcept
        requires requires(Stream const& s) {
            { s.native_loop() } -> std::same_as<loop*>;
        }
    {
        return stream->native_loop();
    }
    static std::string describe() { return "read_until"; }

    /// Serves the coroutine that need not suspend and the handler that has to be queued: the search is written once.
    FAIRLEAD_ALWAYS_INLINE bool try_step(op_result& r) const
        requires(!match_condition_for<Delimiter, Buffer>) // which may have a memory: it is asked once
    {
        std::size_t from = 0;
        return find_delimiter(data, wanted, from, r);
    }
    template <class Handler> void operator()(Handler&& handler) {
        std::size_t searched = 0;
        op_result r;
        if (find_delimiter(data, wanted, searched, r)) {
            operation::complete_immediately(stream->get_executor(), std::forward<Handler>(handler),
                                            until_values(operation::to_error_code(r.error), r.n));
            return;
        }
        if constexpr (operation::may_lack_memory<Delimiter>)
            if (wanted.lacks_memory()) [[unlikely]]
                operation::start_without_memory();
        auto&& started = delimiter_for(std::as_const(handler), wanted);
        read_until_op<Stream, Buffer, std::decay_t<decltype(started)>, std::decay_t<Handler>> o{
            stream, std::move(data), std::move(started), searched, std::forward<Handler>(handler)};
        o.next();
    }
    void block(until_values& v)
        requires sync_read_stream<Stream>
    {
        std::size_t searched = 0;
        op_result r;
        for (;;) {
            if (find_delimiter(data, wanted, searched, r)) {
                v = {operation::to_error_code(r.error), r.n};
                return;
            }
            auto const step = dynamic_step(data, transfer_step);
            error_code ec;
            auto const n = stream->read_some(dynamic_prepare(data, step), ec);
            dynamic_commit(data, step, n);
            if (ec || n == 0) {
                v = {ec, 0};
                return;
            }
        }
    }
};

template <class Stream, class Buffer, class Wanted, class Token>
FAIRLEAD_ALWAYS_INLINE decltype(auto) start_read_until(Stream& stream, Buffer&& into, Wanted&& wanted, Token&& token) {
    return completion_token_transform<void(error_code, std::size_t)>(
        std::forward<Token>(token), read_until_initiation<Stream, Buffer, Wanted>{&stream, std::forward<Buffer>(into),
                                                                                  std::forward<Wanted>(wanted)});
}
template <class Token, class Stream, class Buffer, class Wanted> inline constexpr bool nothrow_read_until =
    operation::nothrow_token<std::decay_t<Token>, read_until_initiation<Stream, Buffer, Wanted>>;
template <class Stream, class Buffer, class Wanted>
std::size_t perform_read_until(Stream& stream, Buffer&& into, Wanted&& wanted, error_code& ec) {
    until_values v;
    read_until_initiation<Stream, Buffer, Wanted>{&stream, std::forward<Buffer>(into), std::forward<Wanted>(wanted)}
        .block(v);
    ec = std::get<0>(v);
    return std::get<1>(v);
}

} // namespace impl::stream

template <template <class, class> class A, class S, class B, class W, class H, class D>
struct associator<A, impl::stream::read_until_op<S, B, W, H>, D>
    : impl::operation::pass_on<A, impl::stream::read_until_op<S, B, W, H>, H, D> {};

/// Whether a type may be a match condition of read_until: true for functions and for types with a result_type. It may
/// be specialised. The library does not ask for it: a type that can be called like a match condition is one.
template <class T> struct is_match_condition : std::bool_constant < std::is_function_v<std::remove_pointer_t<T>> ||
    requires {
    typename T::result_type;
}>{};

/// Reads until the buffer holds `delimiter`. When it already does, there is no I/O.
/// Completes  (error_code ec, std::size_t n); n counts up to and including the delimiter; more may follow in the buffer
/// Errors     error::not_found  the buffer has max_size() bytes and no delimiter
///            otherwise those of the stream's async_read_some (error::eof before a delimiter); what was read stays
/// Cancel     terminal, partial; what was read stays in the buffer
/// Immediate  may be ready without waiting; the handler still never runs before this returns
/// Lifetime   the stream and the bytes behind the buffer outlive the completion; the delimiter is copied
/// Threads    no other read on the stream meanwhile
/// Allocates  awaited nothing when the delimiter is there (with up to seven characters); reading takes a counted block
/// Source     Networking TS [buffer.async.read.until]
template <async_read_stream Stream, impl::stream::dynamic_buffer_type Buffer,
          class Token = impl::operation::default_token_of<Stream>>
FAIRLEAD_ALWAYS_INLINE decltype(auto) async_read_until(
    Stream& stream, Buffer into, std::string_view delimiter,
    Token&& token = {}) noexcept(impl::stream::nothrow_read_until<Token, Stream, Buffer, impl::stream::delimiter>) {
    using copies = impl::operation::copies_of<Token, void(error_code, std::size_t)>;
    return impl::stream::start_read_until(stream, std::move(into), impl::stream::make_delimiter(delimiter, copies()),
                                          std::forward<Token>(token));
}
template <async_read_stream Stream, impl::stream::dynamic_buffer_type Buffer, std::size_t N,
          class Token = impl::operation::default_token_of<Stream>>
    requires(N > 1 && N <= impl::stream::short_delimiter::most + 1)
FAIRLEAD_ALWAYS_INLINE decltype(auto)
async_read_until(Stream& stream, Buffer into, char const (&delimiter)[N], Token&& token = {}) noexcept(
    impl::stream::nothrow_read_until<Token, Stream, Buffer, impl::stream::literal_delimiter<N - 1>>) {
    return impl::stream::start_read_until(stream, std::move(into), impl::stream::literal_delimiter<N - 1>(delimiter),
                                          std::forward<Token>(token));
}
template <async_read_stream Stream, impl::stream::dynamic_buffer_type Buffer,
          class Token = impl::operation::default_token_of<Stream>>
FAIRLEAD_ALWAYS_INLINE decltype(auto)
async_read_until(Stream& stream, Buffer into, char delimiter, Token&& token = {}) noexcept(
    impl::stream::nothrow_read_until<Token, Stream, Buffer, impl::stream::character_delimiter>) {
    return impl::stream::start_read_until(stream, std::move(into), impl::stream::character_delimiter{delimiter},
                                          std::forward<Token>(token));
}
/// The same operation, until `match(begin, end)` returns {behind, true}. Its arguments are iterators over the bytes of
/// the buffer.
/// After {at, false} it is called again with the bytes that begin there, when there are more.
/// Allocates  a counted block
template <async_read_stream Stream, impl::stream::dynamic_buffer_type Buffer,
          impl::stream::match_condition_for<Buffer> Match, class Token = impl::operation::default_token_of<Stream>>
decltype(auto)
async_read_until(Stream& stream, Buffer into, Match match,
                 Token&& token = {}) noexcept(impl::stream::nothrow_read_until<Token, Stream, Buffer, Match>) {
    return impl::stream::start_read_until(stream, std::move(into), std::move(match), std::forward<Token>(token));
}

/// As async_read_until, in the calling thread. Returns how many bytes stand before and in the match.
/// Throws     system_error, from the overload without `ec`
template <sync_read_stream Stream, impl::stream::dynamic_buffer_type Buffer>
std::size_t read_until(Stream& stream, Buffer into, std::string_view delimiter, error_code& ec) {
    return impl::stream::perform_read_until(stream, std::move(into), impl::stream::delimiter(delimiter), ec);
}
template <sync_read_stream Stream, impl::stream::dynamic_buffer_type Buffer>
std::size_t read_until(Stream& stream, Buffer into, char delimiter, error_code& ec) {
    return impl::stream::perform_read_until(stream, std::move(into), impl::stream::character_delimiter{delimiter}, ec);
}
template <sync_read_stream Stream, impl::stream::dynamic_buffer_type Buffer,
          impl::stream::match_condition_for<Buffer> Match>
std::size_t read_until(Stream& stream, Buffer into, Match match, error_code& ec) {
    return impl::stream::perform_read_until(stream, std::move(into), std::move(match), ec);
}
/// `wanted` is any of the three.
template <sync_read_stream Stream, impl::stream::dynamic_buffer_type Buffer, class Wanted>
std::size_t read_until(Stream& stream, Buffer into, Wanted&& wanted) {
    error_code ec;
    auto const n = read_until(stream, std::move(into), std::forward<Wanted>(wanted), ec);
    if (ec) [[unlikely]]
        impl::stream::throw_stream_error(ec, stream, "read_until", "from");
    return n;
}

} // namespace fairlead
