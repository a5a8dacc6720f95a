// Where replies go: values of C++ types, or a flat copy of whatever came.
#pragma once

#include <fairlead/redis/error.hpp>
#include <fairlead/resp3/convert.hpp>
#include <fairlead/resp3/node.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace fairlead::redis {

/// One complete reply: its nodes in the order of the wire, without attributes.
struct reply_view {
    std::span<resp3::node const> nodes;
    std::string* movable = nullptr; ///< If not null: holds the text of the only node, and may be taken.
};

/// Reads the values of one reply, one after the other, into C++ types.
///
///   - Text goes into std::string.
///   - Numbers, doubles and booleans go into arithmetic types, also from text ("42", as GET gives it).
///   - So does the count of a duration. Bytes are a std::vector<std::byte>, or an array of exactly so many.
///   - Null goes into std::optional only.
///   - Arrays and sets go into sequences, sets, tuples and pairs.
///   - Maps go into maps and into sequences of pairs. A flat array of keys and values, which is a map in RESP2, does
///   too.
///   - result<T> takes a T or the server's refusal.
///
/// For a type of your own write, in its namespace,
/// `error_code from_reply(redis::reply_reader& in, your_type& value)`, which reads with `in.read(...)`. When it throws,
/// the request ends with error::conversion_failed.
class reply_reader {
public:
    explicit reply_reader(reply_view const& reply) noexcept
        : at_(reply.nodes.data()),
          end_(reply.nodes.data() + reply.nodes.size()),
          movable_(reply.movable) {}

    bool at_end() const noexcept { return at_ == end_; }
    /// The next value: a scalar, or an aggregate's header. Not at the end.
    resp3::node const& peek() const noexcept { return *at_; }
    void advance() noexcept { ++at_; }
    /// Passes over the next value and all that is in it.
    FAIRLEAD_EXPORT void skip() noexcept;
    /// The text of the next scalar, moved where that saves a copy of a large one.
    void take_text(std::string& into) {
        if (movable_) {
            into.swap(*movable_);
            movable_ = nullptr;
        } else {
            into.assign(at_->value);
        }
        advance();
    }

    /// Reads the next value.
    /// Errors     condition::refused_by_server   error::server_error, or one that says more
    ///            error::incompatible_type  a reply of another kind
    ///            what resp3/convert.hpp reports for text that is no number of the wanted type
    template <class T> [[nodiscard]] error_code read(T& value);

private:
    resp3::node const* at_;
    resp3::node const* end_;
    std::string* movable_;
};

namespace impl {

/// Throws what result<T>::value() does without a value.
[[noreturn]] FAIRLEAD_EXPORT void throw_no_value(error_code const& why, std::string_view server_text);

} // namespace impl

/// Asks for a reply to be dropped. A refusal by the server is still an error.
struct ignore_t {
    constexpr ignore_t() noexcept = default;
};
/// `co_await conn.async_exec(req, redis::ignore)`: the replies to all commands are dropped.
inline constexpr ignore_t ignore{};

