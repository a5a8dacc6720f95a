#include <fairlead/redis/mailbox.hpp>

#include <redis/subscriptions.hpp>

#include <fairlead/io/io_context.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::test {
namespace {

using namespace std::string_literals;

/// Plays the connection that hands messages to subscriptions.
struct mailbox_bench {
    io_context context;
    redis::impl::subscriptions all{context.get_executor()};

    std::unique_ptr<redis::impl::subscription_entry> add(std::size_t messages_max, std::size_t bytes_max,
                                                         redis::topic const& t = "news") {
        auto e = std::make_unique<redis::impl::subscription_entry>(
            nullptr, any_io_executor(context.get_executor()), redis::impl::keep_topics(t), messages_max, bytes_max);
        redis::request begin;
        all.add(*e, begin);
        return e;
    }
    bool publish(std::string_view payload, std::uint32_t portion = 0, std::string_view channel = "news") {
        auto const node = [](resp3::type k, std::string_view text, bool is_last = false) {
            resp3::node n{};
            n.kind = k;
            n.value = text;
            n.last = is_last;
            return n;
        };
        std::array const nodes{node(resp3::type::push, ""), node(resp3::type::blob_string, "message"),
                               node(resp3::type::blob_string, channel), node(resp3::type::blob_string, payload, true)};
        return all.pass_on(nodes, 1, portion);
    }
    void remove(redis::impl::subscription_entry& e) {
        redis::request end;
        all.remove(e, end);
    }
};

struct reader {
    std::optional<redis::message> got{};
    error_code ec{};
    int completions = 0;

    void receive(redis::impl::subscription_entry& e) {
        redis::impl::receive_message receiving(e.box);
        receiving([this](error_code end, std::optional<redis::message> m) {
            ec = end;
            got = std::move(m);
            ++completions;
        });
    }
};

std::string take(mailbox_bench& b, redis::impl::subscription_entry& e) {
    reader r;
    r.receive(e);
    b.context.restart();
    b.context.run();
    if (!r.got)
        return "none";
    return std::string(r.got->payload()) + (r.got->lost() ? "-" + std::to_string(r.got->lost()) : "");
}

} // namespace

