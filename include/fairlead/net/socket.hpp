// The base of all sockets: open, bind, close, options, names, waiting; and the ops behind their operations.
#pragma once

#include <fairlead/base/buffer.hpp>
#include <fairlead/net/fwd.hpp>
#include <fairlead/net/io_object.hpp>
#include <fairlead/net/slice_list.hpp>
#include <fairlead/net/socket_options.hpp>

#include <cstring>
#include <string>

namespace fairlead {
namespace impl::net {

/// An endpoint of a type that the library does not know; `text` may be empty.
struct endpoint_ref {
    void const* endpoint;
    std::string (*text)(void const*);
};
FAIRLEAD_EXPORT std::string text_with(char const* what, endpoint_ref e);
[[noreturn]] FAIRLEAD_EXPORT void throw_error_at(error_code const& ec, char const* what, endpoint_ref e);

template <class Endpoint> endpoint_ref refer_to(Endpoint const& endpoint) noexcept {
    return {&endpoint, [](void const* p) -> std::string {
                auto const& e = *static_cast<Endpoint const*>(p);
                if constexpr (requires { e.to_string(); })
                    return e.to_string();
                else if constexpr (requires { e.path(); })
                    return e.path();
                else
                    return {};
            }};
}
/// "bind to 127.0.0.1:80", for the message of an error.
template <class Endpoint> FAIRLEAD_COLD std::string text_with(char const* what, Endpoint const& e) {
    return text_with(what, refer_to(e));
}
template <class Endpoint>
[[noreturn]] FAIRLEAD_COLD void throw_error_at(error_code const& ec, char const* what, Endpoint const& e) {
    throw_error_at(ec, what, refer_to(e));
}
constexpr char const* name_of_kind(io::kind k) noexcept {
    using enum io::kind;
    return k == receive || k == receive_all ? "read"
           : k == send || k == send_all     ? "write"
           : k == receive_from              ? "receive_from"
           : k == send_to                   ? "send_to"
                                            : "wait";
}

/// "read from 127.0.0.1:80", for the message of an operation that has failed. It names the peer, or else, as in "read
/// on 127.0.0.1:5000", the socket's own address. It names neither where the system knows none (any more).
FAIRLEAD_EXPORT std::string text_of_failed(char const* what, io::kind k, io_loop& l, io::handle h);

using stream_signature = void(error_code, std::size_t);
using error_signature = void(error_code);

/// The common part of all transfers. `Values` depends on nothing, but the compiler is not to know: otherwise it
/// instantiates the tuple in each program that includes this.
template <class Derived, class Values = std::tuple<error_code, std::size_t>> struct any_transfer
    : operation::primitive<Derived> {
    using signature = stream_signature;
    using plain_result = void;
    using record = io::io_op;

    static Values take(record& o) noexcept { return {operation::to_error_code(o.result.error), o.result.n}; }
    void block(Values& v) const noexcept(operation::nothrow_performed<Derived>) {
        operation::settle_to_perform(static_cast<Derived const&>(*this));
        auto const& self = static_cast<Derived const&>(*this);
        record o;
        self.prepare(o);
        self.engine->descriptors().perform(o, self.may_wait);
        v = take(o);
    }
};

/// One attempt, or until done, with a single buffer.
struct transfer : any_transfer<transfer> {
    io_loop* engine;
    io::handle handle;
    void* data;
    std::size_t size;
    int flags;
    io::kind kind;
    bool may_wait;

    transfer(socket_core const& s, io::kind k, void* d, std::size_t n, int f = 0) noexcept
        : engine(s.engine),
          handle(s.handle),
          data(d),
          size(n),
          flags(f),
          kind(k),
          may_wait(!s.user_non_blocking) {}

    loop* home() const noexcept { return engine; }
    bool ready() const noexcept { return engine->reactor().ready(handle, kind, size); }
    void prepare(record& o) const noexcept {
        o.handle = handle;
        o.kind = kind;
        o.data = data;
        o.size = size;
        o.message_flags = flags;
    }
    std::string describe() const { return name_of_kind(kind); }
    std::string describe_failed() const { return text_of_failed(name_of_kind(kind), kind, *engine, handle); }
    bool attempt(record& o) const noexcept { return engine->reactor().try_now(o); }
    void submit(record& o) const noexcept { engine->submit(o); }
};
static_assert(sizeof(transfer) <= async_op<stream_signature>::storage_size);

/// As transfer, with several buffers.
struct sequence_transfer : any_transfer<sequence_transfer>, with_slices<sequence_transfer> {
    io_loop* engine;
    io::handle handle;
    slice_list slices;
    int flags;
    io::kind kind;
    bool may_wait;

