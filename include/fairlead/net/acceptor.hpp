// Acceptors: listening for and accepting connections.
#pragma once

#include <fairlead/net/stream_socket.hpp>

namespace fairlead {
namespace detail {

/// Gives an accepted descriptor to a socket of `context`, moving it between drivers if need be.
FAIRLEAD_EXPORT error_code hand_over(io_context& from, std::size_t packed_handle, io_context& to,
                                     io::handle& h) noexcept;

/// Accepts into a new socket on an executor of choice.
template <class Protocol, class Executor> struct accept_new : primitive<accept_new<Protocol, Executor>> {
    using socket_type = basic_stream_socket<Protocol, Executor>;
    using signature = void(error_code, socket_type);
    struct record : io::io_op {
        io_context* context;
        Executor executor;
        record() noexcept {}
    };
    static_assert(await_record::fits<record>);

    socket_core const* acceptor;
    Executor executor;

    accept_new(socket_core const& a, Executor const& e) noexcept : acceptor(&a), executor(e) {}
    loop* home() const noexcept { return &acceptor->context->as_loop(); }
    bool ready() const noexcept { return acceptor->context->driver().ready(acceptor->handle, io::kind::accept, 1); }
    void prepare(record& o) const noexcept {
        o.context = acceptor->context;
        o.executor = executor;
        o.set(acceptor->handle, io::kind::accept, nullptr, 0, acceptor->report_aborted);
    }
    bool attempt(record& o) const noexcept { return o.context->driver().try_now(o); }
    void submit(record& o) const noexcept { o.context->submit(o); }
    static constexpr bool drops = true;
    static void drop(record& o) noexcept {
        o.executor.~Executor();
        ::new (&o.executor) Executor();
    }
    static std::tuple<error_code, socket_type> take(record& o) {
        socket_type s(o.executor);
        auto ec = to_error_code(o.result.error);
        if (!ec)
            ec = hand_over(*o.context, o.result.n, *s.core().context, s.core().handle);
        drop(o);
        return {ec, std::move(s)};
    }
    std::tuple<error_code, socket_type> block() const {
        record o;
        prepare(o);
        o.context->driver().perform(o, !acceptor->user_non_blocking);
        return take(o);
    }
};

/// Accepts into a socket of the caller, with the peer's address if wanted.
template <class Socket, class Endpoint> struct accept_into : primitive<accept_into<Socket, Endpoint>> {
    using signature = error_signature;
    struct record : io::io_op {
        io_context* context;
        Socket* peer;
        Endpoint* endpoint;
        record() noexcept {}
    };
    static_assert(await_record::fits<record>);

    socket_core const* acceptor;
    Socket* peer;
    Endpoint* endpoint;

    accept_into(socket_core const& a, Socket& p, Endpoint* e) noexcept : acceptor(&a), peer(&p), endpoint(e) {}
    loop* home() const noexcept { return &acceptor->context->as_loop(); }
    bool ready() const noexcept { return acceptor->context->driver().ready(acceptor->handle, io::kind::accept, 1); }
    void prepare(record& o) const noexcept {
        o.context = acceptor->context;
        o.peer = peer;
        o.endpoint = endpoint;
        o.set(acceptor->handle, io::kind::accept, endpoint ? static_cast<void*>(endpoint->data()) : nullptr,
              endpoint ? endpoint->capacity() : 0, acceptor->report_aborted);
    }
    bool attempt(record& o) const noexcept { return o.context->driver().try_now(o); }
    void submit(record& o) const noexcept { o.context->submit(o); }
    static std::tuple<error_code> take(record& o) {
        auto ec = to_error_code(o.result.error);
        if (ec)
            return {ec};
        auto& core = o.peer->core();
        io::handle h;
        ec = hand_over(*o.context, o.result.n, *core.context, h);
        if (!ec && core.handle.is_open()) {
            core.context->close(h);
            ec = error::already_open;
        }
        if (!ec) {
            core.handle = h;
            if (o.endpoint)
                o.endpoint->resize(o.size);
        }
        return {ec};
    }
    void block(std::tuple<error_code>& v) const {
        record o;
        prepare(o);
        o.context->driver().perform(o, !acceptor->user_non_blocking);
        v = take(o);
    }
};

} // namespace detail

/// Listens for connections and accepts them.
/// Threads: one object by one thread at a time.
template <class Protocol, class Executor> class basic_socket_acceptor : public basic_socket<Protocol, Executor> {
    using base = basic_socket<Protocol, Executor>;
    using base::core_;
    using base::executor_;

public:
    using endpoint_type = typename base::endpoint_type;
    template <class E> struct rebind_executor {
        using other = basic_socket_acceptor<Protocol, E>;
    };
    template <class E> using peer_type = basic_stream_socket<Protocol, E>;

    explicit basic_socket_acceptor(Executor const& e) : base(e) {}
    template <execution_context_type Context> explicit basic_socket_acceptor(Context& c)
        : base(Executor(c.get_executor())) {}
    basic_socket_acceptor(Executor const& e, Protocol const& p) : base(e) { this->open(p); }
    template <execution_context_type Context> basic_socket_acceptor(Context& c, Protocol const& p)
        : base(Executor(c.get_executor())) {
        this->open(p);
    }
    /// Opens, binds and listens.
    basic_socket_acceptor(Executor const& e, endpoint_type const& local, bool reuse = true) : base(e) {
        set_up(local, reuse);
    }
    template <execution_context_type Context>
    basic_socket_acceptor(Context& c, endpoint_type const& local, bool reuse = true)
        : base(Executor(c.get_executor())) {
        set_up(local, reuse);
    }
    basic_socket_acceptor(basic_socket_acceptor&&) noexcept = default;
    basic_socket_acceptor& operator=(basic_socket_acceptor&&) noexcept = default;
    ~basic_socket_acceptor() = default;

    void listen(int backlog = socket_base::max_listen_connections) {
        detail::throw_error(core_.listen(backlog), "listen");
    }
    void listen(int backlog, error_code& ec) noexcept { ec = core_.listen(backlog); }

    /// Waits for a connection and makes a socket of it, on the acceptor's executor.
    /// Completes  (error_code ec, socket peer)
    /// Errors     error::operation_aborted  cancelled, or the acceptor was closed
    ///            error::no_descriptors     the process has no descriptor left: close some, wait, and accept again
    /// Cancel     terminal, partial, total
    /// Immediate  may be ready without waiting; the handler still never runs before this returns
    /// Lifetime   *this outlives the completion
    /// Allocates  nothing awaited
    /// Source     man 2 accept4
    template <class Token = use_await_t>
        requires(!executor<std::decay_t<Token>> && !execution_context_type<std::decay_t<Token>>)
    decltype(auto) async_accept(Token&& token = {}) noexcept(
        detail::nothrow_token<std::decay_t<Token>, detail::accept_new<Protocol, Executor>>) {
        using init = detail::accept_new<Protocol, Executor>;
        return completion_token_transform<typename init::signature>(std::forward<Token>(token), init(core_, executor_));
    }
    /// The same with a socket on another executor.
    template <executor E, class Token = use_await_t> decltype(auto) async_accept(E const& e, Token&& token = {}) {
        using init = detail::accept_new<Protocol, E>;
        return completion_token_transform<typename init::signature>(std::forward<Token>(token), init(core_, e));
    }
    template <execution_context_type Context, class Token = use_await_t>
    decltype(auto) async_accept(Context& c, Token&& token = {}) {
        using init = detail::accept_new<Protocol, any_io_executor>;
        return completion_token_transform<typename init::signature>(std::forward<Token>(token),
                                                                    init(core_, any_io_executor(c.get_executor())));
    }
    /// Accepts into `peer`, which must be closed.  Completes (error_code ec)
    template <class E, class Token = use_await_t>
    decltype(auto) async_accept(basic_stream_socket<Protocol, E>& peer, Token&& token = {}) noexcept(
        detail::nothrow_token<std::decay_t<Token>,
                              detail::accept_into<basic_stream_socket<Protocol, E>, endpoint_type>>) {
        using init = detail::accept_into<basic_stream_socket<Protocol, E>, endpoint_type>;
        return completion_token_transform<void(error_code)>(std::forward<Token>(token), init(core_, peer, nullptr));
    }
    /// The same; the peer's address goes into `from`, which outlives the completion.
    template <class E, class Token = use_await_t> decltype(auto)
    async_accept(basic_stream_socket<Protocol, E>& peer, endpoint_type& from, Token&& token = {}) noexcept(
        detail::nothrow_token<std::decay_t<Token>,
                              detail::accept_into<basic_stream_socket<Protocol, E>, endpoint_type>>) {
        using init = detail::accept_into<basic_stream_socket<Protocol, E>, endpoint_type>;
        return completion_token_transform<void(error_code)>(std::forward<Token>(token), init(core_, peer, &from));
    }

    basic_stream_socket<Protocol, Executor> accept() {
        error_code ec;
        auto s = accept(ec);
        detail::throw_error(ec, "accept");
        return s;
    }
    basic_stream_socket<Protocol, Executor> accept(error_code& ec) {
        basic_stream_socket<Protocol, Executor> s(executor_);
        accept(s, ec);
        return s;
    }
    template <class E> void accept(basic_stream_socket<Protocol, E>& peer) {
        error_code ec;
        accept(peer, ec);
        detail::throw_error(ec, "accept");
    }
    template <class E> void accept(basic_stream_socket<Protocol, E>& peer, error_code& ec) {
        std::tuple<error_code> v;
        detail::accept_into<basic_stream_socket<Protocol, E>, endpoint_type>(core_, peer, nullptr).block(v);
        ec = std::get<0>(v);
    }

private:
    void set_up(endpoint_type const& local, bool reuse) {
        this->open(local.protocol());
        if (reuse)
            this->set_option(socket_base::reuse_address(true));
        this->bind(local);
        listen();
    }
};

} // namespace fairlead