/// A value, or the reason why there is none. Reused, a value keeps its memory.
template <class T> class result {
public:
    using value_type = T;

    bool has_value() const noexcept { return state_ == state::value; }
    explicit operator bool() const noexcept { return has_value(); }
    /// The server refused the command.
    bool has_error() const noexcept { return state_ == state::error; }
    /// The refusal as the server put it: "WRONGTYPE Operation against ...". Its first word is a code.
    std::string const& error_text() const noexcept { return error_; }
    /// Why there is no value: condition::refused_by_server, what reading the reply as a T reported, or no_reply when
    /// none came. Nothing where there is a value.
    error_code code() const noexcept {
        switch (state_) {
        case state::value: return {};
        case state::error: return impl::refusal_of(error_);
        case state::failed: return why_;
        case state::empty: break;
        }
        return redis::error::no_reply;
    }

    /// Throws system_error with code() when there is no value, and with the server's text when it refused.
    T& value() {
        check();
        return value_;
    }
    T const& value() const {
        check();
        return value_;
    }
    T& operator*() noexcept { return value_; }
    T const& operator*() const noexcept { return value_; }
    T* operator->() noexcept { return &value_; }
    T const* operator->() const noexcept { return &value_; }
    T value_or(T other) const { return has_value() ? value_ : std::move(other); }

    void reset() noexcept { state_ = state::empty; }
    /// There is no value, because of `ec`.
    void fail(error_code const& ec) noexcept {
        state_ = state::failed;
        why_ = ec;
    }
    error_code read_from(reply_reader& in) {
        return read_from(in, [](reply_reader& reader, T& value) { return reader.read(value); });
    }
    /// With `read(in, value)`, which returns an error code, for a reply that is no error.
    template <class Read> error_code read_from(reply_reader& in, Read const& read) {
        reset();
        if (resp3::is_error(in.peek().kind)) {
            in.take_text(error_);
            state_ = state::error;
            return {};
        }
        auto const ec = read(in, value_);
        state_ = state::value;
        if (ec) [[unlikely]]
            fail(ec);
        return ec;
    }

private:
    enum class state : unsigned char { empty, value, error, failed };
    void check() const {
        if (state_ != state::value) [[unlikely]]
            impl::throw_no_value(code(), error_);
    }

    T value_{};
    std::string error_;
    error_code why_;
    state state_ = state::empty;
};

/// One result for each reply: `response<std::string, long> r; std::get<1>(r).value()`.
template <class... T> using response = std::tuple<result<T>...>;

/// Any replies or pushes as they came, flat: what resp3::node describes, with the texts in one string. Executing into
/// it replaces its contents and keeps its memory: after warm-up nothing is allocated.
class generic_response {
public:
    class iterator;

    generic_response() noexcept = default;
    generic_response(generic_response&& other) noexcept { swap(other); }
    generic_response& operator=(generic_response&& other) noexcept {
        swap(other);
        return *this;
    }

    /// Nodes of all messages.
    std::size_t size() const noexcept { return entries_.size; }
    bool empty() const noexcept { return entries_.size == 0; }
    /// Complete replies, or pushes.
    std::size_t messages() const noexcept { return messages_; }
    /// Memory in use, spare capacity not counted.
    std::size_t bytes() const noexcept { return text_.size + entries_.size * sizeof(entry); }
    /// A view into this object, until it changes.
    resp3::node operator[](std::size_t i) const noexcept {
        entry const& e = entries_.data[i];
        auto const kind = static_cast<resp3::type>(e.rest & 0xff);
        bool const is_header = resp3::is_aggregate(kind);
        return {std::string_view(text_.data.get() + e.offset, is_header ? 0 : static_cast<std::size_t>(e.size)),
                is_header ? e.size : 0,
                static_cast<std::uint32_t>(e.rest >> 33),
                kind,
                false,
                e.is_last(),
                {static_cast<char>(e.rest >> 8), static_cast<char>(e.rest >> 16), static_cast<char>(e.rest >> 24)}};
    }
    iterator begin() const noexcept;
    iterator end() const noexcept;

    void clear() noexcept {
        entries_.size = 0;
        text_.size = 0;
        messages_ = 0;
    }
    void swap(generic_response& other) noexcept {
        std::swap(entries_, other.entries_);
        std::swap(text_, other.text_);
        std::swap(messages_, other.messages_);
    }
    /// Adds one message. Throws bad_alloc; nothing changed then.
    FAIRLEAD_EXPORT void append(std::span<resp3::node const> message);
    /// Removes the first messages, at least half of them; returns how many. O(what is left).
    FAIRLEAD_EXPORT std::size_t drop_older_half() noexcept;

private:
    struct entry {
        std::size_t offset;
        std::uint64_t size; // of a header: its children; else bytes of text
        std::uint64_t rest; // bits 0-7 kind, 8-31 format, 32 last, 33-63 depth: one store instead of five
        bool is_last() const noexcept { return (rest >> 32 & 1) != 0; }
    };
    /// No string and no vector: growing one clears what is about to be overwritten.
    template <class T> struct block {
        std::unique_ptr<T[]> data;
        std::size_t size = 0;
        std::size_t capacity = 0;

        /// Room for `more`, at least doubled when there is too little.
        void reserve(std::size_t more, std::size_t least = 0);
        /// Without the first n.
        void drop(std::size_t n) noexcept;
    };

