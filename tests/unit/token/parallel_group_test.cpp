// make_parallel_group: results and their order, the four conditions, requests, and what happens to the shared block.
#include <fairlead/token/parallel_group.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <support/counting_allocator.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace fairlead;
using namespace fairlead::experimental;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;
using two = std::array<std::size_t, 2>;

class ParallelGroup : public testing::Test {
public:
    std::chrono::seconds passed() const { return std::chrono::floor<std::chrono::seconds>(world.now() - created); }

    sim::world world{1};
    io_context& context = world.context();
    steady_clock::time_point const created = world.now();
    steady_timer early{context, 1s}, late{context, 3s};
    std::string log;
    std::function<void(two, error_code, error_code)> const noted = [this](two order, error_code a, error_code b) {
        log += std::to_string(order[0]) + std::to_string(order[1]) + (a ? " aborted" : " success") +
               (b ? " aborted" : " success");
    };
};

TEST_F(ParallelGroup, AllAreWaitedFor) {
    make_parallel_group(late.async_wait(deferred), early.async_wait(deferred)).async_wait(wait_for_all(), noted);
    EXPECT_EQ(log, "");
    world.run();
    EXPECT_EQ(log, "10 success success");
    EXPECT_EQ(passed(), 3s);
}

TEST_F(ParallelGroup, OneEndsTheOthers) {
    make_parallel_group(late.async_wait(deferred), early.async_wait(deferred)).async_wait(wait_for_one(), noted);
    world.run();
    EXPECT_EQ(log, "10 aborted success");
    EXPECT_EQ(passed(), 1s);
}

TEST_F(ParallelGroup, OneSuccessEndsTheOthersAndAnErrorDoesNot) {
    make_parallel_group(early.async_wait(deferred), late.async_wait(deferred))
        .async_wait(wait_for_one_success(), noted);
    world.at(500ms, [this] { early.cancel(); });
    world.run();
    EXPECT_EQ(log, "01 aborted success");
    EXPECT_EQ(passed(), 3s);
}

TEST_F(ParallelGroup, OneErrorEndsTheOthersAndASuccessDoesNot) {
    steady_timer latest(context, 1h);
    make_parallel_group(early.async_wait(deferred), late.async_wait(deferred), latest.async_wait(deferred))
        .async_wait(wait_for_one_error(),
                    [this](std::array<std::size_t, 3> order, error_code a, error_code b, error_code c) {
                        EXPECT_EQ(order, (std::array<std::size_t, 3>{0, 1, 2}));
                        log += a ? "a" : "-";
                        log += b ? "b" : "-";
                        log += c ? "c" : "-";
                    });
    world.at(2s, [this] { late.cancel(); });
    world.run();
    EXPECT_EQ(log, "-bc");
    EXPECT_EQ(passed(), 2s);
}

TEST_F(ParallelGroup, AConditionOfTheProgramSeesTheArguments) {
    auto const at_first = [](error_code const& ec) {
        EXPECT_FALSE(ec);
        return cancellation_type::total;
    };
    steady_timer other(context, 1s);
    make_parallel_group(early.async_wait(deferred), late.async_wait(deferred))
        .async_wait([&](error_code const& ec) { return ec ? cancellation_type::none : at_first(ec); }, noted);
    world.run();
    EXPECT_EQ(log, "01 success aborted");
}

TEST_F(ParallelGroup, ValuesOfAllStandBehindTheOrder) {
    bool done = false;
    co_spawn(
        context,
        [&]() -> awaitable<void> {
            local_socket near(context), far(context);
            local::connect_pair(near, far);
            char place[8];
            auto [order, read_error, n, wait_error, write_error, k] =
                co_await make_parallel_group(near.async_read_some(buffer(place, 1), deferred),
                                             early.async_wait(deferred), far.async_write_some(buffer("a", 1), deferred))
                    .async_wait(wait_for_all(), deferred);
            EXPECT_EQ(order, (std::array<std::size_t, 3>{2, 0, 1}));
            EXPECT_FALSE(read_error || wait_error || write_error);
            EXPECT_EQ(n, 1U);
            EXPECT_EQ(k, 1U);
            EXPECT_EQ(place[0], 'a');
            done = true;
        },
        rethrow);
    world.run();
    EXPECT_TRUE(done);
}

TEST_F(ParallelGroup, ARequestReachesAllOperations) {
    cancellation_signal signal;
    make_parallel_group(late.async_wait(deferred), early.async_wait(deferred))
        .async_wait(wait_for_all(), bind_cancellation_slot(signal.slot(), noted));
    world.at(500ms, [&] { signal.emit(cancellation_type::terminal); });
    world.run();
    EXPECT_EQ(log.substr(2), " aborted aborted"); // in either order
    EXPECT_EQ(passed(), 0s);
    EXPECT_FALSE(signal.slot().has_handler());
}

