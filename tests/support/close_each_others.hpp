// Two threads run a context each, and a handler of each closes sockets of the other one at the same time.
#pragma once

#include <fairlead/exec/work_guard.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/token/post.hpp>

#include <atomic>
#include <thread>
#include <vector>

namespace fairlead::test {

inline void close_each_others(io_context& a, io_context& b) {
    using socket = local::stream_protocol::socket;
    struct side {
        io_context& runs;
        std::vector<socket> mine{};
    } sides[2]{{a}, {b}};
    for (auto& each : sides)
        for (int i = 0; i != 200; ++i)
            each.mine.emplace_back(each.runs, local::stream_protocol());
    std::atomic<int> begun{0};
    auto const run = [&](side& here, side& there) {
        auto work = make_work_guard(here.runs);
        post(here.runs, [&] {
            ++begun;
            while (begun < 2)
                std::this_thread::yield();
            for (auto& each : there.mine)
                each.close();
            ++begun;
        });
        here.runs.restart();
        here.runs.run_one();
        while (begun != 4) // The other one may still need this thread.
            here.runs.poll();
    };
    std::thread other([&] { run(sides[1], sides[0]); });
    run(sides[0], sides[1]);
    other.join();
}

} // namespace fairlead::test