    block<entry> entries_;
    block<char> text_;
    std::size_t messages_ = 0;
};

class generic_response::iterator {
public:
    using value_type = resp3::node;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    iterator() noexcept = default;
    iterator(generic_response const& of, std::size_t at) noexcept : of_(&of), at_(at) {}
    resp3::node operator*() const noexcept { return (*of_)[at_]; }
    iterator& operator++() noexcept {
        ++at_;
        return *this;
    }
    iterator operator++(int) noexcept { return {*of_, at_++}; }
    friend bool operator==(iterator const&, iterator const&) noexcept = default;

private:
    generic_response const* of_ = nullptr;
    std::size_t at_ = 0;
};
inline generic_response::iterator generic_response::begin() const noexcept { return {*this, 0}; }
inline generic_response::iterator generic_response::end() const noexcept { return {*this, size()}; }

namespace impl {

// ---- one value

FAIRLEAD_EXPORT error_code not_a_value(reply_reader& in) noexcept;
/// Scalars that are text, or can be read as text.
constexpr bool holds_text(resp3::type kind) noexcept {
    switch (kind) {
    case resp3::type::simple_string:
    case resp3::type::blob_string:
    case resp3::type::verbatim_string:
    case resp3::type::number:
    case resp3::type::real:
    case resp3::type::big_number: return true;
    default: return false;
    }
}
inline error_code read_text(reply_reader& in, std::string& value) {
    if (!holds_text(in.peek().kind)) [[unlikely]]
        return not_a_value(in);
    in.take_text(value);
    return {};
}
FAIRLEAD_EXPORT error_code read_boolean(reply_reader& in, bool& value);
FAIRLEAD_EXPORT error_code read_real(reply_reader& in, double& value);
/// The next scalar that may hold a number; sets ec when it is something else.
FAIRLEAD_EXPORT std::string_view read_number_text(reply_reader& in, error_code& ec) noexcept;
/// Passes the header of an array, set or push; ec when it is something else.
FAIRLEAD_EXPORT std::size_t enter_sequence(reply_reader& in, error_code& ec) noexcept;
/// Passes the header of a map, or of a flat array of keys and values; returns the number of pairs.
FAIRLEAD_EXPORT std::size_t enter_map(reply_reader& in, error_code& ec) noexcept;
/// Whether the elements of an array are no arrays: it may be a flat one of keys and values.
FAIRLEAD_EXPORT bool is_flat_array(reply_reader in) noexcept;

template <class T>
concept user_readable = requires(reply_reader& in, T& value) {
    { from_reply(in, value) } -> std::convertible_to<error_code>;
};
template <class T>
concept map_like = requires { typename T::mapped_type; };
template <class T>
concept set_like = !map_like<T> && requires { typename T::key_type; };
template <class T>
concept sequence_like = requires(T& t) {
    typename T::value_type;
    t.emplace_back();
    t.clear();
};
template <class T> inline constexpr bool is_optional = false;
template <class T> inline constexpr bool is_optional<std::optional<T>> = true;
template <class T> inline constexpr bool is_result = false;
template <class T> inline constexpr bool is_result<result<T>> = true;
template <class T> inline constexpr bool is_tuple = false;
template <class... T> inline constexpr bool is_tuple<std::tuple<T...>> = true;
template <class A, class B> inline constexpr bool is_tuple<std::pair<A, B>> = true;
template <class T, std::size_t N> inline constexpr bool is_tuple<std::array<T, N>> = true;
template <class T> inline constexpr bool is_pair = false;
template <class A, class B> inline constexpr bool is_pair<std::pair<A, B>> = true;

template <class Sequence> error_code read_pairs(reply_reader& in, Sequence& value) {
    error_code ec;
    auto const pairs = enter_map(in, ec);
    value.clear();
    for (std::size_t i = 0; i != pairs && !ec; ++i) {
        auto& each = value.emplace_back();
        ec = in.read(each.first);
        if (!ec)
            ec = in.read(each.second);
    }
    return ec;
}
template <class Sequence> error_code read_sequence(reply_reader& in, Sequence& value) {
    error_code ec;
    auto const size = enter_sequence(in, ec);
    value.clear();
    if constexpr (requires { value.reserve(size); })
        value.reserve(size); // All elements have arrived: the size is no mere claim.
    for (std::size_t i = 0; i != size && !ec; ++i) {
        if constexpr (std::is_same_v<typename Sequence::value_type, bool>) {
            bool b = false;
            ec = in.read(b);
            value.push_back(b);
        } else {
            ec = in.read(value.emplace_back());
        }
    }
    return ec;
}
template <class Set> error_code read_set(reply_reader& in, Set& value) {
    error_code ec;
    auto const size = enter_sequence(in, ec);
    value.clear();
    for (std::size_t i = 0; i != size && !ec; ++i) {
        typename Set::key_type key{};
        ec = in.read(key);
        if (!ec)
            value.insert(std::move(key));
    }
    return ec;
}
template <class Map> error_code read_map(reply_reader& in, Map& value) {
    error_code ec;
    auto const pairs = enter_map(in, ec);
    value.clear();
    for (std::size_t i = 0; i != pairs && !ec; ++i) {
        typename Map::key_type key{};
        typename Map::mapped_type mapped{};
        ec = in.read(key);
        if (!ec)
            ec = in.read(mapped);
        if (!ec)
            value.emplace(std::move(key), std::move(mapped));
    }
    return ec;
}
template <class Tuple> error_code read_tuple(reply_reader& in, Tuple& value) {
    error_code ec;
    if (enter_sequence(in, ec) != std::tuple_size_v<Tuple> && !ec)
        ec = error::incompatible_type;
    std::apply([&](auto&... each) { ((ec = ec ? ec : in.read(each)), ...); }, value);
    return ec;
}

// ---- one response: what the connection calls for each reply

using deliver_function = error_code (*)(void* object, std::size_t index, reply_view const& reply);

/// A response of any type, borrowed.
struct response_ref {
    static constexpr std::size_t any_number = static_cast<std::size_t>(-1);
    void* object;
    deliver_function deliver;
    std::size_t replies; ///< how many it has space for
};

template <class T> error_code deliver_value(void* object, std::size_t, reply_view const& reply) {
    reply_reader in(reply);
    return in.read(*static_cast<T*>(object));
}
template <class Tuple, std::size_t... I>
error_code deliver_element(void* object, std::size_t index, reply_view const& reply, std::index_sequence<I...>) {
    error_code ec;
    reply_reader in(reply);
    auto& all = *static_cast<Tuple*>(object);
    (void)((index == I ? (ec = in.read(std::get<I>(all)), true) : false) || ...);
    return ec;
}
/// Those of std::chrono, without its header.
template <class T>
concept is_any_duration = requires(T const& d) {
    typename T::period;
    { d.count() } -> std::same_as<typename T::rep>;
};
template <class T> inline constexpr bool is_byte_array = false;
template <std::size_t N> inline constexpr bool is_byte_array<std::array<std::byte, N>> = true;
/// Bytes of exactly that number, or of any.
FAIRLEAD_EXPORT error_code read_bytes(reply_reader& in, std::byte* into, std::size_t size);
FAIRLEAD_EXPORT error_code read_bytes(reply_reader& in, std::vector<std::byte>& into);

FAIRLEAD_EXPORT error_code deliver_nothing(void* object, std::size_t index, reply_view const& reply);
FAIRLEAD_EXPORT error_code deliver_generic(void* object, std::size_t index, reply_view const& reply);

/// A response that says itself how replies get into it.
template <class T>
concept refers_to_itself = requires(T& value) {
    { value.refer() } noexcept -> std::same_as<response_ref>;
};

template <class T> response_ref refer_to(T& value) noexcept {
    if constexpr (refers_to_itself<T>) {
        return value.refer();
    } else {
        if constexpr (is_result<T>)
            value.reset();
        return {&value, &deliver_value<T>, 1};
    }
}
template <class... T> response_ref refer_to(std::tuple<result<T>...>& all) noexcept {
    using tuple = std::tuple<result<T>...>;
    std::apply([](auto&... each) { (each.reset(), ...); }, all);
    return {&all,
            [](void* object, std::size_t index, reply_view const& reply) {
                return deliver_element<tuple>(object, index, reply, std::index_sequence_for<T...>());
            },
            sizeof...(T)};
}
inline response_ref refer_to(ignore_t const&) noexcept { return {nullptr, &deliver_nothing, response_ref::any_number}; }
inline response_ref refer_to(generic_response& all) noexcept {
    all.clear();
    return {&all, &deliver_generic, response_ref::any_number};
}

} // namespace impl

