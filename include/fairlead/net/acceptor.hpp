// Acceptors: listening for and accepting connections.
#pragma once

#include <fairlead/net/stream_socket.hpp>

namespace fairlead {
namespace impl::net {

/// Gives an accepted descriptor to a socket of another engine, moving it between drivers if need be.
FAIRLEAD_EXPORT error_code hand_over(io_loop& from, std::size_t packed_handle, io_loop& to, io::handle& h) noexcept;

template <class Protocol, class Executor> using peer_of =
    typename Protocol::socket::template rebind_executor<Executor>::other;

/// Accepts into a new socket on an executor of choice, with the peer's address if wanted.
template <class Protocol, class Executor> struct accept_new : operation::primitive<accept_new<Protocol, Executor>> {
    using socket_type = peer_of<Protocol, Executor>;
    using endpoint_type = typename Protocol::endpoint;
    using signature = void(error_code, socket_type);
    struct record : io::io_op {
        io_loop* engine;
        union {
            Executor executor; ///< from prepare() to take() or drop()
        };
        endpoint_type* endpoint;
        record() noexcept {}
        record(record const&) = delete;
        record& operator=(record const&) = delete;
        ~record() {}
        int family() const noexcept { return endpoint ? endpoint->protocol().family() : static_cast<int>(size); }
    };
    static_assert(await_record::fits<record>);

    socket_core const* acceptor;
    Executor executor;

    accept_new(socket_core const& a, Executor const& e) noexcept : acceptor(&a), executor(e) {}
    loop* home() const noexcept { return acceptor->engine; }
    std::string describe() const { return "accept"; }
    std::string describe(record const& o) const { return text_of_failed("accept", o.kind, *o.engine, o.handle); }
    bool ready() const noexcept { return acceptor->engine->reactor().ready(acceptor->handle, io::kind::accept, 1); }
    void prepare(record& o) const noexcept { prepare(o, nullptr); }
    void prepare(record& o, endpoint_type* from) const noexcept {
        o.engine = acceptor->engine;
        ::new (static_cast<void*>(&o.executor)) Executor(executor);
        o.endpoint = from;
        o.handle = acceptor->handle;
        o.kind = io::kind::accept;
        o.data = from ? static_cast<void*>(from->data()) : nullptr; // Without it the size of the address is nobody's.
        o.size = from ? from->capacity() : static_cast<std::size_t>(acceptor->family);
        o.message_flags = acceptor->report_aborted;
    }
    bool attempt(record& o) const noexcept { return o.engine->reactor().try_now(o); }
    void submit(record& o) const noexcept { o.engine->submit(o); }
    static constexpr bool drops = true;
    static void drop(record& o) noexcept { o.executor.~Executor(); }
    static std::tuple<error_code, socket_type> take(record& o) {
        socket_type s(o.executor);
        auto ec = operation::to_error_code(o.result.error);
        if (!ec)
            ec = hand_over(*o.engine, o.result.n, *s.core().engine, s.core().handle);
        if (!ec) {
            if (o.endpoint)
                o.endpoint->resize(o.size);
            s.core().family = o.family();
        }
        drop(o);
        return {ec, std::move(s)};
    }
    std::tuple<error_code, socket_type> block() const { return block(nullptr); }
    std::tuple<error_code, socket_type> block(endpoint_type* from) const {
        record o;
        prepare(o, from);
        o.engine->descriptors().perform(o, !acceptor->user_non_blocking);
        return take(o);
    }
};

/// As accept_new, with the peer's address.
template <class Protocol, class Executor> struct accept_new_from
    : operation::primitive<accept_new_from<Protocol, Executor>> {
    using base = accept_new<Protocol, Executor>;
    using signature = typename base::signature;
    using record = typename base::record;

    base inner;
    typename Protocol::endpoint* endpoint;

    accept_new_from(socket_core const& a, Executor const& e, typename Protocol::endpoint& from) noexcept
        : inner(a, e),
          endpoint(&from) {}
    loop* home() const noexcept { return inner.home(); }
    std::string describe() const { return "accept"; }
    std::string describe(record const& o) const { return inner.describe(o); }
    bool ready() const noexcept { return inner.ready(); }
    void prepare(record& o) const noexcept { inner.prepare(o, endpoint); }
    bool attempt(record& o) const noexcept { return inner.attempt(o); }
    void submit(record& o) const noexcept { inner.submit(o); }
    static constexpr bool drops = true;
    static void drop(record& o) noexcept { base::drop(o); }
    static auto take(record& o) { return base::take(o); }
    auto block() const { return inner.block(endpoint); }
};

/// Accepts into a socket of the caller, with the peer's address if wanted.
template <class Socket, class Endpoint> struct accept_into : operation::primitive<accept_into<Socket, Endpoint>> {
    using signature = error_signature;
    struct record : io::io_op {
        io_loop* engine;
        Socket* peer;
        Endpoint* endpoint;
        int family;
        record() noexcept {}
    };
    static_assert(await_record::fits<record>);

    socket_core const* acceptor;
    Socket* peer;
    Endpoint* endpoint;

    accept_into(socket_core const& a, Socket& p, Endpoint* e) noexcept : acceptor(&a), peer(&p), endpoint(e) {}
    loop* home() const noexcept { return acceptor->engine; }
    std::string describe() const { return "accept"; }
    std::string describe(record const& o) const { return text_of_failed("accept", o.kind, *o.engine, o.handle); }
    bool ready() const noexcept { return acceptor->engine->reactor().ready(acceptor->handle, io::kind::accept, 1); }
    void prepare(record& o) const noexcept {
        o.engine = acceptor->engine;
        o.peer = peer;
        o.endpoint = endpoint;
        o.family = acceptor->family;
        o.handle = acceptor->handle;
        o.kind = io::kind::accept;
        if (endpoint) {
            o.data = endpoint->data();
            o.size = endpoint->capacity();
        }
        o.message_flags = acceptor->report_aborted;
    }
    bool attempt(record& o) const noexcept { return o.engine->reactor().try_now(o); }
    void submit(record& o) const noexcept { o.engine->submit(o); }
    static std::tuple<error_code> take(record& o) {
        auto ec = operation::to_error_code(o.result.error);
        if (ec)
            return {ec};
        auto& core = o.peer->core();
        io::handle h;
        ec = hand_over(*o.engine, o.result.n, *core.engine, h);
        if (!ec && core.handle.is_open()) {
            core.engine->close(h);
            ec = error::already_open;
        }
        if (!ec) {
            core.handle = h;
            core.family = o.family;
            if (o.endpoint)
                o.endpoint->resize(o.size);
        }
        return {ec};
    }
    void block(std::tuple<error_code>& v) const {
        record o;
        prepare(o);
        o.engine->descriptors().perform(o, !acceptor->user_non_blocking);
        v = take(o);
    }
};

/// Sockets into which an acceptor of `Protocol` can accept.
template <class P, class Protocol>
concept peer_protocol = std::convertible_to<Protocol, P>;

using accept_tcp = accept_new<ip::tcp, any_io_executor>;

/// Protocol and address of an acceptor that is set up.
struct listening {
    int family, type, protocol;
    void const* address;
    std::size_t size;
    bool reuse;
    endpoint_ref shown; ///< for the message of an error
};
/// Opens, binds and listens.
FAIRLEAD_EXPORT void listen_at(socket_core& s, listening const& where);

} // namespace impl::net

namespace impl {
FAIRLEAD_COMPILED_PRIMITIVE(net::accept_tcp, error_code, net::accept_tcp::socket_type);
template <> FAIRLEAD_EXPORT net::accept_tcp::socket_type operation::take_with<net::accept_tcp::signature>(
    operation::initiation_functions<error_code, net::accept_tcp::socket_type> const*, void*, await_record&);
} // namespace impl

/// Listens for connections and accepts them.
/// Threads: one object by one thread at a time.
template <class Protocol, class Executor> class basic_socket_acceptor : public basic_socket<Protocol, Executor> {
    using base = basic_socket<Protocol, Executor>;
    using base::core_;
    using base::executor_;

    /// And none of the things that an accept may begin with.
    template <class T> static constexpr bool is_token = !io_executor<std::decay_t<T>> &&
                                                        !execution_context_type<std::decay_t<T>> &&
                                                        !std::derived_from<std::decay_t<T>, socket_base> &&
                                                        !std::same_as<std::decay_t<T>, typename base::endpoint_type>;

public:
    using endpoint_type = typename base::endpoint_type;
    template <class E> struct rebind_executor {
        using other = basic_socket_acceptor<Protocol, E>;
    };
    template <class E> using peer_type = impl::net::peer_of<Protocol, E>;

    explicit basic_socket_acceptor(Executor const& e) : base(e) {}
    template <execution_context_type Context> explicit basic_socket_acceptor(Context& c)
        : base(Executor(c.get_executor())) {}
    basic_socket_acceptor(Executor const& e, Protocol const& p) : base(e) { this->open(p); }
    template <execution_context_type Context> basic_socket_acceptor(Context& c, Protocol const& p)
        : base(Executor(c.get_executor())) {
        this->open(p);
    }
    basic_socket_acceptor(Executor const& e, Protocol const& p, int fd) : base(e) { this->assign(p, fd); }
    template <execution_context_type Context> basic_socket_acceptor(Context& c, Protocol const& p, int fd)
        : base(Executor(c.get_executor())) {
        this->assign(p, fd);
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
    /// Takes over one whose protocol and executor convert to these.
    template <class P, class E>
        requires impl::net::takes_over<P, E, Protocol, Executor>
    basic_socket_acceptor(basic_socket_acceptor<P, E>&& other) : base(impl::net::checked<Protocol>(std::move(other))) {}
    template <class P, class E>
        requires impl::net::takes_over<P, E, Protocol, Executor>
    basic_socket_acceptor& operator=(basic_socket_acceptor<P, E>&& other) {
        return *this = basic_socket_acceptor(std::move(other));
    }
    ~basic_socket_acceptor() = default;

    void listen(int backlog = socket_base::max_listen_connections) {
        if (auto const ec = core_.listen(backlog))
            this->throw_error_here(ec, "listen");
    }
    error_code listen(int backlog, error_code& ec) noexcept { return ec = core_.listen(backlog); }

    /// Waits for a connection and makes a socket of it, on the acceptor's executor.
    /// Completes  (error_code ec, socket peer)
    /// Errors     error::operation_aborted  cancelled, or the acceptor was closed
    ///            error::no_descriptors     the process has no descriptor left; the connection waits where it is. The
    ///                                      next accept is tried after a pause of 5 to 100 ms, or when this context has
    ///                                      closed something
    ///            error::connection_aborted the peer has gone already; only with the option
    ///                                      socket_base::enable_connection_aborted, else it is passed over
    /// Cancel     terminal, partial, total
    /// Immediate  may be ready without waiting; the handler still never runs before this returns
    /// Lifetime   *this outlives the completion
    /// Threads    one object by one thread at a time
    /// Allocates  nothing awaited
    /// Source     man 2 accept4; Networking TS [socket.acceptor.ops]
    template <class Token = default_completion_token_t<Executor>>
        requires is_token<Token>
    decltype(auto) async_accept(Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::net::accept_new<Protocol, Executor>>) {
        using init = impl::net::accept_new<Protocol, Executor>;
        return impl::operation::initiate_on<typename init::signature>(*this, std::forward<Token>(token),
                                                                      init(core_, executor_));
    }
    /// The same operation, with a socket on another executor.
    template <io_executor E, class Token = default_completion_token_t<Executor>>
    decltype(auto) async_accept(E const& e, Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::net::accept_new<Protocol, E>>) {
        using init = impl::net::accept_new<Protocol, E>;
        return impl::operation::initiate_on<typename init::signature>(*this, std::forward<Token>(token),
                                                                      init(core_, e));
    }
    template <execution_context_type Context, class Token = default_completion_token_t<Executor>>
    decltype(auto) async_accept(Context& c, Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>,
                                       impl::net::accept_new<Protocol, typename Context::executor_type>>) {
        return async_accept(c.get_executor(), std::forward<Token>(token));
    }
    /// The same operation, with the peer's address. It goes into `from`, which outlives the completion.
    template <class Token = default_completion_token_t<Executor>>
    decltype(auto) async_accept(endpoint_type& from, Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::net::accept_new_from<Protocol, Executor>>) {
        return async_accept(executor_, from, std::forward<Token>(token));
    }
    template <io_executor E, class Token = default_completion_token_t<Executor>>
    decltype(auto) async_accept(E const& e, endpoint_type& from, Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::net::accept_new_from<Protocol, E>>) {
        using init = impl::net::accept_new_from<Protocol, E>;
        return impl::operation::initiate_on<typename init::signature>(*this, std::forward<Token>(token),
                                                                      init(core_, e, from));
    }
    template <execution_context_type Context, class Token = default_completion_token_t<Executor>>
    decltype(auto) async_accept(Context& c, endpoint_type& from, Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>,
                                       impl::net::accept_new_from<Protocol, typename Context::executor_type>>) {
        return async_accept(c.get_executor(), from, std::forward<Token>(token));
    }
    /// The same operation, but into a socket of the caller's, which takes over the connection.
    /// Completes  (error_code ec)
    /// Errors     also error::already_open  `peer` is open; the new connection is closed again
    /// Lifetime   *this and `peer` outlive the completion
    template <impl::net::peer_protocol<Protocol> P, class E, class Token = default_completion_token_t<Executor>>
    decltype(auto) async_accept(basic_socket<P, E>& peer, Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>,
                                       impl::net::accept_into<basic_socket<P, E>, endpoint_type>>) {
        using init = impl::net::accept_into<basic_socket<P, E>, endpoint_type>;
        return impl::operation::initiate_on<void(error_code)>(*this, std::forward<Token>(token),
                                                              init(core_, peer, nullptr));
    }
    /// The same as into a socket of the caller's. The peer's address goes into `from`, which outlives the completion.
    template <impl::net::peer_protocol<Protocol> P, class E, class Token = default_completion_token_t<Executor>>
    decltype(auto) async_accept(basic_socket<P, E>& peer, endpoint_type& from, Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>,
                                       impl::net::accept_into<basic_socket<P, E>, endpoint_type>>) {
        using init = impl::net::accept_into<basic_socket<P, E>, endpoint_type>;
        return impl::operation::initiate_on<void(error_code)>(*this, std::forward<Token>(token),
                                                              init(core_, peer, &from));
    }

    // Accepting in the calling thread: into a socket of the caller's, or into a new one, on this executor or another.

    template <impl::net::peer_protocol<Protocol> P, class E> void accept(basic_socket<P, E>& peer) {
        error_code ec;
        accept(peer, ec);
        if (ec)
            this->throw_error_here(ec, "accept");
    }
    template <impl::net::peer_protocol<Protocol> P, class E>
    error_code accept(basic_socket<P, E>& peer, error_code& ec) {
        accept_into(peer, nullptr, ec);
        return ec;
    }
    template <impl::net::peer_protocol<Protocol> P, class E>
    void accept(basic_socket<P, E>& peer, endpoint_type& from) {
        error_code ec;
        accept(peer, from, ec);
        if (ec)
            this->throw_error_here(ec, "accept");
    }
    template <impl::net::peer_protocol<Protocol> P, class E>
    error_code accept(basic_socket<P, E>& peer, endpoint_type& from, error_code& ec) {
        accept_into(peer, &from, ec);
        return ec;
    }
    peer_type<Executor> accept() { return accept_new(executor_, nullptr); }
    peer_type<Executor> accept(error_code& ec) { return accept_new(executor_, nullptr, ec); }
    peer_type<Executor> accept(endpoint_type& from) { return accept_new(executor_, &from); }
    peer_type<Executor> accept(endpoint_type& from, error_code& ec) { return accept_new(executor_, &from, ec); }
    template <io_executor E> peer_type<E> accept(E const& e) { return accept_new(e, nullptr); }
    template <io_executor E> peer_type<E> accept(E const& e, error_code& ec) { return accept_new(e, nullptr, ec); }
    template <io_executor E> peer_type<E> accept(E const& e, endpoint_type& from) { return accept_new(e, &from); }
    template <io_executor E> peer_type<E> accept(E const& e, endpoint_type& from, error_code& ec) {
        return accept_new(e, &from, ec);
    }
    template <execution_context_type C> auto accept(C& c) { return accept(c.get_executor()); }
    template <execution_context_type C> auto accept(C& c, error_code& ec) { return accept(c.get_executor(), ec); }
    template <execution_context_type C> auto accept(C& c, endpoint_type& from) {
        return accept(c.get_executor(), from);
    }
    template <execution_context_type C> auto accept(C& c, endpoint_type& from, error_code& ec) {
        return accept(c.get_executor(), from, ec);
    }

    // Functions of a socket that an acceptor does not have.
    template <class... Args> void connect(Args&&...) = delete;
    template <class... Args> void async_connect(Args&&...) = delete;

private:
    template <class P, class E> void accept_into(basic_socket<P, E>& peer, endpoint_type* from, error_code& ec) {
        std::tuple<error_code> v;
        impl::net::accept_into<basic_socket<P, E>, endpoint_type>(core_, peer, from).block(v);
        ec = std::get<0>(v);
    }
    template <class E> peer_type<E> accept_new(E const& e, endpoint_type* from, error_code& ec) {
        auto v = impl::net::accept_new<Protocol, E>(core_, e).block(from);
        ec = std::get<0>(v);
        return std::get<1>(std::move(v));
    }
    template <class E> peer_type<E> accept_new(E const& e, endpoint_type* from) {
        error_code ec;
        auto s = accept_new(e, from, ec);
        if (ec)
            this->throw_error_here(ec, "accept");
        return s;
    }
    void set_up(endpoint_type const& local, bool reuse) {
        auto const p = local.protocol();
        impl::net::listen_at(
            core_, {p.family(), p.type(), p.protocol(), local.data(), local.size(), reuse, impl::net::refer_to(local)});
    }
};

} // namespace fairlead
