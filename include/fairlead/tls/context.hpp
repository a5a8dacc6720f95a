// The configuration that streams share: protocols, certificates, keys, and trust.
#pragma once

#include <fairlead/base/buffer.hpp>
#include <fairlead/base/error.hpp>
#include <fairlead/io/nanoseconds.hpp>
#include <fairlead/tls/error.hpp>
#include <fairlead/tls/stream_base.hpp>
#include <fairlead/tls/verify_context.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct ssl_ctx_st; // OpenSSL's SSL_CTX

namespace fairlead::ssl {

class context;

namespace impl {

using verify_function = std::function<bool(bool, verify_context&)>;
using server_name_function = std::function<std::shared_ptr<context>(std::string_view)>;
using ocsp_response_function = std::function<std::string()>;
using password_function = std::function<std::string(std::size_t, context_base::password_purpose)>;

} // namespace impl

/// The configuration of streams.
///
/// Safe as it is made: TLS 1.2 or newer, no renegotiation, no compression. A client verifies its peer against the
/// certificates of the system, unless the program names others, and compares the name that set_host_name() gave the
/// stream. Each function with an `error_code&` has a form that throws instead.
/// Threads    one at a time while it is being changed; any number of streams may use it
/// Lifetime   streams keep what they need of it
class context : public context_base {
public:
    /// For functions of OpenSSL.
    using native_handle_type = ssl_ctx_st*;

    /// Throws     system_error: OpenSSL has no such protocol (operation_not_supported), or no memory
    FAIRLEAD_EXPORT explicit context(method m);
    /// Takes over an SSL_CTX, as it is: none of the defaults above is set.
    FAIRLEAD_EXPORT explicit context(native_handle_type h);
    FAIRLEAD_EXPORT context(context&& other) noexcept;
    FAIRLEAD_EXPORT context& operator=(context&& other) noexcept;
    FAIRLEAD_EXPORT ~context();

    native_handle_type native_handle() noexcept { return handle_; }

    FAIRLEAD_EXPORT error_code set_options(options o, error_code& ec);
    void set_options(options o) { may_throw(&context::set_options, o, "set_options"); }
    FAIRLEAD_EXPORT error_code clear_options(options o, error_code& ec);
    void clear_options(options o) { may_throw(&context::clear_options, o, "clear_options"); }

    // Less safety: each function is named after what streams then let happen. It concerns streams that are made later.
    /// Any certificate is believed: somebody between the two sides can read and change everything. As
    /// set_verify_mode(verify_none), which is Asio's name for it.
    FAIRLEAD_EXPORT error_code accept_unverified_peers(error_code& ec);
    void accept_unverified_peers() { may_throw(&context::accept_unverified_peers, "accept_unverified_peers"); }
    /// A connection that ends between two records without close_notify has come to its end (error::eof), and is not
    /// truncated. An attacker who can cut it decides how much of a message arrives. For protocols that say their own
    /// lengths.
    FAIRLEAD_EXPORT error_code accept_truncated_streams(error_code& ec);
    void accept_truncated_streams() { may_throw(&context::accept_truncated_streams, "accept_truncated_streams"); }
    /// TLS 1.0 and 1.1 are spoken, too. Their hashes are broken, so that OpenSSL's security level sinks to 0: short
    /// keys and weak ciphers are then taken from any peer.
    FAIRLEAD_EXPORT error_code accept_obsolete_protocols(error_code& ec);
    void accept_obsolete_protocols() { may_throw(&context::accept_obsolete_protocols, "accept_obsolete_protocols"); }
    /// A certificate that promises an OCSP response ("must staple") is believed without one: whoever has stolen its key
    /// can go on after it was revoked. For a verify callback that accepts what leads to no authority, since nobody can
    /// verify its response. A response that is required stays so.
    /// Errors     error::operation_not_supported   the context is for servers only
    FAIRLEAD_EXPORT error_code accept_missing_ocsp_responses(error_code& ec);
    void accept_missing_ocsp_responses() {
        may_throw(&context::accept_missing_ocsp_responses, "accept_missing_ocsp_responses");
    }
    /// With TLS 1.2 a client may begin a handshake anew at any time: each costs the server much more than the client.
    FAIRLEAD_EXPORT error_code accept_renegotiation(error_code& ec);
    void accept_renegotiation() { may_throw(&context::accept_renegotiation, "accept_renegotiation"); }
    /// A handshake may take as long as the peer likes: whoever connects and says nothing keeps a stream for ever.
    FAIRLEAD_EXPORT error_code accept_endless_handshakes(error_code& ec);
    void accept_endless_handshakes() { may_throw(&context::accept_endless_handshakes, "accept_endless_handshakes"); }

