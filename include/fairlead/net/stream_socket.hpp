// Stream sockets: reading, writing and connecting.
#pragma once

#include <fairlead/operation/initiate_on.hpp> // First: its refusals are then shown with few lines about headers.

#include <fairlead/net/ip.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/socket.hpp>

namespace fairlead {
namespace impl::net {

using connect_tcp = connect_to<ip::tcp::endpoint>;

} // namespace impl::net

namespace impl {
FAIRLEAD_COMPILED_PRIMITIVE(net::connect_tcp, error_code);
}

/// A connected stream of bytes, TCP or UNIX.
/// Threads: one reader plus one writer at a time; otherwise unsynchronised. Several pending reads (writes) are served
/// in the order in which they were started.
template <class Protocol, class Executor> class basic_stream_socket : public basic_socket<Protocol, Executor> {
    using base = basic_socket<Protocol, Executor>;
    using base::core_;

public:
    using endpoint_type = typename base::endpoint_type;
    using message_flags = socket_base::message_flags;
    using base::async_read_some, base::async_receive, base::async_write_some, base::async_send;
    template <class E> struct rebind_executor {
        using other = basic_stream_socket<Protocol, E>;
    };

    explicit basic_stream_socket(Executor const& e) : base(e) {}
    template <execution_context_type Context> explicit basic_stream_socket(Context& c)
        : base(Executor(c.get_executor())) {}
    basic_stream_socket(Executor const& e, Protocol const& p) : base(e) { this->open(p); }
    template <execution_context_type Context> basic_stream_socket(Context& c, Protocol const& p)
        : base(Executor(c.get_executor())) {
        this->open(p);
    }
    basic_stream_socket(Executor const& e, endpoint_type const& local) : base(e) { open_and_bind(local); }
    template <execution_context_type Context> basic_stream_socket(Context& c, endpoint_type const& local)
        : base(Executor(c.get_executor())) {
        open_and_bind(local);
    }
    basic_stream_socket(Executor const& e, Protocol const& p, int fd) : base(e) { this->assign(p, fd); }
    template <execution_context_type Context> basic_stream_socket(Context& c, Protocol const& p, int fd)
        : base(Executor(c.get_executor())) {
        this->assign(p, fd);
    }
    basic_stream_socket(basic_stream_socket&&) noexcept = default;
    basic_stream_socket& operator=(basic_stream_socket&&) noexcept = default;
    /// Takes over one whose protocol and executor convert to these.
    template <class P, class E>
        requires impl::net::takes_over<P, E, Protocol, Executor>
    basic_stream_socket(basic_stream_socket<P, E>&& other) : base(impl::net::checked<Protocol>(std::move(other))) {}
    template <class P, class E>
        requires impl::net::takes_over<P, E, Protocol, Executor>
    basic_stream_socket& operator=(basic_stream_socket<P, E>&& other) {
        return *this = basic_stream_socket(std::move(other));
    }
    ~basic_stream_socket() = default;

    /// Reads at least one byte into `into`.
    /// Completes  (error_code ec, std::size_t n)
    /// Errors     error::eof               the peer finished sending; everything before it was delivered
    ///            error::operation_aborted cancelled; nothing was read
    ///            error::connection_reset  the connection broke; what it had received may be lost
    /// Cancel     terminal, partial, total
    /// Immediate  may be ready without waiting; the handler still never runs before this returns
    /// Lifetime   *this and the memory behind `into` outlive the completion
    /// Threads    one reader plus one writer; otherwise unsynchronised
    /// Allocates  nothing awaited with one buffer; with several, as for handlers, one counted block
    /// Source     man 2 recv; Networking TS [socket.stream.ops]
    template <mutable_buffer_sequence Buffers, class Token = default_completion_token_t<Executor>> decltype(auto)
    async_read_some(Buffers const& into, Token&& token = {}) noexcept(impl::net::nothrow_transfer<Token, Buffers>) {
        return impl::operation::initiate_on<void(error_code, std::size_t)>(
            *this, std::forward<Token>(token), impl::net::make_transfer(core_, io::kind::receive, into, 0));
    }
    /// As async_read_some, with flags.
    template <mutable_buffer_sequence Buffers, class Token = default_completion_token_t<Executor>>
        requires(!std::convertible_to<Token, message_flags>)
    decltype(auto) async_receive(Buffers const& into,
                                 Token&& token = {}) noexcept(impl::net::nothrow_transfer<Token, Buffers>) {
        return impl::operation::initiate_on<void(error_code, std::size_t)>(
            *this, std::forward<Token>(token), impl::net::make_transfer(core_, io::kind::receive, into, 0));
    }
    template <mutable_buffer_sequence Buffers, class Token = default_completion_token_t<Executor>>
    decltype(auto) async_receive(Buffers const& into, message_flags flags,
                                 Token&& token = {}) noexcept(impl::net::nothrow_transfer<Token, Buffers>) {
        return impl::operation::initiate_on<void(error_code, std::size_t)>(
            *this, std::forward<Token>(token), impl::net::make_transfer(core_, io::kind::receive, into, flags));
    }

    /// Writes at least one byte of `from`.
    /// Completes  (error_code ec, std::size_t n)
    /// Errors     error::broken_pipe, error::connection_reset  the peer is gone; SIGPIPE is never raised
    ///            error::operation_aborted                     cancelled; nothing was written
    /// Cancel     terminal, partial, total
    /// Immediate  may be ready without waiting; the handler still never runs before this returns
    /// Lifetime   *this and the memory behind `from` outlive the completion
    /// Threads    one reader plus one writer; otherwise unsynchronised
    /// Allocates  nothing awaited with one buffer; with several, as for handlers, one counted block
    /// Source     man 2 send; Networking TS [socket.stream.ops]
    template <const_buffer_sequence Buffers, class Token = default_completion_token_t<Executor>> decltype(auto)
    async_write_some(Buffers const& from, Token&& token = {}) noexcept(impl::net::nothrow_transfer<Token, Buffers>) {
        return impl::operation::initiate_on<void(error_code, std::size_t)>(
            *this, std::forward<Token>(token), impl::net::make_transfer(core_, io::kind::send, from, 0));
    }
    /// As async_write_some, with flags.
    template <const_buffer_sequence Buffers, class Token = default_completion_token_t<Executor>>
        requires(!std::convertible_to<Token, message_flags>)
    decltype(auto) async_send(Buffers const& from,
                              Token&& token = {}) noexcept(impl::net::nothrow_transfer<Token, Buffers>) {
        return impl::operation::initiate_on<void(error_code, std::size_t)>(
            *this, std::forward<Token>(token), impl::net::make_transfer(core_, io::kind::send, from, 0));
    }
    template <const_buffer_sequence Buffers, class Token = default_completion_token_t<Executor>>
    decltype(auto) async_send(Buffers const& from, message_flags flags,
                              Token&& token = {}) noexcept(impl::net::nothrow_transfer<Token, Buffers>) {
        return impl::operation::initiate_on<void(error_code, std::size_t)>(
            *this, std::forward<Token>(token), impl::net::make_transfer(core_, io::kind::send, from, flags));
    }

    template <mutable_buffer_sequence Buffers> std::size_t read_some(Buffers const& into) {
        return impl::net::perform_transfer("read_some", core_, io::kind::receive, into, 0);
    }
    template <mutable_buffer_sequence Buffers> std::size_t read_some(Buffers const& into, error_code& ec) {
        return impl::net::perform_transfer(ec, core_, io::kind::receive, into, 0);
    }
    template <const_buffer_sequence Buffers> std::size_t write_some(Buffers const& from) {
        return impl::net::perform_transfer("write_some", core_, io::kind::send, from, 0);
    }
    template <const_buffer_sequence Buffers> std::size_t write_some(Buffers const& from, error_code& ec) {
        return impl::net::perform_transfer(ec, core_, io::kind::send, from, 0);
    }
    template <mutable_buffer_sequence Buffers> std::size_t receive(Buffers const& into, message_flags flags = 0) {
        return impl::net::perform_transfer("receive", core_, io::kind::receive, into, flags);
    }
    template <mutable_buffer_sequence Buffers>
    std::size_t receive(Buffers const& into, message_flags flags, error_code& ec) {
        return impl::net::perform_transfer(ec, core_, io::kind::receive, into, flags);
    }
    template <const_buffer_sequence Buffers> std::size_t send(Buffers const& from, message_flags flags = 0) {
        return impl::net::perform_transfer("send", core_, io::kind::send, from, flags);
    }
    template <const_buffer_sequence Buffers>
    std::size_t send(Buffers const& from, message_flags flags, error_code& ec) {
        return impl::net::perform_transfer(ec, core_, io::kind::send, from, flags);
    }

    /// For async_read and async_write: the whole transfer as one op, which the driver carries on where it stopped.
    template <mutable_buffer_sequence Buffers> auto read_all_initiation(Buffers const& into) noexcept {
        return impl::net::make_transfer(core_, io::kind::receive_all, into);
    }
    template <const_buffer_sequence Buffers> auto write_all_initiation(Buffers const& from) noexcept {
        return impl::net::make_transfer(core_, io::kind::send_all, from);
    }

private:
    void open_and_bind(endpoint_type const& local) {
        this->open(local.protocol());
        this->bind(local);
    }
};

namespace local {

/// Makes two open sockets connected to each other.
template <class Protocol, class E1, class E2>
error_code connect_pair(basic_stream_socket<Protocol, E1>& a, basic_stream_socket<Protocol, E2>& b, error_code& ec) {
    auto const p = typename Protocol::endpoint().protocol();
    return ec = impl::net::connect_pair(a.core(), b.core(), p.family(), p.type(), p.protocol());
}
template <class Protocol, class E1, class E2>
void connect_pair(basic_stream_socket<Protocol, E1>& a, basic_stream_socket<Protocol, E2>& b) {
    error_code ec;
    connect_pair(a, b, ec);
    impl::base::throw_error(ec, "connect_pair");
}

} // namespace local
} // namespace fairlead
