// Values of any size in pieces: replies that are read, and arguments that are written, in bounded memory.
#pragma once

#include <fairlead/coro/awaitable.hpp>
#include <fairlead/coro/generator.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/redis/lease.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace fairlead::redis {

/// Stands in a command for the argument that write_in_pieces() sends: `cmd::set("film", redis::in_pieces)`.
inline constexpr std::string_view in_pieces("\0 fairlead::redis::in_pieces \0", 30);

class value_reader;

namespace impl {

struct reader_access;
class range_reading;

struct lease_access {
    static connection_core& core(lease const& l) noexcept { return l.hold_.core(); }
};

/// Where the pieces of an argument come from.
class piece_source {
public:
    /// Empty: there are no more.
    virtual awaitable<std::string_view> next() = 0;

protected:
    ~piece_source() = default;
};

template <class T>
concept piece_like = text_like<T> || bytes_like<T>;
template <class T>
concept piece_generator = requires(T& from) { from.next(); } && !std::ranges::range<T>;
template <class T>
concept piece_function = requires(T& from) {
    { from() } -> std::same_as<awaitable<std::string_view>>;
};
template <class T>
concept piece_range = std::ranges::input_range<T> && piece_like<std::ranges::range_value_t<T>>;

template <class Source> class source_of;
template <piece_function Function> class source_of<Function> final : public piece_source {
public:
    explicit source_of(Function&& f) : function_(std::move(f)) {}
    awaitable<std::string_view> next() override { return function_(); }

private:
    Function function_;
};
template <piece_generator Generator> class source_of<Generator> final : public piece_source {
public:
    explicit source_of(Generator&& g) : generator_(std::move(g)) {}
    awaitable<std::string_view> next() override {
        auto going_on = generator_.next();
        piece_ = co_await std::move(going_on);
        co_return piece_ ? text_of(*piece_) : std::string_view();
    }

private:
    Generator generator_;
    std::optional<typename Generator::value_type> piece_; // until the next one
};
template <piece_range Range> class source_of<Range> final : public piece_source {
public:
    explicit source_of(Range&& r) : range_(std::move(r)), at_(std::ranges::begin(range_)) {}
    awaitable<std::string_view> next() override {
        while (at_ != std::ranges::end(range_)) {
            auto const piece = text_of(*at_);
            ++at_;
            if (!piece.empty())
                co_return piece;
        }
        co_return std::string_view();
    }

private:
    Range range_;
    std::ranges::iterator_t<Range> at_;
};

FAIRLEAD_EXPORT request with_reply_in_pieces(request const& from);
FAIRLEAD_EXPORT request with_argument_in_pieces(request const& from, std::string_view marker, std::uint64_t bytes);
FAIRLEAD_EXPORT awaitable<std::optional<value_reader>> read_value(client& db, request r);
FAIRLEAD_EXPORT awaitable<std::optional<value_reader>> read_value(lease& own, request r);
/// `refusal` is that of the response.
FAIRLEAD_EXPORT awaitable<void> write_value(lease& own, request r, response_ref to, std::string const& refusal,
                                            piece_source& from);

template <class Command> request reading_request_of(Command const& c) {
    using result = typename Command::result_type;
    static_assert(std::is_same_v<result, std::optional<std::string>> || std::is_same_v<result, std::string>,
                  "a reply comes in pieces if it is one text: ask for GET, GETDEL, GETRANGE, HGET, DUMP ...");
    return with_reply_in_pieces(c.req());
}

template <class Command, class Source>
awaitable<typename Command::result_type> write_of_lease(lease& own, Command c, std::uint64_t bytes, Source source) {
    auto response = c.response();
    source_of<Source> from(std::move(source));
    auto whole = with_argument_in_pieces(c.req(), redis::in_pieces, bytes);
    auto writing = write_value(own, std::move(whole), response.refer(), response.refusal(), from);
    co_await std::move(writing);
    co_return std::move(response).value();
}
template <class Command, class Source>
awaitable<typename Command::result_type> write_of_client(client& db, Command c, std::uint64_t bytes, Source source) {
    auto acquiring = db.acquire();
    lease own = co_await std::move(acquiring);
    auto writing = write_of_lease(own, std::move(c), bytes, std::move(source));
    auto result = co_await std::move(writing);
    co_return result;
}

} // namespace impl