    /// As accept_endless_handshakes(), of shutdowns: a peer that does not answer the goodbye keeps the stream.
    FAIRLEAD_EXPORT error_code accept_endless_shutdowns(error_code& ec);
    void accept_endless_shutdowns() { may_throw(&context::accept_endless_shutdowns, "accept_endless_shutdowns"); }
    /// For a server: clients may send up to so many bytes ahead of their handshake (early data, 0-RTT), which
    /// stream::async_read_early_data() reads. Somebody who has recorded these bytes can send them again, and they
    /// arrive again: only requests that may be repeated belong there. Each ticket is good once, as long as its context
    /// lives. Bytes of a client that nobody reads so are dropped.
    /// Errors     error::operation_not_supported   the context is for clients only
    ///            error::invalid_argument          0, or 4 GiB and more
    /// Source     RFC 8446 sections 2.3 and 8
    FAIRLEAD_EXPORT error_code accept_replayable_early_data(std::size_t bytes_max, error_code& ec);
    void accept_replayable_early_data(std::size_t bytes_max) {
        may_throw(&context::accept_replayable_early_data, bytes_max, "accept_replayable_early_data");
    }

    /// Instead of the default: clients verify, servers ask nobody. With verify_none a client believes whoever answers.
    /// verify_fail_if_no_peer_cert implies verify_peer.
    FAIRLEAD_EXPORT error_code set_verify_mode(verify_mode v, error_code& ec);
    void set_verify_mode(verify_mode v) { may_throw(&context::set_verify_mode, v, "set_verify_mode"); }
    /// How many certificates of authorities a chain may have between the peer's and a trusted one.
    FAIRLEAD_EXPORT error_code set_verify_depth(int depth, error_code& ec);
    void set_verify_depth(int depth) { may_throw(&context::set_verify_depth, depth, "set_verify_depth"); }
    /// Called for each certificate of a chain as `bool(bool is_verified, verify_context&)`. Its answer counts, in place
    /// of what was found. With a callback a client needs no host name: the callback decides whom it talks to. It does
    /// not decide about OCSP responses, which come later: see request_ocsp_response().
    template <class F> error_code set_verify_callback(F f, error_code& ec) {
        return verify_with(impl::verify_function(std::move(f)), ec);
    }
    template <class F> void set_verify_callback(F f) {
        error_code ec;
        fairlead::impl::base::throw_error(set_verify_callback(std::move(f), ec), "set_verify_callback");
    }

    // Trust. Without any of these, a client trusts the authorities of the system.
    /// Certificates of authorities, PEM, in a file.
    FAIRLEAD_EXPORT error_code load_verify_file(std::string const& file, error_code& ec);
    void load_verify_file(std::string const& file) { may_throw(&context::load_verify_file, file, "load_verify_file"); }
    /// As load_verify_file(), in a folder that c_rehash has prepared.
    FAIRLEAD_EXPORT error_code add_verify_path(std::string const& path, error_code& ec);
    void add_verify_path(std::string const& path) { may_throw(&context::add_verify_path, path, "add_verify_path"); }
    /// As load_verify_file(), in memory.
    FAIRLEAD_EXPORT error_code add_certificate_authority(const_buffer const& text, error_code& ec);
    void add_certificate_authority(const_buffer const& text) {
        may_throw(&context::add_certificate_authority, text, "add_certificate_authority");
    }
    /// Those of the system, now: else the first client's handshake reads them, which takes some 10 ms.
    FAIRLEAD_EXPORT error_code set_default_verify_paths(error_code& ec);
    void set_default_verify_paths() { may_throw(&context::set_default_verify_paths, "set_default_verify_paths"); }

