// Simulated worlds in which senders repeat, are awaited and are stopped at any moment: each ends once, and loses
// nothing.
#include <fairlead/sender/await_sender.hpp>
#include <fairlead/sender/submit.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <support/repeat_sender.hpp>
#include <support/scale.hpp>
#include <unit/sender/receivers.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>

namespace {

using namespace senders;

constexpr std::size_t sent_in_all = 200;

/// Reads until the end of the stream, as a repeated sender.
struct reading {
    local::stream_protocol::socket& socket;
    std::size_t taken = 0;
    char bytes[7]{};

    auto sender() {
        return test::repeat_sender{[this] { return counted(socket.async_read_some(buffer(bytes))); },
                                   [] { return false; }};
    }

private:
    /// Adds what a read has taken.
    template <class Op> struct counted_sender {
        using sender_concept = execution::sender_tag;
        using completion_signatures = execution::completion_signatures_of_t<Op>;

        template <class Receiver> struct adding : Receiver {
            reading* of;
            adding(Receiver r, reading* to) : Receiver(std::move(r)), of(to) {}
            void set_value(std::size_t n) noexcept {
                of->taken += n;
                static_cast<Receiver&>(*this).set_value(n);
            }
        };
        Op op;
        reading* of;
        template <class Receiver> auto connect(Receiver r) && {
            return execution::connect(std::move(op), adding<Receiver>(std::move(r), of));
        }
    };
    template <class Op> counted_sender<Op> counted(Op op) { return {std::move(op), this}; }
};

/// How the reading of one world has ended.
struct ending {
    int ends = 0;
    bool was_stopped = false;
};

awaitable<void> feed(local::stream_protocol::socket& to, std::mt19937_64& random) {
    std::string const text(sent_in_all, 'x');
    for (std::size_t at = 0; at != text.size();) {
        auto const n = std::min<std::size_t>(1 + random() % 20, text.size() - at);
        co_await async_write(to, buffer(text.data() + at, n));
        at += n;
        if (random() % 3 == 0) {
            steady_timer pause(to.get_executor(), std::chrono::microseconds(random() % 500));
            co_await pause.async_wait();
        }
    }
    to.close();
}

/// By a stop at some moment or by the end of the stream.
template <class Start> void in_each_world(Start start) {
    auto const worlds = test::scaled(2'000, 50);
    int stopped = 0, to_the_end = 0;
    for (std::uint64_t seed = 1; seed <= worlds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        sim::world world(seed);
        std::mt19937_64 random(seed);
        auto& context = world.context();
        local::stream_protocol::socket socket(context), peer(context);
        local::connect_pair(socket, peer);
        reading r{socket};
        ending e;
        inplace_stop_source stop;
        cancellation_signal signal;
        [[maybe_unused]] auto const kept = start(context, r, e, stop, signal);
        co_spawn(context, feed(peer, random), [](std::exception_ptr) {});
        steady_timer asks(context, std::chrono::microseconds(random() % 6000));
        asks.async_wait([&](error_code) {
            stop.request_stop();
            signal.emit(cancellation_type::terminal);
        });
        world.run();
        EXPECT_EQ(e.ends, 1);
        EXPECT_LE(r.taken, sent_in_all);
        EXPECT_TRUE(e.was_stopped || r.taken == sent_in_all) << r.taken;
        ++(e.was_stopped ? stopped : to_the_end);
    }
    EXPECT_GT(stopped, 0);
    EXPECT_GT(to_the_end, 0);
}

struct ending_receiver {
    using receiver_concept = execution::receiver_tag;
    ending* e;
    inplace_stop_token token;
    void set_value() noexcept { ++e->ends; }
    template <class Error> void set_error(Error&&) noexcept { ++e->ends; }
    void set_stopped() noexcept {
        ++e->ends;
        e->was_stopped = true;
    }
    stop_environment<inplace_stop_token> get_env() const noexcept { return {token}; }
};

TEST(SenderSeeds, ARepeatedReadEndsOnceAndLosesNothing) {
    in_each_world([](io_context&, reading& r, ending& e, inplace_stop_source& stop, cancellation_signal&) {
        using state = decltype(r.sender().connect(ending_receiver{}));
        auto s = std::shared_ptr<state>(new state(r.sender().connect(ending_receiver{&e, stop.get_token()})));
        s->start();
        return s;
    });
}

awaitable<void> read_awaited(reading& r, ending& e) {
    try {
        co_await r.sender();
    } catch (system_error const& error) {
        e.was_stopped = error.code() == error::operation_aborted;
    }
    ++e.ends;
}

TEST(SenderSeeds, AnAwaitedReadEndsOnceAndLosesNothing) {
    in_each_world([](io_context& c, reading& r, ending& e, inplace_stop_source&, cancellation_signal& signal) {
        co_spawn(c, read_awaited(r, e), bind_cancellation_slot(signal.slot(), [&e](std::exception_ptr const& p) {
                     if (e.ends == 0) { // Asked before it began.
                         EXPECT_TRUE(impl::operation::is_cancellation(p));
                         e = {1, true};
                     }
                 }));
        return 0;
    });
}

TEST(SenderSeeds, AReadWithATokenEndsOnceAndLosesNothing) {
    in_each_world([](io_context& c, reading& r, ending& e, inplace_stop_source&, cancellation_signal& signal) {
        async_submit(c, r.sender(), bind_cancellation_slot(signal.slot(), [&e](std::exception_ptr const& p) {
                         ++e.ends;
                         e.was_stopped = impl::operation::is_cancellation(p);
                     }));
        return 0;
    });
}

} // namespace
