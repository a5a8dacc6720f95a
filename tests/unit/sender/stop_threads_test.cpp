// Stops that another thread requests, at any moment of an operation.
#include <fairlead/sender/connected_op.hpp>

#include <fairlead/stream/read.hpp>
#include <support/scale.hpp>
#include <unit/sender/receivers.hpp>

#include <atomic>
#include <optional>
#include <thread>

namespace {

using namespace senders;

/// Counts the ends of operations, which must be as many as the starts.
struct counting_receiver {
    using receiver_concept = execution::receiver_tag;
    io_context* context;
    int* ends;
    int* stops;
    inplace_stop_token token;
    void set_value(auto&&...) noexcept { ++*ends; }
    void set_error(auto&&) noexcept { ++*ends; }
    void set_stopped() noexcept {
        EXPECT_TRUE(context->get_executor().running_in_this_thread()) << "whoever asks";
        ++*ends;
        ++*stops;
    }
    stop_environment<inplace_stop_token> get_env() const noexcept { return {token}; }
};

template <class MakeOp> void stop_from_another_thread(io_context& context, MakeOp make_op) {
    int ends = 0, stops = 0;
    auto const rounds = static_cast<int>(test::scaled(500, 50));
    for (int round = 0; round != rounds; ++round) {
        inplace_stop_source stop;
        using operation = decltype(connected(make_op(), counting_receiver{}));
        struct make_state {
            MakeOp& make;
            counting_receiver r;
            operator operation() const { return connected(make(), r); }
        };
        std::optional<operation> state;
        state.emplace(make_state{make_op, {&context, &ends, &stops, stop.get_token()}});
        std::thread asks([&] { stop.request_stop(); });
        post(context, [&] { execution::start(*state); });
        context.run();
        context.restart();
        asks.join();
        EXPECT_EQ(ends, round + 1);
    }
    EXPECT_EQ(ends, rounds);
    EXPECT_EQ(stops, rounds) << "nothing else ends them";
}

TEST(ConnectedOpThreads, AStopEndsEachWaitOnce) {
    io_context context;
    steady_timer timer(context, 1h);
    stop_from_another_thread(context, [&] { return timer.async_wait(); });
}

TEST(ConnectedOpThreads, AStopEndsEachReadOnce) {
    io_context context;
    local::stream_protocol::socket socket(context), peer(context);
    local::connect_pair(socket, peer);
    char bytes[8];
    stop_from_another_thread(context, [&] { return socket.async_read_some(buffer(bytes)); });
}

TEST(ConnectedOpThreads, AStopEndsEachComposedOperationOnce) {
    io_context context;
    local::stream_protocol::socket socket(context), peer(context);
    local::connect_pair(socket, peer);
    char bytes[8];
    stop_from_another_thread(context, [&] { return async_read(socket, buffer(bytes)); });
}

/// Ends of operations that another thread starts.
struct ends_in_loop {
    using receiver_concept = execution::receiver_tag;
    io_context* context;
    std::atomic<int>* ends;
    inplace_stop_token token;
    void end() noexcept {
        EXPECT_TRUE(context->get_executor().running_in_this_thread());
        ends->fetch_add(1, std::memory_order_release);
    }
    void set_value(auto&&...) noexcept { end(); }
    void set_error(auto&&) noexcept { end(); }
    void set_stopped() noexcept { end(); }
    stop_environment<inplace_stop_token> get_env() const noexcept { return {token}; }
};

TEST(ConnectedOpThreads, AnOperationThatIsStartedElsewhereEndsInItsLoop) {
    io_context context;
    auto guard = make_work_guard(context);
    inplace_stop_source stop; // Never asked, but listened to.
    std::atomic<int> ends{0};
    auto const rounds = static_cast<int>(test::scaled(20'000, 500));
    std::thread starts([&] {
        steady_timer timer(context);
        for (int round = 0; round != rounds; ++round) {
            timer.expires_at(steady_timer::time_point::min());
            auto wait = connected(timer.async_wait(), ends_in_loop{&context, &ends, stop.get_token()});
            execution::start(wait);
            while (ends.load(std::memory_order_acquire) != round + 1)
                std::this_thread::yield();
        }
        guard.reset();
    });
    context.run();
    starts.join();
    EXPECT_EQ(ends.load(), rounds);
}

/// Ends in its loop before its initiating function returns in another thread.
struct ends_during_its_start {
    io_context* context;
    std::atomic<bool>* has_ended;
    auto get_executor() const noexcept { return context->get_executor(); }
    template <class Handler> void operator()(Handler&& handler) const {
        post(*context, [h = std::decay_t<Handler>(std::forward<Handler>(handler)), ended = has_ended]() mutable {
            std::move(h)(error_code());
            ended->store(true, std::memory_order_release);
        });
        while (!has_ended->load(std::memory_order_acquire))
            std::this_thread::yield();
    }
};

TEST(ConnectedOpThreads, TheThreadThatStartsAnOperationNeverCallsItsReceiver) {
    io_context context;
    auto guard = make_work_guard(context);
    inplace_stop_source stop;
    std::atomic<int> ends{0};
    std::atomic<bool> has_ended{false};
    std::thread starts([&] {
        auto state = connected(made_of<void(error_code)>(ends_during_its_start{&context, &has_ended}),
                               ends_in_loop{&context, &ends, stop.get_token()});
        execution::start(state);
        while (ends.load(std::memory_order_acquire) == 0)
            std::this_thread::yield();
        guard.reset();
    });
    context.run();
    starts.join();
    EXPECT_EQ(ends.load(), 1);
}

} // namespace
