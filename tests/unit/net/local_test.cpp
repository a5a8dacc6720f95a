#include <fairlead/net/local.hpp>

#include <fairlead/base/error.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace {

using namespace std::string_view_literals;
using endpoint = fairlead::local::stream_protocol::endpoint;

template <typename Action> fairlead::error_code error_of(Action action) {
    try {
        action();
    } catch (fairlead::system_error const& e) {
        return e.code();
    }
    return {};
}

class named_socket {
public:
    named_socket() : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {}
    ~named_socket() { ::close(fd_); }
    named_socket(named_socket const&) = delete;
    named_socket& operator=(named_socket const&) = delete;
    bool bind(endpoint const& e) { return ::bind(fd_, e.data(), static_cast<socklen_t>(e.size())) == 0; }
    endpoint name() const {
        endpoint e;
        std::memset(e.data(), 'x', e.capacity()); // Nothing but the kernel's answer may count.
        auto size = static_cast<socklen_t>(e.capacity());
        EXPECT_EQ(::getsockname(fd_, e.data(), &size), 0);
        e.resize(size);
        return e;
    }

private:
    int fd_;
};

TEST(LocalEndpoint, DefaultIsUnnamed) {
    endpoint const e;
    EXPECT_EQ(e.path(), "");
    EXPECT_EQ(e.size(), 2u);
    EXPECT_EQ(e.data()->sa_family, AF_UNIX);
    EXPECT_EQ(e, endpoint(""));
    EXPECT_EQ(e.to_string(), "");
}

TEST(LocalEndpoint, PathCountsWithItsNul) {
    endpoint const e("/tmp/sock");
    EXPECT_EQ(e.path(), "/tmp/sock");
    EXPECT_EQ(e.path_view(), "/tmp/sock");
    EXPECT_EQ(e.size(), 2u + 9 + 1);
    EXPECT_EQ(e.capacity(), sizeof(sockaddr_un));
    sockaddr_un raw;
    std::memcpy(&raw, e.data(), sizeof raw);
    EXPECT_STREQ(raw.sun_path, "/tmp/sock");
}

TEST(LocalEndpoint, AbstractNameKeepsItsNulsAndGetsNone) {
    endpoint const e("\0a\0b\0"sv);
    EXPECT_EQ(e.path(), "\0a\0b\0"sv);
    EXPECT_EQ(e.size(), 2u + 5);
    EXPECT_EQ(e.to_string(), "@a@b@");
}

TEST(LocalEndpoint, LongestNamesFitAndOneByteMoreIsNameTooLong) {
    std::string const path(107, 'p');
    std::string const abstract = '\0' + std::string(107, 'a');
    EXPECT_EQ(endpoint(path).path(), path);
    EXPECT_EQ(endpoint(path).size(), sizeof(sockaddr_un));
    EXPECT_EQ(endpoint(abstract).path(), abstract);
    EXPECT_EQ(endpoint(abstract).size(), sizeof(sockaddr_un));

    namespace error = fairlead::error;
    EXPECT_EQ(error_of([&] { endpoint e(path + 'p'); }), error::name_too_long);
    EXPECT_EQ(error_of([&] { endpoint e(abstract + 'a'); }), error::name_too_long);
    EXPECT_EQ(error_of([&] { endpoint e(std::string(100000, 'p')); }), error::name_too_long);
    endpoint e("kept");
    EXPECT_EQ(error_of([&] { e.path(path + 'p'); }), error::name_too_long);
    EXPECT_EQ(e.path(), "kept");
    e.path("changed");
    EXPECT_EQ(e.path(), "changed");
}

TEST(LocalEndpoint, PathWithANulInsideIsRefused) {
    EXPECT_EQ(error_of([] { endpoint e("/tmp/a\0b"sv); }), fairlead::error::invalid_argument);
    EXPECT_EQ(error_of([] { endpoint e("a\0"sv); }), fairlead::error::invalid_argument);
}

