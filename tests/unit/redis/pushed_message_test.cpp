#include <redis/pushed_message.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fairlead::test {

using redis::impl::pushed_message, redis::impl::is_message, redis::impl::read_message, redis::impl::kind_of,
    redis::impl::wanted_of, redis::impl::message_of;

TEST(RedisPushedMessage, IsTheSameWithNodesAndWithout) {
    int messages = 0;
    for (std::string const word : {"message", "pmessage", "smessage", "subscribe", "messages", "mmessage", "m", ""})
        for (std::size_t size = 1; size <= resp3::text_push::texts_max; ++size) {
            std::vector<std::string> texts{word, "first", "second", "third"};
            texts.resize(size);
            std::vector<resp3::node> nodes(1 + size);
            resp3::text_push push{};
            push.size = size;
            for (std::size_t i = 0; i != size; ++i)
                nodes[1 + i].value = push.texts[i] = texts[i];
            pushed_message expected{};
            bool const is_one = read_message(nodes, expected);
            ASSERT_EQ(is_message(push), is_one) << word << ' ' << size;
            if (!is_one)
                continue;
            ++messages;
            auto const m = message_of(push);
            EXPECT_EQ(kind_of(push), expected.kind) << word << ' ' << size;
            EXPECT_EQ(wanted_of(push), expected.wanted);
            EXPECT_EQ(m.kind, expected.kind);
            EXPECT_EQ(m.wanted, expected.wanted);
            EXPECT_EQ(m.channel, expected.channel);
            EXPECT_EQ(m.pattern, expected.pattern);
            EXPECT_EQ(m.payload, expected.payload);
        }
    EXPECT_EQ(messages, 5);
}

} // namespace fairlead::test