TEST_F(ParallelGroup, ARequestDuringTheStartReachesAllOperations) {
    cancellation_signal signal;
    auto const asks = [&](auto&& token) {
        signal.emit(cancellation_type::terminal);
        return early.async_wait(std::forward<decltype(token)>(token));
    };
    make_parallel_group(asks, late.async_wait(deferred))
        .async_wait(wait_for_all(), bind_cancellation_slot(signal.slot(), noted));
    world.run();
    EXPECT_EQ(log.substr(2), " aborted aborted"); // in either order
    EXPECT_EQ(passed(), 0s);
}

TEST_F(ParallelGroup, ARangeGivesVectors) {
    std::vector<std::unique_ptr<steady_timer>> timers;
    std::vector<decltype(early.async_wait(deferred))> waits;
    for (int i = 0; i != 4; ++i) {
        timers.push_back(std::make_unique<steady_timer>(context, 1s * (4 - i)));
        waits.push_back(timers.back()->async_wait(deferred));
    }
    make_parallel_group(std::move(waits))
        .async_wait(wait_for_all(), [this](std::vector<std::size_t> order, std::vector<error_code> errors) {
            EXPECT_EQ(order, (std::vector<std::size_t>{3, 2, 1, 0}));
            EXPECT_EQ(errors, std::vector<error_code>(4));
            log = "done";
        });
    world.run();
    EXPECT_EQ(log, "done");
    EXPECT_THROW((void)make_parallel_group(std::vector<decltype(early.async_wait(deferred))>()), std::logic_error);
}

TEST_F(ParallelGroup, OperationsThatCannotBeEndedAreWaitedFor) {
    make_parallel_group(post(context, deferred), late.async_wait(deferred))
        .async_wait(wait_for_one(), [this](two order, error_code ec) {
            EXPECT_EQ(order[0], 0U);
            EXPECT_TRUE(ec);
            log = "done";
        });
    world.run();
    EXPECT_EQ(log, "done");
    EXPECT_EQ(passed(), 0s);
}

TEST_F(ParallelGroup, FunctionsOfATokenAreOperations) {
    make_parallel_group([this](auto token) { return early.async_wait(token); },
                        [this](auto&& token) { return late.async_wait(std::forward<decltype(token)>(token)); })
        .async_wait(wait_for_one(), noted);
    world.run();
    EXPECT_EQ(log, "01 success aborted");
}

TEST_F(ParallelGroup, TheHandlerRunsOnItsExecutorAndItsMemoryIsFreeByThen) {
    test::account books;
    auto const on_strand = make_strand(context);
    make_parallel_group(early.async_wait(deferred), late.async_wait(deferred))
        .async_wait(wait_for_one(),
                    bind_executor(on_strand, bind_allocator(test::counting_allocator<char>(&books),
                                                            [&](two, error_code, error_code) {
                                                                EXPECT_TRUE(on_strand.running_in_this_thread());
                                                                EXPECT_EQ(books.live, 0);
                                                                log = "done";
                                                            })));
    world.run();
    EXPECT_EQ(log, "done");
    EXPECT_GT(books.taken, 0);
}

TEST_F(ParallelGroup, TheEndOfAContextDropsTheHandler) {
    auto const held = std::make_shared<int>(0);
    {
        io_context own;
        steady_timer there(own, 1h);
        make_parallel_group(there.async_wait(deferred), early.async_wait(deferred))
            .async_wait(wait_for_all(), [held](two, error_code, error_code) { ++*held; });
        EXPECT_EQ(held.use_count(), 2);
    }
    EXPECT_EQ(held.use_count(), 2) << "the other operation is waited for";
    world.run();
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_EQ(*held, 0);
}

TEST_F(ParallelGroup, AnOperationThatThrowsAtItsStartEndsThoseBeforeIt) {
    auto const held = std::make_shared<int>(0);
    auto throws = [](auto&& token) {
        return async_initiate<decltype(token), void(error_code)>([](auto) { throw std::runtime_error("no start"); },
                                                                 token);
    };
    EXPECT_THROW(make_parallel_group(late.async_wait(deferred), throws)
                     .async_wait(wait_for_all(), [held](two, error_code, error_code) { ++*held; }),
                 std::runtime_error);
    world.run();
    EXPECT_EQ(passed(), 0s);
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_EQ(*held, 0);
}

TEST(ParallelGroupThreads, OperationsEndInSeveralThreads) {
    thread_pool pool(3);
    for (int round = 0; round != static_cast<int>(test::scaled(300, 30)); ++round) {
        steady_timer limit(pool, 1h);
        auto ended = make_parallel_group(post(pool, deferred), post(pool, deferred), limit.async_wait(deferred),
                                         post(pool, deferred))
                         .async_wait(wait_for_one(), use_future);
        auto const order = std::get<0>(ended.get());
        std::array<bool, 4> seen{};
        for (auto const i : order)
            seen[i] = true;
        EXPECT_EQ(seen, (std::array<bool, 4>{true, true, true, true}));
    }
}

} // namespace
