// What all sockets have in common: open, bind, close, options, names, waiting; and the ops behind their operations.
#pragma once

#include <fairlead/base/buffer.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/fwd.hpp>
#include <fairlead/net/socket_options.hpp>
#include <fairlead/token/async_op.hpp>
#include <fairlead/token/block.hpp>

#include <cstring>

namespace fairlead {
namespace detail {

/// The context of an executor, for I/O objects.
FAIRLEAD_EXPORT io_context& context_for_io(loop* l);

/// The half of a socket that no template parameter changes.
struct socket_core {
    io_context* context;
    io::handle handle;
    int family;
    bool user_non_blocking = false;
    bool report_aborted = false;

    FAIRLEAD_EXPORT error_code open(int family, int type, int protocol) noexcept;
    FAIRLEAD_EXPORT error_code close() noexcept;
    FAIRLEAD_EXPORT error_code bind(void const* address, std::size_t size) noexcept;
    FAIRLEAD_EXPORT error_code listen(int backlog) noexcept;
    FAIRLEAD_EXPORT error_code shutdown(int how) noexcept;
    FAIRLEAD_EXPORT error_code set_option(int level, int name, void const* data, std::size_t size) noexcept;
    FAIRLEAD_EXPORT error_code get_option(int level, int name, void* data, std::size_t& size) noexcept;
    FAIRLEAD_EXPORT error_code address(io::name_of which, void* data, std::size_t& size) noexcept;
    FAIRLEAD_EXPORT error_code adopt(int fd) noexcept;
    FAIRLEAD_EXPORT std::size_t cancel(error_code& ec) noexcept;
    FAIRLEAD_EXPORT std::size_t available(error_code& ec) noexcept;
    FAIRLEAD_EXPORT int release(error_code& ec) noexcept;
    FAIRLEAD_EXPORT int native() const noexcept;
};

using stream_signature = void(error_code, std::size_t);
using error_signature = void(error_code);

/// One attempt, or until done, with a single buffer.
struct transfer : primitive<transfer> {
    using signature = stream_signature;
    using plain_result = void;
    using record = io::io_op;

    io_context* context;
    io::handle handle;
    void* data;
    std::size_t size;
    int flags;
    io::kind kind;
    bool may_wait;

    transfer(socket_core const& s, io::kind k, void* d, std::size_t n, int f = 0) noexcept
        : context(s.context),
          handle(s.handle),
          data(d),
          size(n),
          flags(f),
          kind(k),
          may_wait(!s.user_non_blocking) {}

    loop* home() const noexcept { return &context->as_loop(); }
    bool ready() const noexcept { return context->driver().ready(handle, kind, size); }
    void prepare(record& o) const noexcept { o.set(handle, kind, data, size, flags); }
    bool attempt(record& o) const noexcept { return context->driver().try_now(o); }
    void submit(record& o) const noexcept { context->submit(o); }
    static std::tuple<error_code, std::size_t> take(record& o) noexcept {
        return {to_error_code(o.result.error), o.result.n};
    }
    void block(std::tuple<error_code, std::size_t>& v) const noexcept {
        record o;
        prepare(o);
        context->driver().perform(o, may_wait);
        v = take(o);
    }
};
static_assert(sizeof(transfer) <= async_op<stream_signature>::storage_size);

/// The same with several buffers, whose addresses are copied: two into the record, more into a block.
struct sequence_transfer : primitive<sequence_transfer> {
    using signature = stream_signature;
    static constexpr std::size_t inside = 2;
    struct record : io::io_op {
        io::slice* block; ///< null: the slices lie in `few`
        io::slice few[inside];
        record() noexcept {}
    };
    static_assert(await_record::fits<record>);

    io_context* context;
    io::handle handle;
    mutable io::slice* many;
    std::size_t count;
    io::slice few[inside];
    int flags;
    io::kind kind;
    bool may_wait;

