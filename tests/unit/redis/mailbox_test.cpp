#include <fairlead/redis/mailbox.hpp>

#include <redis/subscriptions.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/exec/work_guard.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/operation/direct_op.hpp>
#include <fairlead/sync/event.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <random>
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
        return push({"message", std::string(channel), std::string(payload)}, portion);
    }
    bool push(std::vector<std::string> const& texts, std::uint32_t portion) {
        std::vector<resp3::node> nodes(1 + texts.size());
        nodes[0].kind = resp3::type::push;
        for (std::size_t i = 0; i != texts.size(); ++i) {
            nodes[1 + i].kind = resp3::type::blob_string;
            nodes[1 + i].value = texts[i];
        }
        nodes.back().last = true;
        return all.pass_on(nodes, 1, portion);
    }
    bool push_together(std::vector<std::vector<std::string>> const& messages, std::uint32_t portion) {
        std::vector<resp3::text_push> pushes(messages.size());
        for (std::size_t i = 0; i != messages.size(); ++i) {
            std::copy(messages[i].begin(), messages[i].end(), pushes[i].texts);
            pushes[i].size = messages[i].size();
        }
        return all.pass_on(pushes, 1, portion);
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

std::string text_of(redis::message const& m) {
    return std::string(m.channel()) + ' ' + std::string(m.pattern()) + ' ' + std::string(m.payload()) + ' ' +
           std::to_string(m.lost());
}

std::string take_text(mailbox_bench& b, redis::impl::subscription_entry& e) {
    reader r;
    r.receive(e);
    b.context.restart();
    b.context.run();
    return r.got ? text_of(*r.got) : "none";
}

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

TEST(RedisMailbox, TextsOfAnyLengthArriveWhole) {
    mailbox_bench b;
    auto const text = [](std::size_t n, std::size_t first) {
        std::string s;
        for (std::size_t i = 0; i != n; ++i)
            s += static_cast<char>('!' + (first + i) % 90);
        return s;
    };
    for (std::size_t n = 0; n != 150; ++n) {
        auto const channel = text(n, n), pattern = text(150 - n, 7 * n), payload = text(2 * n, 3 * n);
        auto const of_channel = b.add(10, 10'000, channel);
        auto const of_pattern = b.add(10, 10'000, redis::pattern(pattern));
        b.push_together({{"message", channel, payload}, {"pmessage", pattern, channel, payload}}, 0);
        EXPECT_EQ(take_text(b, *of_channel), channel + "  " + payload + " 0");
        EXPECT_EQ(take_text(b, *of_pattern), channel + ' ' + pattern + ' ' + payload + " 0");
        b.remove(*of_channel);
        b.remove(*of_pattern);
    }
}

// Those that come in a row are handed over together.
TEST(RedisMailbox, MessagesThatComeTogetherArriveAsThoseThatComeOneByOne) {
    using pushed = std::vector<std::string>;
    for (unsigned seed = 1; seed != 60; ++seed) {
        std::mt19937 random(seed);
        auto const below = [&random](unsigned n) { return static_cast<std::size_t>(random() % n); };
        mailbox_bench one_by_one, together;
        mailbox_bench* const both[] = {&one_by_one, &together};
        std::vector<redis::topic> const topics{"a",
                                               "channel",
                                               "a.channel.with.a.long.name",
                                               redis::pattern("a*"),
                                               redis::pattern("*"),
                                               redis::shard("a"),
                                               redis::shard("channel")};
        std::vector<std::unique_ptr<redis::impl::subscription_entry>> entries[2];
        for (std::size_t i = 0; i != 12; ++i) {
            auto const& t = topics[below(static_cast<unsigned>(topics.size()))];
            auto const most = 1 + below(4);
            for (std::size_t b = 0; b != 2; ++b)
                entries[b].push_back(both[b]->add(most, 10'000, t));
        }
        std::vector<pushed> all;
        for (std::size_t i = 0, n = below(33); i != n; ++i) {
            auto const& t = topics[below(static_cast<unsigned>(topics.size()))];
            std::string const payload(below(90), static_cast<char>('a' + i % 26));
            std::string const name(t.name);
            switch (t.what) {
            case redis::topic::kind::channel: all.push_back({"message", name, payload}); break;
            case redis::topic::kind::pattern: all.push_back({"pmessage", name, "some." + name, payload}); break;
            case redis::topic::kind::shard: all.push_back({"smessage", name, payload}); break;
            }
        }
        std::vector<reader> readers[2] = {std::vector<reader>(3), std::vector<reader>(3)};
        for (std::size_t b = 0; b != 2; ++b)
            for (std::size_t i = 0; i != 3; ++i)
                readers[b][i].receive(*entries[b][i]);
        auto const portion = static_cast<std::uint32_t>(below(2));
        bool is_too_much = false;
        for (auto const& each : all)
            is_too_much |= one_by_one.push(each, portion);
        ASSERT_EQ(together.push_together(all, portion), is_too_much) << seed;
        ASSERT_EQ(together.all.dropped(), one_by_one.all.dropped()) << seed;
        std::vector<std::string> got[2];
        for (std::size_t b = 0; b != 2; ++b) {
            both[b]->context.run();
            for (auto const& r : readers[b])
                got[b].push_back(r.got ? text_of(*r.got) : "none");
            for (auto const& e : entries[b])
                for (;;) {
                    both[b]->context.restart();
                    reader r;
                    r.receive(*e);
                    both[b]->context.poll();
                    got[b].push_back(r.got ? text_of(*r.got) : "none");
                    if (r.got)
                        continue;
                    e->box.cancel();
                    both[b]->context.run();
                    break;
                }
            for (auto const& e : entries[b])
                both[b]->remove(*e);
        }
        ASSERT_EQ(got[1], got[0]) << seed;
    }
}

namespace {

using receive_directly = fairlead::impl::operation::direct_op<redis::impl::receive_message>;

awaitable<void> read(redis::impl::subscription_entry& e, std::size_t most, std::vector<std::string>& to) {
    for (; most != 0; --most) {
        receive_directly receiving{redis::impl::receive_message(e.box)};
        auto const m = co_await std::move(receiving);
        to.push_back(m ? text_of(*m) : "none");
        if (!m)
            break;
    }
}

} // namespace

TEST(RedisMailbox, AwaitedDirectlyItGivesWhatIsThereAndWhatComes) {
    mailbox_bench b;
    auto const e = b.add(100, 10'000);
    std::vector<std::string> got;
    b.publish("0");
    b.publish("1");
    co_spawn(b.context, read(*e, 1'000, got), detached);
    b.context.poll();
    EXPECT_EQ(got, (std::vector<std::string>{"news  0 0", "news  1 0"}));
    b.publish("2");
    b.publish("3");
    b.context.poll();
    EXPECT_EQ(got.size(), 4U);
    b.publish("4");
    b.all.end_all();
    b.context.poll();
    EXPECT_EQ(got, (std::vector<std::string>{"news  0 0", "news  1 0", "news  2 0", "news  3 0", "news  4 0", "none"}));
    b.remove(*e);
}

TEST(RedisMailbox, AReaderThatTookItsMessageDirectlyIsNotWaitedFor) {
    mailbox_bench b;
    auto const e = b.add(1, 10'000);
    std::vector<std::string> got;
    b.publish("0", 1);
    co_spawn(
        b.context,
        [&]() -> awaitable<void> {
            fairlead::event other(b.context);
            EXPECT_FALSE(other.is_set()); // From the second look on the thread takes no lock.
            co_await read(*e, 1, got);
        },
        detached);
    b.context.run();
    ASSERT_EQ(got.size(), 1U);
    b.publish("1", 1);
    EXPECT_FALSE(b.publish("2", 1));
    EXPECT_EQ(take(b, *e), "2-1");
    b.remove(*e);
}

TEST(RedisMailbox, ReadersOfOtherThreadsGetAllMessagesInTheirOrder) {
    mailbox_bench b;
    constexpr std::size_t rows = 40, readers = 3;
    std::vector<std::unique_ptr<redis::impl::subscription_entry>> entries;
    std::array<std::vector<std::string>, readers> got;
    {
        thread_pool pool(2);
        auto work = std::make_optional(make_work_guard(b.context));
        std::atomic<std::size_t> left{readers};
        for (auto& each : got) {
            entries.push_back(b.add(10'000, 10'000'000));
            co_spawn(pool, read(*entries.back(), rows * redis::impl::messages_at_once, each), [&](std::exception_ptr) {
                if (--left == 0)
                    work.reset();
            });
        }
        std::size_t n = 0;
        for (std::size_t row = 0; row != rows; ++row)
            post(b.context, [&] {
                std::vector<std::vector<std::string>> messages;
                for (std::size_t i = 0; i != redis::impl::messages_at_once; ++i)
                    messages.push_back({"message", "news", std::to_string(n++)});
                b.push_together(messages, 0);
            });
        b.context.run();
        pool.join();
    }
    for (auto const& each : got) {
        ASSERT_EQ(each.size(), rows * redis::impl::messages_at_once);
        for (std::size_t i = 0; i != each.size(); ++i)
            ASSERT_EQ(each[i], "news  " + std::to_string(i) + " 0");
    }
    for (auto const& e : entries)
        b.remove(*e);
}

TEST(RedisMailbox, AMessageForACoroutineThatIsGivenUpGoesWithIt) {
    auto b = std::make_unique<mailbox_bench>();
    auto const e = b->add(10, 10'000);
    std::vector<std::string> got;
    co_spawn(b->context, read(*e, 10, got), detached);
    b->context.poll();
    b->publish(std::string(5'000, 'x'));
    b->remove(*e);
    b.reset(); // A leak is the sanitizer's business.
    EXPECT_TRUE(got.empty());
}

} // namespace fairlead::test
