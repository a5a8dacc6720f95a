// A small client for servers that answer each line with a line, in order. Many callers share its connection. It is the
// patient of docs/testing-with-sim.md, which plants a bug in it, finds and mends it.
#pragma once

#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <utility>

class line_client {
public:
    using socket = fairlead::ip::tcp::socket;

    /// `planted_bug`: as the tutorial begins.
    explicit line_client(socket s, bool planted_bug = false) : socket_(std::move(s)), planted_bug_(planted_bug) {}

    /// Sends a line and waits for the answer, for so long. Nothing: it did not come in time.
    fairlead::awaitable<std::optional<std::string>> ask(std::string line, std::chrono::milliseconds patience) {
        caller me{fairlead::steady_timer(socket_.get_executor(), patience), {}};
        callers_.push_back(&me);
        co_await fairlead::async_write(socket_, fairlead::buffer(line += '\n'));
        co_await me.answered_or_late.async_wait(fairlead::as_tuple);
        if (!me.answer) {
            if (planted_bug_)
                std::erase(callers_, &me); // The next caller gets my answer.
            else
                std::replace(callers_.begin(), callers_.end(), &me, static_cast<caller*>(nullptr));
        }
        co_return me.answer;
    }

    /// Hands out answers until the connection ends.
    fairlead::awaitable<void> run() {
        std::string in;
        for (;;) {
            auto const [ec, n] =
                co_await fairlead::async_read_until(socket_, fairlead::dynamic_buffer(in), '\n', fairlead::as_tuple);
            if (ec)
                co_return;
            if (!callers_.empty()) {
                if (caller* const first = callers_.front()) {
                    first->answer = in.substr(0, n - 1);
                    first->answered_or_late.cancel();
                }
                callers_.pop_front();
            }
            in.erase(0, n);
        }
    }

    void close() { socket_.close(); }

private:
    struct caller {
        fairlead::steady_timer answered_or_late;
        std::optional<std::string> answer;
    };

    socket socket_;
    std::deque<caller*> callers_; ///< in the order of their lines; null: no longer interested
    bool planted_bug_;
};
