// OpenSSL without I/O: encrypted bytes are put in and taken out, and nothing waits.
#pragma once

#include <fairlead/base/error.hpp>
#include <fairlead/tls/context.hpp>
#include <fairlead/tls/error.hpp>

#include <tls/lent_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <openssl/ssl.h>

namespace fairlead::ssl::impl {

/// The outcome of a step.
enum class progress : unsigned char {
    done,
    wants_input,  ///< nothing happens until more has come
    wants_output, ///< nothing happens until output() is taken
    wants_reader, ///< nothing happens until what the peer has written before is read
    closed,       ///< the peer has said that no more comes
    failed,       ///< failure() says why; so does every later step
};

/// The stream below, as it takes bytes at once.
class outlet {
public:
    /// Returns how many it has taken, in order; the rest has to be kept.
    virtual std::size_t write_now(void const* from, std::size_t n) noexcept = 0;

protected:
    ~outlet() = default;
};

class engine {
public:
    /// For streams of a context. Throws system_error.
    explicit engine(context& c);
    /// Takes over an SSL.
    explicit engine(SSL* s);
    engine(engine const&) = delete;
    engine& operator=(engine const&) = delete;
    ~engine();

    SSL* native_handle() const noexcept { return ssl_; }
    error_code set_host_name(std::string const& name) noexcept;

    /// `port` is the peer's, 0: unknown. A client's sessions belong to it.
    progress handshake(bool is_client, unsigned port = 0) noexcept;
    /// A client sends these bytes in its first handshake, if that resumes a session for it.
    error_code set_early_data(void const* from, std::size_t size) noexcept;
    /// Of a server: reads what its client sends ahead of the handshake. Closed: there is no more.
    progress read_early(void* into, std::size_t size, std::size_t& n) noexcept;
    bool has_begun() const noexcept { return has_role_; }
    /// Later choices of the program would change nothing: a handshake has begun, maybe by the program in its SSL, or
    /// was refused.
    bool is_settled() const noexcept;
    /// Neither a handshake has begun nor has the program begun one in its SSL: OpenSSL would fail for good.
    bool awaits_handshake() const noexcept { return !has_role_ && is_untouched(); }
    progress read(void* into, std::size_t size, std::size_t& n) noexcept;
    /// Takes a record's worth. With an outlet the record goes there first, from OpenSSL's own memory.
    progress write(void const* from, std::size_t size, std::size_t& n, outlet* to = nullptr) noexcept;
    /// The most that one record holds.
    static constexpr std::size_t content_most = 16'384;
    /// Looks at what has come for an alert of the peer's that ends the connection. It is the failure then. All else
    /// stays for the next read.
    bool finds_alert() noexcept;
    /// Says that no more will be written.
    progress shutdown_send() noexcept;
    /// As shutdown_send(); done when the peer has said so, too.
    progress shutdown() noexcept;
    /// The handshake has taken too long.
    void give_up_handshake() noexcept { fail(error::handshake_timed_out); }
    error_code const& failure() const noexcept { return failure_; }
    void release_write_buffer() noexcept;
    /// Decrypted bytes that wait to be read, or encrypted ones that have not been looked at.
    bool has_input() const noexcept;
    /// A read would want input.
    bool is_out_of_bytes() const noexcept { return !failure_ && is_drained(); }

    /// Encrypted bytes from below. All are taken before a step wants input.
    lent_memory input;
    /// Encrypted bytes for below.
    lent_memory output;
    /// The stream below has ended.
    bool input_ended = false;
    /// Writes in a row share one buffer of OpenSSL's, 16 KiB. To make it for each takes a tenth of the time of a short
    /// one. Then release_write_buffer() ends the row.
    bool keeps_write_buffer = true;
    /// Of one record there is always space: what is larger needs several steps.
    static constexpr std::size_t record_most = content_most + 256 + 5;

private:
    bool is_untouched() const noexcept;
    struct io; // the functions of its BIO
    void attach();
    BIO* find_bio() noexcept;
    progress progress_of(int result) noexcept;
    progress fail(error_code const& ec) noexcept;
    progress begin_handshake(bool is_client, unsigned port) noexcept;
    progress agree(bool is_client, unsigned port) noexcept;
    progress write_early() noexcept;
    bool is_read_first() const noexcept;
    progress ended() noexcept;
    bool knows_whom_to_expect() const noexcept;
    bool is_drained() const noexcept;
    void count_towards_handshake(std::size_t n) noexcept;
    /// OpenSSL's buffers, one for each direction, go as soon as they are empty.
    void release_after_use(bool yes) noexcept;