    template <class Buffers> sequence_transfer(socket_core const& s, io::kind k, Buffers const& buffers, int f) noexcept
        : engine(s.engine),
          handle(s.handle),
          slices(buffers),
          flags(f),
          kind(k),
          may_wait(!s.user_non_blocking) {}

    loop* home() const noexcept { return engine; }
    bool ready() const noexcept { return engine->reactor().ready(handle, kind, slices.size()); }
    void prepare(record& o) const noexcept { set(o, slices.data()); }
    std::size_t extra_bytes() const noexcept { return slices.bytes(); }
    void prepare(record& o, void* extra) const noexcept {
        slices.copy_to(extra);
        set(o, extra);
    }
    std::string describe() const { return name_of_kind(kind); }
    std::string describe_failed() const { return text_of_failed(name_of_kind(kind), kind, *engine, handle); }
    bool attempt(record& o) const noexcept { return engine->reactor().try_now(o); }
    void submit(record& o) const noexcept { engine->submit(o); }

private:
    void set(record& o, void* all) const noexcept {
        o.handle = handle;
        o.kind = kind;
        slices.set(o, all);
        o.message_flags = flags;
    }
};

/// Readiness, or anything else that has no buffer and completes with an error only. With a `Count`, which is 0, it
/// stands for a transfer.
template <class... Count> struct readiness : operation::primitive<readiness<Count...>> {
    using signature = void(error_code, Count...);
    using plain_result = void;
    using record = io::io_op;

    io_loop* engine;
    io::handle handle;
    io::kind kind;
    bool may_wait;

    readiness(socket_core const& s, io::kind k) noexcept
        : engine(s.engine),
          handle(s.handle),
          kind(k),
          may_wait(!s.user_non_blocking) {}
    loop* home() const noexcept { return engine; }
    void prepare(record& o) const noexcept {
        o.handle = handle;
        o.kind = kind;
    }
    void submit(record& o) const noexcept { engine->submit(o); }
    std::string describe() const { return name_of_kind(kind); }
    std::string describe_failed() const { return text_of_failed(name_of_kind(kind), kind, *engine, handle); }
    static std::tuple<error_code, Count...> take(record& o) noexcept {
        return {operation::to_error_code(o.result.error), Count{}...};
    }
    void block(std::tuple<error_code, Count...>& v) const noexcept {
        record o;
        prepare(o);
        engine->descriptors().perform(o, may_wait);
        v = take(o);
    }
};
using wait_ready = readiness<>;

/// The readiness to wait for in place of a transfer.
constexpr io::kind readiness_for(io::kind k, int flags) noexcept {
    return io::is_write(k)                            ? io::kind::wait_write
           : flags & socket_base::message_out_of_band ? io::kind::wait_error
                                                      : io::kind::wait_read;
}

/// Chooses at compile time between one buffer, several, and none but readiness.
template <class Buffers>
auto make_transfer(socket_core const& s, io::kind k, Buffers const& buffers, int flags = 0) noexcept {
    if constexpr (base::waits_only<Buffers>) {
        return readiness<std::size_t>(s, readiness_for(k, flags));
    } else if constexpr (base::is_single_buffer<Buffers>) {
        auto const b = base::single_buffer<const_buffer>(buffers);
        return transfer(s, k, const_cast<void*>(b.data()), b.size(), flags);
    } else {
        return sequence_transfer(s, k, buffers, flags);
    }
}

template <class Token, class Buffers> inline constexpr bool nothrow_transfer =
    operation::nothrow_token<std::decay_t<Token>, decltype(make_transfer(std::declval<socket_core&>(), io::kind::send,
                                                                         std::declval<Buffers const&>()))>;

[[noreturn]] FAIRLEAD_EXPORT void throw_failed(error_code const& ec, char const* what, io::kind k,
                                               socket_core const& s);
/// Options have no names here, only numbers.
[[noreturn]] FAIRLEAD_EXPORT void throw_about_option(error_code const& ec, char const* what, int level, int name);

/// The values with which an operation completes that is performed in the calling thread.
template <class Init> auto performed(Init const& init) {
    return operation::perform_blocking<operation::values_of<typename Init::signature>>(init);
}
/// Waits in the calling thread.
FAIRLEAD_EXPORT error_code wait_until_ready(socket_core const& s, io::kind k) noexcept;

/// Performs an operation in the calling thread: its error goes into `ec`.
template <class Value, class Init> FAIRLEAD_ALWAYS_INLINE Value perform(error_code& ec, Init const& init) {
    auto v = performed(init);
    ec = std::get<0>(v);
    return std::get<1>(std::move(v));
}
/// In the calling thread.
template <class Buffers>
std::size_t perform_transfer(error_code& ec, socket_core const& s, io::kind k, Buffers const& buffers, int flags = 0) {
    return perform<std::size_t>(ec, make_transfer(s, k, buffers, flags));
}
template <class Buffers> std::size_t perform_transfer(char const* what, socket_core const& s, io::kind k,
                                                      Buffers const& buffers, int flags = 0) {
    error_code ec;
    auto const n = perform_transfer(ec, s, k, buffers, flags);
    if (ec) [[unlikely]]
        throw_failed(ec, what, k, s);
    return n;
}

/// Two sockets connected to each other, perhaps in different contexts.
FAIRLEAD_EXPORT error_code connect_pair(socket_core& a, socket_core& b, int family, int type, int protocol) noexcept;

/// Opens the socket if need be, for an op that is to connect it. A failure stands in the result.
FAIRLEAD_EXPORT void open_to_connect(socket_core& s, io::io_op& o, int family, int type, int protocol) noexcept;

template <class Endpoint, class Values = std::tuple<error_code>> struct connect_to
    : operation::primitive<connect_to<Endpoint, Values>> {
    using signature = error_signature;
    using plain_result = void;
    using record = io::io_op;

    socket_core* socket;
    mutable Endpoint endpoint;

    connect_to(socket_core& s, Endpoint const& e) noexcept : socket(&s), endpoint(e) {}
    loop* home() const noexcept { return socket->engine; }
    void prepare(record& o) const noexcept { set(o, endpoint.data()); }
    std::string describe() const { return text_with("connect to", endpoint); }
    static constexpr std::size_t extra_bytes() noexcept { return sizeof(Endpoint); }
    void prepare(record& o, void* extra) const noexcept {
        std::memcpy(extra, endpoint.data(), endpoint.size());
        set(o, extra);
    }
    void submit(record& o) const noexcept {
        if (o.result.error == 0)
            socket->engine->submit(o);
        else
            socket->engine->post(o);
    }
    static Values take(record& o) noexcept { return {operation::to_error_code(o.result.error)}; }
    void block(Values& v) const {
        auto const p = endpoint.protocol();
        if (!socket->handle.is_open())
            if (auto ec = socket->open(p.family(), p.type(), p.protocol())) {
                v = {ec};
                return;
            }
        io::io_op o;
        o.handle = socket->handle;
        o.kind = io::kind::connect;
        o.data = endpoint.data();
        o.size = endpoint.size();
        socket->engine->descriptors().perform(o, !socket->user_non_blocking);
        v = take(o);
    }

private:
    void set(record& o, void* address) const noexcept {
        o.kind = io::kind::connect;
        o.data = address;
        o.size = endpoint.size();
        auto const p = endpoint.protocol();
        open_to_connect(*socket, o, p.family(), p.type(), p.protocol());
    }
};

/// Of the wait types of sockets, and of descriptors.
template <class Wait> constexpr io::kind kind_of(Wait w) noexcept {
    return w == Wait::wait_read    ? io::kind::wait_read
           : w == Wait::wait_write ? io::kind::wait_write
                                   : io::kind::wait_error;
}

/// The protocol of a socket, as far as options ask for it.
template <class Protocol> Protocol protocol_of(int family) {
    if constexpr (requires { Protocol::v6(); })
        return family == Protocol::v6().family() ? Protocol::v6() : Protocol::v4();
    else if constexpr (std::is_constructible_v<Protocol, int, int>)
        return Protocol(family, 0);
    else
        return typename Protocol::endpoint().protocol();
}

/// Protocol and executor of sockets that another kind of socket can take over.
template <class P, class E, class Protocol, class Executor>
concept takes_over = !(std::same_as<P, Protocol> && std::same_as<E, Executor>) && std::convertible_to<P, Protocol> &&
                     std::convertible_to<E, Executor>;

/// Throws bad_cast when the socket's own protocol is none that `Protocol` stands for.
template <class Protocol, class Socket>
    requires(!std::is_reference_v<Socket>)
Socket&& checked(Socket&& other) {
    if constexpr (!std::same_as<Protocol, typename Socket::protocol_type>)
        static_cast<void>(Protocol(protocol_of<typename Socket::protocol_type>(other.core().family)));
    return std::forward<Socket>(other);
}

} // namespace impl::net

namespace impl {
FAIRLEAD_COMPILED_PRIMITIVE(net::transfer, error_code, std::size_t);
FAIRLEAD_COMPILED_PRIMITIVE(net::wait_ready, error_code);
} // namespace impl

/// A socket of some protocol, open or closed.
/// Threads: distinct objects may be used on distinct threads; one object by one thread at a time.
template <class Protocol, class Executor> class basic_socket : public socket_base,
                                                               public impl::net::io_object<Executor> {
    using object = impl::net::io_object<Executor>;

public:
    using protocol_type = Protocol;
    using endpoint_type = typename Protocol::endpoint;
    using native_handle_type = int;
    using lowest_layer_type = basic_socket;
    template <class E> struct rebind_executor {
        using other = basic_socket<Protocol, E>;
    };

