#include <tls/engine.hpp>
#include <tls/peer_name.hpp>
#include <tls/settings.hpp>

#include <fairlead/tls/error.hpp>

#include <algorithm>
#include <cstring>
#include <new>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

namespace fairlead::ssl::impl {

/// As ERR_clear_error(), which takes 700 instructions also where there is no error.
static void forget_errors() noexcept {
    if (ERR_peek_error() != 0)
        ERR_clear_error();
}

/// OpenSSL's way to our bytes. A call that has to wait asks to be repeated.
struct engine::io {
    /// Null: a program does I/O of its own with the SSL.
    static engine* of(BIO* b) noexcept { return static_cast<engine*>(BIO_get_data(b)); }
    static int read(BIO* b, char* into, std::size_t size, std::size_t* n) {
        BIO_clear_retry_flags(b);
        *n = 0;
        auto* const found = of(b);
        if (!found) {
            BIO_set_retry_read(b);
            return 0;
        }
        auto& self = *found;
        *n = self.input.take(into, size);
        if (size == SSL3_RT_HEADER_LENGTH && *n != 0)
            self.record_type_ = static_cast<unsigned char>(*into);
        if (size != SSL3_RT_HEADER_LENGTH || *n != size) // Else the rest of the record is read next.
            self.release_after_use(self.input.empty());
        if (*n != 0)
            return 1;
        if (!self.input_ended)
            BIO_set_retry_read(b);
        return 0;
    }
    static int write(BIO* b, char const* from, std::size_t size, std::size_t* n) {
        BIO_clear_retry_flags(b);
        *n = 0;
        auto* const found = of(b);
        if (!found) {
            BIO_set_retry_write(b);
            return 0;
        }
        auto& self = *found;
        *n = self.outlet_ ? self.outlet_->write_now(from, size) : 0;
        if (*n == size)
            return 1;
        auto const kept = std::min(size - *n, self.output.space_left());
        if (kept == 0)
            BIO_set_retry_write(b);
        else if (self.output.put(from + *n, kept))
            *n += kept;
        return *n != 0;
    }
    static long control(BIO* b, int what, long, void*) {
        if (what == BIO_CTRL_EOF)
            return of(b) && of(b)->input_ended && of(b)->input.empty();
        return what == BIO_CTRL_FLUSH; // There is nothing below that would hold anything back.
    }
    static BIO_METHOD* method() noexcept {
        static BIO_METHOD* const m = [] {
            auto* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "fairlead");
            if (made) {
                BIO_meth_set_read_ex(made, &io::read);
                BIO_meth_set_write_ex(made, &io::write);
                BIO_meth_set_ctrl(made, &io::control);
            }
            return made;
        }();
        return m;
    }
    /// Of a first handshake, or null: no memory.
    static BIO* make() noexcept {
        auto* const m = method();
        auto* const b = m ? BIO_new(m) : nullptr;
        if (b)
            BIO_set_init(b, 1);
        return b;
    }
    /// After its first handshake an engine has no BIO of its own, which would take 208 bytes. It uses that of the
    /// thread, whose flags no other thread may change meanwhile.
    class of_thread {
    public:
        of_thread() noexcept = default;
        of_thread(of_thread const&) = delete;
        of_thread& operator=(of_thread const&) = delete;
        ~of_thread() {
            BIO_free(std::exchange(bio_, nullptr));
            has_ended_ = true;
        }
        /// Null: no memory, or the thread ends.
        BIO* get() noexcept {
            if (!bio_ && !has_ended_)
                bio_ = make();
            return bio_;
        }

    private:
        BIO* bio_ = nullptr;
        bool has_ended_ = false;
    };
    /// The time in which OpenSSL works for this engine.
    class use {
    public:
        explicit use(engine& e) noexcept : bio_(e.find_bio()), before_(bio_ ? BIO_get_data(bio_) : nullptr) {
            if (bio_)
                BIO_set_data(bio_, &e);
        }
        use(use const&) = delete;
        use& operator=(use const&) = delete;
        ~use() {
            if (bio_)
                BIO_set_data(bio_, before_);
        }
        bool is_possible() const noexcept { return bio_; }

    private:
        BIO* const bio_;
        void* const before_; ///< another engine, in whose handshake a function of the program uses this one
    };
};