template <class T> error_code reply_reader::read(T& value) {
    if (at_end())
        return error::incompatible_type;
    if constexpr (std::is_same_v<T, ignore_t>) {
        error_code ec;
        if (resp3::is_error(peek().kind))
            ec = impl::refusal_of(peek().value);
        skip();
        return ec;
    } else if constexpr (impl::is_result<T>) {
        return value.read_from(*this);
    } else if constexpr (impl::user_readable<T>) {
        return from_reply(*this, value);
    } else if constexpr (impl::is_optional<T>) {
        if (peek().kind == resp3::type::null) {
            value.reset();
            advance();
            return {};
        }
        return read(value ? *value : value.emplace());
    } else if constexpr (std::is_same_v<T, std::string>) {
        return impl::read_text(*this, value);
    } else if constexpr (std::is_same_v<T, bool>) {
        return impl::read_boolean(*this, value);
    } else if constexpr (std::is_integral_v<T>) {
        error_code ec;
        auto const text = impl::read_number_text(*this, ec);
        if (!ec)
            value = resp3::to_integer<T>(text, ec);
        return ec;
    } else if constexpr (std::is_floating_point_v<T>) {
        double wide = 0;
        auto const ec = impl::read_real(*this, wide);
        value = static_cast<T>(wide);
        return ec;
    } else if constexpr (impl::is_any_duration<T>) {
        typename T::rep count{};
        auto const ec = read(count);
        value = T(count);
        return ec;
    } else if constexpr (impl::is_byte_array<T>) {
        return impl::read_bytes(*this, value.data(), value.size());
    } else if constexpr (std::is_same_v<T, std::vector<std::byte>>) {
        return impl::read_bytes(*this, value);
    } else if constexpr (impl::is_tuple<T>) {
        return impl::read_tuple(*this, value);
    } else if constexpr (impl::map_like<T>) {
        return impl::read_map(*this, value);
    } else if constexpr (impl::set_like<T>) {
        return impl::read_set(*this, value);
    } else {
        static_assert(
            impl::sequence_like<T>,
            "no reply can be read into this type: write error_code from_reply(redis::reply_reader&, T&) in its "
            "namespace, or read into a generic_response");
        if constexpr (impl::is_pair<typename T::value_type>) {
            if (peek().kind == resp3::type::map || impl::is_flat_array(*this))
                return impl::read_pairs(*this, value);
        }
        return impl::read_sequence(*this, value);
    }
}

} // namespace fairlead::redis
