// The limit of quiet.cpp: a loop around epoll_wait that serves each socket once when it is ready.
//
//   raw_quiet epoll WHAT SAMPLES FLOWS    without flows: what the computer alone does to a sleeping thread
#include "latencies.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

void check(long result) {
    if (result < 0)
        std::abort();
}

struct pair {
    int near, far;
};
pair connected() {
    int fds[2];
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
    return {fds[0], fds[1]};
}

void watch(int set, int fd, std::size_t number) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = number;
    check(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
}

constexpr std::int64_t ms = 1'000'000;
void arm(int timer, std::int64_t at) {
    itimerspec t{};
    t.it_value.tv_sec = at / (1000 * ms);
    t.it_value.tv_nsec = at % (1000 * ms);
    check(timerfd_settime(timer, TFD_TIMER_ABSTIME, &t, nullptr));
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 5)
        return 2;
    bool const with_timer = std::strcmp(argv[2], "timer") == 0;
    latencies all(std::atol(argv[3]));
    auto const flows = static_cast<std::size_t>(std::atol(argv[4]));
    int const set = epoll_create1(EPOLL_CLOEXEC);
    std::vector<pair> pairs;
    for (std::size_t i = 0; i != flows; ++i) {
        pairs.push_back(connected());
        watch(set, pairs.back().near, i);
    }
    char data[64]{};
    for (auto const& p : pairs)
        check(send(p.far, data, sizeof data, MSG_NOSIGNAL));

    auto const quiet = with_timer ? pair{timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), -1} : connected();
    watch(set, quiet.near, flows);
    std::int64_t due = now_ns() + ms;
    std::atomic<bool> ends = false;
    std::thread sender;
    if (with_timer)
        arm(quiet.near, due);
    else
        sender = std::thread([&] {
            while (!ends) {
                std::this_thread::sleep_for(std::chrono::microseconds(300));
                auto const now = now_ns();
                check(send(quiet.far, &now, sizeof now, MSG_NOSIGNAL));
            }
        });
    while (!ends) {
        epoll_event events[128];
        int const n = epoll_wait(set, events, 128, -1);
        for (int i = 0; i < n; ++i) {
            auto const at = events[i].data.u64;
            if (at != flows) {
                check(recv(pairs[at].near, data, sizeof data, MSG_DONTWAIT));
                check(send(pairs[at].far, data, sizeof data, MSG_DONTWAIT | MSG_NOSIGNAL));
                continue;
            }
            std::int64_t value;
            check(read(quiet.near, &value, sizeof value));
            auto const now = now_ns();
            if (all.add(now - (with_timer ? due : value)))
                ends = true;
            if (with_timer)
                arm(quiet.near, due = now + ms);
        }
    }
    if (sender.joinable())
        sender.join();
    all.print();
}
