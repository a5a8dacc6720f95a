// The loop for the one socket of a hiredis program, and commands of words.
#pragma once

#include "workload.hpp"

#include <hiredis/async.h>
#include <hiredis/hiredis.h>

#include <initializer_list>
#include <string_view>
#include <sys/epoll.h>
#include <unistd.h>

namespace workload {

inline void connected(redisContext const* c) { insist(c && !c->err, "no connection"); }

/// A loop for one socket. hiredis asks for writing after each command: then it is tried before the loop sleeps.
class loop {
public:
    explicit loop(redisAsyncContext& c) : context_(c), set_(epoll_create1(EPOLL_CLOEXEC)) {
        epoll_event e{};
        e.events = EPOLLIN;
        epoll_ctl(set_, EPOLL_CTL_ADD, c.c.fd, &e);
        c.ev.data = this;
        c.ev.addRead = c.ev.delRead = c.ev.delWrite = c.ev.cleanup = [](void*) {};
        c.ev.addWrite = [](void* self) { static_cast<loop*>(self)->wants_to_write_ = true; };
        wants_to_write_ = true; // It is connecting.
    }
    ~loop() { close(set_); }

    void run(bool const& goes_on) {
        for (; goes_on;) {
            if (wants_to_write_) {
                wants_to_write_ = false;
                redisAsyncHandleWrite(&context_);
            }
            epoll_event e;
            if (epoll_wait(set_, &e, 1, -1) == 1)
                redisAsyncHandleRead(&context_);
        }
    }

private:
    redisAsyncContext& context_;
    int set_;
    bool wants_to_write_ = false;
};

inline void send(redisAsyncContext& c, redisCallbackFn* fn, void* data, std::initializer_list<std::string_view> words) {
    char const* texts[8];
    std::size_t sizes[8];
    int n = 0;
    for (auto const w : words) {
        texts[n] = w.data();
        sizes[n++] = w.size();
    }
    insist(redisAsyncCommandArgv(&c, fn, data, n, texts, sizes) == REDIS_OK, "a command was refused");
}

inline void append(redisContext& c, std::initializer_list<std::string_view> words) {
    char const* texts[16];
    std::size_t sizes[16];
    int n = 0;
    for (auto const w : words) {
        texts[n] = w.data();
        sizes[n++] = w.size();
    }
    redisAppendCommandArgv(&c, n, texts, sizes);
}

} // namespace workload
