// For tests of typed commands: the words of one, and its result for a reply.
#pragma once

#include <fairlead/redis/command.hpp>
#include <fairlead/resp3/parser.hpp>

#include <gtest/gtest.h>

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::test {

/// The arguments of all commands of a request, with spaces between them, and "; " between commands. Fails the test when
/// the request is no sequence of commands, or counts another number of them.
inline std::string words_of(redis::request const& request) {
    std::string words;
    std::size_t commands = 0;
    std::size_t left = 0;
    resp3::parser parser;
    auto const used = parser.parse(request.payload(), [&](resp3::node const& n) {
        if (n.depth == 0) {
            words.append(commands++ == 0 ? "" : "; ");
            left = static_cast<std::size_t>(n.size);
            return;
        }
        words.append(n.value).append(--left == 0 ? "" : " ");
    });
    EXPECT_EQ(used.consumed, request.payload().size()) << words;
    EXPECT_EQ(left, 0U) << words;
    EXPECT_EQ(commands, request.commands()) << words;
    return words;
}
template <redis::typed_command Command> std::string words_of(Command const& command) { return words_of(command.req()); }

/// Gives the replies to `response`, as a connection does; returns the first error.
template <class Response> error_code deliver_replies(Response& response, std::string_view wire) {
    auto const to = redis::impl::refer_to(response);
    error_code first;
    std::vector<resp3::node> nodes;
    std::size_t index = 0;
    resp3::parser parser;
    parser.parse(wire, [&](resp3::node const& n) {
        nodes.push_back(n);
        if (!n.last)
            return;
        auto const ec = to.deliver(to.object, index++, redis::reply_view{nodes, nullptr});
        first = first ? first : ec;
        nodes.clear();
    });
    EXPECT_EQ(index, to.replies) << "of another number of replies";
    return first;
}
/// The result of a command whose replies are `wire`.
template <redis::typed_command Command> auto result_of(Command const& command, std::string_view wire) {
    auto response = command.response();
    EXPECT_EQ(deliver_replies(response, wire), error_code()) << wire;
    return std::move(response).value();
}
template <redis::typed_command Command> error_code error_of_result(Command const& command, std::string_view wire) {
    auto response = command.response();
    return deliver_replies(response, wire);
}

} // namespace fairlead::test
