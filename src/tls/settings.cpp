// The callbacks and choices of a program, kept with an SSL_CTX or an SSL of OpenSSL's.
#include <tls/settings.hpp>

#include <tls/engine.hpp>

#include <memory>
#include <new>
#include <utility>

#include <openssl/err.h>
#include <openssl/rand.h>

namespace fairlead::ssl::impl {
namespace {

/// Slow peers finish within some seconds; others are not worth their memory.
constexpr std::int64_t handshake_timeout_default_ns = 30'000'000'000;
/// A peer that is still there answers a goodbye at once, or after what it still has to write.
constexpr std::int64_t shutdown_timeout_default_ns = 30'000'000'000;
/// A chain of certificates and what is around it have 10 KiB as a rule.
constexpr std::size_t handshake_size_max_default = 262'144;

void free_settings(void*, void* p, CRYPTO_EX_DATA*, int, long, void*) { delete static_cast<settings*>(p); }

// OpenSSL has the same functions for both, by different names.
int index_of(SSL_CTX const*) noexcept {
    static int const i = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, &free_settings);
    return i;
}
int index_of(SSL const*) noexcept {
    static int const i = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, &free_settings);
    return i;
}
void* data_of(SSL_CTX const* c) noexcept { return SSL_CTX_get_ex_data(c, index_of(c)); }
void* data_of(SSL const* s) noexcept { return SSL_get_ex_data(s, index_of(s)); }
bool set_data(SSL_CTX* c, settings* p) noexcept { return SSL_CTX_set_ex_data(c, index_of(c), p) == 1; }
bool set_data(SSL* s, settings* p) noexcept { return SSL_set_ex_data(s, index_of(s), p) == 1; }

template <class Handle> settings* made_for(Handle* h) noexcept {
    if (auto* const there = settings_of(h))
        return there;
    std::unique_ptr<settings> made(new (std::nothrow) settings);
    return made && set_data(h, made.get()) ? made.release() : nullptr;
}

/// A scope in which nobody has made a session.
template <class Handle, class Set> error_code renew(session_scope& id, Handle* h, Set set) noexcept {
    ERR_clear_error();
    bool const is_new = RAND_bytes(id.data(), static_cast<int>(id.size())) == 1 &&
                        set(h, id.data(), static_cast<unsigned>(id.size())) == 1;
    return is_new ? error_code() : last_error();
}

/// OpenSSL's callback has no argument of ours: the stream's function comes first, then that of its context.
int call_verify(int is_verified, X509_STORE_CTX* found) {
    auto const* const s =
        static_cast<SSL const*>(X509_STORE_CTX_get_ex_data(found, SSL_get_ex_data_X509_STORE_CTX_idx()));
    auto const* own = settings_of(s);
    if (!own || !own->verify)
        own = settings_of(SSL_get_SSL_CTX(s));
    if (!own || !own->verify)
        return is_verified;
    try {
        verify_context c(found);
        if (own->verify(is_verified != 0, c))
            return 1;
    } catch (...) { // A callback that throws has not accepted.
    }
    if (X509_STORE_CTX_get_error(found) == X509_V_OK)
        X509_STORE_CTX_set_error(found, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
}

} // namespace

settings* settings_of(SSL_CTX const* c) noexcept { return static_cast<settings*>(data_of(c)); }
settings* settings_of(SSL const* s) noexcept { return static_cast<settings*>(data_of(s)); }
settings* make_settings(SSL_CTX* c) noexcept { return made_for(c); }
settings* make_settings(SSL* s) noexcept { return made_for(s); }

error_code keep_verify_function(SSL_CTX* c, verify_function f) noexcept {
    if (auto const ec = begin_scope(c))
        return ec;
    settings_of(c)->verify = std::move(f);
    SSL_CTX_set_verify(c, SSL_CTX_get_verify_mode(c), &call_verify);
    return {};
}
error_code keep_verify_function(SSL* s, verify_function f) noexcept {
    if (auto const ec = stand_alone(s))
        return ec;
    settings_of(s)->verify = std::move(f);
    SSL_set_verify(s, SSL_get_verify_mode(s), &call_verify);
    return {};
}

