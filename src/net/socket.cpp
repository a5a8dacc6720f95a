#include <fairlead/net/socket.hpp>

#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/datagram_socket.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/pipe.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/ioctl.h>
#include <sys/socket.h>

namespace fairlead::impl::net {
namespace {

error_code as_error(io::outcome const& r) noexcept { return operation::to_error_code(r.error); }

/// The one option that the library keeps itself.
bool is_report_aborted(int level, int name) noexcept {
    return level == custom_option_level && name == enable_connection_aborted_name;
}

/// The text of an address; empty where it says nothing, as that of a socket without a name.
std::string text_of_address(sockaddr_storage const& a, std::size_t size) {
    if (a.ss_family == AF_INET || a.ss_family == AF_INET6) {
        ip::tcp::endpoint e;
        std::memcpy(e.data(), &a, std::min(size, e.capacity()));
        return e.port() ? e.to_string() : "";
    }
    if (a.ss_family == AF_UNIX) {
        local::stream_protocol::endpoint e;
        std::memcpy(e.data(), &a, std::min(size, e.capacity()));
        e.resize(size);
        return e.to_string();
    }
    return "";
}
std::string text_of_name(io_loop& l, io::handle h, io::name_of which) {
    sockaddr_storage a = {};
    auto const r = l.descriptors().address(h, which, &a, sizeof a);
    return r.error ? "" : text_of_address(a, static_cast<std::size_t>(r.value));
}

} // namespace

std::string text_with(char const* what, endpoint_ref e) {
    std::string text(what);
    if (auto const name = e.text(e.endpoint); !name.empty())
        text.append(" ").append(name);
    return text;
}
void throw_error_at(error_code const& ec, char const* what, endpoint_ref e) {
    base::throw_error_now(ec, text_with(what, e).c_str());
}
void throw_about_option(error_code const& ec, char const* what, int level, int name) {
    auto const text = what + (" (level " + std::to_string(level)) + ", option " + std::to_string(name) + ')';
    base::throw_error_now(ec, text.c_str());
}

std::string text_of_failed(char const* what, io::kind k, io_loop& l, io::handle h) {
    std::string text(what);
    bool const reads = k == io::kind::receive || k == io::kind::receive_all;
    if (reads || io::is_write(k))
        if (auto const peer = text_of_name(l, h, io::name_of::peer); !peer.empty())
            return text.append(reads ? " from " : " to ").append(peer);
    if (auto const own = text_of_name(l, h, io::name_of::local); !own.empty())
        text.append(" on ").append(own);
    return text;
}
void throw_failed(error_code const& ec, char const* what, io::kind k, socket_core const& s) {
    base::throw_error_now(ec, text_of_failed(what, k, *s.engine, s.handle).c_str());
}

void listen_at(socket_core& s, listening const& where) {
    base::throw_error(s.open(where.family, where.type, where.protocol), "open");
    if (where.reuse) {
        socket_base::reuse_address const on(true);
        int const level = on.level(where.family), name = on.name(where.family);
        if (auto const ec = s.set_option(level, name, on.data(where.family), on.size(where.family)))
            throw_about_option(ec, "set_option", level, name);
    }
    if (auto const ec = s.bind(where.address, where.size))
        throw_error_at(ec, "bind to", where.shown);
    if (auto const ec = s.listen(socket_base::max_listen_connections))
        throw_failed(ec, "listen", io::kind::accept, s);
}

error_code socket_core::open(int f, int type, int protocol) noexcept {
    if (handle.is_open())
        return error::already_open;
    auto const r = engine->descriptors().open(f, type, protocol, handle);
    if (!r.error)
        family = f;
    return as_error(r);
}
error_code socket_core::close() noexcept {
    if (!handle.is_open())
        return {};
    user_non_blocking = false; // It was the descriptor's.
    return as_error(engine->close(std::exchange(handle, {})));
}
error_code socket_core::bind(void const* address, std::size_t size) noexcept {
    return as_error(engine->descriptors().bind(handle, address, size));
}
error_code socket_core::listen(int backlog) noexcept { return as_error(engine->descriptors().listen(handle, backlog)); }
error_code socket_core::shutdown(int how) noexcept { return as_error(engine->descriptors().shutdown(handle, how)); }
error_code socket_core::set_option(int level, int name, void const* data, std::size_t size) noexcept {
    if (is_report_aborted(level, name)) {
        int v = 0;
        std::memcpy(&v, data, size < sizeof v ? size : sizeof v);
        report_aborted = v != 0;
        return {};
    }
    return as_error(engine->descriptors().set_option(handle, level, name, data, size));
}
error_code socket_core::get_option(int level, int name, void* data, std::size_t& size) noexcept {
    if (is_report_aborted(level, name)) {
        int const v = report_aborted;
        std::memcpy(data, &v, sizeof v);
        size = sizeof v;
        return {};
    }
    auto const r = engine->descriptors().get_option(handle, level, name, data, size);
    size = static_cast<std::size_t>(r.value);
    return as_error(r);
}
error_code socket_core::address(io::name_of which, void* data, std::size_t& size) noexcept {
    auto const r = engine->descriptors().address(handle, which, data, size);
    size = static_cast<std::size_t>(r.value);
    return as_error(r);
}
error_code socket_core::adopt(int fd) noexcept {
    if (handle.is_open())
        return error::already_open;
    return as_error(engine->descriptors().adopt(fd, handle));
}
std::size_t socket_core::cancel(error_code& ec) noexcept {
    ec = {};
    if (!handle.is_open() || engine->is_retired()) {
        ec = error::bad_descriptor;
        return 0;
    }
    return engine->cancel(handle);
}
std::size_t socket_core::available(error_code& ec) noexcept {
    auto const r = engine->descriptors().available(handle);
    ec = as_error(r);
    return ec ? 0 : static_cast<std::size_t>(r.value);
}
error_code socket_core::control(unsigned long command, void* data) noexcept {
    return as_error(engine->descriptors().control(handle, command, data));
}
bool socket_core::at_mark(error_code& ec) noexcept {
    int is = 0;
    ec = control(SIOCATMARK, &is);
    return is != 0;
}
error_code socket_core::non_blocking(bool on) noexcept {
    if (!handle.is_open())
        return error::bad_descriptor;
    user_non_blocking = on;
    engine->descriptors().native_blocking(handle, !on); // Simulated descriptors have no mode; nobody can see it.
    return {};
}
error_code socket_core::native_non_blocking(bool on) noexcept {
    if (!on && user_non_blocking)
        return error::invalid_argument;
    return as_error(engine->descriptors().native_blocking(handle, !on));
}
bool socket_core::native_non_blocking() const noexcept {
    return handle.is_open() && !engine->descriptors().is_native_blocking(handle);
}
int socket_core::release(error_code& ec) noexcept {
    engine->descriptors().native(handle); // The new owner finds it in the mode in which native_handle() shows it.
    user_non_blocking = false;
    auto const r = engine->release(std::exchange(handle, {}));
    ec = as_error(r);
    return ec ? -1 : static_cast<int>(r.value);
}
int socket_core::native() const noexcept { return handle.is_open() ? engine->descriptors().native(handle) : -1; }

error_code wait_until_ready(socket_core const& s, io::kind k) noexcept {
    return std::get<0>(performed(wait_ready(s, k)));
}

void open_to_connect(socket_core& s, io::io_op& o, int family, int type, int protocol) noexcept {
    if (!s.handle.is_open())
        o.result.error = s.open(family, type, protocol).value();
    o.handle = s.handle;
}

error_code hand_over(io_loop& from, std::size_t packed_handle, io_loop& to, io::handle& h) noexcept {
    auto const accepted = io::handle::unpacked(packed_handle);
    if (&from == &to) {
        h = accepted;
        return {};
    }
    auto const fd = from.release(accepted);
    if (fd.error)
        return operation::to_error_code(fd.error);
    auto const adopted = to.descriptors().adopt(static_cast<int>(fd.value), h);
    if (adopted.error)
        from.descriptors().discard(static_cast<int>(fd.value)); // It was nobody's.
    return operation::to_error_code(adopted.error);
}

error_code connect_pair(socket_core& a, socket_core& b, int family, int type, int protocol) noexcept {
    if (a.handle.is_open() || b.handle.is_open())
        return error::already_open;
    io::handle other;
    auto const r = a.engine->descriptors().pair(family, type, protocol, a.handle, other);
    if (r.error)
        return as_error(r);
    auto const ec = hand_over(*a.engine, other.packed(), *b.engine, b.handle);
    if (ec)
        a.close();
    return ec;
}

error_code connect_pipe(socket_core& reads, socket_core& writes) noexcept {
    if (reads.handle.is_open() || writes.handle.is_open())
        return error::already_open;
    io::handle other;
    auto const r = reads.engine->descriptors().pipe(reads.handle, other);
    if (r.error)
        return as_error(r);
    auto const ec = hand_over(*reads.engine, other.packed(), *writes.engine, writes.handle);
    if (ec)
        reads.close();
    return ec;
}

} // namespace fairlead::impl::net
