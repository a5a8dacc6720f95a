// The two ends of tls_operations_test.cpp, the operations that are started on them, and what each of these may report.
#pragma once

#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/tls/stream.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>

#include <sim/tls_chance.hpp>
#include <sim/tls_relay.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::test::tls_script {

/// A stream of a user's: what is below TLS reaches it by its operations only.
class plain_stream {
public:
    using lowest_layer_type = local_socket;
    using executor_type = local_socket::executor_type;

    explicit plain_stream(io_context& c) : socket_(c) {}
    executor_type get_executor() const noexcept { return const_cast<local_socket&>(socket_).get_executor(); }
    local_socket& lowest_layer() noexcept { return socket_; }
    friend local_socket& socket_of(plain_stream& s) noexcept { return s.socket_; }
    template <class Buffers, class Token> decltype(auto) async_read_some(Buffers const& b, Token&& token) {
        return socket_.async_read_some(b, std::forward<Token>(token));
    }
    template <class Buffers, class Token> decltype(auto) async_write_some(Buffers const& b, Token&& token) {
        return socket_.async_write_some(b, std::forward<Token>(token));
    }
    template <class Buffers> std::size_t read_some(Buffers const& b, error_code& ec) {
        return socket_.read_some(b, ec);
    }
    template <class Buffers> std::size_t write_some(Buffers const& b, error_code& ec) {
        return socket_.write_some(b, ec);
    }

private:
    local_socket socket_;
};

inline local_socket& socket_of(local_socket& s) noexcept { return s; }

inline char byte_of(int stream, std::uint64_t position) noexcept {
    return static_cast<char>((position * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(stream + 1) * 0xd1342543U) >>
                             37);
}
/// Of OpenSSL, of a certificate, or of a stream: anything that TLS itself reports.
inline bool is_of_tls(error_code const& ec) noexcept {
    return ec.category() == error::get_ssl_category() || ec.category() == ssl::error::get_verify_category() ||
           ec.category() == ssl::error::get_stream_category();
}

enum class verb : std::uint8_t { handshake, read, write, shutdown };

struct flight {
    verb what;
    std::unique_ptr<char[]> bytes; ///< of just the right size, and spoilt when it is over
    std::size_t size = 0;
    cancellation_signal signal;
    bool is_intruder = false; ///< beside another one in its place
    bool has_company = false; ///< the place was taken: it may be refused
    bool is_asked = false;    ///< to end, or may be
    bool is_deaf_to_total = false;
    bool is_coroutine = false;
    bool is_sync = false;
    bool brings_bytes = false; ///< a handshake
    bool is_over = false;
    error_code ec;
    std::size_t n = 0;
};

/// One end. `Below` is a socket or a plain_stream.
template <class Below> struct tls_end {
    using stream = ssl::stream<Below>;

    int number = 0; ///< 0: the client
    std::unique_ptr<stream> tls;
    direction *out = nullptr, *in = nullptr;
    std::vector<flight*> pending[3]; ///< by place: handshake or shutdown, write, read
    std::vector<char> come;          ///< bytes for the first handshake
    bool is_waiting_for_bytes = false;
    bool is_done = false;      ///< the handshake
    bool is_closed = false;    ///< or destroyed, or its socket is
    bool is_disturbed = false; ///< its socket was asked to end what is pending
    bool says_goodbye = false; ///< a shutdown has been started
    bool is_misused = false;   ///< read or written before the handshake was over
    bool hears_eof = false;
    error_code failure; ///< the first

    bool is_client() const noexcept { return number == 0; }
    local_socket& socket() { return socket_of(tls->next_layer()); }
    static std::size_t place_of(verb v) noexcept { return v == verb::read ? 2 : v == verb::write ? 1 : 0; }
    std::vector<flight*>& place(verb v) noexcept { return pending[place_of(v)]; }
    bool is_idle() const noexcept { return pending[0].empty() && pending[1].empty() && pending[2].empty(); }
};