    lowest_layer_type& lowest_layer() noexcept { return *this; }
    lowest_layer_type const& lowest_layer() const noexcept { return *this; }

    void open(Protocol const& p = default_protocol()) {
        impl::base::throw_error(core_.open(p.family(), p.type(), p.protocol()), "open");
    }
    error_code open(Protocol const& p, error_code& ec) { return ec = core_.open(p.family(), p.type(), p.protocol()); }

    /// Takes over an open descriptor of the protocol.
    void assign(Protocol const& p, native_handle_type fd) {
        error_code ec;
        assign(p, fd, ec);
        impl::base::throw_error(ec, "assign");
    }
    error_code assign(Protocol const& p, native_handle_type fd, error_code& ec) noexcept {
        ec = core_.adopt(fd);
        if (!ec)
            core_.family = p.family();
        return ec;
    }

    void bind(endpoint_type const& e) {
        if (auto const ec = core_.bind(e.data(), e.size()))
            impl::net::throw_error_at(ec, "bind to", e);
    }
    error_code bind(endpoint_type const& e, error_code& ec) noexcept { return ec = core_.bind(e.data(), e.size()); }

    /// Opens the socket if it is closed, and connects it. Of datagrams this only names the peer, says nothing about
    /// whether anybody is there, and may be repeated with another one.
    /// Completes  (error_code ec)
    /// Errors     error::connection_refused  nobody listens there; also when a stream would connect to itself
    ///            error::operation_aborted   cancelled
    ///            what connect(2) reports
    /// Cancel     terminal, partial, total; close the socket afterwards
    /// Immediate  never
    /// Lifetime   *this outlives the completion; `peer` is copied
    /// Threads    one object by one thread at a time
    /// Allocates  nothing awaited for IP; with other addresses, as for handlers, one counted block
    /// Source     man 2 connect
    template <class Token = default_completion_token_t<Executor>>
    decltype(auto) async_connect(endpoint_type const& peer, Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::net::connect_to<endpoint_type>>) {
        return impl::operation::initiate_on<void(error_code)>(*this, std::forward<Token>(token),
                                                              impl::net::connect_to<endpoint_type>(core_, peer));
    }
    void connect(endpoint_type const& peer) {
        error_code ec;
        connect(peer, ec);
        if (ec)
            impl::net::throw_error_at(ec, "connect to", peer);
    }
    error_code connect(endpoint_type const& peer, error_code& ec) {
        return ec = std::get<0>(impl::net::performed(impl::net::connect_to<endpoint_type>(core_, peer)));
    }

