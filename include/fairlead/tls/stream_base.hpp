// The constants of contexts and streams, with Asio's names.
#pragma once

#include <cstdint>

namespace fairlead::ssl {

/// Which peers are asked for a certificate, as a set of bits.
using verify_mode = int;
/// Nobody's certificate is looked at: whoever answers is believed. A client then talks to anybody.
inline constexpr verify_mode verify_none = 0;
/// The peer's certificate is verified. A server asks its client for one.
inline constexpr verify_mode verify_peer = 1;
/// A client without a certificate is refused. Only for servers. It implies verify_peer.
inline constexpr verify_mode verify_fail_if_no_peer_cert = 2;
/// A client is asked in its first handshake only. Only for servers, with verify_peer.
inline constexpr verify_mode verify_client_once = 4;

/// The fate of bytes that a client sends ahead of its handshake.
enum class early_data {
    not_sent, ///< also if there was no session that allows it, or no server that has ever offered it
    refused,  ///< the server has not looked at them; the client may send them again, as usual bytes
    accepted,
};

/// The base of streams.
class stream_base {
public:
    /// Which side of a handshake this end is.
    enum handshake_type { client, server };

protected:
    stream_base() noexcept = default;
    ~stream_base() = default;
};

/// The base of contexts.
class context_base {
public:
    /// The protocols, and the side, that a context is for. TLS 1.2 is the oldest there is, whatever is named here: the
    /// names of older ones throw (error::operation_not_supported).
    enum method {
        sslv2,
        sslv2_client,
        sslv2_server,
        sslv3,
        sslv3_client,
        sslv3_server,
        tlsv1,
        tlsv1_client,
        tlsv1_server,
        sslv23, ///< as tls
        sslv23_client,
        sslv23_server,
        tlsv11,
        tlsv11_client,
        tlsv11_server,
        tlsv12, ///< 1.2 only
        tlsv12_client,
        tlsv12_server,
        tlsv13, ///< 1.3 only
        tlsv13_client,
        tlsv13_server,
        tls, ///< 1.2 and newer
        tls_client,
        tls_server,
    };
    /// Bits of SSL_CTX_set_options.
    using options = std::uint64_t;
    static constexpr options default_workarounds = 0x80000850U;
    static constexpr options single_dh_use = 0; ///< always so
    static constexpr options no_sslv2 = 0;      ///< always so
    static constexpr options no_sslv3 = 0x02000000U;
    static constexpr options no_tlsv1 = 0x04000000U;
    static constexpr options no_tlsv1_1 = 0x10000000U;
    static constexpr options no_tlsv1_2 = 0x08000000U;
    static constexpr options no_tlsv1_3 = 0x20000000U;
    static constexpr options no_compression = 0x00020000U;

    /// How certificates and keys are written down.
    enum file_format {
        asn1, ///< DER
        pem,
    };
    /// The use of a password.
    enum password_purpose { for_reading, for_writing };

    // The names that Asio has in here, too.
    using verify_mode = ssl::verify_mode;
    static constexpr verify_mode verify_none = ssl::verify_none;
    static constexpr verify_mode verify_peer = ssl::verify_peer;
    static constexpr verify_mode verify_fail_if_no_peer_cert = ssl::verify_fail_if_no_peer_cert;
    static constexpr verify_mode verify_client_once = ssl::verify_client_once;

protected:
    context_base() noexcept = default;
    ~context_base() = default;
};

} // namespace fairlead::ssl