TEST(LocalEndpoint, ResizeTakesWhateverTheSystemMayAnswer) {
    sockaddr_un raw{};
    raw.sun_family = AF_UNIX;
    std::memset(raw.sun_path, 'x', sizeof raw.sun_path);
    auto const resized = [&](std::size_t size) {
        endpoint e;
        std::memcpy(e.data(), &raw, sizeof raw);
        e.resize(size);
        return e;
    };
    for (std::size_t unnamed : {0u, 1u, 2u})
        EXPECT_EQ(resized(unnamed), endpoint()) << unnamed;
    EXPECT_EQ(resized(3).path(), "x");
    EXPECT_EQ(resized(3).size(), 4u);
    EXPECT_EQ(resized(109).path(), std::string(107, 'x'));
    EXPECT_EQ(resized(109).size(), 110u);
    EXPECT_EQ(reinterpret_cast<char const*>(resized(109).data())[109],
              '\0'); // The bytes that size() counts must be there.
    EXPECT_EQ(resized(110).path(), std::string(108, 'x'));
    EXPECT_EQ(resized(110).size(), 110u);
    EXPECT_EQ(resized(111).path(), std::string(108, 'x')); // Linux, for a path that another program bound without NUL.
    EXPECT_EQ(error_of([&] { resized(112); }), fairlead::error::invalid_argument);
    EXPECT_EQ(error_of([&] { resized(~std::size_t{0}); }), fairlead::error::invalid_argument);

    raw.sun_path[4] = '\0';
    EXPECT_EQ(resized(7).path(), "xxxx");
    EXPECT_EQ(resized(110).path(), "xxxx");
    raw.sun_path[0] = '\0';
    EXPECT_EQ(resized(3).path(), "\0"sv);
    EXPECT_EQ(resized(7).path(), "\0xxx\0"sv);
    EXPECT_EQ(resized(110).path().size(), 108u);
}

TEST(LocalEndpoint, NamesComeBackFromTheKernelAsTheyWereBound) {
    std::string const unique = "fairlead-local-test-" + std::to_string(::getpid());
    std::string const longest_abstract = '\0' + unique + std::string(107 - unique.size(), 'a');
    for (std::string const& name : {'\0' + unique, '\0' + unique + std::string("\0x\0", 3), longest_abstract}) {
        named_socket s;
        EXPECT_EQ(s.name(), endpoint());
        ASSERT_TRUE(s.bind(name)) << std::strerror(errno);
        EXPECT_EQ(s.name(), endpoint(name));
    }
    std::string const path = testing::TempDir() + unique;
    named_socket s;
    ASSERT_TRUE(s.bind(path)) << std::strerror(errno);
    EXPECT_EQ(s.name().path(), path);
    EXPECT_EQ(::unlink(path.c_str()), 0);
}

TEST(LocalEndpoint, ComparesAndHashesByName) {
    endpoint const a("a"), b("b"), ab("ab"), abstract("\0a"sv);
    EXPECT_EQ(a, endpoint("a"));
    EXPECT_NE(a, b);
    EXPECT_LT(a, ab);
    EXPECT_LT(ab, b);
    EXPECT_LT(abstract, a);
    EXPECT_LT(endpoint(), abstract);
    EXPECT_GE(b, b);
    std::unordered_set<endpoint> set{a, b, ab, abstract, endpoint(), endpoint("a")};
    EXPECT_EQ(set.size(), 5u);
    EXPECT_TRUE(set.contains("ab"));
}

TEST(LocalEndpoint, IsAPlainValueWithoutHeap) {
    static_assert(std::is_trivially_copyable_v<endpoint> && sizeof(endpoint) == 112);
    static_assert(std::is_convertible_v<char const*, endpoint> && std::is_convertible_v<std::string, endpoint>);
    static_assert(!std::is_same_v<endpoint, fairlead::local::datagram_protocol::endpoint>);
}

TEST(LocalEndpoint, PrintsItsName) {
    std::ostringstream out;
    out << endpoint("/run/x") << ' ' << endpoint("\0x"sv);
    EXPECT_EQ(out.str(), "/run/x @x");
}

TEST(LocalProtocols, SayWhatASocketNeeds) {
    fairlead::local::stream_protocol const stream;
    fairlead::local::datagram_protocol const datagram;
    EXPECT_EQ(stream.family(), AF_UNIX);
    EXPECT_EQ(stream.type(), SOCK_STREAM);
    EXPECT_EQ(stream.protocol(), 0);
    EXPECT_EQ(datagram.type(), SOCK_DGRAM);
    EXPECT_EQ(stream, endpoint("x").protocol());
}

} // namespace