    void shutdown(shutdown_type what) {
        if (auto const ec = core_.shutdown(what)) [[unlikely]]
            throw_error_here(ec, "shutdown");
    }
    error_code shutdown(shutdown_type what, error_code& ec) noexcept { return ec = core_.shutdown(what); }

    /// Options are the types of socket_base and of the protocols, or a program's own. Such a type has level(p),
    /// name(p), data(p), size(p), and for get_option() resize(p, n); p is the protocol.
    template <class Option> void set_option(Option const& option) {
        error_code ec;
        set_option(option, ec);
        if (ec)
            throw_about_option(ec, "set_option", option);
    }
    template <class Option> error_code set_option(Option const& option, error_code& ec) {
        auto const p = protocol();
        ec = core_.set_option(option.level(p), option.name(p), option.data(p), option.size(p));
        return ec;
    }
    template <class Option> void get_option(Option& option) const {
        error_code ec;
        get_option(option, ec);
        if (ec)
            throw_about_option(ec, "get_option", option);
    }
    template <class Option> error_code get_option(Option& option, error_code& ec) const {
        auto const p = protocol();
        auto size = option.size(p);
        ec = core_.get_option(option.level(p), option.name(p), option.data(p), size);
        if (!ec)
            option.resize(p, size);
        return ec;
    }