error_code begin_scope(SSL_CTX* c) noexcept {
    auto* const kept = make_settings(c);
    if (!kept)
        return fairlead::error::no_memory;
    // Also a first one is needed. Without it OpenSSL ends a handshake in which a client resumes a session and has to
    // show a certificate.
    if (auto const ec = renew(kept->scope, c, &SSL_CTX_set_session_id_context))
        return ec;
    kept->sessions.begin_epoch();
    return {};
}
error_code stand_alone(SSL* s) noexcept {
    auto* const own = make_settings(s);
    if (!own)
        return fairlead::error::no_memory;
    own->is_alone = true;
    session_scope id; // Clients have none.
    return SSL_is_server(s) ? renew(id, s, &SSL_set_session_id_context) : error_code();
}

/// Whether the stream has something, or its context.
template <class Has> static bool either_has(SSL const* s, Has has) noexcept {
    auto const* const own = settings_of(s);
    auto const* const common = settings_of(SSL_get_SSL_CTX(s));
    return (own && has(*own)) || (common && has(*common));
}

bool has_verify_function(SSL const* s) noexcept {
    return either_has(s, [](settings const& each) { return static_cast<bool>(each.verify); });
}
bool is_verify_mode_chosen(SSL const* s) noexcept {
    return either_has(s, [](settings const& each) { return each.has_verify_mode; });
}
static error_code note(SSL_CTX* c, bool settings::* what) noexcept {
    if (auto const ec = begin_scope(c))
        return ec;
    settings_of(c)->*what = true;
    return {};
}
static error_code note(SSL* s, bool settings::* what) noexcept {
    if (auto const ec = stand_alone(s))
        return ec;
    settings_of(s)->*what = true;
    return {};
}
error_code note_verify_mode(SSL_CTX* c) noexcept { return note(c, &settings::has_verify_mode); }
error_code note_verify_depth(SSL_CTX* c) noexcept { return note(c, &settings::has_depth); }
error_code note_verify_mode(SSL* s) noexcept { return note(s, &settings::has_verify_mode); }
error_code note_verify_depth(SSL* s) noexcept { return note(s, &settings::has_depth); }
error_code note_trust(SSL_CTX* c) noexcept { return note(c, &settings::has_trust); }
error_code make_ours(SSL_CTX* c) noexcept {
    SSL_CTX_set_alpn_select_cb(c, &choose_protocol, nullptr);
    SSL_CTX_set_tlsext_status_cb(c, &handle_ocsp);
    if (auto const ec = note(c, &settings::is_ours))
        return ec;
    settings_of(c)->handshake_timeout_ns = handshake_timeout_default_ns;
    settings_of(c)->shutdown_timeout_ns = shutdown_timeout_default_ns;
    settings_of(c)->handshake_size_max = handshake_size_max_default;
    return {};
}

std::size_t handshake_size_max_of(SSL const* s) noexcept {
    auto const* const kept = settings_of(SSL_get_SSL_CTX(s));
    return kept && kept->handshake_size_max != 0 ? kept->handshake_size_max : SIZE_MAX;
}
std::int64_t handshake_timeout_ns_of(SSL const* s) noexcept {
    auto const* const kept = settings_of(SSL_get_SSL_CTX(s));
    return kept && kept->handshake_timeout_ns != 0 ? kept->handshake_timeout_ns : INT64_MAX;
}
std::int64_t shutdown_timeout_ns_of(SSL const* s) noexcept {
    auto const* const kept = settings_of(SSL_get_SSL_CTX(s));
    return kept && kept->shutdown_timeout_ns != 0 ? kept->shutdown_timeout_ns : INT64_MAX;
}
bool is_ours(SSL_CTX* c) noexcept {
    auto const* const kept = settings_of(c);
    return kept && kept->is_ours;
}
error_code trust_system(SSL_CTX* c) noexcept {
    auto* const kept = make_settings(c);
    if (!kept)
        return fairlead::error::no_memory;
    if (kept->has_trust)
        return {};
    std::call_once(kept->reads_system, [&]() noexcept {
        ERR_clear_error();
        if (SSL_CTX_set_default_verify_paths(c) != 1)
            kept->system_failure = last_error();
    });
    return kept->system_failure;
}

} // namespace fairlead::ssl::impl
