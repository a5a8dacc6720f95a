// Connecting to the first of several endpoints that answers.
#pragma once

#include <fairlead/net/stream_socket.hpp>
#include <fairlead/operation/cancellation_state.hpp>
#include <fairlead/token/adapters.hpp>

#include <concepts>
#include <iterator>
#include <type_traits>

namespace fairlead {
namespace detail {

struct connect_any {
    template <class Endpoint> bool operator()(error_code const&, Endpoint const&) const noexcept { return true; }
};

/// Says yes or no to an endpoint.
template <class C, class Endpoint>
concept judges_endpoints = std::predicate<C&, error_code const&, Endpoint const&>;
/// A completion handler. It may be generic, and nobody can ask whether its body compiles with something else.
template <class C, class Endpoint>
concept takes_endpoints = requires(C& c, error_code const& ec, Endpoint const& e) {
    { c(ec, e) } -> std::same_as<void>;
};
/// The older form of a condition: given the next position, says with which one to go on.
template <class C, class Iterator, class Endpoint>
concept chooses_positions = !takes_endpoints<C, Endpoint> && requires(C& c, error_code const& ec, Iterator i) {
    { c(ec, i) } -> std::same_as<Iterator>;
};
template <class C, class Iterator, class Endpoint>
concept connect_condition = judges_endpoints<C, Endpoint> || chooses_positions<C, Iterator, Endpoint>;

/// The first position from `at` on that the condition wants tried, or the end.
template <class Endpoint, class Iterator, class Condition>
Iterator choose(Iterator at, Iterator const& end, Condition& condition, error_code const& ec) {
    if constexpr (judges_endpoints<Condition, Endpoint>) {
        while (at != end && !condition(ec, static_cast<Endpoint const&>(*at)))
            ++at;
        return at;
    } else {
        return at == end ? at : condition(ec, at);
    }
}

/// The endpoints of a range, which is kept here; the result is the endpoint that was connected to.
template <class Range, class Endpoint> class range_walk {
public:
    using result_type = Endpoint;

    explicit range_walk(Range const& r) : range_(r) {}
    /// Goes to the next endpoint that the condition wants tried; false when there is none.
    template <class Condition> bool choose(Condition& condition, error_code const& ec) {
        Range const& range = range_;
        auto const begin = range.begin(); // Not kept: the range moves from attempt to attempt.
        auto const at = detail::choose<Endpoint>(std::next(begin, position_), range.end(), condition, ec);
        position_ = std::distance(begin, at);
        return at != range.end();
    }
    Endpoint current() const { return *std::next(range_.begin(), position_); }
    void advance() noexcept { ++position_; }
    result_type found() const { return current(); }
    result_type not_found() const { return Endpoint(); }
    Range const& range() const noexcept { return range_; }

private:
    Range range_;
    std::ptrdiff_t position_ = 0;
};
/// The results of a look-up, which know what was looked up.
template <class Range>
concept names_host = requires(Range const& r) {
    { r.begin()->host_name() } -> std::convertible_to<std::string>;
    { r.size() } -> std::convertible_to<std::size_t>;
};

inline constexpr char const* connect_to_one = "connect to one of several endpoints";
/// Endpoints of the program's own, which can be written down.
template <class Range>
concept prints_endpoints = requires(Range const& r) {
    { r.begin()->to_string() } -> std::convertible_to<std::string>;
    { r.size() } -> std::convertible_to<std::size_t>;
};
/// For the message when each of them has failed.
template <class Range> FAIRLEAD_COLD std::string text_of_connect(Range const& endpoints) {
    if constexpr (names_host<Range> || prints_endpoints<Range>)
        if (auto const count = endpoints.size(); count != 0) {
            std::string text = "connect to ";
            if constexpr (names_host<Range>)
                text += endpoints.begin()->host_name() + ':' + endpoints.begin()->service_name();
            else
                text += endpoints.begin()->to_string();
            if (count == 1)
                return text;
            if constexpr (names_host<Range>)
                return text + " (each of " + std::to_string(count) + " endpoints)";
            else
                return text + " and to " + std::to_string(count - 1) + (count == 2 ? " other" : " others");
        }
    return connect_to_one;
}

/// The endpoints between two iterators of the caller's; the result is an iterator.
template <class Iterator, class Endpoint> class iterator_walk {
public:
    using result_type = Iterator;

    iterator_walk(Iterator begin, Iterator end) : at_(std::move(begin)), end_(std::move(end)) {}
    template <class Condition> bool choose(Condition& condition, error_code const& ec) {
        at_ = detail::choose<Endpoint>(std::move(at_), end_, condition, ec);
        return at_ != end_;
    }
    Endpoint current() const { return *at_; }
    void advance() { ++at_; }
    result_type found() const { return at_; }
    result_type not_found() const { return end_; }

private:
    Iterator at_;
    Iterator end_;
};

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
    requires names_host<std::decay_t<decltype(w.range())>> || prints_endpoints<std::decay_t<decltype(w.range())>>;
};

template <class Socket, class Walk, class Condition> struct range_connect {
    using result_type = typename Walk::result_type;

    Socket* socket;
    Walk walk;
    Condition condition;

    auto get_executor() const noexcept { return socket->get_executor(); }
    static std::string describe() { return connect_to_one; }
    std::string describe_failed() const
        requires keeps_names<Walk>
    {
        return text_of_connect(walk.range());
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

template <class R, class Endpoint>
concept endpoint_range = requires(R const& r) {
    { *r.begin() } -> std::convertible_to<Endpoint>;
    r.end();
};

template <class I, class Endpoint>
concept endpoint_iterator = std::copyable<I> && !endpoint_range<I, Endpoint> && requires(I i, I const& c) {
    { *c } -> std::convertible_to<Endpoint>;
    ++i;
    { c == c } -> std::convertible_to<bool>;
};
template <class T, class Endpoint>
concept no_endpoints = !endpoint_range<T, Endpoint> && !endpoint_iterator<std::decay_t<T const&>, Endpoint>;
template <class Protocol> struct refused_connect
    : impl::operation::refused_token<void(error_code, typename Protocol::endpoint)> {};
template <class R> using iterator_of = decltype(std::declval<R const&>().begin());

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
          detail::connect_condition<T, Iterator, std::remove_cvref_t<decltype(*std::declval<Iterator const&>())>>> {};

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
    requires detail::endpoint_range<Range, typename Protocol::endpoint> &&
             (!detail::connect_condition<std::decay_t<Token>, detail::iterator_of<Range>, typename Protocol::endpoint>)
decltype(auto) async_connect(basic_socket<Protocol, Executor>& socket, Range const& endpoints, Token&& token = {}) {
    using walk = detail::range_walk<Range, typename Protocol::endpoint>;
    return detail::start_connect(socket, walk(endpoints), detail::connect_any(), std::forward<Token>(token));
}
/// The same operation, where `condition(last_error, endpoint)` says whether to try an endpoint. Or it takes and returns
/// an iterator: the one it was given, one that is to be tried in its place, or the end.
template <class Protocol, class Executor, class Range, class Condition,
          class Token = default_completion_token_t<Executor>>
    requires detail::endpoint_range<Range, typename Protocol::endpoint> &&
             detail::connect_condition<Condition, detail::iterator_of<Range>, typename Protocol::endpoint>
decltype(auto) async_connect(basic_socket<Protocol, Executor>& socket, Range const& endpoints, Condition condition,
                             Token&& token = {}) {
    using walk = detail::range_walk<Range, typename Protocol::endpoint>;
    return detail::start_connect(socket, walk(endpoints), std::move(condition), std::forward<Token>(token));
}
/// The same operation, with the endpoints between two iterators.
/// Completes  (error_code ec, Iterator connected); `end` when ec is set
/// Lifetime   the socket and what the iterators point at outlive the completion
template <class Protocol, class Executor, class Iterator, class Token = default_completion_token_t<Executor>>
    requires detail::endpoint_iterator<Iterator, typename Protocol::endpoint> &&
             (!detail::connect_condition<std::decay_t<Token>, Iterator, typename Protocol::endpoint>)
decltype(auto)
    async_connect(basic_socket<Protocol, Executor>& socket, Iterator begin, Iterator end, Token&& token = {}) {
    using walk = detail::iterator_walk<Iterator, typename Protocol::endpoint>;
    return detail::start_connect(socket, walk(std::move(begin), std::move(end)), detail::connect_any(),
                                 std::forward<Token>(token));
}
template <class Protocol, class Executor, class Iterator, class Condition,
          class Token = default_completion_token_t<Executor>>
    requires detail::endpoint_iterator<Iterator, typename Protocol::endpoint> &&
             detail::connect_condition<Condition, Iterator, typename Protocol::endpoint>
decltype(auto) async_connect(basic_socket<Protocol, Executor>& socket, Iterator begin, Iterator end,
                             Condition condition, Token&& token = {}) {
    using walk = detail::iterator_walk<Iterator, typename Protocol::endpoint>;
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
    requires detail::endpoint_range<Range, typename Protocol::endpoint> &&
             detail::connect_condition<Condition, detail::iterator_of<Range>, typename Protocol::endpoint>
typename Protocol::endpoint connect(basic_socket<Protocol, Executor>& socket, Range const& endpoints,
                                    Condition condition, error_code& ec) {
    using walk = detail::iterator_walk<detail::iterator_of<Range>, typename Protocol::endpoint>;
    auto const at = detail::perform_connect(socket, walk(endpoints.begin(), endpoints.end()), std::move(condition), ec);
    return ec ? typename Protocol::endpoint() : static_cast<typename Protocol::endpoint>(*at);
}
template <class Protocol, class Executor, class Range, class Condition>
    requires detail::endpoint_range<Range, typename Protocol::endpoint> &&
             detail::connect_condition<Condition, detail::iterator_of<Range>, typename Protocol::endpoint>
typename Protocol::endpoint connect(basic_socket<Protocol, Executor>& socket, Range const& endpoints,
                                    Condition condition) {
    error_code ec;
    auto const e = connect(socket, endpoints, std::move(condition), ec);
    if (ec) [[unlikely]]
        impl::base::throw_error_now(ec, detail::text_of_connect(endpoints).c_str());
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
template <class Protocol, class Executor, class Iterator, class Condition>
    requires detail::endpoint_iterator<Iterator, typename Protocol::endpoint> &&
             detail::connect_condition<Condition, Iterator, typename Protocol::endpoint>
Iterator connect(basic_socket<Protocol, Executor>& socket, Iterator begin, Iterator end, Condition condition,
                 error_code& ec) {
    using walk = detail::iterator_walk<Iterator, typename Protocol::endpoint>;
    return detail::perform_connect(socket, walk(std::move(begin), std::move(end)), std::move(condition), ec);
}
template <class Protocol, class Executor, class Iterator, class Condition>
    requires detail::endpoint_iterator<Iterator, typename Protocol::endpoint> &&
             detail::connect_condition<Condition, Iterator, typename Protocol::endpoint>
Iterator connect(basic_socket<Protocol, Executor>& socket, Iterator begin, Iterator end, Condition condition) {
    error_code ec;
    auto at = connect(socket, std::move(begin), std::move(end), std::move(condition), ec);
    impl::base::throw_error(ec, detail::connect_to_one);
    return at;
}
template <class Protocol, class Executor, class Iterator>
    requires detail::endpoint_iterator<Iterator, typename Protocol::endpoint>
Iterator connect(basic_socket<Protocol, Executor>& socket, Iterator begin, Iterator end, error_code& ec) {
    return connect(socket, std::move(begin), std::move(end), detail::connect_any(), ec);
}
template <class Protocol, class Executor, class Iterator>
    requires detail::endpoint_iterator<Iterator, typename Protocol::endpoint>
Iterator connect(basic_socket<Protocol, Executor>& socket, Iterator begin, Iterator end) {
    return connect(socket, std::move(begin), std::move(end), detail::connect_any());
}

} // namespace fairlead