    template <class Buffers> sequence_transfer(socket_core const& s, io::kind k, Buffers const& buffers, int f)
        : context(s.context),
          handle(s.handle),
          many(nullptr),
          flags(f),
          kind(k),
          may_wait(!s.user_non_blocking) {
        std::size_t most = 0;
        for (auto i = buffer_sequence_begin(buffers), end = buffer_sequence_end(buffers); i != end; ++i)
            ++most;
        if (most > inside)
            many = static_cast<io::slice*>(recycle_allocate(most * sizeof(io::slice)));
        count = fill_slices(buffers, many ? many : few, most);
    }
    sequence_transfer(sequence_transfer&& other) noexcept
        : context(other.context),
          handle(other.handle),
          many(std::exchange(other.many, nullptr)),
          count(other.count),
          few{other.few[0], other.few[1]},
          flags(other.flags),
          kind(other.kind),
          may_wait(other.may_wait) {}
    ~sequence_transfer() {
        if (many)
            recycle_free(many);
    }

    loop* home() const noexcept { return &context->as_loop(); }
    bool ready() const noexcept { return context->driver().ready(handle, kind, count); }
    void prepare(record& o) const noexcept {
        o.block = std::exchange(many, nullptr);
        o.few[0] = few[0];
        o.few[1] = few[1];
        o.set(handle, kind, o.block ? o.block : o.few, count, flags, true);
    }
    bool attempt(record& o) const noexcept { return context->driver().try_now(o); }
    void submit(record& o) const noexcept { context->submit(o); }
    static constexpr bool drops = true;
    static void drop(record& o) noexcept {
        if (o.block)
            recycle_free(std::exchange(o.block, nullptr));
    }
    static std::tuple<error_code, std::size_t> take(record& o) noexcept {
        drop(o);
        return {to_error_code(o.result.error), o.result.n};
    }
    void block(std::tuple<error_code, std::size_t>& v) const noexcept {
        record o;
        prepare(o);
        context->driver().perform(o, may_wait);
        v = take(o);
    }
};

/// Chooses at compile time between one buffer and several.
template <class Buffers> auto make_transfer(socket_core const& s, io::kind k, Buffers const& buffers,
                                            int flags = 0) noexcept(is_single_buffer<Buffers>) {
    if constexpr (is_single_buffer<Buffers>) {
        auto const b = single_buffer<const_buffer>(buffers);
        return transfer(s, k, const_cast<void*>(b.data()), b.size(), flags);
    } else {
        return sequence_transfer(s, k, buffers, flags);
    }
}

/// Readiness, or anything else that completes with an error only and has no buffer.
struct wait_ready : primitive<wait_ready> {
    using signature = error_signature;
    using plain_result = void;
    using record = io::io_op;

    io_context* context;
    io::handle handle;
    io::kind kind;

