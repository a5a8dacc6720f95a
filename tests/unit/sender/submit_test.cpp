// Senders as operations, with tokens of the library.
#include <fairlead/sender/submit.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/use_future.hpp>
#include <support/counting_allocator.hpp>
#include <support/scale.hpp>
#include <support/small_senders.hpp>
#include <unit/sender/receivers.hpp>

#include <memory>
#include <stdexcept>
#include <thread>

namespace {

using namespace senders;
using test::held_sender;
using test::just;

class Submit : public SenderWorld {
public:
    /// Notes how the held sender has ended.
    auto noting() {
        return [this](std::exception_ptr const& e, int n) {
            if (!e)
                log += "value " + std::to_string(n);
            else
                note(e);
        };
    }
    void note(std::exception_ptr const& e) {
        try {
            std::rethrow_exception(e);
        } catch (system_error const& s) {
            log += s.code() == error::operation_aborted ? "aborted" : s.code().message();
        } catch (std::exception const& s) {
            log += s.what();
        }
    }
    held_sender::handle held;
};

TEST_F(Submit, AHandlerIsCalledWithTheValuesAndNeverInsideTheCall) {
    async_submit(context, just<int, std::string>(1, "two"), [this](error_code ec, int n, std::string const& s) {
        log += ec.message() + " " + std::to_string(n) + s;
    });
    EXPECT_EQ(log, "");
    world.run();
    EXPECT_EQ(log, error_code().message() + " 1two");
}

TEST_F(Submit, TheEnvironmentOfTheSenderHasTheHandlersAllocator) {
    test::account books;
    bool has_it = false;
    async_submit(context, test::asks_environment{[&books](auto const& env) {
                     auto const a = execution::get_allocator(env);
                     if constexpr (requires { a.books; })
                         return a.books == &books;
                     else
                         return false;
                 }},
                 bind_allocator(test::counting_allocator<void>(&books), [&](error_code, bool is) { has_it = is; }));
    world.run();
    EXPECT_TRUE(has_it);
}

TEST_F(Submit, TheEnvironmentOfTheSenderHasTheExecutorOfTheCall) {
    test::account books;
    auto const strand = make_strand(context);
    int has_it = 0;
    auto const count = [&has_it](error_code, bool is) { has_it += is; };
    async_submit(context, test::asks_for_schedulers(context.get_executor()), count);
    async_submit(strand, test::asks_for_schedulers(any_io_executor(strand)), count);
    async_submit(strand, test::asks_for_schedulers(any_io_executor(strand)),
                 bind_allocator(test::counting_allocator<void>(&books), count));
    world.run();
    EXPECT_EQ(has_it, 3);
}

TEST_F(Submit, ATaskOfAnotherLibraryReturnsToTheExecutorOfTheCall) {
    async_submit(context, test::returning_task(), [this](error_code, bool has) { log = has ? "returned" : "no way"; });
    world.run();
    EXPECT_EQ(log, "returned");
}

TEST_F(Submit, ASenderNeedNotNameItself) {
    async_submit(context, test::unnamed_sender(7), [this](error_code, int n) { log = std::to_string(n); });
    world.run();
    EXPECT_EQ(log, "7");
}

TEST_F(Submit, ValuesWithoutADefaultBecomeOptional) {
    struct number {
        int n;
        explicit number(int m) : n(m) {}
    };
    async_submit(context, just<number>(number(7)),
                 [this](error_code, std::optional<number> const& v) { log += std::to_string(v->n); });
    world.run();
    EXPECT_EQ(log, "7");
}

TEST_F(Submit, EachKindOfEndArrives) {
    async_submit(context, held_sender(held), noting());
    held.value(7);
    EXPECT_EQ(log, "") << "the handler has its turn";
    world.run();
    async_submit(context, held_sender(held), noting());
    held.stopped();
    world.run();
    async_submit(context, held_sender(held), noting());
    held.exception(std::make_exception_ptr(std::runtime_error("it")));
    world.run();
    auto const refused = make_error_code(std::errc::connection_refused);
    async_submit(context, held_sender(held), noting());
    held.error(refused);
    world.run();
    EXPECT_EQ(log, "value 7abortedit" + refused.message());
}

TEST_F(Submit, ARequestOfTheHandlersSlotStopsTheToken) {
    cancellation_signal signal;
    held.when_asked = [this] {
        log += "asked ";
        held.stopped();
    };
    async_submit(context, held_sender(held), bind_cancellation_slot(signal.slot(), noting()));
    signal.emit(cancellation_type::partial);
    EXPECT_EQ(log, "") << "a sender knows no partial request";
    signal.emit(cancellation_type::terminal);
    world.run();
    EXPECT_EQ(log, "asked aborted");
}

TEST_F(Submit, TokensOfTheLibraryTakeASender) {
    held.when_asked = [this] { held.stopped(); };
    co_spawn(
        context,
        [](Submit& self) -> awaitable<void> {
            self.log += std::to_string(co_await async_submit(self.context, just<int>(1)));
            auto [ec, n] = co_await async_submit(self.context, just<int>(2), as_tuple);
            self.log += ec.message() + std::to_string(n);
            try {
                co_await async_submit(self.context, held_sender(self.held), cancel_after(3s));
            } catch (...) {
                self.note(std::current_exception());
            }
        }(*this),
        rethrow);
    world.run();
    EXPECT_EQ(log, "1" + error_code().message() + "2aborted");
    EXPECT_EQ(passed(), 3s);
}

TEST_F(Submit, AnImmediateExecutorIsHeard) {
    post(context, [this] {
        async_submit(context, just<>(),
                     bind_immediate_executor(context.get_executor(), [this](error_code) { log += "called"; }));
        log += " and back";
    });
    world.run();
    EXPECT_EQ(log, "called and back");
}

TEST(SubmitAlone, AFutureGetsTheResult) {
    thread_pool pool(1);
    EXPECT_EQ(async_submit(pool, just<int>(7), use_future).get(), 7);
    pool.join();
}

TEST(SubmitAlone, ASenderThatRunsElsewhereIsWorkOfItsExecutor) {
    io_context context;
    thread_pool pool(1);
    bool called_in_loop = false;
    async_submit(context, pool.get_executor().schedule(),
                 [&](error_code) { called_in_loop = context.get_executor().running_in_this_thread(); });
    context.run();
    EXPECT_TRUE(called_in_loop);
    pool.join();
}

TEST(SubmitAlone, ASenderThatHasNotEndedIsWorkOfItsExecutor) {
    io_context context;
    held_sender::handle held;
    int calls = 0;
    async_submit(context, held_sender(held), [&calls](std::exception_ptr const&, int) { ++calls; });
    context.poll();
    EXPECT_FALSE(context.stopped());
    held.value(7);
    context.run();
    EXPECT_EQ(calls, 1);
}

TEST(SubmitAlone, AnExceptionOfTheHandlerLeavesRun) {
    io_context context;
    async_submit(context, just<>(), [](error_code) { throw std::runtime_error("from the handler"); });
    EXPECT_THROW(context.run(), std::runtime_error);
}

TEST(SubmitAlone, AContextThatGoesDestroysTheHandler) {
    auto const owned = std::make_shared<int>(7);
    {
        io_context context;
        async_submit(context, just<>(), [owned](error_code) { ADD_FAILURE(); });
        EXPECT_EQ(owned.use_count(), 2);
    }
    EXPECT_EQ(owned.use_count(), 1);
}

TEST(SubmitThreads, ARequestMeetsTheEndAtAnyMoment) {
    thread_pool pool(1);
    for (auto rounds = test::scaled(500, 50); rounds != 0; --rounds) {
        io_context context;
        cancellation_signal signal;
        int calls = 0;
        async_submit(context, pool.get_executor().schedule(),
                     bind_cancellation_slot(signal.slot(), [&](error_code) { ++calls; }));
        std::thread asks([&] { signal.emit(cancellation_type::terminal); });
        context.run();
        asks.join();
        EXPECT_EQ(calls, 1);
    }
    pool.join();
}

} // namespace
