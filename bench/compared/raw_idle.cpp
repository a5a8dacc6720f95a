// The limit of idle.cpp: a coroutine's frame with the message and the operation in it, and an epoll set that knows its
// address.
//
//   raw_idle coroutine N
#include "own_memory.hpp"

#include <coroutine>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <sys/epoll.h>

namespace {

struct task {
    struct promise_type {
        task get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};
struct pending_read {
    int set, fd;
    char* data;
    std::size_t size;
    std::coroutine_handle<> handle;
    pending_read(int s, int f, char* d, std::size_t n) noexcept : set(s), fd(f), data(d), size(n) {}
    pending_read(pending_read const&) = delete;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) noexcept {
        handle = h;
        epoll_event event{};
        event.events = EPOLLIN | EPOLLET;
        event.data.ptr = this;
        if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) != 0)
            std::abort();
    }
    long await_resume() const noexcept { return read(fd, data, size); }
};
task wait_for_data(int set, int fd) {
    char data[64];
    co_await pending_read(set, fd, data, sizeof data);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    auto const open = open_pairs(std::atoi(argv[2]));
    int const set = epoll_create1(EPOLL_CLOEXEC);
    auto const before = own_bytes();
    for (int fd : open.fds)
        wait_for_data(set, fd);
    print_each(before, open);
}