    // The small ones stand together: a connection that waits has one of these objects.
    bool has_role_ = false;
    bool has_agreed_ = false;       ///< the first handshake is over
    bool has_early_data_ = false;   ///< of a client, to be sent
    bool no_early_data_ = false;    ///< of a server: there is none, or no more
    unsigned char record_type_ = 0; ///< of the record that OpenSSL reads, if it has not got all of it
    bool has_sent_close_ = false;
    bool releases_ = true;
    bool has_written_ = false; ///< since a read has waited
    bool has_kept_ = false;
    bool is_of_program_;      ///< which has made the SSL
    bool has_own_bio_ = true; ///< else it is that of a thread
    SSL* ssl_;
    outlet* outlet_ = nullptr;
    /// Of the peer's bytes, those that have brought the program nothing: of a handshake, or since bytes for the program
    /// have come. OpenSSL takes updates of keys without end.
    std::uint32_t handshake_size_ = 0; ///< or the most that fits
    std::uint32_t handshake_size_max_ = 0;
    error_code failure_;
};

/// The oldest error that OpenSSL has noted in this thread.
error_code last_error() noexcept;
/// Sets what a context of OpenSSL does for verify_function and password_function, kept with the SSL or SSL_CTX.
error_code keep_verify_function(SSL_CTX* c, verify_function f) noexcept;
error_code keep_verify_function(SSL* s, verify_function f) noexcept;
bool has_verify_function(SSL const* s) noexcept;
/// Reads the roots of the system unless the program has named its own, or has done so before.
error_code trust_system(SSL_CTX* c) noexcept;
/// The context verifies otherwise from now on: neither side resumes a session that was made before.
error_code begin_scope(SSL_CTX* c) noexcept;
/// The context shows another certificate from now on: clients resume no session that was made before.
void forget_sessions(SSL_CTX* c) noexcept;
/// A client's handshake begins: a session that its context has kept for the same server is resumed.
error_code resume_if_kept(SSL* s, unsigned port) noexcept;
/// Whether resume_if_kept() may find one.
bool keeps_sessions(SSL const* s) noexcept;
/// The bytes that a client sends ahead of its handshake.
error_code keep_early_data(SSL* s, void const* from, std::size_t size) noexcept;
std::string_view early_data_of(SSL const* s) noexcept;
void consume_early_data(SSL* s, std::size_t n) noexcept;
/// They have been sent, or will not be.
void forget_early_data(SSL* s) noexcept;
/// The session that is to be resumed takes them.
bool allows_early_data(SSL const* s) noexcept;
/// The program has chosen a mode of verification, so that the side of the handshake does not.
error_code note_verify_mode(SSL_CTX* c) noexcept;
error_code note_verify_mode(SSL* s) noexcept;
error_code note_verify_depth(SSL_CTX* c) noexcept;
error_code note_verify_depth(SSL* s) noexcept;
/// OpenSSL looks at no other bit of a server's mode without verify_peer.
constexpr verify_mode completed(verify_mode v) noexcept {
    return v & verify_fail_if_no_peer_cert ? v | verify_peer : v;
}
bool is_verify_mode_chosen(SSL const* s) noexcept;
/// The program has named authorities.
error_code note_trust(SSL_CTX* c) noexcept;
/// It is a context of ours, made with the defaults.
error_code make_ours(SSL_CTX* c) noexcept;
bool is_ours(SSL_CTX* c) noexcept;

} // namespace fairlead::ssl::impl
