// Sockets of packets in order: a connection that keeps the limits of what was sent.
#pragma once

#include <fairlead/net/local.hpp>
#include <fairlead/net/socket.hpp>

namespace fairlead {
namespace detail {

/// A transfer that also tells the flags of what it received.
template <class Inner> struct flagged_transfer : impl::operation::primitive<flagged_transfer<Inner>> {
    using signature = impl::net::stream_signature;
    struct record : Inner::record {
        int* out;
        record() noexcept {}
    };
    static_assert(await_record::fits<record>);

    Inner inner;
    int* out;

    flagged_transfer(Inner&& i, int& o) noexcept : inner(std::move(i)), out(&o) {}
    loop* home() const noexcept { return inner.home(); }
    bool ready() const noexcept { return inner.ready(); }
    void prepare(record& o) const noexcept {
        inner.prepare(o);
        o.out = out;
    }
    std::size_t extra_bytes() const noexcept
        requires impl::operation::needs_extra_bytes<Inner>
    {
        return inner.extra_bytes();
    }
    void prepare(record& o, void* extra) const noexcept
        requires impl::operation::needs_extra_bytes<Inner>
    {
        inner.prepare(o, extra);
        o.out = out;
    }
    bool attempt(record& o) const noexcept { return inner.attempt(o); }
    void submit(record& o) const noexcept { inner.submit(o); }
    static constexpr bool drops = Inner::drops;
    static void drop(record& o) noexcept { Inner::drop(o); }
    static std::tuple<error_code, std::size_t> take(record& o) noexcept {
        *o.out = static_cast<int>(o.result.flags);
        return Inner::take(o);
    }
    template <class Way> void settle(Way way) const noexcept(!std::is_same_v<Way, impl::operation::copies_at_once>)
        requires requires(Inner const& i) { i.settle(way); }
    {
        inner.settle(way);
    }
    bool lacks_memory() const noexcept
        requires impl::operation::may_lack_memory<Inner>
    {
        return inner.lacks_memory();
    }
    void block(std::tuple<error_code, std::size_t>& v) const noexcept(impl::operation::nothrow_performed<Inner>) {
        impl::operation::settle_to_perform(inner);
        record o;
        prepare(o);
        inner.engine->descriptors().perform(o, inner.may_wait);
        v = take(o);
    }
};

} // namespace detail

/// Sends and receives packets over a connection: each arrives whole, once and in order.
/// Threads: one receiver plus one sender at a time; otherwise unsynchronised. Several pending receives (sends) are
/// served in the order in which they were started.
template <class Protocol, class Executor> class basic_seq_packet_socket : public basic_socket<Protocol, Executor> {
    using base = basic_socket<Protocol, Executor>;
    using base::core_;

public:
    using endpoint_type = typename base::endpoint_type;
    using message_flags = socket_base::message_flags;
    using base::async_receive, base::async_send;
    template <class E> struct rebind_executor {
        using other = basic_seq_packet_socket<Protocol, E>;
    };

    explicit basic_seq_packet_socket(Executor const& e) : base(e) {}
    template <execution_context_type Context> explicit basic_seq_packet_socket(Context& c)
        : base(Executor(c.get_executor())) {}
    basic_seq_packet_socket(Executor const& e, Protocol const& p) : base(e) { this->open(p); }
    template <execution_context_type Context> basic_seq_packet_socket(Context& c, Protocol const& p)
        : basic_seq_packet_socket(Executor(c.get_executor()), p) {}
    /// Opens and binds.
    basic_seq_packet_socket(Executor const& e, endpoint_type const& local) : base(e) {
        this->open(local.protocol());
        this->bind(local);
    }
    template <execution_context_type Context> basic_seq_packet_socket(Context& c, endpoint_type const& local)
        : basic_seq_packet_socket(Executor(c.get_executor()), local) {}
    basic_seq_packet_socket(Executor const& e, Protocol const& p, int fd) : base(e) { this->assign(p, fd); }
    template <execution_context_type Context> basic_seq_packet_socket(Context& c, Protocol const& p, int fd)
        : basic_seq_packet_socket(Executor(c.get_executor()), p, fd) {}
    basic_seq_packet_socket(basic_seq_packet_socket&&) noexcept = default;
    basic_seq_packet_socket& operator=(basic_seq_packet_socket&&) noexcept = default;
    /// Takes over one whose protocol and executor convert to these.
    template <class P, class E>
        requires impl::net::takes_over<P, E, Protocol, Executor>
    basic_seq_packet_socket(basic_seq_packet_socket<P, E>&& other)
        : base(impl::net::checked<Protocol>(std::move(other))) {}
    template <class P, class E>
        requires impl::net::takes_over<P, E, Protocol, Executor>
    basic_seq_packet_socket& operator=(basic_seq_packet_socket<P, E>&& other) {
        return *this = basic_seq_packet_socket(std::move(other));
    }
    ~basic_seq_packet_socket() = default;

    /// Sends the bytes of all buffers as one packet.
    /// Completes  (error_code ec, std::size_t n)
    /// Errors     error::broken_pipe, error::connection_reset  the peer is gone; SIGPIPE is never raised
    ///            error::message_size                          no packet can be so large
    ///            error::operation_aborted                     cancelled; nothing was sent
    /// Cancel     terminal, partial, total
    /// Immediate  may be ready without waiting; the handler still never runs before this returns
    /// Lifetime   *this and the memory behind `from` outlive the completion
    /// Threads    one receiver plus one sender; otherwise unsynchronised
    /// Allocates  nothing awaited with one buffer; with several, as for handlers, one counted block
    /// Source     man 2 sendmsg
    template <const_buffer_sequence Buffers, class Token = default_completion_token_t<Executor>>
    decltype(auto) async_send(Buffers const& from, message_flags flags,
                              Token&& token = {}) noexcept(impl::net::nothrow_transfer<Token, Buffers>) {
        return impl::operation::initiate_on<void(error_code, std::size_t)>(
            *this, std::forward<Token>(token), impl::net::make_transfer(core_, io::kind::send, from, flags));
    }
    /// Receives a packet; `out_flags` gets message_end_of_record and what else recvmsg(2) says. 0 bytes are a packet of
    /// none, or the end.
    /// Completes  (error_code ec, std::size_t n)
    /// Errors     error::message_size         the packet did not fit: n bytes of it are there, the rest is lost
    ///            error::connection_reset     the connection broke
    ///            error::operation_aborted    cancelled; nothing was taken
    /// Cancel     terminal, partial, total
    /// Immediate  may be ready without waiting; the handler still never runs before this returns
    /// Lifetime   *this, `out_flags` and the memory behind `into` outlive the completion
    /// Threads    one receiver plus one sender; otherwise unsynchronised
    /// Allocates  the operation, when it is deferred; awaited with more than two buffers a counted block
    /// Source     man 2 recvmsg
    template <mutable_buffer_sequence Buffers, class Token = default_completion_token_t<Executor>>
        requires(!std::convertible_to<Token, message_flags>)
    decltype(auto) async_receive(Buffers const& into, message_flags& out_flags,
                                 Token&& token = {}) noexcept(nothrow_receive<Token, Buffers>) {
        return async_receive(into, 0, out_flags, std::forward<Token>(token));
    }
    template <mutable_buffer_sequence Buffers, class Token = default_completion_token_t<Executor>>
    decltype(auto) async_receive(Buffers const& into, message_flags in_flags, message_flags& out_flags,
                                 Token&& token = {}) noexcept(nothrow_receive<Token, Buffers>) {
        return impl::operation::initiate_on<void(error_code, std::size_t)>(*this, std::forward<Token>(token),
                                                                           receiving(into, in_flags, out_flags));
    }

    template <const_buffer_sequence Buffers> std::size_t send(Buffers const& from, message_flags flags) {
        return impl::net::perform_transfer("send", core_, io::kind::send, from, flags);
    }
    template <const_buffer_sequence Buffers>
    std::size_t send(Buffers const& from, message_flags flags, error_code& ec) {
        return impl::net::perform_transfer(ec, core_, io::kind::send, from, flags);
    }
    template <mutable_buffer_sequence Buffers> std::size_t receive(Buffers const& into, message_flags& out_flags) {
        return receive(into, 0, out_flags);
    }
    template <mutable_buffer_sequence Buffers>
    std::size_t receive(Buffers const& into, message_flags in_flags, message_flags& out_flags) {
        error_code ec;
        auto const n = receive(into, in_flags, out_flags, ec);
        if (ec) [[unlikely]]
            impl::net::throw_failed(ec, "receive", io::kind::receive, core_);
        return n;
    }
    template <mutable_buffer_sequence Buffers>
    std::size_t receive(Buffers const& into, message_flags in_flags, message_flags& out_flags, error_code& ec) {
        std::tuple<error_code, std::size_t> v;
        receiving(into, in_flags, out_flags).block(v);
        ec = std::get<0>(v);
        return std::get<1>(v);
    }

private:
    template <class Token, class Buffers> static constexpr bool nothrow_receive =
        impl::net::nothrow_transfer<Token, Buffers>;
    template <class Buffers>
    auto receiving(Buffers const& into, message_flags in_flags, message_flags& out_flags) noexcept {
        auto inner = impl::net::make_transfer(core_, io::kind::receive, into, in_flags);
        if constexpr (impl::base::waits_only<Buffers>) {
            out_flags = 0; // There is no packet yet that could have any.
            return inner;
        } else {
            return detail::flagged_transfer<decltype(inner)>(std::move(inner), out_flags);
        }
    }
};

namespace local {

/// Makes two open sockets connected to each other.
template <class Protocol, class E1, class E2> error_code
connect_pair(basic_seq_packet_socket<Protocol, E1>& a, basic_seq_packet_socket<Protocol, E2>& b, error_code& ec) {
    auto const p = typename Protocol::endpoint().protocol();
    return ec = impl::net::connect_pair(a.core(), b.core(), p.family(), p.type(), p.protocol());
}
template <class Protocol, class E1, class E2>
void connect_pair(basic_seq_packet_socket<Protocol, E1>& a, basic_seq_packet_socket<Protocol, E2>& b) {
    error_code ec;
    connect_pair(a, b, ec);
    impl::base::throw_error(ec, "connect_pair");
}

} // namespace local
} // namespace fairlead
