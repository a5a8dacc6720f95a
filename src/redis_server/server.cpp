#include <fairlead/redis_server/server.hpp>

#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/base/buffer.hpp>
#include <fairlead/base/dynamic_buffer.hpp>
#include <fairlead/base/saturated.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/adapters.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace fairlead::redis {
namespace detail {
namespace {

using fairlead::impl::net::socket_core;

constexpr std::size_t read_bytes = 64 * 1024;

// After accept failed for want of descriptors or memory.
constexpr std::chrono::milliseconds accept_pause{100};

/// A pointer that counts; for one thread.
template <class T> class counted {
public:
    explicit counted(T* p) noexcept : p_(p) { ++p_->references; }
    counted(counted&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
    counted& operator=(counted&&) = delete;
    ~counted() {
        if (p_)
            release(p_);
    }
    T& operator*() const noexcept { return *p_; }
    T* operator->() const noexcept { return p_; }
    static void release(T* p) noexcept {
        if (--p->references == 0)
            delete p;
    }

private:
    T* p_;
};

struct session;

} // namespace

struct server_core {
    any_io_executor executor;
    server_options options;
    std::optional<server_engine> engine;
    std::optional<ip::tcp::acceptor> tcp;
    std::optional<local::stream_protocol::acceptor> unix_;
    op_link sessions; // a ring of all sessions
    std::uint16_t port = 0;
    unsigned references = 0;
    steady_timer limit; // of the commands that wait
    std::optional<std::chrono::milliseconds> limit_set;

    server_core(any_io_executor const& ex, server_options o) : executor(ex), options(std::move(o)), limit(ex) {
        sessions.next = sessions.prev = &sessions;
    }

    void listen();
    void close_clients() noexcept;
    void stop() noexcept {
        error_code ignored; // They are being thrown away.
        if (tcp)
            tcp->close(ignored);
        if (unix_)
            unix_->close(ignored);
        close_clients();
        limit.cancel();
    }
    /// Sets the timer to the engine's next time limit, if that is another one than before.
    void watch_limits();
    template <class Acceptor> static awaitable<void> accept_from(counted<server_core> self, Acceptor& acceptor);
    static awaitable<void> serve(counted<session> client);
};

namespace {

using any_socket = std::variant<ip::tcp::socket, local::stream_protocol::socket>;

/// One client. A coroutine reads and feeds the engine. Writing is one op, started whenever there is output and none is
/// under way. The reader starts it, or another client's publication does.
struct session : op_link {
    counted<server_core> owner;
    any_socket socket;
    server_engine::client client;
    std::string sending;
    unsigned references = 0;
    bool writing = false;
    bool reader_waits = false; // for the output to shrink
    steady_timer drained;      // cancelled when it has

    struct write_op : io::io_op {
        session* self;
    } write;

    session(counted<server_core> s, any_socket&& from, std::string_view address)
        : owner(std::move(s)),
          socket(std::move(from)),
          client(*owner->engine, address),
          drained(owner->executor) {
        next = &owner->sessions;
        prev = owner->sessions.prev;
        prev->next = next->prev = this;
        client.on_output([this] { flush(); });
        write.kind = io::kind::send_all;
        write.run = &session::on_written;
        write.self = this;
    }
    session(session const&) = delete;
    session& operator=(session const&) = delete;
    ~session() { op_queue::unlink(*this); }

    void feed(std::string_view bytes) {
        client.feed(bytes);
        flush();
        owner->watch_limits();
    }

    fairlead::impl::net::socket_core& core() noexcept {
        return std::visit([](auto& s) -> socket_core& { return s.core(); }, socket);
    }
    void close() noexcept { core().close(); }
    bool is_open() noexcept { return core().handle.is_open(); }