    wait_ready(socket_core const& s, io::kind k) noexcept : context(s.context), handle(s.handle), kind(k) {}
    loop* home() const noexcept { return &context->as_loop(); }
    void prepare(record& o) const noexcept { o.set(handle, kind); }
    void submit(record& o) const noexcept { context->submit(o); }
    static std::tuple<error_code> take(record& o) noexcept { return {to_error_code(o.result.error)}; }
    void block(std::tuple<error_code>& v) const noexcept {
        record o;
        prepare(o);
        context->driver().perform(o, true);
        v = take(o);
    }
};

/// Opens the socket if need be, then connects it. Addresses up to 32 bytes lie in the record.
struct connect_record : io::io_op {
    static constexpr std::size_t inside = 32;
    void* block;
    alignas(8) unsigned char address[inside];
    connect_record() noexcept {}
};
static_assert(await_record::fits<connect_record>);

FAIRLEAD_EXPORT void* allocate_or_null(std::size_t bytes) noexcept;
FAIRLEAD_EXPORT void submit_connect(socket_core& s, connect_record& o, int family, int type, int protocol) noexcept;

template <class Endpoint> struct connect_to : primitive<connect_to<Endpoint>> {
    using signature = error_signature;
    using record = connect_record;
    static constexpr bool small = sizeof(Endpoint) <= connect_record::inside;

    socket_core* socket;
    mutable Endpoint endpoint;

    connect_to(socket_core& s, Endpoint const& e) noexcept : socket(&s), endpoint(e) {}
    loop* home() const noexcept { return &socket->context->as_loop(); }
    void prepare(record& o) const noexcept {
        void* address = o.address;
        o.block = nullptr;
        if constexpr (!small)
            address = o.block = allocate_or_null(sizeof(Endpoint));
        if (address)
            std::memcpy(address, endpoint.data(), endpoint.size());
        o.set({}, io::kind::connect, address, endpoint.size());
    }
    void submit(record& o) const noexcept {
        auto const p = endpoint.protocol();
        submit_connect(*socket, o, p.family(), p.type(), p.protocol());
    }
    static constexpr bool drops = true;
    static void drop(record& o) noexcept {
        if (o.block)
            recycle_free(std::exchange(o.block, nullptr));
    }
    static std::tuple<error_code> take(record& o) noexcept {
        drop(o);
        return {to_error_code(o.result.error)};
    }
    void block(std::tuple<error_code>& v) const {
        auto const p = endpoint.protocol();
        if (!socket->handle.is_open())
            if (auto ec = socket->open(p.family(), p.type(), p.protocol())) {
                v = {ec};
                return;
            }
        io::io_op o;
        o.set(socket->handle, io::kind::connect, endpoint.data(), endpoint.size());
        socket->context->driver().perform(o, !socket->user_non_blocking);
        v = {to_error_code(o.result.error)};
    }
};

constexpr io::kind kind_of(socket_base::wait_type w) noexcept {
    return w == socket_base::wait_read    ? io::kind::wait_read
           : w == socket_base::wait_write ? io::kind::wait_write
                                          : io::kind::wait_error;
}

} // namespace detail

/// A socket of some protocol, open or closed.
/// Threads: distinct objects may be used on distinct threads; one object by one thread at a time.
template <class Protocol, class Executor> class basic_socket : public socket_base {
public:
    using protocol_type = Protocol;
    using endpoint_type = typename Protocol::endpoint;
    using executor_type = Executor;
    using native_handle_type = int;
    using lowest_layer_type = basic_socket;
    template <class E> struct rebind_executor {
        using other = basic_socket<Protocol, E>;
    };

    executor_type get_executor() noexcept { return executor_; }
    lowest_layer_type& lowest_layer() noexcept { return *this; }

    void open(Protocol const& p = default_protocol()) {
        detail::throw_error(core_.open(p.family(), p.type(), p.protocol()), "open");
    }
    void open(Protocol const& p, error_code& ec) { ec = core_.open(p.family(), p.type(), p.protocol()); }
    bool is_open() const noexcept { return core_.handle.is_open(); }

    /// Pending operations complete with operation_aborted. Closing a closed socket does nothing.
    void close() { detail::throw_error(core_.close(), "close"); }
    void close(error_code& ec) noexcept { ec = core_.close(); }
    /// Gives the descriptor away, still open; pending operations complete with operation_aborted.
    native_handle_type release() {
        error_code ec;
        int const fd = core_.release(ec);
        detail::throw_error(ec, "release");
        return fd;
    }
    native_handle_type release(error_code& ec) noexcept { return core_.release(ec); }
    /// Takes over an open descriptor of the protocol.
    void assign(Protocol const& p, native_handle_type fd) {
        error_code ec;
        assign(p, fd, ec);
        detail::throw_error(ec, "assign");
    }
    void assign(Protocol const& p, native_handle_type fd, error_code& ec) noexcept {
        ec = core_.adopt(fd);
        if (!ec)
            core_.family = p.family();
    }
    /// The descriptor; -1 when closed and in a simulated world.
    native_handle_type native_handle() const noexcept { return core_.native(); }

    /// Pending operations complete with operation_aborted.
    void cancel() {
        error_code ec;
        core_.cancel(ec);
        detail::throw_error(ec, "cancel");
    }
    void cancel(error_code& ec) noexcept { core_.cancel(ec); }

    void bind(endpoint_type const& e) { detail::throw_error(core_.bind(e.data(), e.size()), "bind"); }
    void bind(endpoint_type const& e, error_code& ec) noexcept { ec = core_.bind(e.data(), e.size()); }

    void shutdown(shutdown_type what) { detail::throw_error(core_.shutdown(what), "shutdown"); }
    void shutdown(shutdown_type what, error_code& ec) noexcept { ec = core_.shutdown(what); }

    template <class Option> void set_option(Option const& option) {
        error_code ec;
        set_option(option, ec);
        detail::throw_error(ec, "set_option");
    }
    template <class Option> void set_option(Option const& option, error_code& ec) {
        auto const p = protocol();
        ec = core_.set_option(option.level(p), option.name(p), option.data(p), option.size(p));
    }
    template <class Option> void get_option(Option& option) const {
        error_code ec;
        get_option(option, ec);
        detail::throw_error(ec, "get_option");
    }
    template <class Option> void get_option(Option& option, error_code& ec) const {
        auto const p = protocol();
        auto size = option.size(p);
        ec = core_.get_option(option.level(p), option.name(p), option.data(p), size);
        if (!ec)
            option.resize(p, size);
    }

    endpoint_type local_endpoint() const { return name(io::name_of::local, "local_endpoint"); }
    endpoint_type local_endpoint(error_code& ec) const { return name(io::name_of::local, ec); }
    endpoint_type remote_endpoint() const { return name(io::name_of::peer, "remote_endpoint"); }
    endpoint_type remote_endpoint(error_code& ec) const { return name(io::name_of::peer, ec); }

    std::size_t available() const {
        error_code ec;
        auto const n = core_.available(ec);
        detail::throw_error(ec, "available");
        return n;
    }
    std::size_t available(error_code& ec) const noexcept { return core_.available(ec); }

    /// Synchronous operations fail with would_block instead of waiting; asynchronous ones work regardless.
    bool non_blocking() const noexcept { return core_.user_non_blocking; }
    void non_blocking(bool on) noexcept { core_.user_non_blocking = on; }
    void non_blocking(bool on, error_code& ec) noexcept {
        core_.user_non_blocking = on;
        ec = {};
    }

    /// Waits until the socket is ready to read, to write, or has an error condition.
    /// Completes  (error_code ec)
    /// Errors     operation_aborted  cancelled
    /// Cancel     terminal, partial, total
    /// Immediate  may be ready without waiting; the handler still never runs before this returns
    /// Lifetime   *this outlives the completion
    /// Allocates  nothing
    template <class Token = use_await_t> decltype(auto)
    async_wait(wait_type what,
               Token&& token = {}) noexcept(detail::nothrow_token<std::decay_t<Token>, detail::wait_ready>) {
        return completion_token_transform<void(error_code)>(std::forward<Token>(token),
                                                            detail::wait_ready(core_, detail::kind_of(what)));
    }
    void wait(wait_type what) {
        error_code ec;
        wait(what, ec);
        detail::throw_error(ec, "wait");
    }
    void wait(wait_type what, error_code& ec) {
        std::tuple<error_code> v;
        detail::wait_ready(core_, detail::kind_of(what)).block(v);
        ec = std::get<0>(v);
    }

    /// For the library's own algorithms.
    detail::socket_core& core() noexcept { return core_; }

protected:
    static Protocol default_protocol() { return endpoint_type().protocol(); }
    Protocol protocol() const {
        if constexpr (requires { Protocol::v6(); })
            return core_.family == Protocol::v6().family() ? Protocol::v6() : Protocol::v4();
        else
            return default_protocol();
    }

    explicit basic_socket(Executor const& e) : executor_(e) {
        core_.context = &detail::context_for_io(detail::loop_of(e));
        core_.family = default_protocol().family();
    }
    basic_socket(basic_socket&& other) noexcept : executor_(other.executor_), core_(other.core_) {
        other.core_.handle = {};
    }
    basic_socket& operator=(basic_socket&& other) noexcept {
        if (this != &other) {
            core_.close();
            executor_ = other.executor_;
            core_ = other.core_;
            other.core_.handle = {};
        }
        return *this;
    }
    ~basic_socket() { core_.close(); }

    endpoint_type name(io::name_of which, error_code& ec) const {
        endpoint_type e;
        auto size = e.capacity();
        ec = core_.address(which, e.data(), size);
        if (ec)
            return endpoint_type();
        e.resize(size);
        return e;
    }
    endpoint_type name(io::name_of which, char const* what) const {
        error_code ec;
        auto e = name(which, ec);
        detail::throw_error(ec, what);
        return e;
    }

    Executor executor_;
    mutable detail::socket_core core_{};
};

} // namespace fairlead