/// Two ends and the relay between them: starts operations, and judges how they end.
template <class Below> class tls_scene {
public:
    using end_type = tls_end<Below>;
    using stream = typename end_type::stream;

    ledger account;

protected:
    tls_scene(sim::world& w, int version)
        : account(w),
          world_(w),
          host_(w.add_host("here")),
          version_(version),
          contexts_{scripted_context(true, version), scripted_context(false, version)} {
        account.covers(host_);
    }
    ~tls_scene() = default;

    std::uint32_t below(std::uint32_t n) { return world_.random().below(n); }
    io_context& context() { return host_.context(); }
    end_type& other(end_type& e) noexcept { return ends_[1 - e.number]; }

    virtual void after(flight&) = 0;
    static std::string text_of(end_type& e, flight& f) {
        constexpr char const* names[] = {"handshake", "read", "write", "shutdown"};
        return std::string(e.is_client() ? "client: " : "server: ") + names[static_cast<int>(f.what)] + ' ' +
               std::to_string(f.size) + ": ";
    }

    /// A new connection.
    void connect() {
        for (auto& d : directions_)
            d = {};
        relay_ = std::make_unique<relay>(world_, context(), account, directions_[0], directions_[1]);
        for (int i = 0; i != 2; ++i) {
            auto& e = ends_[i];
            e = {};
            e.number = i;
            e.out = &directions_[i];
            e.in = &directions_[1 - i];
            e.tls = std::make_unique<stream>(context(), contexts_[i]);
            local::connect_pair(e.socket(), relay_->socket(i));
        }
        ends_[0].tls->set_host_name("server.test");
        for (int i = 0; i != 2; ++i) {
            auto is_late = [this, i] { return ends_[1 - i].is_done; };
            co_spawn(context(), relay_->carry(i, is_late, alive(account)), ended_coroutine());
        }
    }
    auto ended_coroutine() {
        ++running_;
        return once(account, [this, a = alive(account)](std::exception_ptr e) {
            --running_;
            try {
                if (e)
                    std::rethrow_exception(e);
            } catch (std::exception const& x) {
                account.fault(std::string("a coroutine of the test throws: ") + x.what());
            }
        });
    }

    // ---- starting

    enum class way : std::uint8_t { handler, limited, coroutine, now };
    flight& start(end_type& e, verb what, std::size_t size, way w) {
        auto& f = *flights_.emplace_back(std::make_unique<flight>());
        f.what = what;
        f.size = size;
        f.bytes = std::make_unique<char[]>(size);
        f.has_company = !e.place(what).empty();
        for (auto* p : e.place(what)) // A coroutine may begin later than this one.
            p->has_company |= p->is_coroutine;
        f.is_deaf_to_total = what != verb::read;
        if (what == verb::write) {
            for (std::size_t i = 0; i != size; ++i)
                f.bytes[i] = byte_of(e.number, e.out->accepted + i);
            e.out->in_flight += size;
        }
        if (what == verb::handshake && !e.come.empty()) {
            f.brings_bytes = true;
            f.size = e.come.size();
            f.bytes = std::make_unique<char[]>(f.size);
            std::memcpy(f.bytes.get(), e.come.data(), f.size);
        }
        e.says_goodbye |= what == verb::shutdown;
        e.is_misused |= !e.is_done && what != verb::handshake && size != 0;
        e.is_misused |= !e.is_done && what == verb::shutdown;
        e.place(what).push_back(&f);
        launch(e, f, w);
        return f;
    }
    /// Those of one end, and an operation of it by itself.
    static void ask(flight& f, cancellation_type t) {
        auto heard = cancellation_type::all;
        if (f.is_coroutine)
            heard = cancellation_type::terminal;
        else if (f.is_deaf_to_total)
            heard = cancellation_type::terminal | cancellation_type::partial;
        f.is_asked |= (t & heard) != cancellation_type::none;
        f.signal.emit(t);
    }
    void ask_all(end_type& e, cancellation_type t) {
        for (auto& p : e.pending)
            for (auto* f : std::vector<flight*>(p))
                ask(*f, t);
    }
    void disturbed(end_type& e) {
        e.is_disturbed = true;
        for (auto& p : e.pending)
            for (auto* f : p)
                f->is_asked = true;
    }

private:
    void launch(end_type& e, flight& f, way w) {
        switch (w) {
        case way::handler: return with_operation(e, f, bind_cancellation_slot(f.signal.slot(), handler_of(e, f)));
        case way::limited:
            f.is_asked = true;
            return with_operation(e, f,
                                  cancel_after(std::chrono::microseconds(below(4000)),
                                               bind_cancellation_slot(f.signal.slot(), handler_of(e, f))));
        case way::coroutine: {
            f.is_coroutine = true;
            auto body = await(e, f, alive(account));
            auto ended = once(account, [this, &e, &f, a = alive(account)](std::exception_ptr x) {
                if (!f.is_over) {
                    account.check(static_cast<bool>(x), "a coroutine has ended before the operation that it awaits");
                    completed(e, f, error::operation_aborted, 0); // It was asked to end before that began.
                }
            });
            return co_spawn(context(), std::move(body), bind_cancellation_slot(f.signal.slot(), std::move(ended)));
        }
        case way::now: return at_once(e, f);
        }
    }
    auto handler_of(end_type& e, flight& f) {
        return once(account,
                    [this, &e, &f, a = alive(account)](error_code ec, std::size_t n = 0) { completed(e, f, ec, n); });
    }
    template <class Token> void with_operation(end_type& e, flight& f, Token&& token) {
        auto& s = *e.tls;
        auto const type = e.is_client() ? ssl::stream_base::client : ssl::stream_base::server;
        switch (f.what) {
        case verb::handshake:
            if (f.brings_bytes) {
                auto const come = buffer(f.bytes.get(), f.size);
                s.async_handshake(type, come, std::forward<Token>(token));
            } else {
                s.async_handshake(type, std::forward<Token>(token));
            }
            return;
        case verb::shutdown: s.async_shutdown(std::forward<Token>(token)); return;
        case verb::read: s.async_read_some(buffer(f.bytes.get(), f.size), std::forward<Token>(token)); return;
        case verb::write: s.async_write_some(buffer(f.bytes.get(), f.size), std::forward<Token>(token)); return;
        }
    }
    awaitable<void> await(end_type& e, flight& f, alive) {
        if (!e.tls) {
            completed(e, f, error::operation_aborted, 0);
            co_return;
        }
        auto& s = *e.tls;
        auto const type = e.is_client() ? ssl::stream_base::client : ssl::stream_base::server;
        error_code ec;
        std::size_t n = 0;
        switch (f.what) {
        case verb::handshake: {
            if (f.brings_bytes) {
                auto const come = buffer(f.bytes.get(), f.size);
                auto op = s.async_handshake(type, come, redirect_error(ec));
                n = co_await std::move(op);
            } else {
                auto op = s.async_handshake(type, redirect_error(ec));
                co_await std::move(op);
            }
            break;
        }
        case verb::shutdown: {
            auto op = s.async_shutdown(redirect_error(ec));
            co_await std::move(op);
            break;
        }
        case verb::read: {
            auto op = s.async_read_some(buffer(f.bytes.get(), f.size), redirect_error(ec));
            n = co_await std::move(op);
            break;
        }
        case verb::write: {
            auto op = s.async_write_some(buffer(f.bytes.get(), f.size), redirect_error(ec));
            n = co_await std::move(op);
            break;
        }
        }
        completed(e, f, ec, n);
    }
    /// In the calling thread, which may not wait.
    void at_once(end_type& e, flight& f) {
        f.is_sync = true;
        auto& s = *e.tls;
        auto const type = e.is_client() ? ssl::stream_base::client : ssl::stream_base::server;
        error_code ec;
        std::size_t n = 0;
        error_code no_matter; // A socket that is closed shows so below.
        e.socket().non_blocking(true, no_matter);
        switch (f.what) {
        case verb::handshake:
            f.brings_bytes ? s.handshake(type, buffer(f.bytes.get(), f.size), ec) : s.handshake(type, ec);
            n = f.brings_bytes && ec != error::already_started ? f.size : 0;
            break;
        case verb::shutdown: s.shutdown(ec); break;
        case verb::read: n = s.read_some(buffer(f.bytes.get(), f.size), ec); break;
        case verb::write: n = s.write_some(buffer(f.bytes.get(), f.size), ec); break;
        }
        completed(e, f, ec, n);
    }

    // ---- judging

    void completed(end_type& e, flight& f, error_code ec, std::size_t n) {
        f.is_over = true;
        f.ec = ec;
        f.n = n;
        std::erase(e.place(f.what), &f);
        auto const text = text_of(e, f) + (ec ? ec.message() : "done") + ' ' + std::to_string(n);
        world_.note(text);
        judge(e, f, text);
        std::memset(f.bytes.get(), '?', f.size);
        if (ec && ec != error::operation_aborted && ec != error::already_started && ec != error::would_block &&
            ec != error::eof && !e.failure)
            e.failure = ec;
        after(f);
    }
    void judge(end_type& e, flight& f, std::string const& text) {
        auto const check = [&](bool good, char const* otherwise) { account.check(good, text + ": " + otherwise); };
        switch (f.what) {
        case verb::write:
            e.out->in_flight -= f.size;
            e.out->accepted += f.n;
            check(f.n <= f.size, "more than there was");
            check(f.ec || f.n != 0 || f.size == 0, "nothing was written, and nobody says why");
            check(e.out->received <= e.out->accepted + e.out->in_flight,
                  "the peer has got bytes that this write has not reported");
            break;
        case verb::read: judge_read(e, f, check); break;
        case verb::handshake:
            e.is_done |= !f.ec && !f.is_intruder;
            if (f.brings_bytes && f.n != 0)
                e.come.clear();
            check(!f.brings_bytes || f.n == f.size || f.ec == error::already_started || f.is_coroutine,
                  "bytes that had come were not taken");
            break;
        case verb::shutdown: check(f.ec || may_be_over(e), "the peer has not said goodbye"); break;
        }
        if (f.ec)
            check(is_explained(e, f), "no reason for that error");
    }
    /// A goodbye has come: from a peer that has said it, behind all that it has written. With TLS 1.2 it answers one by
    /// itself.
    bool may_be_over(end_type& e) {
        auto& peer = other(e);
        bool const is_clean = !e.in->is_spoiled_late && (!e.in->has_lost || peer.failure);
        bool const is_answered = version_ == TLS1_2_VERSION && e.says_goodbye;
        return e.hears_eof || ((peer.says_goodbye || is_answered) && is_clean);
    }
    template <class Check> void judge_read(end_type& e, flight& f, Check check) {
        check(f.n == 0 || !f.ec, "bytes with an error");
        check(f.n <= f.size, "more than there was space for");
        check(f.ec || f.n != 0 || f.size == 0, "no bytes, and nobody says why");
        bool is_right = true;
        for (std::size_t i = 0; i != f.n && i != f.size; ++i)
            is_right &= f.bytes[i] == byte_of(1 - e.number, e.in->received + i);
        check(is_right, "bytes that nobody has sent there");
        e.in->received += f.n;
        check(e.in->received <= e.in->accepted + e.in->in_flight, "more than was sent");
        if (f.ec == error::eof) {
            e.hears_eof = true;
            check(may_be_over(e), "an end without a goodbye");
            check(e.in->received == e.in->accepted, "an end before the last bytes");
        }
    }
    bool is_explained(end_type& e, flight& f) {
        auto& peer = other(e);
        if (f.ec == error::operation_aborted)
            return f.is_asked || e.is_disturbed || e.is_closed;
        if (f.ec == error::already_started) // Or the stream below is still being read for one that was cancelled.
            return f.has_company || f.is_sync;
        if (f.ec == error::would_block)
            return f.is_sync;
        if (f.ec == error::eof)
            return f.what == verb::read;
        bool const is_wild = e.is_misused || peer.is_misused || e.says_goodbye || peer.says_goodbye || e.failure;
        bool const is_spoiled = e.in->is_spoiled || e.out->is_spoiled;
        bool const is_cut = e.in->is_cut || e.out->is_cut || e.is_closed || peer.is_closed;
        if (is_wild || (is_spoiled && is_cut))
            return true;
        if (is_spoiled) // The stream below is as it was.
            return is_of_tls(f.ec) && f.ec != ssl::error::stream_truncated;
        if (is_cut) // The peer whose direction alone is cut sends an alert, which is not always understood.
            return f.ec == ssl::error::stream_truncated || !is_of_tls(f.ec) || e.out->is_cut_alone;
        return false;
    }

protected:
    sim::world& world_;
    sim::host& host_;
    int const version_;
    ssl::context contexts_[2];
    direction directions_[2];
    std::unique_ptr<relay> relay_;
    end_type ends_[2];
    std::vector<std::unique_ptr<flight>> flights_;
    int running_ = 0; ///< coroutines of the test
};

} // namespace fairlead::test::tls_script