    /// Clients ask servers for the OCSP response of their certificate. It is stream::ocsp_response(), and nobody looks
    /// at it unless it is required. Clients that verify ask without being told to. They refuse a certificate that
    /// promises a response ("must staple", RFC 7633) without a good one, also if a verify callback has accepted it.
    /// Errors     error::operation_not_supported   the context is for servers only
    /// Source     RFC 6066 section 8
    FAIRLEAD_EXPORT error_code request_ocsp_response(error_code& ec);
    void request_ocsp_response() { may_throw(&context::request_ocsp_response, "request_ocsp_response"); }
    /// As request_ocsp_response(), and a handshake fails unless the response is there and says that the certificate is
    /// good. Its signature leads to an authority that is trusted, and it is not older than it says. One that does not
    /// say when a newer one comes is good for a day. The errors are those of ssl::error; of a revoked certificate it is
    /// X509_V_ERR_CERT_REVOKED. A session that is resumed was looked at when it was made.
    /// Errors     error::operation_not_supported   the context is for servers only
    /// Source     RFC 6960 section 3.2
    FAIRLEAD_EXPORT error_code require_ocsp_response(error_code& ec);
    void require_ocsp_response() { may_throw(&context::require_ocsp_response, "require_ocsp_response"); }

    // The identity of this side.
    /// A certificate and those of its authorities, PEM, this side's first.
    FAIRLEAD_EXPORT error_code use_certificate_chain_file(std::string const& file, error_code& ec);
    void use_certificate_chain_file(std::string const& file) {
        may_throw(&context::use_certificate_chain_file, file, "use_certificate_chain_file");
    }
    /// As use_certificate_chain_file(), in memory.
    FAIRLEAD_EXPORT error_code use_certificate_chain(const_buffer const& text, error_code& ec);
    void use_certificate_chain(const_buffer const& text) {
        may_throw(&context::use_certificate_chain, text, "use_certificate_chain");
    }
    FAIRLEAD_EXPORT error_code use_certificate_file(std::string const& file, file_format f, error_code& ec);
    void use_certificate_file(std::string const& file, file_format f) {
        may_throw(&context::use_certificate_file, file, f, "use_certificate_file");
    }
    FAIRLEAD_EXPORT error_code use_certificate(const_buffer const& bytes, file_format f, error_code& ec);
    void use_certificate(const_buffer const& bytes, file_format f) {
        may_throw(&context::use_certificate, bytes, f, "use_certificate");
    }
    /// The key of the certificate. One that does not belong to it is an error.
    FAIRLEAD_EXPORT error_code use_private_key_file(std::string const& file, file_format f, error_code& ec);
    void use_private_key_file(std::string const& file, file_format f) {
        may_throw(&context::use_private_key_file, file, f, "use_private_key_file");
    }
    FAIRLEAD_EXPORT error_code use_private_key(const_buffer const& bytes, file_format f, error_code& ec);
    void use_private_key(const_buffer const& bytes, file_format f) {
        may_throw(&context::use_private_key, bytes, f, "use_private_key");
    }
    /// A certificate, its key and the certificates of its authorities, PKCS #12, in a file. The password callback opens
    /// it; without one the password is empty.
    /// Source     RFC 7292
    FAIRLEAD_EXPORT error_code use_pkcs12_file(std::string const& file, error_code& ec);
    void use_pkcs12_file(std::string const& file) { may_throw(&context::use_pkcs12_file, file, "use_pkcs12_file"); }
    /// As use_pkcs12_file(), in memory.
    FAIRLEAD_EXPORT error_code use_pkcs12(const_buffer const& bytes, error_code& ec);
    void use_pkcs12(const_buffer const& bytes) { may_throw(&context::use_pkcs12, bytes, "use_pkcs12"); }
    // As use_private_key() and its file; Asio has them apart.
    error_code use_rsa_private_key_file(std::string const& file, file_format f, error_code& ec) {
        return use_private_key_file(file, f, ec);
    }
    void use_rsa_private_key_file(std::string const& file, file_format f) { use_private_key_file(file, f); }
    error_code use_rsa_private_key(const_buffer const& bytes, file_format f, error_code& ec) {
        return use_private_key(bytes, f, ec);
    }
    void use_rsa_private_key(const_buffer const& bytes, file_format f) { use_private_key(bytes, f); }
    /// For a server: the OCSP response of its certificate, DER, in a file. Clients that ask for it get it (stapling).
    /// One that cannot be read, or in which the responder declines to answer, is an error here.
    /// Errors     error::operation_not_supported       the context is for clients only
    ///            ssl::error::ocsp_response_malformed
    /// Source     RFC 6066 section 8; RFC 6960
    FAIRLEAD_EXPORT error_code use_ocsp_response_file(std::string const& file, error_code& ec);
    void use_ocsp_response_file(std::string const& file) {
        may_throw(&context::use_ocsp_response_file, file, "use_ocsp_response_file");
    }
    /// As use_ocsp_response_file(), in memory.
    FAIRLEAD_EXPORT error_code use_ocsp_response(const_buffer const& bytes, error_code& ec);
    void use_ocsp_response(const_buffer const& bytes) {
        may_throw(&context::use_ocsp_response, bytes, "use_ocsp_response");
    }
    /// As use_ocsp_response(), with a newer response while the server runs: called as `std::string()` in each handshake
    /// whose client asks for one. It returns DER; nothing is stapled if that is empty, or if the function throws.
    /// Errors     error::operation_not_supported   the context is for clients only
    /// Threads    those that perform handshakes
    template <class F> error_code set_ocsp_response_callback(F f, error_code& ec) {
        return staple_with(impl::ocsp_response_function(std::move(f)), ec);
    }
    template <class F> void set_ocsp_response_callback(F f) {
        error_code ec;
        fairlead::impl::base::throw_error(set_ocsp_response_callback(std::move(f), ec), "set_ocsp_response_callback");
    }
    /// Parameters for the key exchange of TLS 1.2 without elliptic curves, PEM, in a file. Without them OpenSSL
    /// chooses.
    FAIRLEAD_EXPORT error_code use_tmp_dh_file(std::string const& file, error_code& ec);
    void use_tmp_dh_file(std::string const& file) { may_throw(&context::use_tmp_dh_file, file, "use_tmp_dh_file"); }
    /// As use_tmp_dh_file(), in memory.
    FAIRLEAD_EXPORT error_code use_tmp_dh(const_buffer const& text, error_code& ec);
    void use_tmp_dh(const_buffer const& text) { may_throw(&context::use_tmp_dh, text, "use_tmp_dh"); }
    /// Called as `std::string(std::size_t most, password_purpose)` for the password of a key that is encrypted. Without
    /// one such a key is an error: nothing is asked on a terminal.
    template <class F> error_code set_password_callback(F f, error_code& ec) {
        return ask_password_with(impl::password_function(std::move(f)), ec);
    }
    template <class F> void set_password_callback(F f) {
        error_code ec;
        fairlead::impl::base::throw_error(set_password_callback(std::move(f), ec), "set_password_callback");
    }

