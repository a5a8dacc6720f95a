// The view that a test of this suite has of its driver: a world that holds a context, and how to run it.
//
// A body is written once, in each_world(), connected() or over_transport(). It runs in each world that the driver has
// to offer: one on a kernel driver, several seeds in the simulator. The particulars of a driver stand in
// driver_under_test.cpp; another driver is another line of the table there. Where drivers may differ, a body asks
// differs(), which looks into differences.md.
#pragma once

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/datagram_socket.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace fairlead::conformance {

/// A context over the driver under test.
class world {
public:
    virtual ~world() = default;
    virtual io_context& context() noexcept = 0;
    /// Names driver and seed.
    virtual std::string description() const = 0;
    /// Runs until nothing is left to do.
    /// Throws     std::runtime_error    operations wait that nothing will complete
    virtual std::size_t run() = 0;
    /// Runs one handler; false: nothing more happens, although something waits.
    virtual bool run_one() = 0;
    /// Runs all that can run without waiting for anything far away. Pending operations may stay so. For expecting that
    /// something has not happened; wait with run() or run_until() for a thing that must have happened.
    virtual void settle() = 0;
    /// A signal comes to the process.
    virtual void raise(int number) = 0;
};

/// A line of the table of drivers.
struct driver_under_test {
    char const* name;                                     ///< as in differences.md
    std::uint64_t (*worlds)();                            ///< how many worlds a test is to see
    std::unique_ptr<world> (*make)(std::uint64_t number); ///< from 1
};
std::vector<driver_under_test> const& drivers();

enum class transport : std::uint8_t { none, tcp_v4, tcp_v6, local, udp_v4, udp_v6, local_datagram };

/// The subject of a test.
struct subject {
    driver_under_test const* driver;
    conformance::transport transport;
};
void PrintTo(subject const& s, std::ostream* os);
std::string name_of(testing::TestParamInfo<subject> const& info);
/// For INSTANTIATE_TEST_SUITE_P: each driver by itself, with each kind of stream, and of datagram. Tests that a
/// transport cannot have are a suite of their own: a test that returns at once for one would count as passed there.
std::vector<subject> every_driver_and(std::initializer_list<transport> transports);
std::vector<subject> every_driver();
std::vector<subject> every_driver_and_stream();
std::vector<subject> every_driver_and_datagram();

/// A row of differences.md.
struct difference {
    std::string id, driver, what, why, until;
};
std::vector<difference> read_differences();

/// TCP over one version of IP.
struct tcp_transport {
    using protocol = ip::tcp;
    static constexpr bool is_tcp = true;
    ip::tcp version;

    /// An address to listen at that nobody else has.
    ip::tcp::endpoint free_address() const;
    /// An address where nobody listens.
    ip::tcp::endpoint nobody(io_context& c) const;
    ip::tcp kind() const { return version; }
};

/// UNIX stream sockets, by abstract names: nothing to remove afterwards.
struct local_transport {
    using protocol = local::stream_protocol;
    static constexpr bool is_tcp = false;

    local::stream_protocol::endpoint free_address() const;
    local::stream_protocol::endpoint nobody(io_context& c) const;
    local::stream_protocol kind() const { return {}; }
};

/// UDP over one version of IP.
struct udp_transport {
    using protocol = ip::udp;
    static constexpr bool is_udp = true;
    ip::udp version;

    ip::udp::endpoint free_address() const;
    ip::udp::endpoint nobody(io_context& c) const;
    ip::udp kind() const { return version; }
};

/// UNIX datagram sockets, by abstract names.
struct local_datagram_transport {
    using protocol = local::datagram_protocol;
    static constexpr bool is_udp = false;

    local::datagram_protocol::endpoint free_address() const;
    local::datagram_protocol::endpoint nobody(io_context&) const { return free_address(); }
    local::datagram_protocol kind() const { return {}; }
};

template <class Socket> constexpr bool is_tcp =
    std::is_same_v<typename std::remove_cvref_t<Socket>::protocol_type, ip::tcp>;

/// The result of an operation; outlives it.
struct completion {
    int count = 0;
    error_code ec;
    std::size_t n = 0;

    /// A handler for (error_code) and for (error_code, size_t).
    auto handler() {
        return [this](error_code e, auto&&... rest) {
            ++count;
            ec = e;
            if constexpr (sizeof...(rest) == 1)
                if constexpr ((std::same_as<std::remove_cvref_t<decltype(rest)>, std::size_t> && ...))
                    n = (rest, ...);
        };
    }
    /// Completed once, without an error.
    bool succeeded() const { return count == 1 && !ec; }
};

/// Bytes that differ from place to place, so that a byte which is lost, doubled or misplaced is noticed.
std::string pattern(std::size_t size, std::uint64_t stream = 0);

class conformance_test : public testing::TestWithParam<subject> {
protected:
    /// Runs `body` in each of the driver's worlds, until one fails.
    void each_world(std::function<void()> const& body);
    /// Runs `body(transport)` in each world, with the tcp_transport or the local_transport that is the subject.
    template <class F> void over_transport(F body) {
        if (GetParam().transport == transport::local)
            over_local(body);
        else
            over_tcp(body);
    }
    /// As over_transport(), where each subject is TCP, and where each is UNIX.
    template <class F> void over_tcp(F body) {
        over_ip(transport::tcp_v4, transport::tcp_v6,
                [&](bool v4) { body(tcp_transport{v4 ? ip::tcp::v4() : ip::tcp::v6()}); });
    }
    template <class F> void over_local(F body) {
        ASSERT_EQ(GetParam().transport, transport::local) << "this suite has other subjects";
        each_world([&] { body(local_transport()); });
    }
    /// As over_transport(), with the udp_transport or the local_datagram_transport that is the subject.
    template <class F> void over_datagrams(F body) {
        if (GetParam().transport == transport::local_datagram)
            over_local_datagrams(body);
        else
            over_udp(body);
    }
    template <class F> void over_udp(F body) {
        over_ip(transport::udp_v4, transport::udp_v6,
                [&](bool v4) { body(udp_transport{v4 ? ip::udp::v4() : ip::udp::v6()}); });
    }
    template <class F> void over_local_datagrams(F body) {
        ASSERT_EQ(GetParam().transport, transport::local_datagram) << "this suite has other subjects";
        each_world([&] { body(local_datagram_transport()); });
    }
    /// Runs `body(near, far)` in each world with the two ends of a fresh connection.
    template <class F> void connected(F body) {
        over_transport([&](auto const& t) {
            using socket = typename std::remove_cvref_t<decltype(t)>::protocol::socket;
            over_connection(t, std::function<void(socket&, socket&)>(std::ref(body)));
        });
    }

    io_context& context() { return world_->context(); }
    std::size_t run() { return world_->run(); }
    void settle() { world_->settle(); }
    void raise(int number) { world_->raise(number); }
    /// Runs until `done()`; what is pending then stays so.
    void run_until(std::function<bool()> const& done);

    /// Connects the two: by an acceptor that is closed again.
    template <class Transport, class Socket> void connect(Transport const& t, Socket& near, Socket& far);
    /// Starts a coroutine function, captures and all; what it throws leaves run().
    void spawn(std::function<awaitable<void>()> f);
    /// Writes until `s` takes no more, nor a while later; returns how much went. The peer does not read.
    template <class Socket> std::size_t fill(Socket& s) {
        std::string const chunk(65'536, 'f');
        bool const before = s.non_blocking();
        s.non_blocking(true);
        std::size_t total = 0;
        for (bool any = true; any;) {
            any = false;
            error_code ec;
            while (auto const n = s.write_some(buffer(chunk), ec)) {
                total += n;
                any = true;
            }
            EXPECT_EQ(ec, error::would_block);
            // Linux delays acknowledgements by 40 ms; one that comes late makes space.
            completion quiet;
            steady_timer timer(context(), std::chrono::milliseconds(any ? 60 : 0));
            timer.async_wait(quiet.handler());
            run_until([&] { return quiet.count != 0; });
        }
        s.non_blocking(before);
        return total;
    }
    /// Reads `size` bytes and drops them.
    template <class Socket> void drain(Socket& s, std::size_t size) {
        std::string into(size, ' ');
        completion read;
        async_read_exactly(s, into, read);
        run_until([&] { return read.count != 0; });
        EXPECT_TRUE(read.succeeded()) << read.ec.message();
    }

    /// Whether differences.md lets the driver under test differ in this point. The test fails when there is no such
    /// point. The test that asks then expects what the row says, so that a row without a difference does not last.
    bool differs(std::string_view id);

private:
    template <class Transport, class Socket>
    void over_connection(Transport const& t, std::function<void(Socket&, Socket&)> const& body);
    template <class Socket> static void async_read_exactly(Socket& s, std::string& into, completion& c) {
        completion_token_transform<void(error_code, std::size_t)>(c.handler(), s.read_all_initiation(buffer(into)));
    }

    void over_ip(transport v4, transport v6, std::function<void(bool is_v4)> const& body);
    bool has_ipv6();

    std::unique_ptr<world> world_;
};

} // namespace fairlead::conformance
