#include <redis/address.hpp>

#include <fairlead/redis/error.hpp>

#include <gtest/gtest.h>

#include <string_view>

namespace fairlead::test {

using redis::impl::parse_address;
using redis::address_parts;

TEST(RedisAddress, AddressesAreTakenApart) {
    struct row {
        std::string_view text, host, port;
        bool is_unix;
    };
    for (row const& r : {row{"localhost", "localhost", "6379", false}, row{"10.0.0.1:7000", "10.0.0.1", "7000", false},
                         row{"[::1]:7000", "::1", "7000", false}, row{"[::1]", "::1", "6379", false},
                         row{"host:redis", "host", "redis", false}, row{"unix:/run/r.sock", "/run/r.sock", "", true}}) {
        address_parts a;
        EXPECT_EQ(parse_address(r.text, a), error_code()) << r.text;
        EXPECT_EQ(a.host, r.host);
        EXPECT_EQ(a.port, r.port);
        EXPECT_EQ(a.is_unix, r.is_unix);
    }
    for (std::string_view bad : {"", ":6379", "host:", "[::1", "[::1]x", "::1", "unix:", "host:6 379"}) {
        address_parts a;
        EXPECT_EQ(parse_address(bad, a), redis::error::invalid_address) << bad;
    }
}

} // namespace fairlead::test
