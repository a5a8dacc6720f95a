// A TLS stream over a stream of bytes.
#pragma once

#include <fairlead/tls/context.hpp>
#include <fairlead/tls/operations.hpp>

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace fairlead::ssl {
namespace impl {

template <class Stream> below_ref make_below(Stream& s) {
    if constexpr (fairlead::impl::net::has_bytes<Stream>)
        return below_ref::of(s.bytes());
    else if constexpr (fairlead::impl::net::stream_socket_type<Stream>)
        return below_ref::of(s.core());
    else
        return below_ref::made(new fairlead::impl::net::handled_stream<Stream>(s));
}
template <class Stream> void* place_of(Stream& s) noexcept {
    if constexpr (fairlead::impl::net::stream_socket_type<Stream>)
        return &s.core();
    else
        return std::addressof(s);
}
template <class Stream> struct lowest_layer_of {
    using type = Stream;
};
template <class Stream>
    requires requires { typename Stream::lowest_layer_type; }
struct lowest_layer_of<Stream> {
    using type = typename Stream::lowest_layer_type;
};

} // namespace impl

/// Encrypts what is written, decrypts what is read, and knows who the peer is. `Stream` is held, or referred to if it
/// is a reference.
///
/// One read and one write may be pending at the same time, or one handshake, or one shutdown. A second one completes
/// with error::already_started.
/// Threads    any, as long as starts of operations are in order: there is a lock inside
/// Lifetime   *this outlives its operations. Destroyed, they complete with operation_aborted
/// Source     RFC 8446; Asio, ssl::stream
template <class Stream> class stream : public stream_base {
public:
    using next_layer_type = std::remove_reference_t<Stream>;
    using lowest_layer_type = typename impl::lowest_layer_of<next_layer_type>::type;
    using executor_type = std::decay_t<decltype(std::declval<next_layer_type&>().get_executor())>;
    /// For functions of OpenSSL.
    using native_handle_type = ssl_st*;

    /// Around a stream that is made of `a`.
    template <class Arg>
        requires std::constructible_from<Stream, Arg>
    stream(Arg&& a, context& c) : next_layer_(std::forward<Arg>(a)),
                                  core_(c, impl::make_below(next_layer_)) {}
    /// With an SSL of OpenSSL's, which is taken over. If its SSL_CTX is that of a context made with a method, a client
    /// verifies as any other of this context. It needs no host name if the SSL has a callback of OpenSSL's. To
    /// believe anybody, call set_verify_mode(verify_none). Of any other SSL_CTX the SSL is taken as it is.
    template <class Arg>
        requires std::constructible_from<Stream, Arg>
    stream(Arg&& a, native_handle_type h)
        : next_layer_(std::forward<Arg>(a)),
          core_(h, impl::make_below(next_layer_)) {}
    /// Moved with all its state, and with bytes that have been read but not decrypted. The other one is of no use.
    stream(stream&& other) noexcept
        : next_layer_(static_cast<Stream&&>(other.next_layer_)),
          core_(std::move(other.core_)) {
        core_.is_at(impl::place_of(next_layer_));
    }
    /// The operations of *this end, as if it had been destroyed.
    stream& operator=(stream&& other) noexcept
        requires(!std::is_reference_v<Stream>)
    {
        core_ = std::move(other.core_);
        next_layer_ = std::move(other.next_layer_);
        core_.is_at(impl::place_of(next_layer_));
        return *this;
    }
    ~stream() = default;

    executor_type get_executor() const noexcept { return const_cast<stream&>(*this).next_layer_.get_executor(); }
    native_handle_type native_handle() noexcept { return core_.native_handle(); }
    next_layer_type& next_layer() noexcept { return next_layer_; }
    next_layer_type const& next_layer() const noexcept { return next_layer_; }
    lowest_layer_type& lowest_layer() noexcept { return lowest(next_layer_); }
    lowest_layer_type const& lowest_layer() const noexcept { return lowest(next_layer_); }

    /// Whom a client wants to talk to: a host name, or a textual address, also in brackets and with a zone. It is sent
    /// to the server (SNI), unless it is an address, and the server's certificate has to be made out to it. A dot at
    /// the end of a name counts for nothing.
    /// Errors     error::invalid_argument   it is neither: empty, too long, with a wildcard, a port or a first dot
    ///            error::already_started    a handshake has begun, or has ended: nothing is changed
    /// Source     RFC 6066 section 3; RFC 9525
    void set_host_name(std::string const& name) {
        fairlead::impl::base::throw_error(core_.set_host_name(name), "set_host_name");
    }
    error_code set_host_name(std::string const& name, error_code& ec) { return ec = core_.set_host_name(name); }

    /// For this stream only, as context::set_verify_mode(). A stream with a mode, a depth or a callback of its own
    /// neither keeps sessions nor resumes any.
    /// Errors     error::already_started    a handshake has begun, or has ended: nothing is changed
    void set_verify_mode(verify_mode v) {
        fairlead::impl::base::throw_error(core_.set_verify_mode(v), "set_verify_mode");
    }
    error_code set_verify_mode(verify_mode v, error_code& ec) { return ec = core_.set_verify_mode(v); }
    /// For this stream only, as context::set_verify_depth().
    /// Errors     error::already_started    as set_verify_mode()
    void set_verify_depth(int depth) {
        fairlead::impl::base::throw_error(core_.set_verify_depth(depth), "set_verify_depth");
    }
    error_code set_verify_depth(int depth, error_code& ec) { return ec = core_.set_verify_depth(depth); }
    /// For this stream only, as context::set_verify_callback().
    /// Errors     error::already_started    as set_verify_mode()
    template <class F> void set_verify_callback(F f) {
        fairlead::impl::base::throw_error(core_.verify_with(impl::verify_function(std::move(f))),
                                          "set_verify_callback");
    }
    template <class F> error_code set_verify_callback(F f, error_code& ec) {
        return ec = core_.verify_with(impl::verify_function(std::move(f)));
    }

    /// The protocol inside TLS on which the handshake has agreed; empty: on none. See context::set_alpn_protocols().
    /// Lifetime   the text is valid until the next handshake, or until *this is destroyed
    std::string_view alpn_protocol() const noexcept { return core_.alpn_protocol(); }

    /// The handshake has resumed a session: the certificates were looked at when that was made, and not again.
    bool is_resumed() const noexcept { return core_.is_resumed(); }

    /// The protocol on which the handshake has agreed, as "TLSv1.3".
    std::string_view protocol_version() const noexcept { return core_.protocol_version(); }

    /// The certificates that the peer has sent, each as DER, its own first; none: it has sent none. They are verified
    /// as the stream verifies. In a session that is resumed a server has the first one only.
    std::vector<std::string> peer_certificates() const { return core_.peer_certificates(); }

    /// The OCSP response that the server has stapled to its certificate, DER; empty: none, or nobody has asked for it.
    /// See context::request_ocsp_response(). There is none in a session that is resumed.
    /// Lifetime   the bytes are valid until the next handshake, or until *this is destroyed
    const_buffer ocsp_response() const noexcept { return core_.ocsp_response(); }

    /// Agrees with the peer on keys, and verifies it. If it was cancelled, another one goes on where it stopped.
    /// Completes  (error_code ec)
    /// Errors     ssl::error::no_host_name      a client that verifies was told no name; nothing was sent
    ///            the verify category           the peer's certificate is refused, for this reason
    ///            ssl::error::no_ocsp_response  and the others for OCSP: context::require_ocsp_response()
    ///            ssl::error::handshake_timed_out  context::set_handshake_timeout()
    ///            ssl::error::handshake_too_large  context::set_handshake_size_max()
    ///            the SSL category              OpenSSL, or an alert of the peer
    ///            ssl::error::stream_truncated  the peer has gone
    ///            error::operation_aborted      cancelled
    ///            and those of the stream below
    /// Cancel     terminal, partial
    /// Immediate  no
    /// Lifetime   *this outlives the completion
    /// Threads    one operation at a time
    /// Allocates  its time limit; all else as a read
    template <class Token = default_completion_token_t<executor_type>>
        requires(!const_buffer_sequence<std::decay_t<Token>>)
    decltype(auto) async_handshake(handshake_type t, Token&& token = {}) noexcept(
        fairlead::impl::operation::nothrow_token<std::decay_t<Token>, impl::tls_handshake>) {
        return fairlead::impl::operation::initiate_on<void(error_code)>(*this, std::forward<Token>(token),
                                                                        impl::tls_handshake(core_, t));
    }
    /// As async_handshake(t), with bytes of the peer that have been read before, as by a server that told TLS from
    /// other protocols. They are in one buffer or in several. All are taken, even if the handshake fails. Those that
    /// the handshake does not need are the first that a read gets.
    /// Completes  (error_code ec, std::size_t n); n bytes were taken: all, or none
    /// Errors     also error::no_buffer_space   more bytes than 66 KiB; nothing was taken
    /// Cancel     terminal, partial
    /// Immediate  no
    /// Lifetime   *this and the memory behind `come` outlive the completion
    /// Threads    one operation at a time
    /// Allocates  its time limit; all else as a read
    template <const_buffer_sequence Buffers, class Token = default_completion_token_t<executor_type>>
    decltype(auto) async_handshake(handshake_type t, Buffers const& come, Token&& token = {}) noexcept(
        fairlead::impl::operation::nothrow_token<std::decay_t<Token>, decltype(buffered(t, come))>) {
        return fairlead::impl::operation::initiate_on<void(error_code, std::size_t)>(*this, std::forward<Token>(token),
                                                                                     buffered(t, come));
    }
    /// A client that resumes a session sends these bytes in its first message (early data, 0-RTT), if the server has
    /// allowed it so many. They are copied. Somebody who records them can send them to the server again, so they may
    /// only ask for what may be done twice. After the handshake early_data_outcome() tells what has become of them; to
    /// send them again is up to the program. Sessions are kept by context::keep_sessions().
    /// Errors     error::already_started   the handshake has begun
    /// Source     RFC 8446 section 2.3
    void set_early_data(const_buffer const& bytes) {
        fairlead::impl::base::throw_error(core_.set_early_data(bytes), "set_early_data");
    }
    error_code set_early_data(const_buffer const& bytes, error_code& ec) { return ec = core_.set_early_data(bytes); }
    /// The fate of the bytes of set_early_data(), after the handshake. On a server: of its client's.
    early_data early_data_outcome() const noexcept { return core_.early_data_outcome(); }

    /// For a server whose context has accept_replayable_early_data(), before async_handshake(): reads what its client
    /// sends ahead of the handshake. No other read gives these bytes.
    /// Completes  (error_code ec, std::size_t n); n counts even when ec is set
    /// Errors     error::eof   there is no more, or there was none: the handshake comes next
    ///            and those of async_handshake()
    /// Cancel     terminal, partial
    /// Immediate  no
    /// Lifetime   *this and the memory behind `into` outlive the completion
    /// Threads    one operation at a time
    /// Allocates  its time limit; all else as a read
    /// Source     RFC 8446 sections 2.3 and 8
    template <mutable_buffer_sequence Buffer, class Token = default_completion_token_t<executor_type>>
        requires fairlead::impl::base::is_single_buffer<Buffer>
    decltype(auto) async_read_early_data(Buffer const& into, Token&& token = {}) noexcept(
        fairlead::impl::operation::nothrow_token<std::decay_t<Token>, decltype(early(into))>) {
        return fairlead::impl::operation::initiate_on<void(error_code, std::size_t)>(*this, std::forward<Token>(token),
                                                                                     early(into));
    }

    /// Says that no more will be written, and waits until the peer says so. Bytes that the peer still sends are an
    /// error: read them first, after async_shutdown_send().
    /// Completes  (error_code ec)
    /// Errors     ssl::error::stream_truncated  the peer has gone without saying so
    ///            ssl::error::shutdown_timed_out  context::set_shutdown_timeout(); close the stream below
    ///            error::operation_aborted      cancelled; the stream below can be closed all the same
    ///            and those of the stream below
    /// Cancel     terminal, partial
    /// Immediate  no
    /// Lifetime   *this outlives the completion
    /// Threads    one operation at a time
    /// Allocates  its time limit; all else as a read
    template <class Token = default_completion_token_t<executor_type>>
    decltype(auto) async_shutdown(Token&& token = {}) noexcept(
        fairlead::impl::operation::nothrow_token<std::decay_t<Token>, impl::stream_shutdown>) {
        return fairlead::impl::operation::initiate_on<void(error_code)>(*this, std::forward<Token>(token),
                                                                        impl::stream_shutdown(core_.bytes()));
    }
    /// Says that no more will be written (close_notify), and does not wait for the peer. Reads go on until the peer
    /// says so, too. With TLS 1.2 it does so at once, as RFC 5246 demands, and drops what it has not written yet. So a
    /// request whose answer is to be read to its end does not end this way unless protocol_version() is newer.
    /// Completes  (error_code ec)
    /// Errors     error::operation_aborted      cancelled; writes fail, and close_notify goes with the next call of
    ///                                          this or of async_shutdown()
    ///            the SSL category, and those of the stream below
    /// Cancel     terminal, partial
    /// Immediate  no
    /// Lifetime   *this outlives the completion
    /// Threads    as a write: one of both at a time, and one read
    /// Allocates  nothing awaited, over a socket of ours; OpenSSL does
    /// Source     RFC 8446 section 6.1; RFC 5246 section 7.2.1
    template <class Token = default_completion_token_t<executor_type>>
    decltype(auto) async_shutdown_send(Token&& token = {}) noexcept(
        fairlead::impl::operation::nothrow_token<std::decay_t<Token>, impl::stream_shutdown>) {
        return fairlead::impl::operation::initiate_on<void(error_code)>(
            *this, std::forward<Token>(token), impl::stream_shutdown(core_.bytes(), end_of_sending));
    }
    /// Reads at least one byte, into the first buffer that is not empty.
    /// Completes  (error_code ec, std::size_t n)
    /// Errors     error::eof                    the peer has said that no more comes (close_notify)
    ///            ssl::error::stream_truncated  the stream below ended without that
    ///            error::operation_aborted      cancelled; nothing was read, and the next read loses nothing
    ///            the SSL category, and those of the stream below
    /// Cancel     terminal, partial, total
    /// Immediate  may be ready without waiting; the handler still never runs before this returns
    /// Lifetime   *this and the memory behind `into` outlive the completion
    /// Threads    one read and one write at a time
    /// Allocates  nothing awaited, over a socket of ours; OpenSSL does
    template <mutable_buffer_sequence Buffers, class Token = default_completion_token_t<executor_type>>
    decltype(auto) async_read_some(Buffers const& into, Token&& token = {}) noexcept(
        fairlead::impl::operation::nothrow_token<std::decay_t<Token>, decltype(transfer(io::kind::receive, into))>) {
        return fairlead::impl::operation::initiate_on<void(error_code, std::size_t)>(*this, std::forward<Token>(token),
                                                                                     transfer(io::kind::receive, into));
    }
    /// Writes at least one byte, of the first buffer that is not empty.
    /// Completes  (error_code ec, std::size_t n)
    /// Errors     error::operation_aborted      cancelled. n bytes are encrypted, and the next write sends the rest
    ///                                          of them first
    ///            error::broken_pipe            this side has ended, or the peer has with TLS 1.2, which ends both
    ///            the SSL category              also if the peer has gone, and its alert has come that says why
    ///            and those of the stream below, else
    /// Cancel     terminal, partial
    /// Immediate  no
    /// Lifetime   *this and the memory behind `from` outlive the completion
    /// Threads    one read and one write at a time
    /// Allocates  nothing awaited, over a socket of ours; OpenSSL does
    template <const_buffer_sequence Buffers, class Token = default_completion_token_t<executor_type>>
    decltype(auto) async_write_some(Buffers const& from, Token&& token = {}) noexcept(
        fairlead::impl::operation::nothrow_token<std::decay_t<Token>, decltype(transfer(io::kind::send, from))>) {
        return fairlead::impl::operation::initiate_on<void(error_code, std::size_t)>(*this, std::forward<Token>(token),
                                                                                     transfer(io::kind::send, from));
    }

    // In the calling thread. With a stream that has asynchronous operations only they fail (operation_not_supported).
    error_code handshake(handshake_type t, error_code& ec) { return ec = done(impl::tls_handshake(core_, t)); }
    void handshake(handshake_type t) {
        fairlead::impl::base::throw_error(done(impl::tls_handshake(core_, t)), "handshake");
    }
    template <const_buffer_sequence Buffers>
    error_code handshake(handshake_type t, Buffers const& come, error_code& ec) {
        moved(buffered(t, come), ec);
        return ec;
    }
    template <const_buffer_sequence Buffers> void handshake(handshake_type t, Buffers const& come) {
        error_code ec;
        fairlead::impl::base::throw_error(handshake(t, come, ec), "handshake");
    }
    template <mutable_buffer_sequence Buffer>
        requires fairlead::impl::base::is_single_buffer<Buffer>
    std::size_t read_early_data(Buffer const& into, error_code& ec) {
        return moved(early(into), ec);
    }
    template <mutable_buffer_sequence Buffer>
        requires fairlead::impl::base::is_single_buffer<Buffer>
    std::size_t read_early_data(Buffer const& into) {
        error_code ec;
        auto const n = read_early_data(into, ec);
        fairlead::impl::base::throw_error(ec, "read_early_data");
        return n;
    }
    error_code shutdown(error_code& ec) { return ec = done(impl::stream_shutdown(core_.bytes())); }
    void shutdown() { fairlead::impl::base::throw_error(done(impl::stream_shutdown(core_.bytes())), "shutdown"); }
    error_code shutdown_send(error_code& ec) { return ec = done(impl::stream_shutdown(core_.bytes(), end_of_sending)); }
    void shutdown_send() {
        error_code ec;
        fairlead::impl::base::throw_error(shutdown_send(ec), "shutdown_send");
    }
    template <mutable_buffer_sequence Buffers> std::size_t read_some(Buffers const& into, error_code& ec) {
        return moved(transfer(io::kind::receive, into), ec);
    }
    template <mutable_buffer_sequence Buffers> std::size_t read_some(Buffers const& into) {
        error_code ec;
        auto const n = read_some(into, ec);
        fairlead::impl::base::throw_error(ec, "read_some");
        return n;
    }
    template <const_buffer_sequence Buffers> std::size_t write_some(Buffers const& from, error_code& ec) {
        return moved(transfer(io::kind::send, from), ec);
    }
    template <const_buffer_sequence Buffers> std::size_t write_some(Buffers const& from) {
        error_code ec;
        auto const n = write_some(from, ec);
        fairlead::impl::base::throw_error(ec, "write_some");
        return n;
    }

    /// For initiate_on().
    bool runs_handlers() const noexcept { return bytes().engine_ref().runs_handlers(); }
    /// For streams on top of this one.
    fairlead::impl::net::byte_stream& bytes() const noexcept { return core_.bytes(); }
    /// For async_read and async_write: the whole transfer as one op.
    template <mutable_buffer_sequence Buffers> auto read_all_initiation(Buffers const& into) {
        return transfer(io::kind::receive_all, into);
    }
    template <const_buffer_sequence Buffers> auto write_all_initiation(Buffers const& from) {
        return transfer(io::kind::send_all, from);
    }

private:
    static constexpr auto end_of_sending = fairlead::impl::net::stream_verb::shutdown_send;
    template <class Buffers> auto transfer(io::kind k, Buffers const& buffers) const {
        return fairlead::impl::net::make_stream_transfer(core_.bytes(), k, buffers);
    }
    template <class Layer> static auto& lowest(Layer& l) noexcept {
        if constexpr (requires { l.lowest_layer(); })
            return l.lowest_layer();
        else
            return l;
    }
    template <class Buffers> auto buffered(handshake_type t, Buffers const& come) const noexcept {
        if constexpr (fairlead::impl::base::is_single_buffer<Buffers>)
            return impl::tls_buffered_handshake(core_, t, fairlead::impl::base::single_buffer<const_buffer>(come));
        else
            return impl::tls_sequence_handshake(core_, t, come);
    }
    template <class Buffer> impl::tls_early_read early(Buffer const& into) const noexcept {
        return {core_, fairlead::impl::base::single_buffer<mutable_buffer>(into)};
    }
    template <class Init> static error_code done(Init const& i) {
        std::tuple<error_code> v;
        i.block(v);
        return std::get<0>(v);
    }
    template <class Init> static std::size_t moved(Init const& i, error_code& ec) {
        std::tuple<error_code, std::size_t> v;
        i.block(v);
        ec = std::get<0>(v);
        return std::get<1>(v);
    }

    Stream next_layer_;
    impl::stream_core core_;
};

} // namespace fairlead::ssl
