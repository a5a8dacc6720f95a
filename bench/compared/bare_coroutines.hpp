// Coroutines with a queue of those that can go on, and nothing else: the limit of a loop.
#pragma once

#include <coroutine>
#include <deque>
#include <exception>
#include <utility>

inline std::deque<std::coroutine_handle<>> can_go_on;

/// A coroutine that begins in its turn.
struct started {
    struct promise_type {
        started get_return_object() noexcept {
            can_go_on.push_back(std::coroutine_handle<promise_type>::from_promise(*this));
            return {};
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
};

/// Goes to the end of the queue.
struct give_way {
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) const noexcept { can_go_on.push_back(h); }
    void await_resume() const noexcept {}
};

inline void run_all() {
    while (!can_go_on.empty()) {
        auto const next = can_go_on.front();
        can_go_on.pop_front();
        next.resume();
    }
}
