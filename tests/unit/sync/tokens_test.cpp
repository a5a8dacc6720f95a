// Each wait of the room with each kind of token. The operations of the drivers are in tests/operations.tsv.
#include <fairlead/exec/strand.hpp>
#include <fairlead/net/bind_stop_token.hpp>
#include <fairlead/sync/barrier.hpp>
#include <fairlead/sync/broadcast.hpp>
#include <fairlead/sync/channel.hpp>
#include <fairlead/sync/condition_variable.hpp>
#include <fairlead/sync/event.hpp>
#include <fairlead/sync/latch.hpp>
#include <fairlead/sync/message_channel.hpp>
#include <fairlead/sync/mutex.hpp>
#include <fairlead/sync/oneshot.hpp>
#include <fairlead/sync/rate_limiter.hpp>
#include <fairlead/sync/semaphore.hpp>
#include <fairlead/sync/shared_mutex.hpp>
#include <fairlead/sync/watch.hpp>
#include <fairlead/token/any_completion_handler.hpp>
#include <fairlead/token/detached.hpp>
#include <fairlead/token/use_future.hpp>
#include <fairlead/token/use_promise.hpp>

#include <unit/sync/waiting.hpp>

#include <stop_token>
#include <string>
#include <tuple>
#include <utility>

namespace {

using namespace waiting;

// ---- one wait each: start(token) begins it; `is_ready` says whether it is to complete, or to wait for ever

struct of_mutex {
    mutex m;
    of_mutex(io_context& c, bool is_ready) : m(c) {
        if (!is_ready)
            m.try_lock();
    }
    template <class Token> decltype(auto) start(Token&& t) { return m.async_lock(std::forward<Token>(t)); }
};
struct of_guard : of_mutex {
    using of_mutex::of_mutex;
    template <class Token> decltype(auto) start(Token&& t) { return m.async_guard(std::forward<Token>(t)); }
};
struct of_writer {
    shared_mutex m;
    of_writer(io_context& c, bool is_ready) : m(c) {
        if (!is_ready)
            m.try_lock();
    }
    template <class Token> decltype(auto) start(Token&& t) { return m.async_lock(std::forward<Token>(t)); }
};
struct of_reader : of_writer {
    using of_writer::of_writer;
    template <class Token> decltype(auto) start(Token&& t) { return m.async_lock_shared(std::forward<Token>(t)); }
};
struct of_semaphore {
    semaphore s;
    of_semaphore(io_context& c, bool is_ready) : s(c, is_ready ? 2 : 0) {}
    template <class Token> decltype(auto) start(Token&& t) { return s.async_acquire(2, std::forward<Token>(t)); }
};
struct of_event {
    event e;
    of_event(io_context& c, bool is_ready) : e(c, is_ready) {}
    template <class Token> decltype(auto) start(Token&& t) { return e.async_wait(std::forward<Token>(t)); }
};
struct of_latch {
    latch l;
    of_latch(io_context& c, bool is_ready) : l(c, is_ready ? 0 : 1) {}
    template <class Token> decltype(auto) start(Token&& t) { return l.async_wait(std::forward<Token>(t)); }
};
struct of_barrier {
    barrier b;
    of_barrier(io_context& c, bool is_ready) : b(c, is_ready ? 1 : 2) {}
    template <class Token> decltype(auto) start(Token&& t) { return b.async_arrive_and_wait(std::forward<Token>(t)); }
};
struct of_limiter {
    rate_limiter r;
    of_limiter(io_context& c, bool is_ready) : r(c, {.tokens = 1, .period = std::chrono::hours(9'000), .burst = 1}) {
        if (!is_ready)
            r.try_acquire(1);
    }
    template <class Token> decltype(auto) start(Token&& t) { return r.async_acquire(1, std::forward<Token>(t)); }
};
struct of_send {
    channel_pair<int> ends;
    of_send(io_context& c, bool is_ready) : ends(make_channel<int>(c, is_ready ? 1 : 0)) {}
    template <class Token> decltype(auto) start(Token&& t) { return ends.first.async_send(1, std::forward<Token>(t)); }
};
struct of_next {
    channel_pair<int> ends;
    of_next(io_context& c, bool is_ready) : ends(make_channel<int>(c, 1)) {
        if (is_ready)
            ends.first.try_send(1);
    }
    template <class Token> decltype(auto) start(Token&& t) { return ends.second.async_next(std::forward<Token>(t)); }
};
struct of_broadcast {
    broadcast_pair<int> ends;
    of_broadcast(io_context& c, bool is_ready) : ends(make_broadcast<int>(c, 1)) {
        if (is_ready)
            ends.first.send(1);
    }
    template <class Token> decltype(auto) start(Token&& t) { return ends.second.async_next(std::forward<Token>(t)); }
};
struct of_watch {
    watch_pair<int> ends;
    of_watch(io_context& c, bool is_ready) : ends(make_watch<int>(c, 1)) {
        if (!is_ready) {
            ends.second.async_next(detached);
            c.poll();
            c.restart();
        }
    }
    template <class Token> decltype(auto) start(Token&& t) { return ends.second.async_next(std::forward<Token>(t)); }
};
using channel_of_numbers = experimental::channel<void(error_code, int)>;
struct of_channel_send {
    channel_of_numbers ch;
    of_channel_send(io_context& c, bool is_ready) : ch(c, is_ready ? 1 : 0) {}
    template <class Token> decltype(auto) start(Token&& t) {
        return ch.async_send(error_code(), 1, std::forward<Token>(t));
    }
};
struct of_channel_receive {
    channel_of_numbers ch;
    of_channel_receive(io_context& c, bool is_ready) : ch(c, 1) {
        if (is_ready)
            ch.try_send(error_code(), 1);
    }
    template <class Token> decltype(auto) start(Token&& t) { return ch.async_receive(std::forward<Token>(t)); }
};
/// It is notified as soon as it waits.
struct of_condition {
    mutex m;
    condition_variable c;
    bool is_ready;
    of_condition(io_context& context, bool ready) : m(context), c(context), is_ready(ready) {
        m.try_lock();
        if (is_ready)
            post(context, [this] { c.notify_all(); });
    }
    template <class Token> decltype(auto) start(Token&& t) { return c.async_wait(m, std::forward<Token>(t)); }
};

template <class Wait> class WaitOfSync : public testing::Test {
public:
    io_context context;
    int done = 0, cancelled = 0;

    /// Counts how a wait has ended.
    auto count() {
        return [this](error_code ec, auto&&...) {
            done += !ec;
            cancelled += ec == error::operation_aborted || ec == error::channel_cancelled;
        };
    }
    void run() {
        context.run();
        context.restart();
    }
    template <class Token> void complete_with(Token token) {
        Wait w(context, true);
        w.start(std::move(token));
        run();
    }
    awaitable<void> await_each() {
        {
            Wait w(context, true);
            auto op = w.start(deferred);
            co_await std::move(op);
            ++done;
        }
        {
            Wait w(context, true);
            auto op = w.start(use_awaitable);
            co_await std::move(op);
            ++done;
        }
        {
            Wait w(context, true);
            auto op = w.start(as_tuple);
            auto const values = co_await std::move(op);
            done += !std::get<0>(values);
        }
        {
            Wait w(context, true);
            auto ec = error_code(error::eof);
            auto op = w.start(redirect_error(ec));
            co_await std::move(op);
            done += !ec;
        }
        {
            Wait w(context, true);
            auto op = w.start(cancel_after(1h, as_tuple));
            auto const values = co_await std::move(op);
            done += !std::get<0>(values);
        }
        {
            Wait w(context, true);
            std::stop_source stop;
            auto op = w.start(bind_stop_token(stop.get_token(), as_tuple));
            auto const values = co_await std::move(op);
            done += !std::get<0>(values);
        }
        {
            Wait w(context, true);
            auto promised = w.start(experimental::use_promise);
            auto op = promised();
            co_await std::move(op);
            ++done;
        }
    }
    awaitable<void> await_in_vain() {
        {
            Wait w(context, false);
            auto op = w.start(cancel_after(1ms, as_tuple));
            count()(std::get<0>(co_await std::move(op)));
        }
        {
            Wait w(context, false);
            std::stop_source stop;
            post(context, [&stop] { stop.request_stop(); });
            auto op = w.start(bind_stop_token(stop.get_token(), as_tuple));
            count()(std::get<0>(co_await std::move(op)));
        }
    }
};
using waits =
    testing::Types<of_mutex, of_guard, of_writer, of_reader, of_semaphore, of_event, of_latch, of_barrier, of_limiter,
                   of_send, of_next, of_broadcast, of_watch, of_channel_send, of_channel_receive, of_condition>;
TYPED_TEST_SUITE(WaitOfSync, waits);

TYPED_TEST(WaitOfSync, TakesTokensThatAreCalled) {
    this->complete_with(this->count());
    this->complete_with(bind_executor(make_strand(this->context), this->count()));
    cancellation_signal signal;
    this->complete_with(bind_cancellation_slot(signal.slot(), this->count()));
    this->complete_with(cancel_after(1h, this->count()));
    this->complete_with(detached);
    EXPECT_EQ(this->done, 4);
    TypeParam w(this->context, true);
    auto result = w.start(use_future);
    this->run();
    EXPECT_NO_THROW(result.get());
}

TYPED_TEST(WaitOfSync, TakesTokensThatAreAwaited) {
    co_spawn(this->context, this->await_each(), rethrow);
    this->run();
    EXPECT_EQ(this->done, 7);
}

TYPED_TEST(WaitOfSync, EndsWhenItIsAskedTo) {
    TypeParam w(this->context, false);
    cancellation_signal signal;
    w.start(bind_cancellation_slot(signal.slot(), this->count()));
    post(this->context, [&] { signal.emit(cancellation_type::terminal); });
    this->run();
    EXPECT_EQ(this->cancelled, 1);
    co_spawn(this->context, this->await_in_vain(), rethrow);
    this->run();
    EXPECT_EQ(this->cancelled, 3);
    EXPECT_EQ(this->done, 0);
}

/// Waits throw nothing where they are called. Messages that may throw when they are moved are the exception.
TEST(Papers, B08_WaitsOfTheRoomSyncThrowNothing) {
    using error_and_number = experimental::channel<void(error_code, int)>;
    EXPECT_TRUE(noexcept(std::declval<mutex&>().async_lock()));
    EXPECT_TRUE(noexcept(std::declval<mutex&>().async_lock(use_await)));
    EXPECT_TRUE(noexcept(std::declval<mutex&>().async_guard()));
    EXPECT_TRUE(noexcept(std::declval<shared_mutex&>().async_lock()));
    EXPECT_TRUE(noexcept(std::declval<shared_mutex&>().async_lock_shared()));
    EXPECT_TRUE(noexcept(std::declval<semaphore&>().async_acquire()));
    EXPECT_TRUE(noexcept(std::declval<semaphore&>().async_acquire(2, use_await)));
    EXPECT_TRUE(noexcept(std::declval<event&>().async_wait()));
    EXPECT_TRUE(noexcept(std::declval<event&>().async_wait(use_await)));
    EXPECT_TRUE(noexcept(std::declval<latch&>().async_wait()));
    EXPECT_TRUE(noexcept(std::declval<barrier&>().async_arrive_and_wait()));
    EXPECT_TRUE(noexcept(std::declval<rate_limiter&>().async_acquire()));
    EXPECT_TRUE(noexcept(std::declval<condition_variable&>().async_wait(std::declval<mutex_guard&>())));
    EXPECT_TRUE(noexcept(std::declval<condition_variable&>().async_wait(std::declval<mutex&>())));
    EXPECT_TRUE(noexcept(std::declval<channel_receiver<std::string>&>().next()));
    EXPECT_TRUE(noexcept(std::declval<channel_receiver<std::string>&>().async_next(use_await)));
    EXPECT_TRUE(noexcept(std::declval<channel_sender<int>&>().async_send(1)));
    EXPECT_TRUE(noexcept(std::declval<channel_sender<int>&>().async_send(1, use_await)));
    EXPECT_TRUE(noexcept(std::declval<oneshot_receiver<int>&>().next()));
    EXPECT_TRUE(noexcept(std::declval<broadcast_receiver<int>&>().next()));
    EXPECT_TRUE(noexcept(std::declval<watch_receiver<int>&>().next()));
    EXPECT_TRUE(noexcept(std::declval<error_and_number&>().async_receive()));
    EXPECT_TRUE(noexcept(std::declval<error_and_number&>().async_send(std::declval<error_code>(), 1)));
    struct throws_when_moved {
        throws_when_moved() = default;
        throws_when_moved(throws_when_moved const&) noexcept(false) {}
    };
    EXPECT_FALSE(noexcept(
        std::declval<channel_sender<throws_when_moved>&>().async_send(std::declval<throws_when_moved&>(), use_await)));
}

} // namespace
