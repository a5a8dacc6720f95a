#include <fairlead/net/socket.hpp>

#include <fairlead/net/acceptor.hpp>

#include <cerrno>

namespace fairlead::detail {
namespace {

error_code as_error(io::outcome const& r) noexcept { return to_error_code(r.error); }

/// The one option that the library keeps itself.
bool is_report_aborted(int level, int name) noexcept {
    return level == custom_option_level && name == enable_connection_aborted_name;
}

} // namespace

io_context& context_for_io(loop* l) {
    if (!l)
        throw_error_now(error::make_error_code(error::operation_not_supported),
                        "I/O object: its executor runs no io_context; construct it with an io_context or its executor");
    return io_context::of(*l);
}

error_code socket_core::open(int f, int type, int protocol) noexcept {
    if (handle.is_open())
        return error::already_open;
    auto const r = context->driver().open(f, type, protocol, handle);
    if (!r.error)
        family = f;
    return as_error(r);
}
error_code socket_core::close() noexcept {
    if (!handle.is_open())
        return {};
    return as_error(context->close(std::exchange(handle, {})));
}
error_code socket_core::bind(void const* address, std::size_t size) noexcept {
    return as_error(context->driver().bind(handle, address, size));
}
error_code socket_core::listen(int backlog) noexcept { return as_error(context->driver().listen(handle, backlog)); }
error_code socket_core::shutdown(int how) noexcept { return as_error(context->driver().shutdown(handle, how)); }
error_code socket_core::set_option(int level, int name, void const* data, std::size_t size) noexcept {
    if (is_report_aborted(level, name)) {
        int v = 0;
        std::memcpy(&v, data, size < sizeof v ? size : sizeof v);
        report_aborted = v != 0;
        return {};
    }
    return as_error(context->driver().set_option(handle, level, name, data, size));
}
error_code socket_core::get_option(int level, int name, void* data, std::size_t& size) noexcept {
    if (is_report_aborted(level, name)) {
        int const v = report_aborted;
        std::memcpy(data, &v, sizeof v);
        size = sizeof v;
        return {};
    }
    auto const r = context->driver().get_option(handle, level, name, data, size);
    size = static_cast<std::size_t>(r.value);
    return as_error(r);
}
error_code socket_core::address(io::name_of which, void* data, std::size_t& size) noexcept {
    auto const r = context->driver().address(handle, which, data, size);
    size = static_cast<std::size_t>(r.value);
    return as_error(r);
}
error_code socket_core::adopt(int fd) noexcept {
    if (handle.is_open())
        return error::already_open;
    return as_error(context->driver().adopt(fd, handle));
}
std::size_t socket_core::cancel(error_code& ec) noexcept {
    ec = {};
    if (!handle.is_open()) {
        ec = error::bad_descriptor;
        return 0;
    }
    return context->cancel(handle);
}
std::size_t socket_core::available(error_code& ec) noexcept {
    auto const r = context->driver().available(handle);
    ec = as_error(r);
    return ec ? 0 : static_cast<std::size_t>(r.value);
}
int socket_core::release(error_code& ec) noexcept {
    auto const r = context->release(std::exchange(handle, {}));
    ec = as_error(r);
    return ec ? -1 : static_cast<int>(r.value);
}
int socket_core::native() const noexcept { return handle.is_open() ? context->driver().native(handle) : -1; }

void* allocate_or_null(std::size_t bytes) noexcept {
    try {
        return recycle_allocate(bytes);
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
}

void submit_connect(socket_core& s, connect_record& o, int family, int type, int protocol) noexcept {
    if (!o.data) {
        o.result = {ENOMEM, 0, 0};
        s.context->as_loop().post(o);
        return;
    }
    if (!s.handle.is_open()) {
        if (auto const ec = s.open(family, type, protocol)) {
            o.result = {ec.value(), 0, 0};
            s.context->as_loop().post(o);
            return;
        }
    }
    o.handle = s.handle;
    s.context->submit(o);
}

error_code hand_over(io_context& from, std::size_t packed_handle, io_context& to, io::handle& h) noexcept {
    io::handle const accepted{static_cast<std::uint32_t>(packed_handle),
                              static_cast<std::uint32_t>(packed_handle >> 32)};
    if (&from == &to) {
        h = accepted;
        return {};
    }
    auto const fd = from.release(accepted);
    if (fd.error)
        return to_error_code(fd.error);
    return to_error_code(to.driver().adopt(static_cast<int>(fd.value), h).error);
}

} // namespace fairlead::detail