    endpoint_type local_endpoint() const { return name(io::name_of::local, "local_endpoint"); }
    endpoint_type local_endpoint(error_code& ec) const { return name(io::name_of::local, ec); }
    endpoint_type remote_endpoint() const { return name(io::name_of::peer, "remote_endpoint"); }
    endpoint_type remote_endpoint(error_code& ec) const { return name(io::name_of::peer, ec); }

    /// How many bytes can be read without waiting.
    std::size_t available() const {
        error_code ec;
        auto const n = core_.available(ec);
        if (ec) [[unlikely]]
            throw_error_here(ec, "available");
        return n;
    }
    std::size_t available(error_code& ec) const noexcept { return core_.available(ec); }
    /// Whether the next read begins at the mark of out-of-band data.
    bool at_mark() const {
        error_code ec;
        bool const is = core_.at_mark(ec);
        if (ec) [[unlikely]]
            throw_error_here(ec, "at_mark");
        return is;
    }
    bool at_mark(error_code& ec) const noexcept { return core_.at_mark(ec); }

    /// Waits until the socket is ready to read, to write, or has an error condition.
    /// Completes  (error_code ec)
    /// Errors     error::operation_aborted  cancelled
    /// Cancel     terminal, partial, total
    /// Immediate  may be ready without waiting; the handler still never runs before this returns
    /// Lifetime   *this outlives the completion
    /// Threads    one object by one thread at a time
    /// Allocates  nothing awaited
    /// Source     man 2 poll
    template <class Token = default_completion_token_t<Executor>>
    decltype(auto) async_wait(wait_type what, Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::net::wait_ready>) {
        return impl::operation::initiate_on<void(error_code)>(*this, std::forward<Token>(token),
                                                              impl::net::wait_ready(core_, impl::net::kind_of(what)));
    }
    void wait(wait_type what) {
        error_code ec;
        wait(what, ec);
        if (ec) [[unlikely]]
            throw_error_here(ec, "wait");
    }
    error_code wait(wait_type what, error_code& ec) {
        return ec = impl::net::wait_until_ready(core_, impl::net::kind_of(what));
    }

protected:
    using object::core_;
    using object::executor_;

    static Protocol default_protocol() { return endpoint_type().protocol(); }
    Protocol protocol() const { return impl::net::protocol_of<Protocol>(core_.family); }

    explicit basic_socket(Executor const& e) : object(e, default_protocol().family()) {}
    basic_socket(basic_socket&& other) noexcept = default;
    template <class P, class E> explicit basic_socket(basic_socket<P, E>&& other) noexcept
        : object(static_cast<impl::net::io_object<E>&&>(other)) {}
    basic_socket& operator=(basic_socket&& other) noexcept = default;
    ~basic_socket() = default;

    endpoint_type name(io::name_of which, error_code& ec) const {
        endpoint_type e;
        auto size = e.capacity();
        ec = core_.address(which, e.data(), size);
        if (ec)
            return endpoint_type();
        e.resize(size);
        return e;
    }
    template <class Option>
    [[noreturn]] FAIRLEAD_COLD void throw_about_option(error_code const& ec, char const* what, Option const& o) const {
        auto const p = protocol();
        impl::net::throw_about_option(ec, what, o.level(p), o.name(p));
    }
    /// Of an operation on a socket that has a name already, as far as that can be asked for.
    [[noreturn]] FAIRLEAD_COLD void throw_error_here(error_code const& ec, char const* what) const {
        impl::net::throw_failed(ec, what, io::kind::accept, core_);
    }
    endpoint_type name(io::name_of which, char const* what) const {
        error_code ec;
        auto e = name(which, ec);
        if (ec) [[unlikely]]
            throw_error_here(ec, what);
        return e;
    }
};

} // namespace fairlead
