// The room of the chat example, under many seeds: who does not read is dropped and named, and the others get every
// line.
#include "../../examples/chat_room.hpp"

#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/timer.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <fairlead/sim/seeds.hpp>

#include <charconv>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using ip::tcp;
using sim::world;

/// The members of one world, and their room.
struct chat_scene {
    std::uint64_t talkers, rounds;
    tcp::endpoint silent, slow;
    std::vector<tcp::endpoint> dropped;
    std::size_t lines_of_silent = 0;
    std::vector<std::unique_ptr<chat_room>> rooms; // older than the coroutines of the hosts
};

awaitable<void> keep_room(io_context& ctx, chat_scene& s) {
    s.rooms.push_back(std::make_unique<chat_room>(ctx, tcp::endpoint(tcp::v4(), 7),
                                                  [&s](tcp::endpoint const& who) { s.dropped.push_back(who); }));
    chat_room& room = *s.rooms.back();
    co_await co_spawn(room.get_executor(), room.serve(), use_await);
}

/// The server may not be there yet.
awaitable<void> enter(tcp::socket& socket) {
    tcp::resolver resolver(socket.get_executor());
    auto const where = co_await resolver.async_resolve("server", "7");
    steady_timer pause(socket.get_executor());
    for (;;) {
        auto const [ec, to] = co_await async_connect(socket, where, as_tuple);
        if (!ec)
            co_return;
        pause.expires_after(10ms);
        co_await pause.async_wait();
    }
}

/// "TALKER LINE xxx": the lines of each talker come in order, each once.
class heard_lines {
public:
    void add(std::string_view line) {
        std::uint64_t talker = 0, number = 0;
        auto const* const end = line.data() + line.size();
        auto const first = std::from_chars(line.data(), end, talker);
        auto const second = std::from_chars(first.ptr + 1, end, number);
        if (first.ec != std::errc() || second.ec != std::errc() || line.size() != 901)
            throw std::runtime_error("a line that nobody has said");
        if (number != next_[talker]++)
            throw std::runtime_error("a line is lost, or comes twice");
        ++count_;
    }
    std::uint64_t count() const noexcept { return count_; }

private:
    std::map<std::uint64_t, std::uint64_t> next_;
    std::uint64_t count_ = 0;
};

/// Says a line when it has heard those of all for the round before. `pause`: reads no faster than that.
awaitable<void> say_lines(io_context& ctx, chat_scene& s, std::uint64_t me, std::chrono::microseconds pause) {
    tcp::socket socket(ctx);
    co_await enter(socket);
    if (pause != 0us)
        s.slow = socket.local_endpoint();
    std::string const all_here = "* " + std::to_string(s.talkers + 1) + " here\n";
    std::string in;
    heard_lines heard;
    steady_timer rest(ctx);
    for (std::uint64_t said = 0; heard.count() != s.talkers * s.rounds;) {
        auto const n = co_await async_read_until(socket, dynamic_buffer(in), '\n');
        std::string_view const line(in.data(), n);
        bool const may_begin = line == all_here;
        if (line[0] != '*')
            heard.add(line);
        in.erase(0, n);
        if (may_begin || (said != 0 && said != s.rounds && heard.count() == said * s.talkers)) {
            auto mine = std::to_string(me) + ' ' + std::to_string(said++) + ' ';
            mine.resize(900, 'x');
            mine += '\n';
            co_await async_write(socket, buffer(mine));
        }
        rest.expires_after(pause);
        if (pause != 0us)
            co_await rest.async_wait();
    }
}

/// Reads when the others have long gone: what it has still been sent is a beginning of what was said.
awaitable<void> be_silent(io_context& ctx, chat_scene& s) {
    tcp::socket socket(ctx);
    co_await enter(socket);
    s.silent = socket.local_endpoint();
    steady_timer sleep(ctx, 50min);
    co_await sleep.async_wait();
    std::string in;
    heard_lines heard;
    for (;;) {
        auto const [ec, n] = co_await async_read_until(socket, dynamic_buffer(in), '\n', as_tuple);
        if (ec)
            break;
        if (in[0] != '*')
            heard.add(std::string_view(in.data(), n));
        in.erase(0, n);
    }
    s.lines_of_silent = heard.count();
}

TEST(ChatRoom, WhoDoesNotReadIsDroppedAndNamedAndTheOthersGetEveryLine) {
    sim::for_each_seed(test::scaled(60, 8), [](world& w) {
        chat_scene s{};
        s.talkers = w.choose("talkers", 1, 5);
        s.rounds = 300 / s.talkers; // The simulated system keeps 64 KiB for him, the room a hundred lines.
        auto& server = w.add_server("server", [&s](io_context& ctx) { return keep_room(ctx, s); });
        impl::base::at_scope_end const room_goes_last([&server] { server.kill(); });
        w.add_host("silent", [&s](io_context& ctx) { return be_silent(ctx, s); });
        for (std::uint64_t i = 0; i != s.talkers; ++i) {
            std::chrono::microseconds const pause(i == 1 ? 200 : 0);
            w.add_host("talker " + std::to_string(i),
                       [&s, i, pause](io_context& ctx) { return say_lines(ctx, s, i, pause); });
        }
        w.run();
        EXPECT_EQ(s.dropped, std::vector{s.silent}) << "nobody else is dropped, also not one who is slow";
        EXPECT_LT(s.lines_of_silent, s.talkers * s.rounds - 100) << "he was dropped before the end";
    });
}

} // namespace
