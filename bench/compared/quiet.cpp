// How long does a quiet socket wait beside busy ones? How late are timers? One source for Fairlead (through the headers
// of fairlead::asio_compat) and for Asio.
//
//   quiet ROW WHAT SAMPLES FLOWS
//     ROW      callback or coroutine: what the busy flows are made of
//     WHAT     socket  another thread sends the time now and then; printed is how long it took to arrive
//              timer   a timer expires each millisecond; printed is how late its handler runs
//     FLOWS    each writes 64 bytes to a socket and reads them back, for ever: it is always ready
//
// Prints the latency that one sample of a thousand exceeds.
#include "latencies.hpp"

#include <asio.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <thread>

namespace {

using namespace std::chrono_literals;
using stream = asio::local::stream_protocol::socket;

struct busy_flow {
    stream near, far;
    std::array<char, 64> data{};
    explicit busy_flow(asio::io_context& c) : near(c), far(c) { asio::local::connect_pair(near, far); }

    void go_on() {
        asio::async_write(near, asio::buffer(data), [this](auto error, std::size_t) {
            if (!error)
                read();
        });
    }
    void read() {
        far.async_read_some(asio::buffer(data), [this](auto error, std::size_t) {
            if (!error)
                go_on();
        });
    }
};

asio::awaitable<void> go_on(busy_flow& flow) {
    for (;;) {
        co_await asio::async_write(flow.near, asio::buffer(flow.data), asio::use_awaitable);
        co_await flow.far.async_read_some(asio::buffer(flow.data), asio::use_awaitable);
    }
}

struct quiet_socket {
    asio::io_context& context;
    latencies& all;
    stream near{context}, far{context};
    std::int64_t sent_at = 0;

    void receive() {
        asio::async_read(near, asio::buffer(&sent_at, sizeof sent_at), [this](auto error, std::size_t) {
            if (error || all.add(now_ns() - sent_at))
                return context.stop();
            receive();
        });
    }
    void send(std::atomic<bool> const& ends) {
        while (!ends) {
            std::this_thread::sleep_for(300us);
            auto const now = now_ns();
            asio::error_code error;
            asio::write(far, asio::buffer(&now, sizeof now), error);
        }
    }
};

struct periodic_timer {
    asio::io_context& context;
    latencies& all;
    asio::steady_timer timer{context};

    void wait() {
        timer.expires_after(1ms);
        timer.async_wait([this](auto) {
            using std::chrono::duration_cast, std::chrono::nanoseconds;
            auto const due = duration_cast<nanoseconds>(timer.expiry().time_since_epoch()).count();
            if (all.add(now_ns() - due))
                return context.stop();
            wait();
        });
    }
};

} // namespace

int main(int argc, char** argv) {
    if (argc != 5)
        return 2;
    bool const with_coroutines = std::strcmp(argv[1], "coroutine") == 0;
    latencies all(std::atol(argv[3]));
    asio::io_context context(1);
    std::deque<busy_flow> flows;
    for (int i = std::atoi(argv[4]); i != 0; --i) {
        auto& flow = flows.emplace_back(context);
        if (with_coroutines)
            asio::co_spawn(context, go_on(flow), asio::detached);
        else
            flow.go_on();
    }
    if (std::strcmp(argv[2], "timer") == 0) {
        periodic_timer timer{context, all};
        timer.wait();
        context.run();
    } else {
        quiet_socket quiet{context, all};
        asio::local::connect_pair(quiet.near, quiet.far);
        quiet.receive();
        std::atomic<bool> ends = false;
        std::thread sender([&] { quiet.send(ends); });
        context.run();
        ends = true;
        sender.join();
    }
    all.print();
}
