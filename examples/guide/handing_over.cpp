// The program of docs/guide/handing-over.md: channels of four kinds, a mutex and a semaphore.
//
// Run as a test:
#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/when_all.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/sync/broadcast.hpp>
#include <fairlead/sync/message_channel.hpp>
#include <fairlead/sync/mutex.hpp>
#include <fairlead/sync/oneshot.hpp>
#include <fairlead/sync/semaphore.hpp>
#include <fairlead/sync/watch.hpp>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using fairlead::awaitable;

void expect(bool holds, char const* claim) {
    if (!holds)
        throw std::runtime_error(claim);
    std::printf("%s\n", claim);
}

struct question {
    int number;
    fairlead::oneshot_sender<int> answer;
};

/// Ends when nobody can ask any more.
awaitable<void> answer_all(fairlead::channel_receiver<question> questions) {
    while (auto q = co_await questions.next())
        q->answer.send(q->number * q->number);
}
awaitable<void> ask(fairlead::channel_sender<question> questions, std::vector<int>& answers) {
    for (int i = 1; i <= 3; ++i) {
        auto [sender, receiver] = fairlead::make_oneshot<int>(questions.get_executor());
        question q{i, std::move(sender)};
        co_await questions.send(std::move(q)); // Waits while two questions lie in the channel.
        if (auto const answer = co_await receiver.next())
            answers.push_back(*answer);
    }
}
awaitable<void> questions_and_answers(fairlead::io_context& ctx) {
    auto [sender, receiver] = fairlead::make_channel<question>(ctx, 2);
    std::vector<int> answers;
    co_await when_all(answer_all(std::move(receiver)), ask(std::move(sender), answers));
    expect(answers == std::vector{1, 4, 9}, "each question had its answer, and the receiver its end");
}

awaitable<void> news(fairlead::io_context& ctx) {
    auto [sender, quick] =
        fairlead::make_broadcast<std::string>(ctx, 2); // It keeps two messages for those who are slow.
    auto slow = sender.subscribe();
    sender.send("one");
    expect((co_await quick.next())->value == "one", "a receiver gets each message");
    sender.send("two");
    sender.send("three");
    auto const late = co_await slow.next();
    expect(late->value == "two" && late->lost == 1, "one that is too slow learns how many it has missed");
}

awaitable<void> settings(fairlead::io_context& ctx) {
    auto [sender, receiver] = fairlead::make_watch<int>(ctx, 10);
    expect(co_await receiver.next() == 10, "a watch begins with a value");
    sender.send(20);
    sender.send(30);
    expect(co_await receiver.next() == 30, "of several changes a receiver sees the last");
}

struct account {
    fairlead::mutex lock;
    int balance = 0;
};
awaitable<void> deposit(account& a, int amount) {
    auto const guard = co_await a.lock.async_guard();
    int const before = a.balance;
    co_await fairlead::this_coro::yield(); // Everybody else runs here; without the guard a deposit would be lost.
    a.balance = before + amount;
}
awaitable<void> exclusion(fairlead::io_context& ctx) {
    account a{fairlead::mutex(ctx)};
    co_await when_all(deposit(a, 1), deposit(a, 20), deposit(a, 300));
    expect(a.balance == 321, "a mutex is held across awaits");
}

awaitable<void> use_a_permit(fairlead::semaphore& permits, int& users, int& users_max) {
    co_await permits.async_acquire();
    users_max = std::max(users_max, ++users);
    co_await fairlead::this_coro::yield();
    --users;
    permits.release();
}
awaitable<void> limit(fairlead::io_context& ctx) {
    fairlead::semaphore permits(ctx, 2);
    int users = 0, users_max = 0;
    std::vector<awaitable<void>> all;
    for (int i = 0; i != 10; ++i)
        all.push_back(use_a_permit(permits, users, users_max));
    co_await when_all(std::move(all));
    expect(users_max == 2, "two permits, two at once");
}

awaitable<void> everything(fairlead::io_context& ctx) {
    co_await questions_and_answers(ctx);
    co_await news(ctx);
    co_await settings(ctx);
    co_await exclusion(ctx);
    co_await limit(ctx);
}

int main() {
    fairlead::io_context ctx(1);
    co_spawn(ctx, everything(ctx), fairlead::rethrow);
    ctx.run();
}
