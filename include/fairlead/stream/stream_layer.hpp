// The common part of the buffered streams: the stream below them, and a place for bytes on their way.
#pragma once

#include <fairlead/stream/concepts.hpp>
#include <fairlead/stream/stream_error.hpp>
#include <fairlead/token/adapter.hpp>

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

namespace fairlead::impl::stream {

/// Bytes in a place of fixed size: put in behind, taken out in front.
class byte_store {
public:
    explicit byte_store(std::size_t capacity) : bytes_(new char[capacity]), capacity_(capacity) {}
    byte_store(byte_store const&) = delete;
    byte_store& operator=(byte_store const&) = delete;
    ~byte_store() { delete[] bytes_; }

    bool empty() const noexcept { return begin_ == end_; }
    bool is_full() const noexcept { return end_ - begin_ == capacity_; }
    std::size_t size() const noexcept { return end_ - begin_; }
    const_buffer data() const noexcept { return {bytes_ + begin_, size()}; }
    /// All the space that is left, in one piece.
    mutable_buffer prepare() noexcept {
        if (begin_ != 0) {
            std::memmove(bytes_, bytes_ + begin_, size());
            end_ -= begin_;
            begin_ = 0;
        }
        return {bytes_ + end_, capacity_ - end_};
    }
    void commit(std::size_t n) noexcept { end_ += n; }
    void consume(std::size_t n) noexcept { begin_ += n; }

    /// Moves as many bytes as both have, and says how many.
    template <class Buffers> std::size_t take(Buffers const& into) noexcept {
        auto const n = buffer_copy(into, data());
        consume(n);
        return n;
    }
    template <class Buffers> std::size_t put(Buffers const& from) noexcept {
        auto const n = buffer_copy(prepare(), from);
        commit(n);
        return n;
    }

private:
    char* const bytes_;
    std::size_t capacity_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

template <class Next> struct lowest_layer_of {};
template <class Next>
    requires requires { typename Next::lowest_layer_type; }
struct lowest_layer_of<Next> {
    using lowest_layer_type = typename Next::lowest_layer_type;
};

template <class Next> struct executor_of_layer {
    using type = std::decay_t<decltype(std::declval<Next&>().get_executor())>;
};
template <class Next>
    requires requires { typename Next::executor_type; }
struct executor_of_layer<Next> {
    using type = typename Next::executor_type;
};

/// A stream around another one, which it holds, or refers to when `Stream` is a reference.
template <class Stream> class stream_layer : public lowest_layer_of<std::remove_reference_t<Stream>> {
public:
    using next_layer_type = std::remove_reference_t<Stream>;
    using executor_type = typename executor_of_layer<next_layer_type>::type;

    stream_layer(stream_layer const&) = delete;
    stream_layer& operator=(stream_layer const&) = delete;

    next_layer_type& next_layer() noexcept { return next_layer_; }
    next_layer_type const& next_layer() const noexcept { return next_layer_; }
    auto& lowest_layer() noexcept
        requires requires(next_layer_type& n) { n.lowest_layer(); }
    {
        return next_layer_.lowest_layer();
    }
    auto const& lowest_layer() const noexcept
        requires requires(next_layer_type const& n) { n.lowest_layer(); }
    {
        return next_layer_.lowest_layer();
    }
    executor_type get_executor() const noexcept { return const_cast<stream_layer&>(*this).next_layer_.get_executor(); }

    /// Closes the stream below. Bytes that are still to be written are not.
    void close() { next_layer_.close(); }
    error_code close(error_code& ec) {
        next_layer_.close(ec);
        return ec;
    }

protected:
    template <class Arg> stream_layer(std::in_place_t, Arg&& a) : next_layer_(std::forward<Arg>(a)) {}
    ~stream_layer() = default;

    Stream next_layer_;
};

/// A handler of the stream below: finishes the step and calls the final handler. Of the step it holds only the part
/// that finishing takes: with all of it, an awaited read would not fit into the await record.
template <class End, class Handler> struct buffered_op {
    End end;
    Handler handler;
    void operator()(error_code ec, std::size_t n) {
        auto const moved = end.finish(ec, n);
        std::move(handler)(ec, moved);
    }
};

/// Performs a step in the calling thread.
template <class Step> std::size_t perform_buffered(Step&& step, error_code& ec) {
    op_result r;
    ec = {};
    return step.at_once(r) ? r.n : step.perform(ec);
}
template <class Step, class Stream>
std::size_t perform_buffered(Step&& step, Stream& s, char const* what, char const* preposition) {
    error_code ec;
    auto const n = perform_buffered(step, ec);
    if (ec) [[unlikely]]
        throw_stream_error(ec, s, what, preposition);
    return n;
}

/// An initiation that moves what can be moved at once, and otherwise asks the stream below first.
/// `Step` has at_once(r): false when there is something to wait for; start(handler); perform(): the same, waiting. Its
/// base has finish(ec, n): what is left to do when the stream below is done.
template <class Step> struct buffered_initiation : Step {
    explicit buffered_initiation(Step s) : Step(std::move(s)) {}

    auto get_executor() const noexcept { return this->stream->get_executor(); }
    bool try_step(op_result& r) const noexcept { return this->at_once(r); }
    template <class Handler> void operator()(Handler&& handler) {
        op_result r;
        if (this->at_once(r))
            operation::complete_immediately(this->stream->get_executor(), std::forward<Handler>(handler),
                                            std::tuple<error_code, std::size_t>(error_code(), r.n));
        else
            this->start(std::decay_t<Handler>(std::forward<Handler>(handler)));
    }
    void block(std::tuple<error_code, std::size_t>& v)
        requires requires(Step& s, error_code& ec) { s.perform(ec); }
    {
        std::get<1>(v) = perform_buffered(static_cast<Step&>(*this), std::get<0>(v));
    }
};

template <class Token, class Step> inline constexpr bool nothrow_buffered =
    operation::nothrow_token<std::decay_t<Token>, buffered_initiation<Step>>;
template <class Step, class Token>
decltype(auto) start_buffered(Step step, Token&& token) noexcept(nothrow_buffered<Token, Step>) {
    return completion_token_transform<void(error_code, std::size_t)>(std::forward<Token>(token),
                                                                     buffered_initiation<Step>(std::move(step)));
}

} // namespace fairlead::impl::stream

namespace fairlead {

template <template <class, class> class A, class S, class H, class D>
struct associator<A, impl::stream::buffered_op<S, H>, D>
    : impl::operation::pass_on<A, impl::stream::buffered_op<S, H>, H, D> {};

} // namespace fairlead
