// Connecting to the first of several endpoints that answers.
#pragma once

#include <fairlead/net/attempt_terms.hpp>
#include <fairlead/net/endpoint_walk.hpp>
#include <fairlead/net/happy_eyeballs.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/operation/cancellation_state.hpp>
#include <fairlead/token/adapters.hpp>

#include <concepts>
#include <type_traits>

namespace fairlead {
namespace detail {

/// Tries one endpoint after the other. Between two attempts the socket is closed, since a failed connect leaves it in
/// no defined state.
template <class Socket, class Walk, class Condition, class Handler> struct range_connect_op
    : impl::operation::composed_cancellation<Handler> {
    using endpoint_type = typename Socket::endpoint_type;
    using result_type = typename Walk::result_type;

    Socket* socket;
    Walk walk;
    Condition condition;
    Handler handler;

    template <class H> range_connect_op(Socket* s, Walk w, Condition c, H&& h)
        : impl::operation::composed_cancellation<Handler>(h, enable_partial_cancellation()),
          socket(s),
          walk(std::move(w)),
          condition(std::move(c)),
          handler(std::forward<H>(h)) {}
    void start() {
        error_code ec;
        if (next(ec))
            return;
        this->end_cancellation(handler);
        impl::operation::post_values(socket->get_executor(), std::move(handler),
                                     std::tuple<error_code, result_type>(ec ? ec : error::not_found, walk.not_found()));
    }
    void operator()(error_code ec) {
        if (!socket->is_open())
            ec = error::operation_aborted; // closed by the program meanwhile
        if (ec && this->is_cancelled())
            ec = error::operation_aborted;
        if (!ec || ec == error::operation_aborted) {
            complete(ec, ec ? walk.not_found() : walk.found());
            return;
        }
        walk.advance();
        if (!next(ec))
            complete(ec, walk.not_found());
    }

private:
    void complete(error_code ec, result_type const& at) {
        this->end_cancellation(handler);
        std::move(handler)(ec, at);
    }
    /// False: there is none left; `ec` is what the last attempt ended with.
    bool next(error_code& ec) {
        for (; walk.choose(condition, ec); walk.advance()) {
            endpoint_type const e = walk.current();
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

/// They are copied without a block, unlike a container of their entries.
template <class Walk>
concept keeps_names = std::is_nothrow_copy_constructible_v<Walk> && requires(Walk const& w) {
    requires impl::net::shows_endpoints<std::decay_t<decltype(w.range())>>;
};

template <class Socket, class Walk, class Condition> struct range_connect {
    using result_type = typename Walk::result_type;

    Socket* socket;
    Walk walk;
    Condition condition;

    auto get_executor() const noexcept { return socket->get_executor(); }
    static std::string describe() { return impl::net::connect_to_one; }
    std::string describe_failed() const
        requires keeps_names<Walk>
    {
        return impl::net::text_of_connect(walk.range());
    }
    template <class Handler> void operator()(Handler&& handler) {
        range_connect_op<Socket, Walk, Condition, std::decay_t<Handler>> o{socket, give_walk(), std::move(condition),
                                                                           std::forward<Handler>(handler)};
        o.start();
    }
    std::tuple<error_code, result_type> block() {
        error_code ec = error::not_found;
        error_code before;
        for (; walk.choose(condition, before); walk.advance()) {
            error_code ignored; // It is being thrown away.
            socket->close(ignored);
            socket->connect(walk.current(), ec);
            if (!ec)
                return {ec, walk.found()};
            before = ec;
        }
        return {ec, walk.not_found()};
    }

private:
    /// The data for describe_failed() stays here.
    Walk give_walk() {
        if constexpr (keeps_names<Walk>)
            return walk;
        else
            return std::move(walk);
    }
};

/// Attempts overlap where a host was looked up by its name.
struct terms_of_names {
    template <class Range> impl::net::attempt_terms operator()(Range const& endpoints) const {
        return endpoints.begin()->host_name().empty() ? impl::net::attempt_terms() : impl::net::attempt_terms::usual();
    }
};
struct terms_of_options {
    impl::net::attempt_terms terms;
    template <class Range> impl::net::attempt_terms const& operator()(Range const&) const noexcept { return terms; }
};
/// Depends on Range, so that only programs that give options need their definition.
template <class Range, class Options> terms_of_options terms_by(Options const& o) noexcept { return {terms_of(o)}; }

template <class Socket, class Range, class Terms> struct overlapping_connect {
    using endpoint_type = typename Socket::endpoint_type;

    Socket* socket;
    Range endpoints;
    [[no_unique_address]] Terms terms;

    auto get_executor() const noexcept { return socket->get_executor(); }
    static std::string describe() { return impl::net::connect_to_one; }
    std::string describe_failed() const
        requires std::is_nothrow_copy_constructible_v<Range> && impl::net::shows_endpoints<Range>
    {
        return impl::net::text_of_connect(endpoints);
    }
    template <class Handler> void operator()(Handler&& handler) {
        using handler_type = std::decay_t<Handler>;
        using executor_type = typename Socket::executor_type;
        if (is_plain())
            return in_turn()(std::forward<Handler>(handler));
        if constexpr (impl::exec::always_loop<executor_type>)
            race(std::forward<Handler>(handler));
        else
            race(impl::operation::object_handler<handler_type, executor_type>(
                handler_type(std::forward<Handler>(handler)), socket->get_executor()));
    }
    std::tuple<error_code, endpoint_type> block() { return in_turn().block(); }

private:
    /// Neither a second attempt nor a limit: there is nothing to wait for beside the attempt.
    bool is_plain() const {
        if (endpoints.begin() == endpoints.end())
            return true;
        impl::net::attempt_terms const t = terms(endpoints);
        return !t.has_limit() && (!t.may_overlap() || std::next(endpoints.begin()) == endpoints.end());
    }
    auto in_turn() {
        using walk = impl::net::range_walk<Range, endpoint_type>;
        return range_connect<Socket, walk, impl::net::connect_any>{socket, walk(endpoints), {}};
    }
    template <class Handler> void race(Handler&& handler) {
        using race_type = impl::net::connect_race<endpoint_type, Range, std::decay_t<Handler>>;
        impl::net::attempt_terms const t = terms(endpoints);
        if constexpr (std::is_nothrow_copy_constructible_v<Range>) // describe_failed() needs it, too.
            race_type::start(socket->core(), endpoints, t, std::forward<Handler>(handler));
        else
            race_type::start(socket->core(), std::move(endpoints), t, std::forward<Handler>(handler));
    }
};

template <class T, class Endpoint>
concept no_endpoints =
    !impl::net::endpoint_range<T, Endpoint> && !impl::net::endpoint_iterator<std::decay_t<T const&>, Endpoint>;
template <class Protocol> struct refused_connect
    : impl::operation::refused_token<void(error_code, typename Protocol::endpoint)> {};

template <class Socket, class Range, class Terms, class Token>
decltype(auto) start_overlapping(Socket& socket, Range const& endpoints, Terms terms, Token&& token) {
    return completion_token_transform<void(error_code, typename Socket::endpoint_type)>(
        std::forward<Token>(token), overlapping_connect<Socket, Range, Terms>{&socket, endpoints, terms});
}
template <class Token, class Socket, class Walk, class Condition, class... From> inline constexpr bool nothrow_connect =
    std::is_nothrow_constructible_v<Walk, From...> &&
    impl::operation::nothrow_token<std::decay_t<Token>, range_connect<Socket, Walk, Condition>>;
template <class Socket, class Walk, class Condition, class Token>
decltype(auto) start_connect(Socket& socket, Walk walk, Condition condition, Token&& token) {
    return completion_token_transform<void(error_code, typename Walk::result_type)>(
        std::forward<Token>(token),
        range_connect<Socket, Walk, Condition>{&socket, std::move(walk), std::move(condition)});
}
template <class Socket, class Walk, class Condition>
auto perform_connect(Socket& socket, Walk walk, Condition condition, error_code& ec) {
    auto results = range_connect<Socket, Walk, Condition>{&socket, std::move(walk), std::move(condition)}.block();
    ec = std::get<0>(results);
    return std::get<1>(std::move(results));
}

} // namespace detail

template <template <class, class> class A, class S, class W, class C, class H, class D>
struct associator<A, detail::range_connect_op<S, W, C, H>, D>
    : impl::operation::pass_on<A, detail::range_connect_op<S, W, C, H>, H, D> {};

/// For programs that ask whether connect() takes something.
template <class T> struct is_endpoint_sequence : std::bool_constant < requires(T const& t) {
    t.begin();
    t.end();
}>{};
/// Whether a T is a connect condition.
template <class T, class Iterator> struct is_connect_condition
    : std::bool_constant<
          impl::net::connect_condition<T, Iterator, std::remove_cvref_t<decltype(*std::declval<Iterator const&>())>>> {
};

/// Connects to an endpoint of `endpoints` that accepts.
///
/// Results of looking up a host's name are tried as in RFC 8305. An attempt that has taken 250 ms goes on beside the
/// next one, and the first that succeeds wins. The others have been closed when the operation completes. Any other
/// range is tried in its order, one endpoint after the other.
/// Completes  (error_code ec, endpoint_type connected)
/// Errors     error::not_found          the range is empty
///            error::operation_aborted  cancelled, or the socket was closed. It is closed in any case where attempts
///                                      could overlap
///            error::no_memory          for the wait for the next attempt; the socket is closed
///            otherwise                 what the last attempt ended with. After a look-up, errors of endpoints that
///                                      this computer has no way to count only where there are no others
/// Cancel     terminal, partial; the next endpoint is not tried
/// Immediate  never
/// Lifetime   the socket outlives the completion; the range is copied
/// Threads    nothing else uses the socket meanwhile: it is closed and opened for each attempt
/// Allocates  one counted block, and one for each attempt in turn. Where attempts could overlap, one counted block, and
///            one for each that begins beside others
/// Source     Networking TS [socket.algo.async.connect]; RFC 8305
template <class Protocol, class Executor, class Range, class Token = default_completion_token_t<Executor>>
    requires impl::net::endpoint_range<Range, typename Protocol::endpoint> &&
             (!impl::net::connect_condition<std::decay_t<Token>, impl::net::iterator_of<Range>,
                                            typename Protocol::endpoint>) &&
             (!std::same_as<std::decay_t<Token>, connect_options>)
decltype(auto)
    async_connect(basic_socket<Protocol, Executor>& socket, Range const& endpoints, Token&& token = {}) noexcept(
        !impl::net::names_host<Range> &&
        detail::nothrow_connect<Token, basic_socket<Protocol, Executor>,
                                impl::net::range_walk<Range, typename Protocol::endpoint>, impl::net::connect_any,
                                Range const&>) {
    if constexpr (impl::net::names_host<Range>) {
        return detail::start_overlapping(socket, endpoints, detail::terms_of_names(), std::forward<Token>(token));
    } else {
        using walk = impl::net::range_walk<Range, typename Protocol::endpoint>;
        return detail::start_connect(socket, walk(endpoints), impl::net::connect_any(), std::forward<Token>(token));
    }
}
/// The same operation with options (<fairlead/net/connect_options.hpp>), for endpoints from anywhere: attempts overlap
/// unless `options` says otherwise.
/// Errors     error::timed_out          the last attempt took longer than the limit
template <class Protocol, class Executor, class Range, class Token = default_completion_token_t<Executor>>
    requires impl::net::endpoint_range<Range, typename Protocol::endpoint>
decltype(auto) async_connect(basic_socket<Protocol, Executor>& socket, Range const& endpoints,
                             connect_options const& options, Token&& token = {}) {
    return detail::start_overlapping(socket, endpoints, detail::terms_by<Range>(options), std::forward<Token>(token));
}
/// Tries one endpoint after the other, in the order of the range, with a condition. `condition(last_error, endpoint)`
/// says whether to try an endpoint. Or it takes and returns an iterator: the one it was given, one that is to be tried
/// in its place, or the end.
/// Completes  (error_code ec, endpoint_type connected)
/// Errors     error::not_found          the range is empty, or the condition refused all of it
///            error::operation_aborted  cancelled, or the socket was closed
///            otherwise                 what the last attempt ended with
/// Cancel     terminal, partial; the next endpoint is not tried
/// Immediate  never
/// Lifetime   the socket outlives the completion; the range is copied
/// Threads    nothing else uses the socket meanwhile: it is closed and opened for each attempt
/// Allocates  one counted block, and one for each attempt in turn
/// Source     Networking TS [socket.algo.async.connect]
template <class Protocol, class Executor, class Range, class Condition,
          class Token = default_completion_token_t<Executor>>
    requires impl::net::endpoint_range<Range, typename Protocol::endpoint> &&
             impl::net::connect_condition<Condition, impl::net::iterator_of<Range>, typename Protocol::endpoint>
decltype(auto) async_connect(
    basic_socket<Protocol, Executor>& socket, Range const& endpoints, Condition condition,
    Token&& token = {}) noexcept(detail::nothrow_connect<Token, basic_socket<Protocol, Executor>,
                                                         impl::net::range_walk<Range, typename Protocol::endpoint>,
                                                         Condition, Range const&>) {
    using walk = impl::net::range_walk<Range, typename Protocol::endpoint>;
    return detail::start_connect(socket, walk(endpoints), std::move(condition), std::forward<Token>(token));
}
/// The same operation with or without a condition, for the endpoints between two iterators.
/// Completes  (error_code ec, Iterator connected); `end` when ec is set
/// Lifetime   the socket and what the iterators point at outlive the completion
template <class Protocol, class Executor, class Iterator, class Token = default_completion_token_t<Executor>>
    requires impl::net::endpoint_iterator<Iterator, typename Protocol::endpoint> &&
             (!impl::net::connect_condition<std::decay_t<Token>, Iterator, typename Protocol::endpoint>)
decltype(auto)
    async_connect(basic_socket<Protocol, Executor>& socket, Iterator begin, Iterator end, Token&& token = {}) noexcept(
        detail::nothrow_connect<Token, basic_socket<Protocol, Executor>,
                                impl::net::iterator_walk<Iterator, typename Protocol::endpoint>, impl::net::connect_any,
                                Iterator, Iterator>) {
    using walk = impl::net::iterator_walk<Iterator, typename Protocol::endpoint>;
    return detail::start_connect(socket, walk(std::move(begin), std::move(end)), impl::net::connect_any(),
                                 std::forward<Token>(token));
}
template <class Protocol, class Executor, class Iterator, class Condition,
          class Token = default_completion_token_t<Executor>>
    requires impl::net::endpoint_iterator<Iterator, typename Protocol::endpoint> &&
             impl::net::connect_condition<Condition, Iterator, typename Protocol::endpoint>
decltype(auto)
async_connect(basic_socket<Protocol, Executor>& socket, Iterator begin, Iterator end, Condition condition,
              Token&& token =
                  {}) noexcept(detail::nothrow_connect<Token, basic_socket<Protocol, Executor>,
                                                       impl::net::iterator_walk<Iterator, typename Protocol::endpoint>,
                                                       Condition, Iterator, Iterator>) {
    using walk = impl::net::iterator_walk<Iterator, typename Protocol::endpoint>;
    return detail::start_connect(socket, walk(std::move(begin), std::move(end)), std::move(condition),
                                 std::forward<Token>(token));
}

#define FAIRLEAD_NO_ENDPOINTS                                                                                          \
    "the second argument is no range of endpoints: write async_connect(s, co_await resolver.async_resolve(host, "      \
    "service)) for a name, and s.async_connect(endpoint) for one endpoint"

template <class Protocol, class Executor, class Where, class... More>
    requires detail::no_endpoints<Where, typename Protocol::endpoint>
FAIRLEAD_REFUSED(FAIRLEAD_NO_ENDPOINTS)
detail::refused_connect<Protocol> async_connect(basic_socket<Protocol, Executor>&, Where const&, More&&...) {
    return {};
}
template <class Protocol, class Executor, class Where, class... More>
    requires detail::no_endpoints<Where, typename Protocol::endpoint>
FAIRLEAD_REFUSED(FAIRLEAD_NO_ENDPOINTS)
typename Protocol::endpoint connect(basic_socket<Protocol, Executor>&, Where const&, More&&...) {
    return {};
}

/// As async_connect, in the calling thread.
template <class Protocol, class Executor, class Range, class Condition>
    requires impl::net::endpoint_range<Range, typename Protocol::endpoint> &&
             impl::net::connect_condition<Condition, impl::net::iterator_of<Range>, typename Protocol::endpoint>
typename Protocol::endpoint connect(basic_socket<Protocol, Executor>& socket, Range const& endpoints,
                                    Condition condition, error_code& ec) {
    using walk = impl::net::iterator_walk<impl::net::iterator_of<Range>, typename Protocol::endpoint>;
    auto const at = detail::perform_connect(socket, walk(endpoints.begin(), endpoints.end()), std::move(condition), ec);
    return ec ? typename Protocol::endpoint() : static_cast<typename Protocol::endpoint>(*at);
}
template <class Protocol, class Executor, class Range, class Condition>
    requires impl::net::endpoint_range<Range, typename Protocol::endpoint> &&
             impl::net::connect_condition<Condition, impl::net::iterator_of<Range>, typename Protocol::endpoint>
typename Protocol::endpoint connect(basic_socket<Protocol, Executor>& socket, Range const& endpoints,
                                    Condition condition) {
    error_code ec;
    auto const e = connect(socket, endpoints, std::move(condition), ec);
    if (ec) [[unlikely]]
        impl::base::throw_error_now(ec, impl::net::text_of_connect(endpoints).c_str());
    return e;
}
template <class Protocol, class Executor, class Range>
    requires impl::net::endpoint_range<Range, typename Protocol::endpoint>
typename Protocol::endpoint connect(basic_socket<Protocol, Executor>& socket, Range const& endpoints, error_code& ec) {
    return connect(socket, endpoints, impl::net::connect_any(), ec);
}
template <class Protocol, class Executor, class Range>
    requires impl::net::endpoint_range<Range, typename Protocol::endpoint>
typename Protocol::endpoint connect(basic_socket<Protocol, Executor>& socket, Range const& endpoints) {
    return connect(socket, endpoints, impl::net::connect_any());
}
template <class Protocol, class Executor, class Iterator, class Condition>
    requires impl::net::endpoint_iterator<Iterator, typename Protocol::endpoint> &&
             impl::net::connect_condition<Condition, Iterator, typename Protocol::endpoint>
Iterator connect(basic_socket<Protocol, Executor>& socket, Iterator begin, Iterator end, Condition condition,
                 error_code& ec) {
    using walk = impl::net::iterator_walk<Iterator, typename Protocol::endpoint>;
    return detail::perform_connect(socket, walk(std::move(begin), std::move(end)), std::move(condition), ec);
}
template <class Protocol, class Executor, class Iterator, class Condition>
    requires impl::net::endpoint_iterator<Iterator, typename Protocol::endpoint> &&
             impl::net::connect_condition<Condition, Iterator, typename Protocol::endpoint>
Iterator connect(basic_socket<Protocol, Executor>& socket, Iterator begin, Iterator end, Condition condition) {
    error_code ec;
    auto at = connect(socket, std::move(begin), std::move(end), std::move(condition), ec);
    impl::base::throw_error(ec, impl::net::connect_to_one);
    return at;
}
template <class Protocol, class Executor, class Iterator>
    requires impl::net::endpoint_iterator<Iterator, typename Protocol::endpoint>
Iterator connect(basic_socket<Protocol, Executor>& socket, Iterator begin, Iterator end, error_code& ec) {
    return connect(socket, std::move(begin), std::move(end), impl::net::connect_any(), ec);
}
template <class Protocol, class Executor, class Iterator>
    requires impl::net::endpoint_iterator<Iterator, typename Protocol::endpoint>
Iterator connect(basic_socket<Protocol, Executor>& socket, Iterator begin, Iterator end) {
    return connect(socket, std::move(begin), std::move(end), impl::net::connect_any());
}

} // namespace fairlead
