// A program with boost::system in its interfaces, and a package that was built for such programs.
#include <asio.hpp>
#include <fairlead/redis/error.hpp>

#include <boost/system/system_error.hpp>

#include <cstdio>
#include <type_traits>

static_assert(std::is_same_v<asio::error_code, boost::system::error_code>);
static_assert(std::is_same_v<asio::system_error, boost::system::system_error>);

namespace {

int wrong = 0;
void check(bool good, char const* what) {
    if (!good) {
        std::printf("wrong: %s\n", what);
        ++wrong;
    }
}

boost::system::error_code refused(asio::io_context& context) {
    asio::ip::tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
    auto const nobody = acceptor.local_endpoint();
    acceptor.close();
    asio::ip::tcp::socket socket(context);
    boost::system::error_code ec;
    socket.connect(nobody, ec);
    return ec;
}

asio::awaitable<void> await_all(asio::local::stream_protocol::socket& from, asio::local::stream_protocol::socket& to) {
    boost::system::error_code ec;
    char bytes[4];
    co_await asio::async_write(from, asio::buffer("some", 4), asio::use_awaitable);
    check(co_await asio::async_read(to, asio::buffer(bytes), asio::use_awaitable) == 4, "a read");
    from.close();
    std::size_t const n =
        co_await to.async_read_some(asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, ec));
    check(n == 0 && ec == asio::error::eof, "redirect_error");
    auto [again, none] = co_await to.async_read_some(asio::buffer(bytes), asio::as_tuple(asio::use_awaitable));
    check(none == 0 && again == ec, "as_tuple");
    try {
        co_await asio::async_read(to, asio::buffer(bytes), asio::use_awaitable);
        check(false, "an exception");
    } catch (boost::system::system_error const& e) {
        check(e.code() == asio::error::eof, "its code");
    }
}

} // namespace

int main() {
    asio::io_context context;
    check(refused(context) == boost::system::errc::connection_refused, "a condition of Boost's");

    asio::local::stream_protocol::socket a(context), b(context);
    asio::local::connect_pair(a, b);
    asio::co_spawn(context, await_all(a, b), asio::detached);
    boost::system::error_code cancelled;
    asio::steady_timer timer(context, std::chrono::hours(1));
    timer.async_wait([&](boost::system::error_code const& ec) { cancelled = ec; });
    timer.cancel();
    bool also_std = false; // Boost's converts to the standard one, so handlers may take that, too.
    asio::post(context, [&] { timer.async_wait([&](std::error_code ec) { also_std = !ec; }); });
    timer.expires_after(std::chrono::milliseconds(1));
    context.run();
    check(cancelled == asio::error::operation_aborted, "a cancelled wait");
    check(also_std, "a handler that takes std::error_code");
    boost::system::error_code const of_redis = fairlead::redis::error::refused_command;
    check(of_redis && of_redis.category() != boost::system::system_category(), "an error of the client");
    std::puts(wrong == 0 ? "boost: ok" : "boost: wrong");
    return wrong;
}