/// A value that comes in pieces: made by read_in_pieces(), or by read_in_ranges() (redis/value_ranges.hpp). Bytes that
/// nobody has asked for stay in the sockets, so a slow reader holds up its own connection and takes little memory. One
/// that is destroyed before the end closes its connection, for nobody would read the rest.
///
/// Threads    one at a time
class FAIRLEAD_EXPORT value_reader {
public:
    value_reader(value_reader&& other) noexcept;
    value_reader& operator=(value_reader&&) = delete;
    ~value_reader();

    /// Bytes of the whole value.
    std::uint64_t size() const noexcept { return size_; }
    /// Those that have not been read yet.
    std::uint64_t left() const noexcept { return left_; }

    /// Reads at least one byte into `memory`, and says how many; none at the end of the value.
    /// Throws     system_error of error::value_incomplete   the connection was lost
    ///            of fairlead::error::operation_aborted     asked to end; nothing was taken, and it may be called again
    awaitable<std::size_t> read_some(std::span<char> memory);
    /// The next piece, of 64 KiB at the most; empty at the end of the value. Valid until the next call. It throws as
    /// read_some() does.
    awaitable<std::string_view> next();

private:
    friend struct impl::reader_access;
    friend class impl::range_reading;
    value_reader(impl::connection_core& c, lease&& own) noexcept;

    lease own_; // empty: that of the caller
    impl::connection_core* core_;
    std::uint64_t size_ = 0;
    std::uint64_t left_ = 0;
    std::string whole_; // of a small value, which came with its reply
    std::unique_ptr<char[]> memory_;
    std::shared_ptr<impl::range_reading> ranges_; // null: it comes in pieces
};

/// Executes a command whose reply is one text, and gives a reader for it: `auto film = co_await
/// redis::read_in_pieces(db, cmd::get("film"))`. Nothing without the key. It takes a connection out of the client's
/// pool, which the reader has until the value has been read. The limit of the command covers the time until the value
/// begins to come.
/// Throws     system_error as client::async_exec()
/// Lifetime   the client outlives the call; the reader keeps what it needs
/// Threads    any
template <typed_command Command> awaitable<std::optional<value_reader>> read_in_pieces(client& db, Command const& c) {
    return impl::read_value(db, impl::reading_request_of(c));
}
/// As above, on a connection of the caller's, which does nothing else until the value has been read. It outlives the
/// reader.
template <typed_command Command> awaitable<std::optional<value_reader>> read_in_pieces(lease& own, Command const& c) {
    return impl::read_value(own, impl::reading_request_of(c));
}

/// Executes a command with an argument of `bytes` bytes that come in pieces, and gives its result:
///
///     auto const set = cmd::set("film", redis::in_pieces, ex(1h));
///     bool const is_set = co_await redis::write_in_pieces(db, set, file_size, pieces_of(file));
///
/// `source` is a generator of texts or of spans of bytes, a range of these, or a function. The function returns an
/// awaitable<std::string_view>, empty at the end. Of the client it takes a connection out of the pool. The next piece
/// is asked for when the last one has gone to the system. Neither config::request_timeout nor a health check ends it; a
/// limit of the command does.
/// Throws     system_error of error::value_incomplete   the connection was lost, or the source gave too few bytes:
///                                                      nothing was executed
///            as client::async_exec()                   all bytes were sent, or the last of them were on their way
///            what the source has thrown                nothing was executed
///            std::invalid_argument                     in_pieces does not stand in the command once
///            std::length_error                         the source gave more than `bytes`: nothing was executed
/// Cancel     as any coroutine. Before the last bytes are on their way nothing is executed; the connection is closed
/// Lifetime   client or lease outlive it; `source` is moved
/// Threads    as the client or the lease
template <typed_command Command, class Source> awaitable<typename Command::result_type>
write_in_pieces(client& db, Command const& c, std::uint64_t bytes, Source source) {
    return impl::write_of_client(db, Command(c), bytes, std::move(source));
}
/// As above, on a connection of the caller's.
template <typed_command Command, class Source> awaitable<typename Command::result_type>
write_in_pieces(lease& own, Command const& c, std::uint64_t bytes, Source source) {
    return impl::write_of_lease(own, Command(c), bytes, std::move(source));
}

} // namespace fairlead::redis
