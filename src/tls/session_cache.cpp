#include <tls/session_cache.hpp>

#include <fairlead/tls/context.hpp>

#include <tls/engine.hpp>
#include <tls/settings.hpp>

#include <iterator>
#include <utility>

namespace fairlead::ssl {
namespace impl {

/// OpenSSL marks a session as of no use if its connection ends without a shutdown. Null: no memory.
static session_ptr copy_of(SSL_SESSION* s) noexcept { return session_ptr(SSL_SESSION_dup(s)); }

void session_cache::keep(std::size_t most) {
    std::lock_guard const lock(mutex_);
    most_ = most;
    while (all_.size() > most_)
        drop(all_.begin());
}

void session_cache::begin_epoch() noexcept {
    std::lock_guard const lock(mutex_);
    ++epoch_;
    by_name_.clear();
    all_.clear();
}

std::uint64_t session_cache::epoch() noexcept {
    std::lock_guard const lock(mutex_);
    return most_ != 0 ? epoch_ : 0;
}

void session_cache::drop(entries::iterator e) noexcept {
    auto [i, end] = by_name_.equal_range(e->name);
    while (i != end && i->second != e)
        ++i;
    if (i != end)
        by_name_.erase(i);
    all_.erase(e);
}

session_ptr session_cache::take(std::string_view name) noexcept {
    std::lock_guard const lock(mutex_);
    auto const found = by_name_.find(name);
    if (found == by_name_.end())
        return nullptr;
    auto const e = found->second;
    bool const is_for_once = SSL_SESSION_get_protocol_version(e->session.get()) >= TLS1_3_VERSION;
    if (!is_for_once)
        return copy_of(e->session.get());
    auto taken = std::move(e->session);
    drop(e);
    return taken;
}

void session_cache::put(std::string_view name, std::uint64_t epoch, session_ptr s) {
    std::lock_guard const lock(mutex_);
    if (most_ == 0 || epoch != epoch_)
        return;
    if (SSL_SESSION_get_protocol_version(s.get()) < TLS1_3_VERSION) // A newer one takes its place.
        if (auto const old = by_name_.find(name); old != by_name_.end())
            drop(old->second);
    if (all_.size() == most_)
        drop(all_.begin());
    all_.push_back({std::string(name), std::move(s)});
    try {
        by_name_.emplace(all_.back().name, std::prev(all_.end()));
    } catch (...) {
        all_.pop_back();
        throw;
    }
}

namespace {

/// OpenSSL has a session for a client, now or at any later time.
int keep_session(SSL* s, SSL_SESSION* session) noexcept {
    auto const* const own = settings_of(s);
    auto* const common = settings_of(SSL_get_SSL_CTX(s));
    if (!own || !common || own->resumes_as.empty())
        return 0;
    try {
        if (auto copy = copy_of(session); copy && SSL_SESSION_is_resumable(copy.get()))
            common->sessions.put(own->resumes_as, own->epoch, std::move(copy));
    } catch (...) { // Without memory it is not kept.
    }
    return 0;
}

/// Whom a client expects; empty: nobody by name.
std::string expected_host(SSL* s) {
    auto* const expected = SSL_get0_param(s);
    if (char const* const host = X509_VERIFY_PARAM_get0_host(expected, 0))
        return host;
    struct address_freed {
        void operator()(char* p) const noexcept { OPENSSL_free(p); }
    };
    std::unique_ptr<char, address_freed> const address(X509_VERIFY_PARAM_get1_ip_asc(expected));
    return address ? address.get() : std::string();
}
/// Several programs may serve one host, each with sessions of its own.
std::string expected_name(SSL* s, unsigned port) {
    auto name = expected_host(s);
    if (!name.empty())
        name += ' ' + std::to_string(port);
    return name;
}

} // namespace

bool keeps_sessions(SSL const* s) noexcept {
    auto* const common = settings_of(SSL_get_SSL_CTX(s));
    return common && common->sessions.epoch() != 0;
}

void forget_sessions(SSL_CTX* c) noexcept {
    if (auto* const kept = settings_of(c))
        kept->sessions.begin_epoch();
}

error_code resume_if_kept(SSL* s, unsigned port) noexcept {
    auto* const common = settings_of(SSL_get_SSL_CTX(s));
    auto const epoch = common ? common->sessions.epoch() : 0;
    auto* own = settings_of(s);
    // A stream that verifies in a way of its own has nothing to do with the sessions of others.
    if (epoch == 0 || (own && own->is_alone))
        return {};
    own = make_settings(s);
    if (!own)
        return fairlead::error::no_memory;
    try {
        own->epoch = epoch;
        own->resumes_as = expected_name(s, port);
    } catch (...) {
        return fairlead::error::no_memory;
    }
    if (own->resumes_as.empty())
        return {};
    if (auto const kept = common->sessions.take(own->resumes_as))
        SSL_set_session(s, kept.get()); // One of another protocol is not taken; then the handshake is a whole one.
    return {};
}

} // namespace impl

error_code context::keep_sessions(std::size_t most, error_code& ec) {
    if (SSL_CTX_get_ssl_method(handle_) == TLS_server_method())
        return ec = fairlead::error::operation_not_supported;
    auto* const kept = impl::make_settings(handle_);
    if (!kept)
        return ec = fairlead::error::no_memory;
    kept->sessions.keep(most);
    auto mode = SSL_CTX_get_session_cache_mode(handle_) | SSL_SESS_CACHE_CLIENT;
    if (SSL_CTX_get_ssl_method(handle_) == TLS_client_method())
        mode |= SSL_SESS_CACHE_NO_INTERNAL_STORE; // Servers have theirs there.
    SSL_CTX_set_session_cache_mode(handle_, mode);
    SSL_CTX_sess_set_new_cb(handle_, &impl::keep_session);
    return ec = {};
}

context::handshake_counts context::handshakes() const noexcept {
    return {static_cast<std::uint64_t>(SSL_CTX_sess_connect_good(handle_)),
            static_cast<std::uint64_t>(SSL_CTX_sess_accept_good(handle_)),
            static_cast<std::uint64_t>(SSL_CTX_sess_hits(handle_))};
}

} // namespace fairlead::ssl
