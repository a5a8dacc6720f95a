// Stops that another thread requests, at any moment of an operation.
#include <fairlead/sender/connected_op.hpp>

#include <fairlead/stream/read.hpp>
#include <support/scale.hpp>
#include <unit/sender/receivers.hpp>

#include <optional>
#include <thread>

namespace {

using namespace senders;

/// Counts the ends of operations, which must be as many as the starts.
struct counting_receiver {
    using receiver_concept = execution::receiver_tag;
    int* ends;
    int* stops;
    inplace_stop_token token;
    void set_value(auto&&...) noexcept { ++*ends; }
    void set_error(auto&&) noexcept { ++*ends; }
    void set_stopped() noexcept {
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
        state.emplace(make_state{make_op, {&ends, &stops, stop.get_token()}});
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

} // namespace
