// Look-ups by the kernel driver. The system's own getaddrinfo answers, but for names below .test, which this file
// knows.
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/resolver.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>

namespace {

using look_up = int(char const*, char const*, addrinfo const*, addrinfo**);

int system_look_up(char const* host, char const* service, addrinfo const* hints, addrinfo** found) {
    static auto* const real = reinterpret_cast<look_up*>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    return real(host, service, hints, found);
}

/// Ordered neither by family nor by number.
constexpr std::initializer_list<char const*> several = {"192.0.2.9", "2001:db8::2", "192.0.2.1", "2001:db8::1"};

/// Each look-up of "four.test" waits here for three others.
struct {
    std::mutex mutex;
    std::condition_variable changed;
    int inside = 0;
} four;

int wait_for_four() {
    std::unique_lock lock(four.mutex);
    ++four.inside;
    four.changed.notify_all();
    return four.changed.wait_for(lock, std::chrono::seconds(10), [] { return four.inside >= 4; }) ? 0 : EAI_AGAIN;
}

/// The last question to the system.
addrinfo asked{};
int asked_flags = 0;

} // namespace

// Instead of the system's, for this whole program.

extern "C" int getaddrinfo(char const* host, char const* service, addrinfo const* hints, addrinfo** found) {
    std::string_view const name = host ? host : "";
    if (name == "four.test") {
        if (int const e = wait_for_four())
            return e;
        return system_look_up("192.0.2.4", service, hints, found);
    }
    if (name == "broken.test") {
        errno = EMFILE;
        return EAI_SYSTEM;
    }
    if (name != "several.test")
        return system_look_up(host, service, hints, found);
    asked = *hints;
    addrinfo** last = found;
    for (auto const* const each : several) {
        if (int const e = system_look_up(each, service, hints, last))
            return e;
        last = &(*last)->ai_next;
    }
    return 0;
}

/// Knows that every host is "host.test", and of port 4242 a service whose name is longer than anybody's buffer.
extern "C" int getnameinfo(sockaddr const* address, socklen_t, char* host, socklen_t host_size, char* service,
                           socklen_t service_size, int flags) {
    asked_flags = flags;
    auto const port = ntohs(reinterpret_cast<sockaddr_in const*>(address)->sin_port);
    if (port == 4242 && !(flags & NI_NUMERICSERV))
        return EAI_OVERFLOW;
    std::snprintf(host, host_size, "host.test");
    std::snprintf(service, service_size, flags & NI_NUMERICSERV ? "%u" : "service%u", unsigned{port});
    return 0;
}

namespace fairlead {
namespace {

using namespace std::chrono_literals;
using ip::tcp;

std::vector<std::string> addresses(tcp::resolver::results_type const& found) {
    std::vector<std::string> all;
    for (auto const& each : found)
        all.push_back(each.endpoint().address().to_string());
    return all;
}

TEST(Resolve, Z4_ResultsAreInTheOrderOfTheSystem) {
    std::vector<std::string> const expected(several.begin(), several.end());
    io_context context(1);
    tcp::resolver resolver(context);
    EXPECT_EQ(addresses(resolver.resolve("several.test", "80")), expected) << "in the calling thread";
    tcp::resolver::results_type found;
    resolver.async_resolve("several.test", "80", [&](error_code ec, tcp::resolver::results_type r) {
        EXPECT_FALSE(ec) << ec.message();
        found = std::move(r);
    });
    context.run_for(10s);
    ASSERT_TRUE(context.stopped()) << "the look-up still waits after ten seconds";
    EXPECT_EQ(addresses(found), expected) << "by a thread of the pool";
}

TEST(Resolve, TheSystemIsAskedForWhatTheProtocolNeeds) {
    io_context context(1);
    ip::udp::resolver udp(context);
    error_code ec;
    udp.resolve("several.test", "80", ip::resolver_base::numeric_service, ec);
    EXPECT_EQ(asked.ai_family, AF_UNSPEC);
    EXPECT_EQ(asked.ai_socktype, SOCK_DGRAM);
    EXPECT_EQ(asked.ai_protocol, IPPROTO_UDP);
    EXPECT_EQ(asked.ai_flags, AI_NUMERICSERV);
    tcp::resolver resolver(context);
    resolver.resolve(tcp::v6(), "several.test", "80", ec);
    EXPECT_EQ(asked.ai_family, AF_INET6);
    EXPECT_EQ(asked.ai_socktype, SOCK_STREAM);
    EXPECT_EQ(asked.ai_protocol, IPPROTO_TCP);
    EXPECT_EQ(asked.ai_flags, 0);
}

TEST(Resolve, ErrorOfTheSystemIsReportedAsItIs) {
    io_context context(1);
    tcp::resolver resolver(context);
    error_code ec;
    resolver.resolve("broken.test", "80", ec);
    EXPECT_EQ(ec, std::errc::too_many_files_open);
}

TEST(Resolve, FourLookUpsAreUnderWayAtATime) {
    io_context context(1);
    tcp::resolver resolver(context);
    resolver.async_resolve("several.test", "80", [](error_code, tcp::resolver::results_type const&) {});
    context.run(); // Now one thread is idle.
    context.restart();
    int found = 0;
    for (int i = 0; i != 4; ++i)
        resolver.async_resolve("four.test", "80",
                               [&](error_code ec, tcp::resolver::results_type const&) { found += !ec; });
    context.run_for(20s);
    ASSERT_TRUE(context.stopped()) << "the look-ups still wait after twenty seconds";
    EXPECT_EQ(found, 4) << "some waited in vain for the others to begin";
}

TEST(Resolve, NamesOfAnEndpointAreThoseOfItsProtocol) {
    io_context context(1);
    tcp::resolver resolver(context);
    auto const named = resolver.resolve(tcp::endpoint(ip::make_address("192.0.2.1"), 80));
    EXPECT_EQ(named.begin()->host_name(), "host.test");
    EXPECT_EQ(named.begin()->service_name(), "service80");
    EXPECT_FALSE(asked_flags & NI_DGRAM);
    ip::udp::resolver udp(context);
    EXPECT_EQ(udp.resolve(ip::udp::endpoint(ip::make_address("192.0.2.1"), 80)).size(), 1U);
    EXPECT_TRUE(asked_flags & NI_DGRAM);
    auto const numbered = resolver.resolve(tcp::endpoint(ip::make_address("192.0.2.1"), 4242));
    EXPECT_EQ(numbered.begin()->host_name(), "host.test");
    EXPECT_EQ(numbered.begin()->service_name(), "4242") << "a name that is too long has a number";
}

} // namespace
} // namespace fairlead
