// Connecting to the first of several endpoints that answers.
#pragma once

#include <fairlead/net/stream_socket.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/cancellation_state.hpp>

#include <iterator>
#include <type_traits>

namespace fairlead {
namespace detail {

struct connect_any {
    template <class Endpoint> bool operator()(error_code const&, Endpoint const&) const noexcept { return true; }
};

/// Tries one endpoint after the other. Between two attempts the socket is closed, since a failed connect leaves it in
/// no defined state.
template <class Socket, class Range, class Condition, class Handler> struct range_connect_op
    : composed_cancellation<Handler> {
    using endpoint_type = typename Socket::endpoint_type;
    using iterator = decltype(std::declval<Range const&>().begin());

    Socket* socket;
    Range range;
    std::size_t position;
    Condition condition;
    Handler handler;

    template <class H> range_connect_op(Socket* s, Range r, Condition c, H&& h)
        : composed_cancellation<Handler>(h, enable_partial_cancellation()),
          socket(s),
          range(std::move(r)),
          position(0),
          condition(std::move(c)),
          handler(std::forward<H>(h)) {}
    void start() {
        error_code ec;
        if (next(ec))
            return;
        this->end_cancellation(handler);
        post_values(socket->get_executor(), std::move(handler),
                    std::tuple<error_code, endpoint_type>(ec ? ec : error::not_found, endpoint_type()));
    }
    void operator()(error_code ec) {
        if (!socket->is_open())
            ec = error::operation_aborted; // closed by the program meanwhile
        auto const at = endpoint_at(position);
        if (ec && this->is_cancelled())
            ec = error::operation_aborted;
        if (!ec || ec == error::operation_aborted) {
            complete(ec, ec ? endpoint_type() : at);
            return;
        }
        ++position;
        if (!next(ec))
            complete(ec, endpoint_type());
    }

private:
    void complete(error_code ec, endpoint_type const& e) {
        this->end_cancellation(handler);
        std::move(handler)(ec, e);
    }
    endpoint_type endpoint_at(std::size_t n) const {
        auto i = range.begin();
        std::advance(i, static_cast<std::ptrdiff_t>(n));
        return *i;
    }
    /// False: there is none left; `ec` is what the last attempt ended with.
    bool next(error_code& ec) {
        for (auto const count = static_cast<std::size_t>(std::distance(range.begin(), range.end())); position != count;
             ++position) {
            endpoint_type const e = endpoint_at(position);
            if (!condition(ec, e))
                continue;
            error_code ignored; // It is being thrown away.
            socket->close(ignored);
            socket->open(e.protocol(), ec);
            if (ec)
                continue;
            auto* const s = socket;
            this->begin_step([&] { s->async_connect(e, std::move(*this)); });
            return true;
        }
        return false;
    }
};

template <class Socket, class Range, class Condition> struct range_connect {
    Socket* socket;
    Range range;
    Condition condition;

    auto get_executor() const noexcept { return socket->get_executor(); }
    template <class Handler> void operator()(Handler&& handler) {
        range_connect_op<Socket, Range, Condition, std::decay_t<Handler>> o{
            socket, std::move(range), std::move(condition), std::forward<Handler>(handler)};
        o.start();
    }
    void block(std::tuple<error_code, typename Socket::endpoint_type>& v) {
        auto& [ec, endpoint] = v;
        ec = error::not_found;
        error_code before;
        for (auto i = range.begin(); i != range.end(); ++i) {
            typename Socket::endpoint_type const e = *i;
            if (!condition(before, e))
                continue;
            error_code ignored;
            socket->close(ignored);
            socket->connect(e, ec);
            if (!ec) {
                endpoint = e;
                return;
            }
            before = ec;
        }
    }
};

template <class R, class Endpoint>
concept endpoint_range = requires(R const& r) {
    { *r.begin() } -> std::convertible_to<Endpoint>;
    r.end();
};

} // namespace detail

template <template <class, class> class A, class S, class R, class C, class H, class D>
struct associator<A, detail::range_connect_op<S, R, C, H>, D>
    : detail::pass_on<A, detail::range_connect_op<S, R, C, H>, H, D> {};

/// Connects to the first endpoint of `endpoints` that accepts, in their order.
/// Completes  (error_code ec, endpoint_type connected)
/// Errors     error::not_found          the range is empty, or the condition refused all of it
///            error::operation_aborted  cancelled, or the socket was closed
///            otherwise what the last attempt ended with
/// Cancel     terminal, partial; the next endpoint is not tried
/// Immediate  never
/// Lifetime   the socket outlives the completion; the range is copied
/// Threads    nothing else uses the socket meanwhile: it is closed and opened for each attempt
/// Allocates  one counted block, and one for each attempt in turn
/// Source     Networking TS [socket.algo.async.connect]
template <class Protocol, class Executor, class Range, class Token = default_completion_token_t<Executor>>
    requires detail::endpoint_range<Range, typename Protocol::endpoint>
decltype(auto) async_connect(basic_socket<Protocol, Executor>& socket, Range const& endpoints, Token&& token = {}) {
    using socket_type = basic_socket<Protocol, Executor>;
    return completion_token_transform<void(error_code, typename Protocol::endpoint)>(
        std::forward<Token>(token),
        detail::range_connect<socket_type, Range, detail::connect_any>{&socket, endpoints, {}});
}
/// The same; `condition(last_error, endpoint)` says whether to try an endpoint.
template <class Protocol, class Executor, class Range, class Condition,
          class Token = default_completion_token_t<Executor>>
    requires detail::endpoint_range<Range, typename Protocol::endpoint> &&
             std::predicate<Condition&, error_code const&, typename Protocol::endpoint const&>
decltype(auto) async_connect(basic_socket<Protocol, Executor>& socket, Range const& endpoints, Condition condition,
                             Token&& token = {}) {
    using socket_type = basic_socket<Protocol, Executor>;
    return completion_token_transform<void(error_code, typename Protocol::endpoint)>(
        std::forward<Token>(token),
        detail::range_connect<socket_type, Range, Condition>{&socket, endpoints, std::move(condition)});
}

/// The same in the calling thread.
template <class Protocol, class Executor, class Range, class Condition>
    requires detail::endpoint_range<Range, typename Protocol::endpoint> &&
             std::predicate<Condition&, error_code const&, typename Protocol::endpoint const&>
typename Protocol::endpoint connect(basic_socket<Protocol, Executor>& socket, Range const& endpoints,
                                    Condition condition, error_code& ec) {
    std::tuple<error_code, typename Protocol::endpoint> v;
    detail::range_connect<basic_socket<Protocol, Executor>, Range, Condition>{&socket, endpoints, std::move(condition)}
        .block(v);
    ec = std::get<0>(v);
    return std::get<1>(v);
}
template <class Protocol, class Executor, class Range, class Condition>
    requires detail::endpoint_range<Range, typename Protocol::endpoint> &&
             std::predicate<Condition&, error_code const&, typename Protocol::endpoint const&>
typename Protocol::endpoint connect(basic_socket<Protocol, Executor>& socket, Range const& endpoints,
                                    Condition condition) {
    error_code ec;
    auto const e = connect(socket, endpoints, std::move(condition), ec);
    detail::throw_error(ec, "connect");
    return e;
}
template <class Protocol, class Executor, class Range>
    requires detail::endpoint_range<Range, typename Protocol::endpoint>
typename Protocol::endpoint connect(basic_socket<Protocol, Executor>& socket, Range const& endpoints, error_code& ec) {
    return connect(socket, endpoints, detail::connect_any(), ec);
}
template <class Protocol, class Executor, class Range>
    requires detail::endpoint_range<Range, typename Protocol::endpoint>
typename Protocol::endpoint connect(basic_socket<Protocol, Executor>& socket, Range const& endpoints) {
    return connect(socket, endpoints, detail::connect_any());
}

} // namespace fairlead
