// <asio/ip/basic_resolver_iterator.hpp>
#include <asio/ip/basic_resolver_iterator.hpp>
#include <asio/ip/tcp.hpp>

#include <gtest/gtest.h>

#include <iterator>
#include <vector>

namespace {

using iterator = asio::ip::basic_resolver_iterator<asio::ip::tcp>;
static_assert(std::forward_iterator<iterator>);

TEST(CompatHeaders, W5_ResolverIteratorGoesThroughResultsAndEndsAtTheOneMadeOfNothing) {
    asio::ip::tcp::resolver::results_type results;
    EXPECT_EQ(iterator(results), iterator());
    std::vector<asio::ip::tcp::endpoint> const all{{asio::ip::address_v4::loopback(), 1},
                                                   {asio::ip::address_v4::loopback(), 2}};
    results = asio::ip::tcp::resolver::results_type::create(all.begin(), all.end(), "host", "service");
    iterator i = results;
    EXPECT_NE(i, iterator());
    EXPECT_EQ(i->endpoint(), all[0]);
    auto const first = i++;
    EXPECT_EQ((*i).endpoint(), all[1]);
    EXPECT_NE(i, first);
    EXPECT_EQ(++i, iterator());
    EXPECT_EQ(std::distance(iterator(results), iterator()), 2);
}

} // namespace