TEST(RedisMailbox, GivesMessagesInTheirOrderWithAllTheyHave) {
    mailbox_bench b;
    auto const e = b.add(10, 10'000);
    b.publish("one");
    b.publish(std::string(5'000, 'x'));
    EXPECT_EQ(take(b, *e), "one");
    EXPECT_EQ(take(b, *e), std::string(5'000, 'x')) << "larger than what the recycler keeps";
    b.publish("two");
    reader r;
    r.receive(*e);
    b.context.restart();
    b.context.run();
    ASSERT_TRUE(r.got);
    EXPECT_EQ(r.got->channel(), "news");
    EXPECT_EQ(r.got->pattern(), "");
    EXPECT_EQ(r.got->connection(), 1U);
    redis::message const moved = std::move(*r.got);
    b.remove(*e);
    EXPECT_EQ(moved.payload(), "two") << "it is its own";
}

TEST(RedisMailbox, TheOldestGoWhenThereAreTooManyAndTheNextOneSaysHowMany) {
    mailbox_bench b;
    auto const e = b.add(2, 10'000);
    for (auto const* const text : {"a", "b", "c", "d"})
        b.publish(text);
    EXPECT_EQ(b.all.dropped(), 2U);
    EXPECT_EQ(take(b, *e), "c-2");
    EXPECT_EQ(take(b, *e), "d");
    b.publish("e");
    EXPECT_EQ(take(b, *e), "e");
    b.remove(*e);
}

TEST(RedisMailbox, TheOldestGoWhenTheyTakeTooManyBytes) {
    mailbox_bench b;
    auto const one = sizeof(redis::impl::message_block) + "news"s.size() + 100;
    auto const e = b.add(1'000, 3 * one);
    for (char c = 'a'; c != 'd'; ++c)
        b.publish(std::string(100, c));
    EXPECT_EQ(b.all.dropped(), 0U) << "the limit itself is allowed";
    b.publish("d");
    EXPECT_EQ(b.all.dropped(), 1U);
    EXPECT_EQ(take(b, *e), std::string(100, 'b') + "-1");
    b.publish(std::string(10'000, 'l'));
    EXPECT_EQ(take(b, *e), std::string(10'000, 'l') + "-2") << "the newest one is kept, whatever its size";
    b.publish("e");
    EXPECT_EQ(take(b, *e), "e");
    b.remove(*e);
}

TEST(RedisMailbox, AReaderWhoWasLetGoIsWaitedForAFewPortionsLong) {
    mailbox_bench b;
    auto const e = b.add(2, 10'000);
    reader r;
    r.receive(*e);
    EXPECT_FALSE(b.publish("given", 1));
    EXPECT_FALSE(b.publish("0", 1));
    EXPECT_FALSE(b.publish("1", 1));
    for (std::uint32_t portion = 1; portion != 5; ++portion) {
        EXPECT_TRUE(b.publish("more", portion));
        EXPECT_TRUE(b.publish("and more", portion)) << "a portion counts once";
    }
    EXPECT_EQ(b.all.dropped(), 0U);
    EXPECT_FALSE(b.publish("too much", 5));
    EXPECT_EQ(b.all.dropped(), 9U);
    b.context.run();
    EXPECT_EQ(r.got->payload(), "given");
    EXPECT_EQ(take(b, *e), "and more-9");
    b.remove(*e);
}

TEST(RedisMailbox, AReaderWhoCameAndWentIsNotWaitedFor) {
    mailbox_bench b;
    auto const e = b.add(1, 10'000);
    b.publish("0", 1);
    redis::impl::receive_message const receiving(e->box);
    redis::impl::mailbox_op o;
    receiving.prepare(o);
    ASSERT_TRUE(receiving.attempt(o));
    redis::impl::receive_message::drop(o);
    b.publish("1", 1);
    EXPECT_FALSE(b.publish("2", 1));
    EXPECT_EQ(take(b, *e), "2-1");
    b.remove(*e);
}

TEST(RedisMailbox, WithoutPortionsNobodyIsWaitedFor) {
    mailbox_bench b;
    auto const e = b.add(1, 10'000);
    b.publish("0");
    EXPECT_FALSE(b.publish("1"));
    EXPECT_EQ(take(b, *e), "1-1");
    b.remove(*e);
}

TEST(RedisMailbox, GivesWhatIsThereAndThenNothingAfterTheEnd) {
    mailbox_bench b;
    auto const e = b.add(10, 10'000);
    auto const waiting = b.add(10, 10'000, "other");
    b.publish("last");
    reader r;
    r.receive(*waiting);
    b.all.end_all();
    b.context.run();
    EXPECT_EQ(r.completions, 1);
    EXPECT_FALSE(r.ec);
    EXPECT_FALSE(r.got);
    EXPECT_EQ(take(b, *e), "last");
    EXPECT_EQ(take(b, *e), "none");
    b.remove(*e);
    b.remove(*waiting);
}

TEST(RedisMailbox, EachOfSeveralSubscriptionsHasItsOwn) {
    mailbox_bench b;
    auto first = b.add(10, 10'000), second = b.add(10, 10'000);
    b.publish("both");
    EXPECT_EQ(take(b, *first), "both");
    b.remove(*first);
    first.reset();
    b.publish("one");
    EXPECT_EQ(take(b, *second), "both");
    EXPECT_EQ(take(b, *second), "one");
    b.publish("nobody", 0, "elsewhere");
    b.remove(*second);
    b.publish("nobody");
    EXPECT_EQ(b.all.dropped(), 0U);
}

} // namespace fairlead::test
