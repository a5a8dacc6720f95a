// Operations as senders: how they end, where, and that nothing is allocated for it.
#include <fairlead/sender/connected_op.hpp>

#include <fairlead/exec/strand.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/any_completion_handler.hpp>
#include <fairlead/token/deferred.hpp>
#include <support/counting_allocator.hpp>
#include <support/counting_new.hpp>
#include <unit/sender/receivers.hpp>

#include <optional>
#include <stdexcept>
#include <type_traits>

namespace {

using namespace senders;

using timer_wait = decltype(std::declval<steady_timer&>().async_wait());
static_assert(execution::sender<timer_wait>);
static_assert(execution::sender_to<timer_wait, recorder<>>);
static_assert(execution::operation_state<execution::connect_result_t<timer_wait, recorder<>>>);
static_assert(
    std::is_same_v<
        execution::completion_signatures_of_t<async_op<void(error_code, std::size_t)>>,
        execution::completion_signatures<execution::set_value_t(std::size_t), execution::set_error_t(error_code),
                                         execution::set_error_t(std::exception_ptr), execution::set_stopped_t()>>);
static_assert(std::is_same_v<
              execution::completion_signatures_of_t<async_op<void(int)>>,
              execution::completion_signatures<execution::set_value_t(int), execution::set_error_t(std::exception_ptr),
                                               execution::set_stopped_t()>>);
static_assert(!execution::sender_to<async_op<void(std::string)>, recorder<>>, "to_string takes no string");

class ConnectedOp : public SenderWorld {};

TEST_F(ConnectedOp, AWaitEndsWithAValue) {
    steady_timer timer(context, 3s);
    auto wait = connected(timer.async_wait(), recorder<>{&log});
    execution::start(wait);
    EXPECT_EQ(log, "");
    world.run();
    EXPECT_EQ(log, "value");
    EXPECT_EQ(passed(), 3s);
}

TEST_F(ConnectedOp, AReadEndsWithItsCountAndTheEndIsAnError) {
    char bytes[8];
    auto first = connected(socket.async_read_some(buffer(bytes)), recorder<>{&log});
    execution::start(first);
    write(peer, buffer("a", 1));
    world.run();
    EXPECT_EQ(log, "value 1");

    log.clear();
    auto second = connected(socket.async_read_some(buffer(bytes)), recorder<>{&log});
    execution::start(second);
    peer.close();
    world.run();
    EXPECT_EQ(log, "error " + error_code(error::eof).message());
}

TEST_F(ConnectedOp, BytesBeforeAnErrorAreKeptByAnAdapter) {
    struct of_tuple : recorder<> {
        void set_value(std::tuple<error_code, std::size_t> const& t) noexcept {
            *log += std::get<0>(t).message() + " after " + std::to_string(std::get<1>(t));
        }
    };
    char bytes[8];
    auto read = connected(async_read(socket, buffer(bytes), as_tuple), of_tuple{{&log}});
    execution::start(read);
    write(peer, buffer("abc", 3));
    peer.close();
    world.run();
    EXPECT_EQ(log, error_code(error::eof).message() + " after 3");
}

TEST_F(ConnectedOp, WhatIsReadyCompletesInsideItsStart) {
    write(peer, buffer("abc", 3));
    world.run(); // The bytes arrive.
    char bytes[8];
    run_inside([&] {
        auto read = connected(socket.async_read_some(buffer(bytes)), recorder<>{&log});
        execution::start(read);
        log += " inside";
    });
    EXPECT_EQ(log, "value 3 inside");
}

TEST_F(ConnectedOp, OutsideItsLoopWhatIsReadyGoesThroughTheQueue) {
    write(peer, buffer("abc", 3));
    world.run();
    char bytes[8];
    auto read = connected(socket.async_read_some(buffer(bytes)), recorder<>{&log});
    execution::start(read);
    EXPECT_EQ(log, "") << "its receiver may expect the loop";
    world.run();
    EXPECT_EQ(log, "value 3");

    log.clear();
    std::string text = "a line\n";
    auto search = connected(async_read_until(socket, dynamic_buffer(text), '\n'), recorder<>{&log});
    execution::start(search);
    EXPECT_EQ(log, "");
    world.run();
    EXPECT_EQ(log, "value 7");
}

TEST_F(ConnectedOp, AStopEndsAnOperationThatWaits) {
    steady_timer timer(context, 1h);
    auto wait = connected(timer.async_wait(), token_recorder{&log, stop.get_token()});
    execution::start(wait);
    run_inside([&] { stop.request_stop(); });
    EXPECT_EQ(log, "stopped");
    EXPECT_EQ(passed(), 0s);
}

TEST_F(ConnectedOp, AStopBeforeTheStartKeepsTheOperationFromBeginning) {
    write(peer, buffer("abc", 3));
    world.run();
    stop.request_stop();
    char bytes[8];
    auto read = connected(socket.async_read_some(buffer(bytes)), token_recorder{&log, stop.get_token()});
    execution::start(read);
    EXPECT_EQ(log, "") << "outside its loop";
    world.run();
    EXPECT_EQ(log, "stopped");

    std::string text = "a line\n";
    auto search =
        connected(async_read_until(socket, dynamic_buffer(text), '\n'), token_recorder{&log, stop.get_token()});
    run_inside([&] { execution::start(search); });
    EXPECT_EQ(log, "stoppedstopped");
    EXPECT_EQ(socket.available(), 3u);
}

TEST_F(ConnectedOp, ACancellationOfTheObjectIsAStop) {
    steady_timer timer(context, 1h);
    auto wait = connected(timer.async_wait(), recorder<>{&log});
    execution::start(wait);
    run_inside([&] { timer.cancel(); });
    EXPECT_EQ(log, "stopped");
}

TEST_F(ConnectedOp, AStopAfterTheEndIsNotHeard) {
    steady_timer timer(context, 1s);
    {
        auto wait = connected(timer.async_wait(), token_recorder{&log, stop.get_token()});
        execution::start(wait);
        world.run();
    }
    stop.request_stop();
    EXPECT_EQ(log, "value");
}

TEST_F(ConnectedOp, ATokenOfTheStandardLibraryIsHeard) {
    std::stop_source source;
    steady_timer timer(context, 1h);
    auto wait = connected(timer.async_wait(), recorder<std::stop_token>{&log, source.get_token()});
    execution::start(wait);
    run_inside([&] { source.request_stop(); });
    EXPECT_EQ(log, "stopped");
}

TEST_F(ConnectedOp, ATokenThatBelongsToNoSourceIsNoneAtAll) {
    steady_timer timer(context, 1s);
    auto wait = connected(timer.async_wait(), token_recorder{&log});
    execution::start(wait);
    world.run();
    EXPECT_EQ(log, "value");
}

TEST_F(ConnectedOp, AStopReachesTheStepOfAComposedOperation) {
    char bytes[8];
    auto read = connected(async_read(socket, buffer(bytes)), token_recorder{&log, stop.get_token()});
    execution::start(read);
    write(peer, buffer("abc", 3));
    world.run_for(1s);
    EXPECT_EQ(log, "");
    stop.request_stop();
    world.run();
    EXPECT_EQ(log, "stopped");
}

/// Completes when the test says so, and hears requests by its slot.
struct held_initiation {
    any_completion_handler<void(error_code, int)>* held;
    std::string* log;
    template <class Handler> void operator()(Handler&& h) const {
        auto slot = get_associated_cancellation_slot(h);
        *held = std::forward<Handler>(h);
        if (slot.is_connected())
            slot.assign([this_held = held, l = log](cancellation_type) {
                *l += "asked ";
                std::move (*this_held)(error_code(error::operation_aborted), 0);
            });
    }
};

TEST_F(ConnectedOp, AnOperationOfAUserHearsAStopByItsSlot) {
    any_completion_handler<void(error_code, int)> held;
    auto op = made_of<void(error_code, int)>(held_initiation{&held, &log});
    auto started = connected(std::move(op), token_recorder{&log, stop.get_token()});
    execution::start(started);
    stop.request_stop();
    EXPECT_EQ(log, "asked stopped");
}

TEST_F(ConnectedOp, AnExceptionOfAStartGoesToTheErrorChannel) {
    auto fails = [](auto&&) { throw std::runtime_error("no memory"); };
    auto started = connected(made_of<void(error_code)>(fails), recorder<>{&log});
    execution::start(started);
    EXPECT_EQ(log, "exception no memory");
}

TEST_F(ConnectedOp, AnExceptionAsAResultGoesToTheErrorChannel) {
    auto ends = [](auto&& h) { std::move(h)(std::make_exception_ptr(std::runtime_error("it failed")), 0); };
    auto started = connected(made_of<void(std::exception_ptr, int)>(ends), recorder<>{&log});
    execution::start(started);
    EXPECT_EQ(log, "exception it failed");
}

TEST_F(ConnectedOp, AnOperationWithoutAHomeEndsWhereItIsStarted) {
    auto started = connected(deferred.values(1, 2), recorder<>{&log});
    execution::start(started);
    EXPECT_EQ(log, "value 1 2");
}

TEST_F(ConnectedOp, AnOperationOnAStrandEndsInTheStrand) {
    auto const ex = make_strand(context);
    basic_waitable_timer<steady_clock, wait_traits<steady_clock>, decltype(make_strand(context))> timer(ex, 1s);
    struct in_strand : recorder<> {
        strand<io_context::executor_type> ex;
        void set_value() noexcept { *log += ex.running_in_this_thread() ? "in the strand" : "outside"; }
    };
    auto wait = connected(timer.async_wait(), in_strand{{&log}, ex});
    execution::start(wait);
    world.run();
    EXPECT_EQ(log, "in the strand");
}

TEST(ConnectedOpAlone, AContextThatGoesStopsItsOperations) {
    std::string log;
    std::optional<io_context> context(std::in_place);
    steady_timer timer(*context, 1h);
    auto wait = senders::connected(timer.async_wait(), recorder<>{&log});
    execution::start(wait);
    local::stream_protocol::socket socket(*context), peer(*context);
    local::connect_pair(socket, peer);
    char bytes[8];
    inplace_stop_source stop;
    auto read = senders::connected(async_read(socket, buffer(bytes)), token_recorder{&log, stop.get_token()});
    execution::start(read);
    EXPECT_EQ(log, "");
    context.reset();
    EXPECT_EQ(log, "stoppedstopped");
}

// ---- the receiver's allocator

struct allocator_environment {
    test::account* books;
    test::counting_allocator<char> query(execution::get_allocator_t) const noexcept {
        return test::counting_allocator<char>(books);
    }
};
/// Its environment has an allocator, of which nothing is taken any more when it is called.
struct owning_receiver : recorder<> {
    test::account* books;
    using large = std::array<char, 400>;
    void set_value(std::size_t n) noexcept { *log += "value " + std::to_string(n) + is_given_back(); }
    void set_value(large const& l) noexcept { *log += "value " + std::to_string(l[0]) + is_given_back(); }
    allocator_environment get_env() const noexcept { return {books}; }
    std::string is_given_back() const { return books->live == 0 ? "" : " beside its memory"; }
};

/// Takes two blocks of its handler's allocator, as the second of which the record is too small or lent.
template <std::size_t Bytes> struct takes_two_blocks {
    io_context& on;
    auto get_executor() const noexcept { return on.get_executor(); }
    template <class Handler> void operator()(Handler handler) const {
        struct block {
            char bytes[Bytes];
        };
        using traits = std::allocator_traits<associated_allocator_t<Handler>>;
        typename traits::template rebind_alloc<block> a(get_associated_allocator(handler));
        block *const first = a.allocate(1), *const second = a.allocate(1);
        post(on, [a, first, second, h = std::move(handler)]() mutable {
            a.deallocate(second, 1);
            a.deallocate(first, 1);
            std::move(h)(error_code(), std::size_t{2});
        });
    }
};
struct ends_with_much {
    io_context& on;
    auto get_executor() const noexcept { return on.get_executor(); }
    template <class Handler> void operator()(Handler handler) const {
        post(on, [h = std::move(handler)]() mutable { std::move(h)(error_code(), owning_receiver::large{7}); });
    }
};

class ConnectedOpWithAnAllocator : public ConnectedOp {
public:
    template <class Op> void expect_memory_of_the_receiver(Op op, std::string const& end, int blocks) {
        auto state = connected(std::move(op), owning_receiver{{&log}, &books});
        log.reserve(100);
        run_inside([&] {
            impl::exec::recycler_trim(); // A block that is taken of it has to come from operator new, then.
            auto const fresh = this_thread_recycler_counters().fresh;
            execution::start(state);
            EXPECT_LE(this_thread_recycler_counters().fresh - fresh, 1u) << "for the handler that is posted";
        });
        EXPECT_EQ(log, end);
        EXPECT_EQ(books.taken, blocks);
        EXPECT_EQ(books.live, 0);
    }
    test::account books;
};

TEST_F(ConnectedOpWithAnAllocator, GivesWhatTheRecordIsTooSmallFor) {
    expect_memory_of_the_receiver(made_of<void(error_code, std::size_t)>(takes_two_blocks<1000>{context}), "value 2",
                                  2);
}

TEST_F(ConnectedOpWithAnAllocator, GivesASecondBlock) {
    expect_memory_of_the_receiver(made_of<void(error_code, std::size_t)>(takes_two_blocks<64>{context}), "value 2", 1);
}

TEST_F(ConnectedOpWithAnAllocator, GivesMemoryForALargeResult) {
    expect_memory_of_the_receiver(made_of<void(error_code, owning_receiver::large)>(ends_with_much{context}), "value 7",
                                  1);
}

TEST(ConnectedOpAlone, OverTheKernelNothingIsAllocated) {
    io_context context(1);
    local::stream_protocol::socket socket(context), peer(context);
    local::connect_pair(socket, peer);
    steady_timer timer(context);
    inplace_stop_source stop;
    std::string log;
    log.reserve(1000);
    char bytes[8];
    auto const once = [&] {
        timer.expires_after(1ms);
        auto wait = senders::connected(timer.async_wait(), token_recorder{&log, stop.get_token()});
        auto one = senders::connected(socket.async_read_some(buffer(bytes)), recorder<>{&log});
        execution::start(wait);
        execution::start(one);
        write(peer, buffer("abc", 3));
        context.run();
        context.restart();
        auto whole = senders::connected(async_read(socket, buffer(bytes, 2)), token_recorder{&log, stop.get_token()});
        execution::start(whole);
        write(peer, buffer("ab", 2));
        context.run();
        context.restart();
    };
    once();
    log.clear();
    test::new_counter const news;
    once();
    EXPECT_EQ(log, "value 3valuevalue 2");
    EXPECT_EQ(news.calls(), 0u);
}

} // namespace
