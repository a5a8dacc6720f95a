// Datagram sockets: sending and receiving whole messages.
#pragma once

#include <fairlead/net/ip.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/socket.hpp>

namespace fairlead {
namespace impl::net {

static_assert(sizeof(io::datagram_op) == 96, "what the records below leave space for");

/// The base of the initiations below: a socket, and the way to its driver.
template <class Derived, class Record> struct datagram_primitive : operation::primitive<Derived> {
    using signature = stream_signature;
    using record = Record;
    static_assert(await_record::fits<Record>);

    socket_core const* socket;

    explicit datagram_primitive(socket_core const& s) noexcept : socket(&s) {}
    loop* home() const noexcept { return socket->engine; }
    bool is_ready(io::kind k, std::size_t n) const noexcept {
        return socket->engine->reactor().ready(socket->handle, k, n);
    }
    bool attempt(record& o) const noexcept { return socket->engine->reactor().try_now(o); }
    void submit(record& o) const noexcept { socket->engine->submit(o); }
    void perform(record& o) const noexcept { socket->engine->descriptors().perform(o, !socket->user_non_blocking); }
    void block(std::tuple<error_code, std::size_t>& v) const noexcept(operation::nothrow_performed<Derived>) {
        operation::settle_to_perform(static_cast<Derived const&>(*this));
        auto const& self = static_cast<Derived const&>(*this);
        record o;
        self.prepare(o);
        self.perform(o);
        v = Derived::take(o);
    }
};

/// Receives into one buffer. The system writes the sender's address straight into the caller's endpoint.
template <class Endpoint> struct sender_record : io::datagram_op {
    io_loop* engine; ///< The socket may be gone when somebody asks what has failed.
    Endpoint* sender;
    sender_record() noexcept {}

    void set_sender(io_loop* c, Endpoint& e) noexcept {
        engine = c;
        sender = &e;
        address = e.data();
        address_size = static_cast<std::uint32_t>(e.capacity());
    }
    std::tuple<error_code, std::size_t> values() noexcept {
        // A datagram that did not fit has a sender like any other.
        if (result.error == 0 || result.error == static_cast<int>(error::message_size))
            sender->resize(address_size < sender->capacity() ? std::size_t{address_size} : sender->capacity());
        return {operation::to_error_code(result.error), result.n};
    }
};

template <class Endpoint> struct receive_from : datagram_primitive<receive_from<Endpoint>, sender_record<Endpoint>> {
    using record = sender_record<Endpoint>;

    Endpoint* sender;
    void* data;
    std::size_t size;
    int flags;

    receive_from(socket_core const& s, mutable_buffer into, Endpoint& from, int f) noexcept
        : datagram_primitive<receive_from, record>(s),
          sender(&from),
          data(into.data()),
          size(into.size()),
          flags(f) {}
    bool ready() const noexcept { return this->is_ready(io::kind::receive_from, size); }
    void prepare(record& o) const noexcept {
        o.handle = this->socket->handle;
        o.kind = io::kind::receive_from;
        o.data = data;
        o.size = size;
        o.message_flags = flags;
        o.set_sender(this->socket->engine, *sender);
    }
    static std::tuple<error_code, std::size_t> take(record& o) noexcept { return o.values(); }
    static std::string describe() { return "receive_from"; }
    static std::string describe(record const& o) { return text_of_failed("receive_from", o.kind, *o.engine, o.handle); }
};
static_assert(sizeof(receive_from<ip::udp::endpoint>) <= async_op<stream_signature>::storage_size);

/// Receives into several buffers.
template <class Endpoint> struct receive_from_slices
    : datagram_primitive<receive_from_slices<Endpoint>, sender_record<Endpoint>>,
      with_slices<receive_from_slices<Endpoint>> {
    using record = sender_record<Endpoint>;

    Endpoint* sender;
    slice_list slices;
    int flags;

    template <class Buffers>
    receive_from_slices(socket_core const& s, Buffers const& into, Endpoint& from, int f) noexcept
        : datagram_primitive<receive_from_slices, record>(s),
          sender(&from),
          slices(into),
          flags(f) {}
    bool ready() const noexcept { return this->is_ready(io::kind::receive_from, slices.size()); }
    void prepare(record& o) const noexcept { set(o, slices.data()); }
    std::size_t extra_bytes() const noexcept { return slices.bytes(); }
    void prepare(record& o, void* extra) const noexcept {
        slices.copy_to(extra);
        set(o, extra);
    }
    static std::tuple<error_code, std::size_t> take(record& o) noexcept { return o.values(); }
    static std::string describe() { return "receive_from"; }
    static std::string describe(record const& o) { return text_of_failed("receive_from", o.kind, *o.engine, o.handle); }

private:
    void set(record& o, void* all) const noexcept {
        o.handle = this->socket->handle;
        o.kind = io::kind::receive_from;
        slices.set(o, all);
        o.message_flags = flags;
        o.set_sender(this->socket->engine, *sender);
    }
};

/// Sends one buffer to an address of the internet. Until the start, when it is copied into the record, the address of
/// version 4 lies here, and one of version 6 in a block.
struct receiver_record : io::datagram_op {
    alignas(8) unsigned char bytes[32];
    receiver_record() noexcept {}
};
struct send_to : datagram_primitive<send_to, receiver_record> {
    using plain_result = void;
    static constexpr std::size_t inside = 8; // family, port and address of a sockaddr_in; the rest of it is zero

