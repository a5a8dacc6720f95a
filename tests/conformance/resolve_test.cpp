// Look-ups: what every computer knows, what none knows, and giving up.
#include "driver_under_test.hpp"

#include <fairlead/net/resolver.hpp>
#include <fairlead/token/post.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>

namespace fairlead::conformance {
namespace {

using ip::tcp;
using results = tcp::resolver::results_type;
using flags = ip::resolver_base;

class Resolvers : public conformance_test {
protected:
    template <class Protocol = tcp, class Results = typename Protocol::resolver::results_type>
    std::tuple<error_code, Results> look_up(std::string_view host, std::string_view service,
                                            flags::flags f = flags::none) {
        typename Protocol::resolver resolver(context());
        std::tuple<error_code, Results> got;
        int completed = 0;
        resolver.async_resolve(host, service, f, [&](error_code ec, Results r) {
            got = {ec, std::move(r)};
            ++completed;
        });
        EXPECT_EQ(completed, 0) << "not inside the call";
        run();
        EXPECT_EQ(completed, 1);
        EXPECT_EQ(static_cast<bool>(std::get<0>(got)), std::get<1>(got).empty());
        return got;
    }
};

TEST_P(Resolvers, NumbersNeedNobody) {
    each_world([&] {
        auto const [v4_ec, v4] = look_up("127.0.0.1", "80");
        EXPECT_FALSE(v4_ec) << v4_ec.message();
        ASSERT_EQ(v4.size(), 1U);
        EXPECT_EQ(v4.begin()->endpoint(), tcp::endpoint(ip::address_v4::loopback(), 80));
        EXPECT_EQ(v4.begin()->host_name(), "127.0.0.1");
        EXPECT_EQ(v4.begin()->service_name(), "80");
        auto const [v6_ec, v6] = look_up("::1", "65535", flags::numeric_host | flags::numeric_service);
        EXPECT_FALSE(v6_ec) << v6_ec.message();
        ASSERT_EQ(v6.size(), 1U);
        EXPECT_EQ(v6.begin()->endpoint(), tcp::endpoint(ip::address_v6::loopback(), 65'535));
        auto const [far_ec, far] = look_up("192.0.2.7", "");
        EXPECT_FALSE(far_ec) << far_ec.message();
        ASSERT_EQ(far.size(), 1U);
        EXPECT_EQ(far.begin()->endpoint(), tcp::endpoint(ip::make_address("192.0.2.7"), 0));
    });
}

TEST_P(Resolvers, AnEndpointHasOneEntryWithItsNames) {
    each_world([&] {
        tcp::endpoint const e(ip::address_v4::loopback(), 65'432);
        tcp::resolver resolver(context());
        int completed = 0;
        std::string name;
        resolver.async_resolve(e, [&](error_code ec, results found) {
            ++completed;
            EXPECT_FALSE(ec) << ec.message();
            ASSERT_EQ(found.size(), 1U);
            EXPECT_EQ(found.begin()->endpoint(), e);
            EXPECT_EQ(found.begin()->service_name(), "65432");
            name = found.begin()->host_name();
        });
        EXPECT_EQ(completed, 0) << "not inside the call";
        run();
        EXPECT_EQ(completed, 1);
        error_code ec;
        EXPECT_EQ(resolver.resolve(e, ec).size(), 1U);
        // "localhost" mostly; another name, or the number, where the computer's own files say so.
        auto const [name_ec, named] = look_up(name, "65432");
        EXPECT_FALSE(name_ec) << name << ": " << name_ec.message();
        EXPECT_TRUE(std::any_of(named.begin(), named.end(), [&](auto const& n) { return n.endpoint() == e; })) << name;
    });
}

TEST_P(Resolvers, TheMachineHasAName) {
    each_world([&] {
        std::string inside;
        post(context(), [&] { inside = ip::host_name(); });
        run();
        EXPECT_FALSE(inside.empty());
    });
}

TEST_P(Resolvers, LocalhostIsThisMachine) {
    each_world([&] {
        auto const [ec, all] = look_up("localhost", "6379");
        EXPECT_FALSE(ec) << ec.message();
        EXPECT_GE(all.size(), 1U);
        for (auto const& each : all) {
            EXPECT_TRUE(each.endpoint().address().is_loopback());
            EXPECT_EQ(each.endpoint().port(), 6379);
        }
        bool done = false;
        spawn([&]() -> awaitable<void> {
            tcp::resolver resolver(context());
            auto const v4 = co_await resolver.async_resolve(tcp::v4(), "localhost", "7");
            EXPECT_GE(v4.size(), 1U);
            for (auto const& each : v4)
                EXPECT_EQ(each.endpoint(), tcp::endpoint(ip::address_v4::loopback(), 7));
            done = true;
        });
        run();
        EXPECT_TRUE(done);
    });
}

// This holds whatever the computer's files and name servers say of them, and where it has none.
TEST_P(Resolvers, LocalhostAndNamesBelowItAreLoopbackWithoutAskingAnybody) {
    each_world([&] {
        for (auto const* name : {"localhost", "LocalHost", "localhost.", "a.localhost", "a.b.LOCALHOST."}) {
            for (auto const whom : {flags::none, flags::passive}) {
                auto const [ec, all] = look_up(name, "6379", whom);
                EXPECT_FALSE(ec) << name << ": " << ec.message();
                EXPECT_GE(all.size(), 1U) << name;
                for (auto const& each : all) {
                    EXPECT_TRUE(each.endpoint().address().is_loopback()) << name;
                    EXPECT_EQ(each.host_name(), name);
                }
            }
        }
    });
}

TEST_P(Resolvers, NoNameIsThisMachineOrAnyAddress) {
    each_world([&] {
        auto const [ec, here] = look_up("", "9");
        EXPECT_FALSE(ec) << ec.message();
        for (auto const& each : here)
            EXPECT_TRUE(each.endpoint().address().is_loopback());
        auto const [passive_ec, any] = look_up("", "9", flags::passive);
        EXPECT_FALSE(passive_ec) << passive_ec.message();
        for (auto const& each : any)
            EXPECT_TRUE(each.endpoint().address().is_unspecified());
        EXPECT_EQ(here.size(), any.size());
    });
}

TEST_P(Resolvers, W3_NeitherNameNorServiceIsNoQuestion) {
    each_world([&] {
        EXPECT_EQ(std::get<0>(look_up("", "")), error::host_not_found);
        EXPECT_EQ(std::get<0>(look_up("", "", flags::passive)), error::host_not_found);
        error_code ec;
        tcp::resolver resolver(context());
        EXPECT_TRUE(resolver.resolve("", "", ec).empty());
        EXPECT_EQ(ec, error::host_not_found);
    });
}

TEST_P(Resolvers, W3_RawSocketsHaveAddressesAndNoService) {
    each_world([&] {
        auto const [ec, found] = look_up<ip::icmp>("127.0.0.1", "");
        EXPECT_FALSE(ec) << ec.message();
        ASSERT_EQ(found.size(), 1U);
        EXPECT_EQ(found.begin()->endpoint(), ip::icmp::endpoint(ip::address_v4::loopback(), 0));
        auto const [name_ec, named] = look_up<ip::icmp>("localhost", "");
        EXPECT_FALSE(name_ec) << name_ec.message();
        EXPECT_GE(named.size(), 1U);
        EXPECT_EQ(std::get<0>(look_up<ip::icmp>("127.0.0.1", "80")), error::service_not_found);
        EXPECT_EQ(std::get<0>(look_up<ip::icmp>("", "")), error::host_not_found);
    });
}

TEST_P(Resolvers, WhatIsNoNumberIsNotLookedUpWhenNumbersAreAskedFor) {
    each_world([&] {
        EXPECT_EQ(std::get<0>(look_up("localhost", "80", flags::numeric_host)), error::host_not_found);
        EXPECT_EQ(std::get<0>(look_up("127.0.0.1", "http", flags::numeric_service)), error::host_not_found);
        EXPECT_EQ(std::get<0>(look_up("127.0.0.1", "no such service")), error::service_not_found);
    });
}

TEST_P(Resolvers, FamilyThatANumberDoesNotHaveIsAnError) {
    each_world([&] {
        tcp::resolver resolver(context());
        error_code got;
        resolver.async_resolve(tcp::v4(), "::1", "80", [&](error_code ec, results r) {
            got = ec;
            EXPECT_TRUE(r.empty());
        });
        run();
        EXPECT_TRUE(got);
    });
}

TEST_P(Resolvers, CallingThreadMayLookUp) {
    each_world([&] {
        tcp::resolver resolver(context());
        error_code ec;
        auto const found = resolver.resolve("127.0.0.1", "80", ec);
        EXPECT_FALSE(ec) << ec.message();
        EXPECT_EQ(found.size(), 1U);
        EXPECT_GE(resolver.resolve("localhost", "80").size(), 1U);
        resolver.resolve("localhost", "80", flags::numeric_host, ec);
        EXPECT_EQ(ec, error::host_not_found);
        EXPECT_THROW(resolver.resolve("localhost", "80", flags::numeric_host), system_error);
    });
}

TEST_P(Resolvers, CancelAbortsWhatIsPendingAndTheResolverGoesOn) {
    each_world([&] {
        tcp::resolver resolver(context());
        int aborted = 0, found = 0;
        auto const count = [&](error_code ec, results const&) {
            aborted += ec == error::operation_aborted;
            found += !ec;
        };
        for (int i = 0; i != 3; ++i)
            resolver.async_resolve("localhost", "80", count);
        resolver.cancel();
        EXPECT_EQ(aborted + found, 0);
        run();
        // A look-up that was quicker has an answer; none has two ends or none.
        EXPECT_EQ(aborted + found, 3);
        if (!differs("look-ups-may-outrun-cancel")) {
            EXPECT_EQ(aborted, 3);
        }
        resolver.async_resolve("localhost", "80", count);
        run();
        EXPECT_EQ(aborted + found, 4);
        EXPECT_GE(found, 1);
    });
}

TEST_P(Resolvers, DestroyingAResolverAbortsWhatIsPending) {
    each_world([&] {
        int completed = 0;
        {
            tcp::resolver first(context());
            first.async_resolve("localhost", "80", [&](error_code ec, results const&) {
                EXPECT_TRUE(!ec || ec == error::operation_aborted);
                ++completed;
            });
            tcp::resolver second(std::move(first)); // takes it along
        }
        run();
        EXPECT_EQ(completed, 1);
    });
}

TEST_P(Resolvers, ManyLookUpsAtOnceAllComplete) {
    each_world([&] {
        tcp::resolver resolver(context());
        int found = 0;
        for (int i = 0; i != 50; ++i)
            resolver.async_resolve("localhost", std::to_string(1000 + i), [&, i](error_code ec, results const& r) {
                EXPECT_FALSE(ec) << ec.message();
                for (auto const& each : r)
                    EXPECT_EQ(each.endpoint().port(), 1000 + i);
                ++found;
            });
        run();
        EXPECT_EQ(found, 50);
    });
}

INSTANTIATE_TEST_SUITE_P(Conformance, Resolvers, testing::ValuesIn(every_driver()), name_of);

} // namespace
} // namespace fairlead::conformance
