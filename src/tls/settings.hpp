// The choices of a program for which OpenSSL has no place. They are kept with an SSL_CTX or an SSL of its.
#pragma once

#include <fairlead/base/error.hpp>
#include <fairlead/io/appended_file.hpp>
#include <fairlead/tls/context.hpp>

#include <tls/session_cache.hpp>

#include <array>
#include <cstdint>
#include <mutex>
#include <string>

#include <openssl/ssl.h>

namespace fairlead::ssl::impl {

/// Servers resume a session only if it was made in the same scope: with the same verification of clients.
using session_scope = std::array<unsigned char, 16>;

struct settings {
    verify_function verify;
    server_name_function by_name;
    std::string protocols; ///< each behind a byte with its length, as RFC 7301 has it
    io::appended_file secrets;
    ocsp_response_function staples;
    bool requires_ocsp = false;
    bool accepts_missing_ocsp = false;     ///< although the certificate promises a response
    error_code ocsp_failure;               ///< of a stream: why its handshake was refused
    std::int64_t handshake_timeout_ns = 0; ///< 0: none
    std::int64_t shutdown_timeout_ns = 0;  ///< 0: none
    std::size_t handshake_size_max = 0;    ///< 0: none
    std::string early_data;                ///< of a stream: what its client has still to send
    std::size_t early_data_sent = 0;
    session_cache sessions;
    std::string resumes_as;  ///< of a stream: the name by which its sessions are kept; empty: they are not
    std::uint64_t epoch = 0; ///< of a stream: when its handshake began
    bool is_ours = false;
    bool has_verify_mode = false;
    bool has_trust = false;
    bool has_depth = false;
    bool is_alone = false; ///< of a stream, which verifies in a way of its own: its sessions are those of nobody else
    session_scope scope{}; ///< of a context
    std::once_flag reads_system;
    error_code system_failure;
};

/// Null: nothing has been chosen.
settings* settings_of(SSL_CTX const* c) noexcept;
settings* settings_of(SSL const* s) noexcept;
/// Null: no memory.
settings* make_settings(SSL_CTX* c) noexcept;
settings* make_settings(SSL* s) noexcept;

/// The stream keeps no sessions and resumes none. Those of a server are in a scope that no other has.
error_code stand_alone(SSL* s) noexcept;

/// Those of the context; without a limit the largest number.
std::size_t handshake_size_max_of(SSL const* s) noexcept;
std::int64_t handshake_timeout_ns_of(SSL const* s) noexcept;
std::int64_t shutdown_timeout_ns_of(SSL const* s) noexcept;

/// A client's handshake begins: it asks for an OCSP response if it may require one.
void ask_for_ocsp(SSL* s) noexcept;
/// OpenSSL asks it for OCSP responses of servers, and what a client thinks of one.
int handle_ocsp(SSL* s, void*) noexcept;
/// Why a handshake was refused for its OCSP response.
error_code ocsp_failure_of(SSL const* s) noexcept;

/// OpenSSL asks it which of the protocols that a client offers a server takes.
int choose_protocol(SSL* s, unsigned char const** chosen, unsigned char* size, unsigned char const* offered,
                    unsigned offered_size, void*) noexcept;

} // namespace fairlead::ssl::impl