    void const* data;
    std::size_t size;
    int flags;
    std::uint16_t address_size;
    mutable bool has_block = false;
    union {
        unsigned char v4[inside];
        mutable void const* v6; ///< that of the caller, or a block; null when there was no memory
    };

    template <class Protocol>
    send_to(socket_core const& s, const_buffer from, ip::basic_endpoint<Protocol> const& to, int f) noexcept
        : datagram_primitive(s),
          data(from.data()),
          size(from.size()),
          flags(f),
          address_size(static_cast<std::uint16_t>(to.size())) {
        if (is_v6())
            v6 = to.data();
        else
            std::memcpy(v4, to.data(), inside);
    }
    send_to(send_to&& other) noexcept
        : datagram_primitive(other),
          data(other.data),
          size(other.size),
          flags(other.flags),
          address_size(other.address_size),
          has_block(std::exchange(other.has_block, false)) {
        std::memcpy(v4, other.v4, inside); // or the address of the address
    }
    send_to& operator=(send_to&&) = delete;
    ~send_to() {
        if (has_block)
            exec::recycle_free(const_cast<void*>(v6));
    }
    /// Before the address outlives the call. Without memory the operation fails.
    template <class Way> void settle(Way) const noexcept {
        if (std::is_same_v<Way, operation::copies_from_handler> || !is_v6() || has_block || !v6)
            return; // A deferred one that is performed has its copy, or had no memory for it.
        void* const block = exec::recycle_allocate_or_null(address_size);
        if (block)
            std::memcpy(block, v6, address_size);
        v6 = block;
        has_block = block != nullptr;
    }
    bool is_v6() const noexcept { return address_size != ip_endpoint::size_v4; }