    // Handshakes.
    /// The protocols that may be spoken inside TLS, the preferred one first, such as {"h2", "http/1.1"}. A client
    /// offers them. A server takes the first of its own that the client offers, and refuses a client that offers only
    /// others. The outcome is stream::alpn_protocol().
    /// Errors     error::invalid_argument   a name is empty or longer than 255 bytes, or there are too many
    /// Source     RFC 7301
    FAIRLEAD_EXPORT error_code set_alpn_protocols(std::vector<std::string> const& names, error_code& ec);
    void set_alpn_protocols(std::vector<std::string> const& names) {
        may_throw(&context::set_alpn_protocols, names, "set_alpn_protocols");
    }
    /// For a server: called in each handshake as `std::shared_ptr<context>(std::string_view name)` with the name that
    /// the client wants, or an empty one. The stream gets the certificates and authorities of the context that is
    /// returned, and its protocols if it has some. Its OCSP response and its log of keys count, too. With a verify mode
    /// of its own, it also decides on callback and depth. Else its callback and its depth count if it has some, with
    /// the mode of this one. Choices of the stream itself come first. All else stays as it is here; null changes
    /// nothing. If the function throws, the client hears that the name is unknown, and the handshake fails.
    /// Errors     error::operation_not_supported   the context is for clients only
    /// Threads    those that perform handshakes
    /// Source     RFC 6066 section 3
    template <class F> error_code set_server_name_callback(F f, error_code& ec) {
        return choose_by_name(impl::server_name_function(std::move(f)), ec);
    }
    template <class F> void set_server_name_callback(F f) {
        error_code ec;
        fairlead::impl::base::throw_error(set_server_name_callback(std::move(f), ec), "set_server_name_callback");
    }
    /// Clients keep so many sessions, the newest ones, and resume them. The next handshake with a server of the same
    /// name and port is then shorter, and does not verify it again. The port is known of sockets of ours. 0, the
    /// default: none. Sessions are forgotten when functions
    /// of this class change trust, verification or identity. Streams that verify in a way of their own neither keep nor
    /// resume any. Servers let clients resume by themselves what was verified as the context verifies now.
    /// Errors     error::operation_not_supported   the context is for servers only
    /// Source     RFC 8446 section 2.2; RFC 5077
    FAIRLEAD_EXPORT error_code keep_sessions(std::size_t most, error_code& ec);
    void keep_sessions(std::size_t most) { may_throw(&context::keep_sessions, most, "keep_sessions"); }
    /// The time from the start of a stream's first handshake to the end of its last one. The default is 30 s. Then it
    /// fails with ssl::error::handshake_timed_out. Those in the calling thread, by stream::handshake(), have no limit.
    /// Errors     error::invalid_argument   not above 0
    template <io::impl::duration_type D> error_code set_handshake_timeout(D const& d, error_code& ec) {
        return limit_handshake_time(io::impl::in_nanoseconds(d), ec);
    }
    template <io::impl::duration_type D> void set_handshake_timeout(D const& d) {
        error_code ec;
        fairlead::impl::base::throw_error(set_handshake_timeout(d, ec), "set_handshake_timeout");
    }
    /// The time that an asynchronous shutdown waits for the peer's answer. The default is 30 s. Then it ends with
    /// ssl::error::shutdown_timed_out. The stream can still be read, and the one below can be closed.
    /// Errors     error::invalid_argument   not above 0
    template <io::impl::duration_type D> error_code set_shutdown_timeout(D const& d, error_code& ec) {
        return limit_shutdown_time(io::impl::in_nanoseconds(d), ec);
    }
    template <io::impl::duration_type D> void set_shutdown_timeout(D const& d) {
        error_code ec;
        fairlead::impl::base::throw_error(set_shutdown_timeout(d, ec), "set_shutdown_timeout");
    }
    /// So many bytes of the peer's are taken in a handshake, and those that come with the last of them. The default is
    /// 256 KiB, of which a chain of certificates may have 100 KiB. After this call it may have all. A handshake of more
    /// bytes fails with ssl::error::handshake_too_large. So does a read if so many bytes have come after the handshake,
    /// as updates of keys, and none for the program.
    /// Errors     error::invalid_argument   0, or 2 GiB and more
    FAIRLEAD_EXPORT error_code set_handshake_size_max(std::size_t bytes, error_code& ec);
    void set_handshake_size_max(std::size_t bytes) {
        may_throw(&context::set_handshake_size_max, bytes, "set_handshake_size_max");
    }
    /// Handshakes that have succeeded.
    struct handshake_counts {
        std::uint64_t of_clients; ///< this side was the client
        std::uint64_t of_servers;
        std::uint64_t resumed; ///< those of both in which a session was resumed
    };
    /// Of all streams of the context so far.
    /// Threads    any
    FAIRLEAD_EXPORT handshake_counts handshakes() const noexcept;
    /// Appends the secrets of each connection to a file. If it is not there, it is made for its owner only. The file
    /// opens all that these connections carry, to anybody who has it. For tools as Wireshark (SSLKEYLOGFILE).
    FAIRLEAD_EXPORT error_code set_key_log_file(std::string const& file, error_code& ec);
    void set_key_log_file(std::string const& file) { may_throw(&context::set_key_log_file, file, "set_key_log_file"); }

private:
    void may_throw(error_code (context::*f)(error_code&), char const* what) {
        error_code ec;
        fairlead::impl::base::throw_error((this->*f)(ec), what);
    }
    template <class A, class B> void may_throw(error_code (context::*f)(A, error_code&), B const& b, char const* what) {
        error_code ec;
        fairlead::impl::base::throw_error((this->*f)(b, ec), what);
    }
    template <class A> void may_throw(error_code (context::*f)(A, file_format, error_code&), const_buffer const& b,
                                      file_format format, char const* what) {
        error_code ec;
        fairlead::impl::base::throw_error((this->*f)(b, format, ec), what);
    }
    template <class A> void may_throw(error_code (context::*f)(A, file_format, error_code&), std::string const& s,
                                      file_format format, char const* what) {
        error_code ec;
        fairlead::impl::base::throw_error((this->*f)(s, format, ec), what);
    }
    FAIRLEAD_EXPORT error_code verify_with(impl::verify_function f, error_code& ec);
    FAIRLEAD_EXPORT error_code choose_by_name(impl::server_name_function f, error_code& ec);
    FAIRLEAD_EXPORT error_code limit_handshake_time(std::int64_t ns, error_code& ec);
    FAIRLEAD_EXPORT error_code limit_shutdown_time(std::int64_t ns, error_code& ec);
    FAIRLEAD_EXPORT error_code staple_with(impl::ocsp_response_function f, error_code& ec);
    FAIRLEAD_EXPORT error_code ask_password_with(impl::password_function f, error_code& ec);

    native_handle_type handle_;
};

} // namespace fairlead::ssl
