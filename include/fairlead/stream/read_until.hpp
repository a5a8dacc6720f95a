// Reading up to a delimiter, without I/O when the buffer already has one.
#pragma once

#include <fairlead/stream/read.hpp>

#include <cstring>
#include <optional>
#include <string_view>

namespace fairlead {
namespace detail {

/// A copy of a delimiter in eight bytes: up to seven characters lie inside, more in a block of the recycler.
class delimiter {
public:
    explicit delimiter(char c) noexcept : text_{c}, size_(1) {}
    explicit delimiter(std::string_view s) {
        if (s.size() <= inside) {
            std::memcpy(text_, s.data(), s.size());
            size_ = static_cast<unsigned char>(s.size());
            return;
        }
        auto* block = static_cast<char*>(recycle_allocate(sizeof(std::size_t) + s.size()));
        auto const n = s.size();
        std::memcpy(block, &n, sizeof n);
        std::memcpy(block + sizeof n, s.data(), n);
        auto const bits = reinterpret_cast<std::uintptr_t>(block);
        std::memcpy(text_, &bits, inside); // A user-space address has 47 bits.
        size_ = outside;
    }
    delimiter(delimiter&& other) noexcept { take(other); }
    delimiter& operator=(delimiter&&) = delete;
    ~delimiter() {
        if (size_ == outside)
            recycle_free(block());
    }

    std::string_view view() const noexcept {
        if (size_ != outside) [[likely]]
            return {text_, size_};
        std::size_t n;
        std::memcpy(&n, block(), sizeof n);
        return {block() + sizeof n, n};
    }

private:
    static constexpr std::size_t inside = 7;
    static constexpr unsigned char outside = 0xff;
    char* block() const noexcept {
        std::uintptr_t bits = 0;
        std::memcpy(&bits, text_, inside);
        return reinterpret_cast<char*>(bits);
    }
    void take(delimiter& other) noexcept {
        std::memcpy(text_, other.text_, inside);
        size_ = other.size_;
        other.size_ = 0;
    }
    alignas(8) char text_[inside] = {};
    unsigned char size_ = 0;
};
static_assert(sizeof(delimiter) == 8);

using until_values = std::tuple<error_code, std::size_t>;

/// Looks for the delimiter in what the buffer holds. `from`: how many bytes are known not to begin one; updated.
template <class Buffer>
std::optional<until_values> find_delimiter(Buffer const& data, std::string_view wanted, std::size_t& from) {
    auto const b = dynamic_data(data);
    std::string_view const text(static_cast<char const*>(b.data()), b.size());
    auto const at = text.find(wanted, from);
    if (at != std::string_view::npos)
        return until_values(error_code(), at + wanted.size());
    if (text.size() >= data.max_size())
        return until_values(error::not_found, 0);
    // The end may hold the beginning of a delimiter.
    auto const keep = wanted.size() - 1;
    from = text.size() > keep ? text.size() - keep : 0;
    return std::nullopt;
}

template <class Stream, class Buffer, class Handler> struct read_until_op : composed_cancellation<Handler> {
    Stream* stream;
    Buffer data;
    delimiter wanted;
    std::size_t searched;
    std::size_t prepared;
    Handler handler;

    template <class H> read_until_op(Stream* s, Buffer b, delimiter d, std::size_t already, H&& h)
        : composed_cancellation<Handler>(h, enable_partial_cancellation()),
          stream(s),
          data(std::move(b)),
          wanted(std::move(d)),
          searched(already),
          prepared(0),
          handler(std::forward<H>(h)) {}
    void operator()(error_code ec, std::size_t n) {
        dynamic_commit(data, prepared, n);
        if (ec || n == 0)
            complete(ec, 0);
        else if (auto const found = find_delimiter(data, wanted.view(), searched))
            complete(std::get<0>(*found), std::get<1>(*found));
        else if (this->is_cancelled())
            complete(error::operation_aborted, 0);
        else
            next();
    }
    void complete(error_code ec, std::size_t n) {
        this->end_cancellation(handler);
        std::move(handler)(ec, n);
    }
    void next() {
        prepared = dynamic_step(data, transfer_step);
        auto const b = dynamic_prepare(data, prepared);
        auto* const s = stream;
        this->begin_step([&] { s->async_read_some(b, std::move(*this)); });
    }
};

template <class Stream, class Buffer> struct read_until_initiation {
    Stream* stream;
    Buffer data;
    delimiter wanted;

    auto get_executor() const noexcept { return stream->get_executor(); }

    /// Serves the coroutine that need not suspend and the handler that has to be queued: the search is written once.
    std::optional<until_values> try_step() const {
        std::size_t from = 0;
        return find_delimiter(data, wanted.view(), from);
    }
    template <class Handler> void operator()(Handler&& handler) && {
        std::size_t searched = 0;
        if (auto const found = find_delimiter(data, wanted.view(), searched)) {
            complete_immediately(stream->get_executor(), std::forward<Handler>(handler), *found);
            return;
        }
        read_until_op<Stream, Buffer, std::decay_t<Handler>> o{stream, std::move(data), std::move(wanted), searched,
                                                               std::forward<Handler>(handler)};
        o.next();
    }
    void block(until_values& v)
        requires sync_read_stream<Stream>
    {
        std::size_t searched = 0;
        for (;;) {
            if (auto const found = find_delimiter(data, wanted.view(), searched)) {
                v = *found;
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

} // namespace detail

template <template <class, class> class A, class S, class B, class H, class D>
struct associator<A, detail::read_until_op<S, B, H>, D> : detail::pass_on<A, detail::read_until_op<S, B, H>, H, D> {};

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
template <async_read_stream Stream, detail::dynamic_buffer_type Buffer, class Token = detail::default_token_of<Stream>>
decltype(auto) async_read_until(Stream& stream, Buffer into, std::string_view delimiter, Token&& token = {}) {
    return completion_token_transform<void(error_code, std::size_t)>(
        std::forward<Token>(token),
        detail::read_until_initiation<Stream, Buffer>{&stream, std::move(into), detail::delimiter(delimiter)});
}
template <async_read_stream Stream, detail::dynamic_buffer_type Buffer, class Token = detail::default_token_of<Stream>>
decltype(auto) async_read_until(Stream& stream, Buffer into, char delimiter, Token&& token = {}) {
    return completion_token_transform<void(error_code, std::size_t)>(
        std::forward<Token>(token),
        detail::read_until_initiation<Stream, Buffer>{&stream, std::move(into), detail::delimiter(delimiter)});
}

template <sync_read_stream Stream, detail::dynamic_buffer_type Buffer>
std::size_t read_until(Stream& stream, Buffer into, std::string_view delimiter, error_code& ec) {
    detail::until_values v;
    detail::read_until_initiation<Stream, Buffer>{&stream, std::move(into), detail::delimiter(delimiter)}.block(v);
    ec = std::get<0>(v);
    return std::get<1>(v);
}
template <sync_read_stream Stream, detail::dynamic_buffer_type Buffer>
std::size_t read_until(Stream& stream, Buffer into, std::string_view delimiter) {
    error_code ec;
    auto const n = read_until(stream, std::move(into), delimiter, ec);
    detail::throw_error(ec, "read_until");
    return n;
}

} // namespace fairlead