error_code last_error() noexcept {
    unsigned long const e = ERR_get_error();
    if (e == 0)
        return error::unspecified_system_error;
    if (ERR_SYSTEM_ERROR(e))
        return {static_cast<int>(ERR_GET_REASON(e)), fairlead::error::get_system_category()};
    if (ERR_GET_REASON(e) == ERR_R_MALLOC_FAILURE)
        return fairlead::error::no_memory;
    return {static_cast<int>(e), fairlead::error::get_ssl_category()};
}

engine::engine(context& c) : is_of_program_(false), ssl_(SSL_new(c.native_handle())) { attach(); }
engine::engine(SSL* s) : is_of_program_(true), ssl_(s) { attach(); }
engine::~engine() {
    // OpenSSL would forget a session whose connection ends without a goodbye. Then tickets for early data, which are
    // kept here, would be of no use after a cut.
    if (failure_.category() != fairlead::error::get_ssl_category())
        SSL_set_shutdown(ssl_, SSL_get_shutdown(ssl_) | SSL_SENT_SHUTDOWN);
    SSL_free(ssl_);
}

void engine::attach() {
    auto* const b = ssl_ ? io::make() : nullptr;
    if (!b) {
        auto const ec = last_error();
        SSL_free(ssl_);
        fairlead::impl::base::throw_error_now(ec, "ssl::stream");
    }
    SSL_set_bio(ssl_, b, b);
    SSL_set_mode(ssl_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
}

/// Null: no memory.
BIO* engine::find_bio() noexcept {
    auto* const had = SSL_get_rbio(ssl_);
    if (!has_agreed_)
        return had;
    static thread_local io::of_thread of_thread;
    auto* const wanted = of_thread.get();
    if (wanted == had && wanted)
        return had;
    if (wanted && BIO_up_ref(wanted) == 1) {
        SSL_set_bio(ssl_, wanted, wanted);
        has_own_bio_ = false;
        return wanted;
    }
    if (has_own_bio_)
        return had;
    auto* const own = io::make();
    if (own)
        SSL_set_bio(ssl_, own, own);
    has_own_bio_ = own != nullptr;
    return own;
}

error_code engine::set_host_name(std::string const& name) noexcept try {
    if (is_settled())
        return fairlead::error::already_started;
    auto const wanted = peer_name_of(name);
    if (wanted.text.empty())
        return fairlead::error::invalid_argument;
    forget_errors();
    auto* const expected = SSL_get0_param(ssl_);
    X509_VERIFY_PARAM_set1_ip(expected, nullptr, 0); // of another call
    X509_VERIFY_PARAM_set1_host(expected, nullptr, 0);
    SSL_set_tlsext_host_name(ssl_, nullptr);
    auto const& text = wanted.text;
    if (wanted.is_address) // Certificates name addresses in a field of their own, and nobody sends one as a name.
        return X509_VERIFY_PARAM_set1_ip_asc(expected, text.c_str()) == 1 ? error_code() : last_error();
    X509_VERIFY_PARAM_set_hostflags(expected, name_flags);
    if (X509_VERIFY_PARAM_set1_host(expected, text.c_str(), text.size()) != 1 ||
        SSL_set_tlsext_host_name(ssl_, text.c_str()) != 1)
        return last_error();
    return {};
} catch (std::bad_alloc const&) {
    return fairlead::error::no_memory;
}

bool engine::knows_whom_to_expect() const noexcept {
    auto* const expected = SSL_get0_param(ssl_);
    char* const address = X509_VERIFY_PARAM_get1_ip_asc(expected);
    bool const is_address = address != nullptr;
    OPENSSL_free(address);
    return is_address || X509_VERIFY_PARAM_get0_host(expected, 0) != nullptr || has_verify_function(ssl_) ||
           (is_of_program_ && SSL_get_verify_callback(ssl_));
}

/// A size that is never above the limit.
static constexpr std::size_t no_limit = UINT32_MAX;
void engine::count_towards_handshake(std::size_t n) noexcept {
    handshake_size_ = static_cast<std::uint32_t>(std::min(handshake_size_ + n, no_limit));
}

progress engine::fail(error_code const& ec) noexcept {
    failure_ = ec;
    return progress::failed;
}

/// Scopes are for sessions of servers. A client resumes what is set, and OpenSSL would end its handshake if the scope
/// were another one. In a context for both sides no server takes a client's session for one of its own.
static void leave_scope(SSL* s) noexcept {
    unsigned char const* scope = nullptr;
    unsigned size = 0;
    if (auto const* const session = SSL_get0_session(s))
        scope = SSL_SESSION_get0_id_context(session, &size);
    SSL_set_session_id_context(s, scope, size); // It fails of sizes only that no session has.
}

/// This end is a client or a server from now on.
progress engine::begin_handshake(bool is_client, unsigned port) noexcept {
    auto* const of_ssl = SSL_get_SSL_CTX(ssl_);
    auto* const context = is_of_program_ && !is_ours(of_ssl) ? nullptr : of_ssl;
    if (context && is_ours(context) && is_client) {
        if (!is_verify_mode_chosen(ssl_))
            SSL_set_verify(ssl_, SSL_VERIFY_PEER, SSL_get_verify_callback(ssl_));
        if (SSL_get_verify_mode(ssl_) != SSL_VERIFY_NONE) {
            if (!knows_whom_to_expect())
                return fail(error::no_host_name);
            if (auto const ec = trust_system(context))
                return fail(ec);
        }
    }
    if (context && is_client) {
        if (auto const ec = is_of_program_ ? error_code() : resume_if_kept(ssl_, port))
            return fail(ec);
        ask_for_ocsp(ssl_);
        if (has_early_data_ && !allows_early_data(ssl_)) {
            has_early_data_ = false;
            forget_early_data(ssl_);
        }
    }
    if (is_client)
        leave_scope(ssl_);
    handshake_size_max_ = static_cast<std::uint32_t>(
        std::min(handshake_size_max_of(ssl_), no_limit)); // That of this context, also if a name chooses another one.
    is_client ? SSL_set_connect_state(ssl_) : SSL_set_accept_state(ssl_);
    has_role_ = true;
    return progress::done;
}

/// With TLS 1.2 a handshake may begin anew while the peer still writes. OpenSSL gives that only to a read, and takes it
/// for an error in all else.
bool engine::is_read_first() const noexcept {
    if (input.empty() || !has_agreed_ || SSL_version(ssl_) >= TLS1_3_VERSION ||
        !(SSL_in_init(ssl_) || SSL_renegotiate_pending(ssl_)))
        return false;
    bool const is_inside_a_record = SSL_has_pending(ssl_) || SSL_rstate_string(ssl_)[1] == 'B';
    return (is_inside_a_record ? record_type_ : static_cast<unsigned char>(*input.data())) == SSL3_RT_APPLICATION_DATA;
}

bool engine::is_settled() const noexcept { return has_role_ || failure_ || !SSL_in_before(ssl_); }
bool engine::is_untouched() const noexcept { return !is_of_program_ && !failure_ && SSL_in_before(ssl_); }

progress engine::handshake(bool is_client, unsigned port) noexcept {
    auto const p = agree(is_client, port);
    if (p == progress::done)
        find_bio(); // The connection may wait from here on: its own one goes.
    return p;
}
progress engine::agree(bool is_client, unsigned port) noexcept {
    if (failure_ || (!has_role_ && begin_handshake(is_client, port) == progress::failed))
        return progress::failed;
    if (is_read_first())
        return progress::wants_reader;
    io::use const in_use(*this);
    if (!in_use.is_possible())
        return fail(fairlead::error::no_memory);
    forget_errors();
    if (has_early_data_)
        if (auto const p = write_early(); p != progress::done)
            return p;
    auto const before = input.size();
    auto const p = progress_of(SSL_do_handshake(ssl_));
    count_towards_handshake(before - input.size());
    if (p == progress::done) {
        has_agreed_ = true;
        handshake_size_ = 0;
    }
    if (p == progress::closed) // Nobody has said goodbye who has not been there.
        return fail(error::stream_truncated);
    if (p == progress::wants_input && handshake_size_ > handshake_size_max_)
        return fail(error::handshake_too_large);
    return p;
}

error_code engine::set_early_data(void const* from, std::size_t size) noexcept {
    if (is_settled())
        return fairlead::error::already_started;
    if (auto const ec = keep_early_data(ssl_, from, size))
        return ec;
    has_early_data_ = size != 0;
    return {};
}
progress engine::write_early() noexcept {
    for (auto left = early_data_of(ssl_); !left.empty(); left = early_data_of(ssl_)) {
        if (output.space_left() < record_most)
            return progress::wants_output;
        std::size_t n = 0;
        if (SSL_write_early_data(ssl_, left.data(), std::min(left.size(), content_most), &n) != 1)
            return progress_of(0);
        consume_early_data(ssl_, n);
    }
    has_early_data_ = false;
    forget_early_data(ssl_);
    return progress::done;
}
progress engine::read_early(void* into, std::size_t size, std::size_t& n) noexcept {
    n = 0;
    if (!has_role_ && SSL_get_ssl_method(ssl_) == TLS_client_method())
        return progress::closed;
    if (failure_ || (!has_role_ && begin_handshake(false, 0) == progress::failed))
        return progress::failed;
    if (no_early_data_ || !SSL_is_server(ssl_))
        return progress::closed;
    io::use const in_use(*this);
    if (!in_use.is_possible())
        return fail(fairlead::error::no_memory);
    forget_errors();
    auto const before = input.size();
    int const r = SSL_read_early_data(ssl_, into, size, &n);
    if (SSL_get_early_data_status(ssl_) != SSL_EARLY_DATA_ACCEPTED) // It has a limit of its own.
        count_towards_handshake(before - input.size());
    if (r == SSL_READ_EARLY_DATA_SUCCESS)
        return progress::done;
    if (r == SSL_READ_EARLY_DATA_FINISH) {
        no_early_data_ = true;
        return progress::closed;
    }
    auto const p = progress_of(0);
    if (p == progress::closed)
        return fail(error::stream_truncated);
    if (p == progress::wants_input && handshake_size_ > handshake_size_max_)
        return fail(error::handshake_too_large);
    return p;
}

progress engine::read(void* into, std::size_t size, std::size_t& n) noexcept {
    n = 0;
    if (failure_)
        return progress::failed;
    if (is_drained())
        return progress::wants_input;
    io::use const in_use(*this);
    if (!in_use.is_possible())
        return fail(fairlead::error::no_memory);
    forget_errors();
    auto const before = input.size();
    auto const p = progress_of(SSL_read_ex(ssl_, into, size, &n));
    n != 0 ? void(handshake_size_ = 0) : count_towards_handshake(before - input.size());
    if (p == progress::wants_input && handshake_size_ > handshake_size_max_)
        return fail(error::handshake_too_large);
    return p == progress::closed ? ended() : p;
}

/// OpenSSL's codes for alerts of the peer are those of RFC 8446 section 6 and 1000 more.
static bool is_alert(error_code const& ec) noexcept {
    auto const code = static_cast<unsigned long>(static_cast<unsigned>(ec.value()));
    return ec.category() == fairlead::error::get_ssl_category() && ERR_GET_LIB(code) == ERR_LIB_SSL &&
           ERR_GET_REASON(code) >= SSL_AD_REASON_OFFSET;
}
bool engine::finds_alert() noexcept {
    if (failure_ || input.empty() || !SSL_is_init_finished(ssl_))
        return false;
    io::use const in_use(*this);
    if (!in_use.is_possible())
        return false;
    forget_errors();
    auto const before = input.size();
    char first;
    std::size_t n = 0;
    auto const p = progress_of(SSL_peek_ex(ssl_, &first, 1, &n));
    count_towards_handshake(before - input.size());
    return p == progress::failed && is_alert(failure_);
}

/// The peer has ended. With TLS 1.2 that ends both directions, and is answered at once (RFC 5246 section 7.2.1). If the
/// answer finds no space the next step repeats it.
progress engine::ended() noexcept {
    bool const is_inside_a_record = SSL_has_pending(ssl_) || std::strcmp(SSL_rstate_string(ssl_), "RB") == 0;
    if (input_ended && is_inside_a_record) // Also where the program lets streams end without close_notify.
        return fail(error::stream_truncated);
    if (SSL_version(ssl_) < TLS1_3_VERSION && !has_sent_close_) {
        has_sent_close_ = SSL_shutdown(ssl_) >= 0;
        forget_errors();
    }
    return progress::closed;
}

progress engine::write(void const* from, std::size_t size, std::size_t& n, outlet* to) noexcept {
    n = 0;
    if (failure_)
        return progress::failed;
    if (SSL_get_shutdown(ssl_) & SSL_SENT_SHUTDOWN)
        return progress::closed;
    if (output.space_left() < record_most)
        return progress::wants_output;
    if (is_read_first())
        return progress::wants_reader;
    io::use const in_use(*this);
    if (!in_use.is_possible())
        return fail(fairlead::error::no_memory);
    bool const keeps = has_written_ && keeps_write_buffer;
    has_written_ = true;
    has_kept_ = has_kept_ || keeps;
    release_after_use(!keeps);
    forget_errors();
    outlet_ = to;
    auto const r = SSL_write_ex(ssl_, from, size, &n);
    outlet_ = nullptr;
    return progress_of(r);
}

progress engine::shutdown_send() noexcept {
    if (failure_)
        return progress::failed;
    if (has_sent_close_)
        return progress::done;
    io::use const in_use(*this);
    if (!in_use.is_possible())
        return fail(fairlead::error::no_memory);
    forget_errors();
    int const r = SSL_shutdown(ssl_);
    has_sent_close_ = r >= 0;
    return has_sent_close_ ? progress::done : progress_of(r);
}

progress engine::shutdown() noexcept {
    if (auto const p = shutdown_send(); p != progress::done || (SSL_get_shutdown(ssl_) & SSL_RECEIVED_SHUTDOWN))
        return p;
    io::use const in_use(*this);
    if (!in_use.is_possible())
        return fail(fairlead::error::no_memory);
    forget_errors();
    int const r = SSL_shutdown(ssl_);
    if (r == 1 && ERR_peek_error() != 0) // It takes an alert of the peer for the goodbye.
        return fail(last_error());
    return r == 1 ? progress::done : progress_of(r);
}

void engine::release_after_use(bool yes) noexcept {
    if (yes == releases_)
        return;
    releases_ = yes;
    yes ? SSL_set_mode(ssl_, SSL_MODE_RELEASE_BUFFERS) : SSL_clear_mode(ssl_, SSL_MODE_RELEASE_BUFFERS);
}
void engine::release_write_buffer() noexcept {
    has_written_ = false;
    // Some versions of OpenSSL 3 would also free the head of a record whose body has not come.
    if (has_kept_ && SSL_rstate_string(ssl_)[1] != 'B')
        has_kept_ = SSL_free_buffers(ssl_) == 0;
}

/// OpenSSL would say the same, after a longer way.
bool engine::is_drained() const noexcept {
    return input.empty() && !input_ended && SSL_is_init_finished(ssl_) && !SSL_has_pending(ssl_) &&
           !(SSL_get_shutdown(ssl_) & SSL_RECEIVED_SHUTDOWN);
}

bool engine::has_input() const noexcept { return !input.empty() || input_ended || SSL_pending(ssl_) != 0; }

progress engine::progress_of(int result) noexcept {
    if (result > 0)
        return progress::done;
    switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ: return progress::wants_input;
    case SSL_ERROR_WANT_WRITE: return progress::wants_output;
    case SSL_ERROR_ZERO_RETURN: return progress::closed;
    case SSL_ERROR_SSL: break;
    case SSL_ERROR_SYSCALL:
        if (ERR_peek_error() == 0) // The BIO has no other failure than that of having no memory.
            return fail(input_ended ? error_code(error::stream_truncated) : fairlead::error::no_memory);
        break;
    default: return fail(error::unexpected_result);
    }
    auto const e = ERR_peek_error();
    if (ERR_GET_LIB(e) == ERR_LIB_SSL) {
        if (ERR_GET_REASON(e) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
            return fail(error::stream_truncated);
        long const refused = SSL_get_verify_result(ssl_);
        if (ERR_GET_REASON(e) == SSL_R_CERTIFICATE_VERIFY_FAILED && refused != X509_V_OK)
            return fail({static_cast<int>(refused), error::get_verify_category()});
        if (ERR_GET_REASON(e) == SSL_R_EXCESSIVE_MESSAGE_SIZE)
            return fail(error::handshake_too_large);
        if (ERR_GET_REASON(e) == SSL_R_INVALID_STATUS_RESPONSE)
            if (auto const ec = ocsp_failure_of(ssl_))
                return fail(ec);
    }
    return fail(last_error());
}

} // namespace fairlead::ssl::impl