    bool ready() const noexcept { return is_ready(io::kind::send_to, size); }
    void prepare(record& o) const noexcept {
        o.handle = socket->handle;
        o.kind = io::kind::send_to;
        o.data = const_cast<void*>(data);
        o.size = size;
        o.message_flags = flags;
        o.address = o.bytes;
        o.address_size = address_size;
        if (!is_v6()) {
            std::memcpy(o.bytes, v4, inside);
            std::memset(o.bytes + inside, 0, ip_endpoint::size_v4 - inside);
        } else if (v6) {
            std::memcpy(o.bytes, v6, address_size);
        } else {
            o.address = nullptr; // Never to be sent: a connected socket would take that for its peer.
            o.result.error = static_cast<int>(error::no_memory);
        }
    }
    bool attempt(record& o) const noexcept { return !o.address || datagram_primitive::attempt(o); }
    void submit(record& o) const noexcept {
        if (o.address) [[likely]]
            datagram_primitive::submit(o);
        else
            socket->engine->post(o);
    }
    void perform(record& o) const noexcept {
        if (o.address) [[likely]]
            datagram_primitive::perform(o);
    }
    std::string describe() const {
        if (is_v6() && !v6)
            return "send_to";
        ip::udp::endpoint to;
        if (is_v6())
            std::memcpy(to.data(), v6, address_size);
        else
            std::memcpy(to.data(), v4, inside);
        return text_with("send_to", to);
    }
    static std::tuple<error_code, std::size_t> take(record& o) noexcept {
        return {operation::to_error_code(o.result.error), o.result.n};
    }
};
static_assert(sizeof(ip_endpoint) <= sizeof(receiver_record::bytes));
static_assert(sizeof(send_to) <= async_op<stream_signature>::storage_size);

/// Sends several buffers, or to an address that does not fit into a record.
template <class Endpoint> struct send_slices_to : datagram_primitive<send_slices_to<Endpoint>, io::datagram_op>,
                                                  with_slices<send_slices_to<Endpoint>> {
    using plain_result = void;
    using record = io::datagram_op;

    slice_list slices;
    int flags;
    mutable Endpoint receiver;

    template <class Buffers>
    send_slices_to(socket_core const& s, Buffers const& from, Endpoint const& to, int f) noexcept
        : datagram_primitive<send_slices_to, record>(s),
          slices(from),
          flags(f),
          receiver(to) {}
    bool ready() const noexcept { return this->is_ready(io::kind::send_to, slices.size()); }
    void prepare(record& o) const noexcept { set(o, slices.data(), receiver.data()); }
    std::size_t extra_bytes() const noexcept { return slices.bytes() + receiver.size(); }
    void prepare(record& o, void* extra) const noexcept {
        void* const address = slices.copy_to(extra);
        std::memcpy(address, receiver.data(), receiver.size());
        set(o, extra, address);
    }
    static std::tuple<error_code, std::size_t> take(record& o) noexcept {
        return {operation::to_error_code(o.result.error), o.result.n};
    }
    std::string describe() const { return text_with("send_to", receiver); }

private:
    void set(record& o, void* all, void* address) const noexcept {
        o.handle = this->socket->handle;
        o.kind = io::kind::send_to;
        slices.set(o, all);
        o.message_flags = flags;
        o.address = address;
        o.address_size = static_cast<std::uint32_t>(receiver.size());
    }
};

template <class Buffers, class Endpoint>
auto make_receive_from(socket_core const& s, Buffers const& into, Endpoint& from, int flags) noexcept {
    if constexpr (base::waits_only<Buffers>) {
        from = Endpoint(); // Nobody has sent what is not received.
        return make_transfer(s, io::kind::receive_from, into, flags);
    } else if constexpr (base::is_single_buffer<Buffers>) {
        return receive_from<Endpoint>(s, base::single_buffer<mutable_buffer>(into), from, flags);
    } else {
        return receive_from_slices<Endpoint>(s, into, from, flags);
    }
}

template <class Endpoint> inline constexpr bool is_ip_endpoint = false;
template <class Protocol> inline constexpr bool is_ip_endpoint<ip::basic_endpoint<Protocol>> = true;
template <class Buffers, class Endpoint> inline constexpr bool sends_without_block =
    base::is_single_buffer<Buffers> && is_ip_endpoint<Endpoint>;
template <class Buffers, class Endpoint>
auto make_send_to(socket_core const& s, Buffers const& from, Endpoint const& to, int flags) noexcept {
    if constexpr (base::waits_only<Buffers>)
        return make_transfer(s, io::kind::send_to, from, flags);
    else if constexpr (sends_without_block<Buffers, Endpoint>)
        return send_to(s, base::single_buffer<const_buffer>(from), to, flags);
    else
        return send_slices_to<Endpoint>(s, from, to, flags);
}

} // namespace impl::net

/// Sends and receives datagrams, UDP or UNIX. A datagram is sent whole or not at all, and received by one operation.
/// A connected socket has one peer, and hears nobody else.
/// Threads: one receiver plus one sender at a time; otherwise unsynchronised. Several pending receives (sends) are
/// served in the order in which they were started.
template <class Protocol, class Executor> class basic_datagram_socket : public basic_socket<Protocol, Executor> {
    using base = basic_socket<Protocol, Executor>;
    using base::core_;

public:
    using endpoint_type = typename base::endpoint_type;
    using message_flags = socket_base::message_flags;
    using base::async_receive, base::async_send;
    template <class E> struct rebind_executor {
        using other = basic_datagram_socket<Protocol, E>;
    };

    explicit basic_datagram_socket(Executor const& e) : base(e) {}
    template <execution_context_type Context> explicit basic_datagram_socket(Context& c)
        : base(Executor(c.get_executor())) {}
    basic_datagram_socket(Executor const& e, Protocol const& p) : base(e) { this->open(p); }
    template <execution_context_type Context> basic_datagram_socket(Context& c, Protocol const& p)
        : base(Executor(c.get_executor())) {
        this->open(p);
    }
    /// Opens and binds.
    basic_datagram_socket(Executor const& e, endpoint_type const& local) : base(e) { open_and_bind(local); }
    template <execution_context_type Context> basic_datagram_socket(Context& c, endpoint_type const& local)
        : base(Executor(c.get_executor())) {
        open_and_bind(local);
    }
    basic_datagram_socket(Executor const& e, Protocol const& p, int fd) : base(e) { this->assign(p, fd); }
    template <execution_context_type Context> basic_datagram_socket(Context& c, Protocol const& p, int fd)
        : base(Executor(c.get_executor())) {
        this->assign(p, fd);
    }
    basic_datagram_socket(basic_datagram_socket&&) noexcept = default;
    basic_datagram_socket& operator=(basic_datagram_socket&&) noexcept = default;
    /// Takes over one whose protocol and executor convert to these.
    template <class P, class E>
        requires impl::net::takes_over<P, E, Protocol, Executor>
    basic_datagram_socket(basic_datagram_socket<P, E>&& other) : base(impl::net::checked<Protocol>(std::move(other))) {}
    template <class P, class E>
        requires impl::net::takes_over<P, E, Protocol, Executor>
    basic_datagram_socket& operator=(basic_datagram_socket<P, E>&& other) {
        return *this = basic_datagram_socket(std::move(other));
    }
    ~basic_datagram_socket() = default;

    /// Receives a datagram, and tells who sent it.
    /// Completes  (error_code ec, std::size_t n); 0 bytes without an error are a datagram of no bytes, never an end
    /// Errors     error::message_size         the datagram did not fit: n bytes of it are there, the rest is lost, and
    ///                                        `sender` is set. Asio on Linux cuts it off and says nothing
    ///            error::connection_refused   connected: an earlier datagram found nobody at the peer's port; this
    ///                                        socket is well
    ///            error::operation_aborted    cancelled; no datagram was taken
    /// Cancel     terminal, partial, total
    /// Immediate  may be ready without waiting; the handler still never runs before this returns
    /// Lifetime   *this, `sender` and the memory behind `into` outlive the completion. Without a datagram `sender` says
    ///            nothing; a UNIX sender that is not bound has no name
    /// Threads    one receiver plus one sender; otherwise unsynchronised
    /// Allocates  nothing awaited with one buffer; a counted block for several
    /// Source     man 2 recvmsg; Networking TS [socket.dgram.op]
    template <mutable_buffer_sequence Buffers, class Token = default_completion_token_t<Executor>>
        requires(!std::convertible_to<Token, message_flags>)
    decltype(auto) async_receive_from(Buffers const& into, endpoint_type& sender,
                                      Token&& token = {}) noexcept(nothrow_receive_from<Token, Buffers>) {
        return async_receive_from(into, sender, 0, std::forward<Token>(token));
    }
    /// The same operation, with flags.
    template <mutable_buffer_sequence Buffers, class Token = default_completion_token_t<Executor>>
    decltype(auto) async_receive_from(Buffers const& into, endpoint_type& sender, message_flags flags,
                                      Token&& token = {}) noexcept(nothrow_receive_from<Token, Buffers>) {
        return impl::operation::initiate_on<void(error_code, std::size_t)>(
            *this, std::forward<Token>(token), impl::net::make_receive_from(core_, into, sender, flags));
    }

    /// As async_receive_from, without asking who sent it: for connected sockets.
    /// Allocates  nothing awaited with one buffer; with several, as for handlers, one counted block
    template <mutable_buffer_sequence Buffers, class Token = default_completion_token_t<Executor>>
        requires(!std::convertible_to<Token, message_flags>)
    decltype(auto) async_receive(Buffers const& into, Token&& token = {}) noexcept(nothrow<Token, Buffers>) {
        return transfer<Token>(io::kind::receive, into, 0, token);
    }
    template <mutable_buffer_sequence Buffers, class Token = default_completion_token_t<Executor>> decltype(auto)
    async_receive(Buffers const& into, message_flags flags, Token&& token = {}) noexcept(nothrow<Token, Buffers>) {
        return transfer<Token>(io::kind::receive, into, flags, token);
    }

    /// Sends the bytes of all buffers as one datagram, which may be empty. A socket that is not bound gets a port.
    /// Completes  (error_code ec, std::size_t n); n is the size of `from`, or 0
    /// Errors     error::message_size         no datagram can be so large, or have more than 1,024 buffers
    ///            error::connection_refused   connected: an earlier datagram found nobody at the peer's port, and this
    ///                                        one was not sent. UNIX: the receiver is gone
    ///            error::access_denied        to a broadcast address without the option socket_base::broadcast
    ///            error::operation_aborted    cancelled; nothing was sent
    ///            what else sendto(2) reports
    /// Cancel     terminal, partial, total
    /// Immediate  may be ready without waiting; the handler still never runs before this returns
    /// Lifetime   *this and the memory behind `from` outlive the completion; `receiver` is copied
    /// Threads    one receiver plus one sender; otherwise unsynchronised
    /// Allocates  nothing awaited with one buffer to an address of IPv4. One of IPv6 takes a counted block until the
    ///            start. UNIX addresses and several buffers take one until the completion
    /// Source     man 2 sendto; Networking TS [socket.dgram.op]
    template <const_buffer_sequence Buffers, class Token = default_completion_token_t<Executor>>
        requires(!std::convertible_to<Token, message_flags>)
    decltype(auto) async_send_to(Buffers const& from, endpoint_type const& receiver,
                                 Token&& token = {}) noexcept(nothrow_send_to<Token, Buffers>) {
        return async_send_to(from, receiver, 0, std::forward<Token>(token));
    }
    /// The same operation, with flags.
    template <const_buffer_sequence Buffers, class Token = default_completion_token_t<Executor>>
    decltype(auto) async_send_to(Buffers const& from, endpoint_type const& receiver, message_flags flags,
                                 Token&& token = {}) noexcept(nothrow_send_to<Token, Buffers>) {
        return impl::operation::initiate_on<void(error_code, std::size_t)>(
            *this, std::forward<Token>(token), impl::net::make_send_to(core_, from, receiver, flags));
    }

    /// As async_send_to, to the peer of a connected socket.
    /// Errors     also std::errc::destination_address_required (UDP), error::not_connected (UNIX)  there is no peer
    /// Allocates  nothing awaited with one buffer; with several, as for handlers, one counted block
    template <const_buffer_sequence Buffers, class Token = default_completion_token_t<Executor>>
        requires(!std::convertible_to<Token, message_flags>)
    decltype(auto) async_send(Buffers const& from, Token&& token = {}) noexcept(nothrow<Token, Buffers>) {
        return transfer<Token>(io::kind::send, from, 0, token);
    }
    template <const_buffer_sequence Buffers, class Token = default_completion_token_t<Executor>> decltype(auto)
    async_send(Buffers const& from, message_flags flags, Token&& token = {}) noexcept(nothrow<Token, Buffers>) {
        return transfer<Token>(io::kind::send, from, flags, token);
    }

    // Sending and receiving in the calling thread. With non_blocking() they fail with would_block instead of waiting.

    template <mutable_buffer_sequence Buffers>
    std::size_t receive_from(Buffers const& into, endpoint_type& sender, message_flags flags = 0) {
        return perform_here("receive_from", io::kind::receive_from,
                            impl::net::make_receive_from(core_, into, sender, flags));
    }
    template <mutable_buffer_sequence Buffers>
    std::size_t receive_from(Buffers const& into, endpoint_type& sender, error_code& ec) {
        return perform(ec, impl::net::make_receive_from(core_, into, sender, 0));
    }
    template <mutable_buffer_sequence Buffers>
    std::size_t receive_from(Buffers const& into, endpoint_type& sender, message_flags flags, error_code& ec) {
        return perform(ec, impl::net::make_receive_from(core_, into, sender, flags));
    }
    template <mutable_buffer_sequence Buffers> std::size_t receive(Buffers const& into, message_flags flags = 0) {
        return perform_here("receive", io::kind::receive,
                            impl::net::make_transfer(core_, io::kind::receive, into, flags));
    }
    template <mutable_buffer_sequence Buffers> std::size_t receive(Buffers const& into, error_code& ec) {
        return perform(ec, impl::net::make_transfer(core_, io::kind::receive, into));
    }
    template <mutable_buffer_sequence Buffers>
    std::size_t receive(Buffers const& into, message_flags flags, error_code& ec) {
        return perform(ec, impl::net::make_transfer(core_, io::kind::receive, into, flags));
    }
    template <const_buffer_sequence Buffers>
    std::size_t send_to(Buffers const& from, endpoint_type const& receiver, message_flags flags = 0) {
        return perform(impl::net::make_send_to(core_, from, receiver, flags));
    }
    template <const_buffer_sequence Buffers>
    std::size_t send_to(Buffers const& from, endpoint_type const& receiver, error_code& ec) {
        return perform(ec, impl::net::make_send_to(core_, from, receiver, 0));
    }
    template <const_buffer_sequence Buffers>
    std::size_t send_to(Buffers const& from, endpoint_type const& receiver, message_flags flags, error_code& ec) {
        return perform(ec, impl::net::make_send_to(core_, from, receiver, flags));
    }
    template <const_buffer_sequence Buffers> std::size_t send(Buffers const& from, message_flags flags = 0) {
        return perform_here("send", io::kind::send, impl::net::make_transfer(core_, io::kind::send, from, flags));
    }
    template <const_buffer_sequence Buffers> std::size_t send(Buffers const& from, error_code& ec) {
        return perform(ec, impl::net::make_transfer(core_, io::kind::send, from));
    }
    template <const_buffer_sequence Buffers>
    std::size_t send(Buffers const& from, message_flags flags, error_code& ec) {
        return perform(ec, impl::net::make_transfer(core_, io::kind::send, from, flags));
    }

private:
    template <class Token, class Buffers> static constexpr bool nothrow = impl::net::nothrow_transfer<Token, Buffers>;
    template <class Token, class Buffers> static constexpr bool nothrow_receive_from =
        impl::operation::nothrow_token<std::decay_t<Token>, impl::net::receive_from<endpoint_type>>;
    template <class Token, class Buffers> static constexpr bool nothrow_send_to =
        impl::operation::nothrow_token<std::decay_t<Token>,
                                       decltype(impl::net::make_send_to(std::declval<impl::net::socket_core const&>(),
                                                                        std::declval<Buffers const&>(),
                                                                        std::declval<endpoint_type const&>(), 0))>;

    template <class Token, class Buffers>
    decltype(auto) transfer(io::kind k, Buffers const& buffers, message_flags flags,
                            std::remove_reference_t<Token>& token) noexcept(nothrow<Token, Buffers>) {
        return impl::operation::initiate_on<void(error_code, std::size_t)>(
            *this, std::forward<Token>(token), impl::net::make_transfer(core_, k, buffers, flags));
    }
    template <class Init> static std::size_t perform(error_code& ec, Init const& init) {
        return impl::net::perform<std::size_t>(ec, init);
    }
    /// Its description in an error names the receiver.
    template <class Init> static std::size_t perform(Init const& init) {
        error_code ec;
        auto const n = perform(ec, init);
        if (ec) [[unlikely]]
            impl::base::throw_error_now(ec, init.describe().c_str());
        return n;
    }
    template <class Init> std::size_t perform_here(char const* what, io::kind k, Init const& init) {
        error_code ec;
        auto const n = perform(ec, init);
        if (ec) [[unlikely]]
            impl::net::throw_failed(ec, what, k, core_);
        return n;
    }
    void open_and_bind(endpoint_type const& local) {
        this->open(local.protocol());
        this->bind(local);
    }
};

namespace local {

/// Makes two open sockets connected to each other.
template <class Protocol, class E1, class E2> error_code
connect_pair(basic_datagram_socket<Protocol, E1>& a, basic_datagram_socket<Protocol, E2>& b, error_code& ec) {
    auto const p = typename Protocol::endpoint().protocol();
    return ec = impl::net::connect_pair(a.core(), b.core(), p.family(), p.type(), p.protocol());
}
template <class Protocol, class E1, class E2>
void connect_pair(basic_datagram_socket<Protocol, E1>& a, basic_datagram_socket<Protocol, E2>& b) {
    error_code ec;
    connect_pair(a, b, ec);
    impl::base::throw_error(ec, "connect_pair");
}

} // namespace local
} // namespace fairlead
