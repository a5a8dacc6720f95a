// An operation of one's own: a semaphore whose async_acquire understands every token. It allocates nothing for a
// coroutine that finds a permit, and is as fair as the library's own operations.
//
// Run as a test:
#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/work_guard.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/any_completion_handler.hpp>
#include <fairlead/token/append.hpp>
#include <fairlead/token/immediate.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <optional>
#include <tuple>
#include <utility>

using namespace std::chrono_literals;
using fairlead::awaitable, fairlead::error_code;

/// So many may go on at once; the others wait in the order in which they came. For one thread, or inside one strand.
class semaphore {
public:
    semaphore(fairlead::any_io_executor executor, int permits) : executor_(std::move(executor)), permits_(permits) {}

    /// Completes with (error_code), always success, when there is a permit.
    template <class Token = fairlead::use_await_t> auto async_acquire(Token&& token = {}) {
        return fairlead::async_initiate<Token, void(error_code)>(acquire{this}, token);
    }
    void release() {
        if (waiting_.empty()) {
            ++permits_;
            return;
        }
        auto next = std::move(waiting_.front());
        waiting_.pop_front();
        // Through the loop: who releases is not to be interrupted by who waited.
        fairlead::post(executor_, fairlead::append(std::move(next.handler), error_code()));
    }

private:
    /// The initiation of async_acquire, before it meets its token. Small, so that it lies in the awaiting frame.
    struct acquire {
        semaphore* from;

        /// Where the operation completes when its handler has no wish.
        auto get_executor() const noexcept { return from->executor_; }

        /// The result, if it is there already. A coroutine that awaits then goes on without a trip through the loop.
        /// When the budget of its turn is used up, this is not called.
        std::optional<std::tuple<error_code>> try_step() {
            if (from->permits_ == 0)
                return std::nullopt;
            --from->permits_;
            return std::tuple(error_code());
        }

        /// Starts it with a handler: a callback, or what a future or a waiting coroutine has put in its place.
        template <class Handler> void operator()(Handler&& handler) {
            if (auto const result = try_step())
                fairlead::async_immediate(from->executor_,
                                          fairlead::append(std::forward<Handler>(handler), std::get<0>(*result)));
            else
                from->waiting_.push_back({std::forward<Handler>(handler), fairlead::make_work_guard(from->executor_)});
        }
    };
    struct waiter {
        fairlead::any_completion_handler<void(error_code)> handler;
        fairlead::executor_work_guard<fairlead::any_io_executor> work; // run() does not end while somebody waits
    };

    fairlead::any_io_executor executor_;
    int permits_;
    std::deque<waiter> waiting_;
};

struct state {
    semaphore permits;
    int busy = 0;
    int most = 0;
};

awaitable<void> work(state& s, int times) {
    fairlead::steady_timer timer(co_await fairlead::this_coro::executor);
    for (int i = 0; i != times; ++i) {
        co_await s.permits.async_acquire();
        s.most = std::max(s.most, ++s.busy);
        timer.expires_after(1ms);
        co_await timer.async_wait();
        --s.busy;
        s.permits.release();
    }
}

int main() {
    fairlead::io_context ctx(1);
    state s{semaphore(ctx.get_executor(), 3)};
    for (int i = 0; i != 10; ++i)
        co_spawn(ctx, work(s, 5), fairlead::rethrow);
    ctx.run();
    std::printf("10 workers, 3 permits: %d worked at once at the most\n", s.most);

    // The same operation with other tokens.
    ctx.restart();
    s.permits.async_acquire([](error_code) { std::puts("called back with a permit"); });
    auto second = s.permits.async_acquire(fairlead::use_future);
    ctx.run();
    second.get();
    std::puts("the future has one, too");
    return s.most == 3 ? 0 : 1;
}
