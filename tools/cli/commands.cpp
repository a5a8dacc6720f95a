// Commands one by one: their words, their replies.
#include "modes.hpp"
#include "words.hpp"

#include <fairlead/coro/this_coro.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/adapters.hpp>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <unistd.h>
#include <utility>

namespace cli {
namespace {

using namespace fairlead;

std::string capitals(std::string text) {
    for (char& c : text)
        if (c >= 'a' && c <= 'z')
            c = static_cast<char>(c - 0x20);
    return text;
}

bool is_terminal(int fd) noexcept { return ::isatty(fd) == 1; }

/// How a command is answered.
enum class answers : unsigned char {
    one,
    each, ///< argument has a message, where there is none: one
    endless,
};
answers answers_of(std::vector<std::string> const& words) {
    auto const name = capitals(words[0]);
    if (name == "SUBSCRIBE" || name == "PSUBSCRIBE" || name == "SSUBSCRIBE" || name == "MONITOR")
        return answers::endless;
    bool const ends = name == "UNSUBSCRIBE" || name == "PUNSUBSCRIBE" || name == "SUNSUBSCRIBE";
    return ends ? answers::each : answers::one;
}

class executor {
public:
    executor(session& s, options const& o)
        : session_(s),
          options_(o),
          how_(o.how.value_or(is_terminal(STDOUT_FILENO) ? form::standard : form::raw)),
          shows_pushes_(o.shows_pushes.value_or(is_terminal(STDOUT_FILENO))) {}

    awaitable<void> run(std::vector<std::string> const& words) {
        auto const how_often = options_.repeats;
        for (long i = 0; how_often < 0 || i < how_often; ++i) {
            auto once = run_once(words);
            co_await std::move(once);
            if (options_.interval_s > 0 && (how_often < 0 || i + 1 < how_often)) {
                steady_timer pause(co_await this_coro::executor);
                pause.expires_after(std::chrono::duration_cast<std::chrono::nanoseconds>(
                    std::chrono::duration<double>(options_.interval_s)));
                auto waiting = pause.async_wait();
                co_await std::move(waiting);
            }
        }
    }

private:
    awaitable<void> run_once(std::vector<std::string> const& words) {
        auto sending = session_.send(words);
        co_await std::move(sending);
        auto const kind_of_answer = answers_of(words);
        if (kind_of_answer == answers::endless && how_ == form::standard)
            write("Reading messages... (press Ctrl-C to quit)\n");
        auto left = kind_of_answer == answers::each && words.size() > 1 ? words.size() - 1 : 1;
        while (left != 0) {
            auto receiving = session_.receive();
            auto const r = co_await std::move(receiving);
            bool const is_answer = r.what != kind::push || kind_of_answer != answers::one;
            if (options_.fails_with_errors && is_answer && is_error(r))
                throw failure(r.text);
            if (is_answer || shows_pushes_)
                write(shown(r, how_));
            bool const ends = is_error(r) && r.what != kind::push; // A refusal is the only answer.
            if (ends)
                left = 0;
            else if (is_answer && kind_of_answer != answers::endless)
                --left;
        }
    }
    static void write(std::string const& text) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        std::fflush(stdout);
    }

    session& session_;
    options const& options_;
    form how_;
    bool shows_pushes_;
};

awaitable<void> execute_lines(executor& x, options const& o) {
    bool const is_asked = is_terminal(STDIN_FILENO);
    std::string line;
    for (;;) {
        if (is_asked) {
            std::fputs((o.address() + "> ").c_str(), stdout);
            std::fflush(stdout);
        }
        if (!std::getline(std::cin, line))
            co_return;
        auto const words = split(line);
        if (!words) {
            std::puts("Invalid argument(s)");
            continue;
        }
        if (words->empty())
            continue;
        if (auto const name = capitals(words->front()); name == "QUIT" || name == "EXIT")
            co_return;
        auto running = x.run(*words);
        co_await std::move(running);
    }
}

} // namespace

awaitable<int> execute_commands(options const& o) {
    auto opening = session::open(o);
    auto s = co_await std::move(opening);
    executor x(s, o);
    auto words = o.command;
    if (o.reads_last_word)
        words.emplace_back(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
    auto running = words.empty() ? execute_lines(x, o) : x.run(words);
    co_await std::move(running);
    co_return 0;
}

} // namespace cli