    void flush() noexcept {
        while (!writing && is_open()) {
            sending.clear();
            sending.swap(client.output());
            if (sending.empty()) {
                if (client.wants_close())
                    close();
                return;
            }
            auto& core_of = core();
            auto& reactor = core_of.engine->reactor();
            write.result = {0, 0, 0};
            write.handle = core_of.handle;
            write.data = sending.data();
            write.size = sending.size();
            if (reactor.ready(write.handle, write.kind, write.size) && reactor.try_now(write)) {
                if (write.result.error)
                    return close();
                continue;
            }
            writing = true;
            ++references;
            core_of.engine->submit(write);
        }
    }
    static void on_written(op* base, op_mode mode) {
        auto& self = *static_cast<write_op*>(base)->self;
        self.writing = false;
        if (mode == op_mode::abandon || self.write.result.error)
            self.close();
        else
            self.flush();
        if (self.reader_waits)
            self.drained.cancel();
        counted<session>::release(&self);
    }
};

} // namespace

void server_core::watch_limits() {
    auto const next = engine->next_time_limit();
    if (next == limit_set)
        return;
    limit_set = next;
    if (!next) {
        limit.cancel();
        return;
    }
    limit.expires_after(std::max(*next - options.engine.clock(), std::chrono::milliseconds(0)));
    limit.async_wait([self = counted<server_core>(this)](error_code ec) {
        if (ec)
            return; // Another time was set, or there is nothing to wait for.
        self->limit_set.reset();
        self->engine->end_late_waits();
        self->watch_limits();
    });
}

awaitable<void> server_core::serve(counted<session> client) {
    auto& self = *client;
    fairlead::impl::base::at_scope_end const closing([&self] { self.close(); });
    lazy_buffer in;
    while (self.is_open() && !self.client.wants_close()) {
        mutable_buffer const space = in.prepare(read_bytes);
        auto reading = std::visit([&](auto& s) { return s.async_read_some(space, as_tuple); }, self.socket);
        auto const [ec, n] = co_await std::move(reading);
        if (ec)
            co_return;
        self.feed({static_cast<char const*>(space.data()), n});
        while (self.client.output().size() > self.owner->options.output_bytes_max && self.is_open()) {
            self.reader_waits = true;
            self.drained.expires_at(steady_clock::time_point::max());
            error_code ignored; // The wait always ends by being cancelled.
            auto waiting = self.drained.async_wait(redirect_error(ignored));
            co_await std::move(waiting);
            self.reader_waits = false;
        }
    }
    // Replies that are still on their way go out before the connection is closed.
    while (self.writing) {
        self.reader_waits = true;
        self.drained.expires_at(steady_clock::time_point::max());
        error_code ignored;
        auto waiting = self.drained.async_wait(redirect_error(ignored));
        co_await std::move(waiting);
    }
}

template <class Acceptor> awaitable<void> server_core::accept_from(counted<server_core> self, Acceptor& acceptor) {
    using peer_socket = typename Acceptor::protocol_type::socket;
    steady_timer pause(self->executor);
    while (acceptor.is_open()) {
        peer_socket peer(self->executor);
        error_code ec;
        auto accepting = acceptor.async_accept(peer, redirect_error(ec));
        co_await std::move(accepting);
        if (!acceptor.is_open())
            co_return;
        if (ec) { // The client has gone already, or resources are short: then it helps to wait for some to come back.
            pause.expires_after(accept_pause);
            auto waiting = pause.async_wait(redirect_error(ec));
            co_await std::move(waiting);
            continue;
        }
        error_code ignored; // Both only make it faster or nicer.
        std::string address;
        if constexpr (std::is_same_v<peer_socket, ip::tcp::socket>) {
            peer.set_option(ip::tcp::no_delay(true), ignored);
            auto const from = peer.remote_endpoint(ignored);
            address = from.address().to_string() + ":" + std::to_string(from.port());
        }
        auto* const made = new session(counted<server_core>(&*self), any_socket(std::move(peer)), address);
        co_spawn(self->executor, serve(counted<session>(made)), detached);
    }
}

void server_core::listen() {
    if (!options.host.empty()) {
        tcp.emplace(executor, ip::tcp::endpoint(ip::make_address(options.host), options.port));
        port = tcp->local_endpoint().port();
    }
    if (!options.unix_path.empty())
        unix_.emplace(executor, local::stream_protocol::endpoint(options.unix_path), false);
    if (tcp)
        co_spawn(executor, accept_from(counted<server_core>(this), *tcp), detached);
    if (unix_)
        co_spawn(executor, accept_from(counted<server_core>(this), *unix_), detached);
}

void server_core::close_clients() noexcept {
    for (auto* l = sessions.next; l != &sessions; l = l->next)
        static_cast<session*>(l)->close();
}

} // namespace detail

server::server(any_io_executor const& ex, server_options options)
    : core_(new detail::server_core(ex, std::move(options))) {
    detail::counted<detail::server_core> keep(core_); // Frees it if this throws.
    if (!core_->options.engine.clock) {
        auto const l = io::impl::io_loop_for(ex);
        auto const offset = fairlead::impl::base::difference(std::chrono::nanoseconds(l->host().wall_ns()),
                                                             l->now().time_since_epoch());
        core_->options.engine.clock = [l, offset] {
            return std::chrono::duration_cast<std::chrono::milliseconds>(
                fairlead::impl::base::sum(l->now().time_since_epoch(), offset));
        };
    }
    core_->engine.emplace(core_->options.engine);
    core_->listen();
    ++core_->references;
}
server::~server() {
    stop();
    detail::counted<detail::server_core>::release(core_);
}
std::uint16_t server::port() const noexcept { return core_->port; }
std::string server::address() const {
    if (!core_->tcp)
        return "unix:" + core_->options.unix_path;
    auto const& host = core_->options.host;
    return (host.find(':') == host.npos ? host : "[" + host + "]") + ":" + std::to_string(core_->port);
}
void server::stop() noexcept { core_->stop(); }
void server::disconnect_clients() noexcept { core_->close_clients(); }
std::string server::add_script(std::string_view body, server_script run) {
    return core_->engine->add_script(body, std::move(run));
}
void server::add_script_of_sha1(std::string_view sha1, server_script run) {
    core_->engine->add_script_of_sha1(sha1, std::move(run));
}
void server::add_function(std::string_view name, server_script run) {
    core_->engine->add_function(name, std::move(run));
}
std::size_t server::client_count() const noexcept { return core_->engine->client_count(); }
std::uint64_t server::commands_run() const noexcept { return core_->engine->commands_run(); }

} // namespace fairlead::redis
