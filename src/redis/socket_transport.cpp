#include <redis/socket_transport.hpp>

#include <fairlead/net/connect.hpp>
#include <fairlead/resp3/convert.hpp>

#include <algorithm>
#include <utility>

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>

namespace fairlead::redis::impl {
namespace {

bool is_numeric(address_parts const& address, ip::tcp::endpoint& endpoint) {
    error_code ec;
    auto const host = ip::make_address(address.host, ec);
    if (ec)
        return false;
    auto const port = resp3::to_integer<std::uint16_t>(address.port, ec);
    if (ec)
        return false;
    endpoint = ip::tcp::endpoint(host, port);
    return true;
}

template <int Name> using tcp_number =
    fairlead::impl::net::integer_option<fairlead::impl::net::option_key<IPPROTO_TCP, Name>>;

} // namespace

socket_transport::socket_transport(io_loop& l)
    : transport(l),
      tcp_(loop_executor(&l)),
      unix_(loop_executor(&l)),
      resolver_(loop_executor(&l)) {}

awaitable<error_code> socket_transport::connect(address_parts to, std::chrono::milliseconds probe_after) {
    is_open_ = true;
    error_code ec;
    if (to.is_unix) {
        local::stream_protocol::endpoint endpoint;
        try {
            endpoint.path(to.host);
        } catch (system_error const& e) {
            ec = e.code();
        }
        if (ec)
            co_return ec;
        auto joining = unix_.async_connect(endpoint, redirect_error(ec));
        co_await std::move(joining);
        socket_ = &unix_.core();
    } else {
        ip::tcp::endpoint numeric;
        if (is_numeric(to, numeric)) { // no look-up, which would take a thread
            auto joining = tcp_.async_connect(numeric, redirect_error(ec));
            co_await std::move(joining);
        } else {
            auto asking = resolver_.async_resolve(to.host, to.port, redirect_error(ec));
            auto const found = co_await std::move(asking);
            if (!ec && !is_open_) // The names had been found already.
                ec = fairlead::error::operation_aborted;
            if (ec)
                co_return ec;
            auto joining = async_connect(tcp_, found, redirect_error(ec));
            co_await std::move(joining);
        }
        error_code ignored; // A connection without it works too.
        if (!ec) {
            tcp_.set_option(ip::tcp::no_delay(true), ignored);
            probe(probe_after);
        }
        socket_ = &tcp_.core();
    }
    co_return ec;
}

/// The systems of both sides talk to each other. Between processes of one computer there is no need.
void socket_transport::probe(std::chrono::milliseconds after) noexcept {
    if (after <= std::chrono::milliseconds::zero())
        return;
    constexpr int probes = 4;
    static constexpr std::int64_t most = 32'767; // of Linux
    auto const seconds = [](std::chrono::milliseconds d) {
        return static_cast<int>(std::clamp<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(d).count(), 1, most));
    };
    error_code ignored; // A connection without it works too.
    tcp_.set_option(tcp_number<TCP_KEEPIDLE>(seconds(after)), ignored);
    tcp_.set_option(tcp_number<TCP_KEEPINTVL>(seconds(after / probes)), ignored);
    tcp_.set_option(tcp_number<TCP_KEEPCNT>(probes), ignored);
    tcp_.set_option(socket_base::keep_alive(true), ignored); // The last: it starts with what is set.
}

bool socket_transport::ready(io::kind k, std::size_t size) noexcept {
    return engine().reactor().ready(socket_->handle, k, size);
}

bool socket_transport::try_now(transport_op& o) noexcept {
    o.handle = socket_->handle;
    return engine().reactor().try_now(o);
}

void socket_transport::submit(transport_op& o) noexcept {
    o.handle = socket_->handle;
    engine().submit(o);
}

void socket_transport::close() noexcept {
    is_open_ = false;
    resolver_.cancel();
    error_code ignored; // They are being thrown away.
    tcp_.close(ignored);
    unix_.close(ignored);
}

std::int64_t socket_transport::untaken_bytes() noexcept {
    int n = 0; // Where nobody can say, all that was written counts as taken.
    auto const said =
        engine().as_owner([&]() noexcept { return engine().descriptors().control(socket_->handle, SIOCOUTQ, &n); });
    return said.error ? 0 : n;
}

std::int64_t socket_transport::unread_bytes() noexcept {
    return engine().as_owner([this]() noexcept { return engine().descriptors().available(socket_->handle).value; });
}

} // namespace fairlead::redis::impl
