// The last events of a connection, and their text.
#include <redis/event_ring.hpp>

#include <fairlead/redis/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>

namespace fairlead::test {
namespace {

using redis::impl::bit_of;
using redis::impl::event;
using redis::impl::event_ring;

auto ring_lines(std::string const& text) { return std::ranges::count(text, '\n'); }

TEST(RedisEventRing, TellsEachKindOfEvent) {
    event_ring ring;
    ring.note(event::connecting, 1'000'000'000);
    ring.note(event::connected, 1'000'250'000);
    ring.note(event::wrote, event_ring::no_time, 1);
    ring.note(event::read, 1'500'000'000, 90, 2, bit_of('+') | bit_of('%'));
    ring.note(event::ready, 1'500'000'000, 0, 3);
    ring.note_more(event::pushed, 1);
    ring.note_more(event::pushed, 1);
    ring.note_more(event::over, 1);
    ring.note(event::asked, 2'000'000'000);
    ring.note(event::wrote, event_ring::no_time, 17, 0, 1);
    ring.note(event::read, 2'000'000'000, 5);
    ring.note_end(2'000'000'000, redis::error::server_silent);
    EXPECT_EQ(ring.text(), "       -1.000000 s  connecting\n"
                           "       -0.999750 s  connected\n"
                           "                    wrote 1 byte\n"
                           "       -0.500000 s  read 90 bytes, 2 replies: simple_string, map\n"
                           "       -0.500000 s  ready, RESP3\n"
                           "                    2 pushes\n"
                           "                    1 call reached its limit\n"
                           "        0.000000 s  asked whether the server is well\n"
                           "                    wrote 17 bytes, then failed\n"
                           "        0.000000 s  read 5 bytes, no whole reply\n"
                           "        0.000000 s  ended: " +
                               make_error_code(redis::error::server_silent).message() + "\n");
}

TEST(RedisEventRing, HasNothingToTellAtFirst) { EXPECT_EQ(event_ring().text(), ""); }

TEST(RedisEventRing, KeepsTheLastSixtyFour) {
    event_ring ring;
    for (std::uint32_t i = 1; i <= 1000; ++i) {
        ring.note(event::wrote, event_ring::no_time, i);
        auto const text = ring.text();
        EXPECT_EQ(ring_lines(text), std::min<long>(i, 64));
        EXPECT_NE(text.find("wrote " + std::to_string(i) + " byte"), text.npos);
    }
    EXPECT_EQ(ring.text().find("wrote 936 bytes"), std::string::npos);
    EXPECT_NE(ring.text().find("wrote 937 bytes"), std::string::npos);
}

// Each record says the same in all of its parts, so that a mixture of two would show.
TEST(RedisEventRing, ReadersSeeWholeRecordsWhileOthersAreNoted) {
    event_ring ring;
    std::atomic<bool> is_over{false};
    std::thread writer([&] {
        for (std::uint32_t i = 0; !is_over; ++i) {
            if (i % 2 == 0)
                ring.note(event::wrote, event_ring::no_time, 1000);
            else
                ring.note(event::read, 7, 2000, 1, bit_of('+'));
        }
    });
    for (int i = 0; i != 300; ++i) {
        std::string const text = ring.text();
        for (std::size_t from = 0; from != text.size();) {
            auto const end = text.find('\n', from);
            auto const line = text.substr(from, end - from);
            EXPECT_TRUE(line == "                    wrote 1000 bytes" ||
                        line == "        0.000000 s  read 2000 bytes, 1 reply: simple_string")
                << line;
            from = end + 1;
        }
    }
    is_over = true;
    writer.join();
}

} // namespace
} // namespace fairlead::test
