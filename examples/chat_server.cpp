// A chat server with several rooms, which run in parallel: each is a strand (chat_room.hpp). In each room one member
// does not read. The room drops him, and says so; the others get every line.
//
//   example_chat_server [rooms [members]]     with a number of members for each room, at most 40, it is its own
//   clients,
//                                             and ends
//
// Run as a test: 3 8
#include "chat_room.hpp"

#include <fairlead/coro/spawn.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using fairlead::awaitable, fairlead::ip::tcp;

/// Says a line in each round, and hears those of all: nobody is a round ahead of another one.
awaitable<void> visit(tcp::endpoint where, int members, int rounds, std::atomic<int>& heard) {
    tcp::socket socket(co_await fairlead::this_coro::executor);
    co_await socket.async_connect(where);
    std::string const all_here = "* " + std::to_string(members + 1) + " here\n", mine = std::string(900, 'x') + '\n';
    std::string in;
    for (int lines = 0; lines != rounds * members;) {
        auto const n =
            co_await async_read_until(socket, fairlead::dynamic_buffer(in), '\n', fairlead::cancel_after(1min));
        bool const is_first = in.compare(0, n, all_here) == 0;
        if (in[0] != '*') {
            ++lines;
            ++heard;
        }
        in.erase(0, n);
        if (is_first || (lines % members == 0 && lines != 0 && lines != rounds * members))
            co_await async_write(socket, fairlead::buffer(mine));
    }
}

int main(int argc, char** argv) {
    int const count = argc > 1 ? std::atoi(argv[1]) : 1;
    int const members = argc > 2 ? std::atoi(argv[2]) : 0;
    int const rounds = members != 0 ? 480 / members : 0; // more than what waits for one who does not read
    std::vector<std::unique_ptr<chat_room>> rooms;       // older than the coroutines that refer to them
    fairlead::io_context ctx;
    std::vector<tcp::socket> silent;
    std::atomic<int> heard = 0, dropped = 0, there = count * members;
    for (int i = 0; i != count; ++i) {
        tcp::endpoint const loopback(fairlead::ip::address_v4::loopback(), 0);
        auto& r =
            *rooms.emplace_back(std::make_unique<chat_room>(ctx, loopback, [i, &dropped](tcp::endpoint const& who) {
                std::printf("room %d drops %s, who does not read\n", i, who.to_string().c_str());
                ++dropped;
            }));
        std::printf("room %d listens on %s\n", i, r.where().to_string().c_str());
        co_spawn(r.get_executor(), r.serve(), fairlead::rethrow);
        if (members != 0) {
            auto& s = silent.emplace_back(ctx, tcp::v4());
            s.set_option(tcp::socket::receive_buffer_size(4096));
            s.connect(r.where());
        }
        for (int m = 0; m != members; ++m)
            co_spawn(ctx, visit(r.where(), members, rounds, heard), [&](std::exception_ptr e) {
                if (e) // The others would wait for him.
                    std::rethrow_exception(e);
                if (--there == 0)
                    for (auto& each : rooms)
                        each->close();
            });
    }

    auto const run = [&ctx] {
        try {
            ctx.run();
        } catch (std::exception const& e) { // One that left its thread would end the process.
            std::fprintf(stderr, "%s\n", e.what());
            ctx.stop();
        }
    };
    std::vector<std::jthread> others;
    for (int i = 1; i != 4; ++i)
        others.emplace_back(run);
    run();
    others.clear(); // joins them

    std::printf("%d lines were heard\n", heard.load());
    return heard == count * members * members * rounds && dropped == (members != 0 ? count : 0) ? 0 : 1;
}
