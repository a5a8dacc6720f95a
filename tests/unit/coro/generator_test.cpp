// generator: coroutines that yield values and await in between, as a part of the coroutine that awaits next().
#include <fairlead/coro/generator.hpp>

#include <fairlead/coro/when_all.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;

struct generator_failure : std::runtime_error {
    generator_failure() : std::runtime_error("generator failure") {}
};

/// Counts how often it is copied and moved, and how many there are.
struct yielded {
    static inline int alive = 0, copies = 0, moves = 0;
    static void begin() { copies = moves = 0; }
    std::string text;

    explicit yielded(std::string t) : text(std::move(t)) { ++alive; }
    yielded(yielded const& o) : text(o.text) { ++alive, ++copies; }
    yielded(yielded&& o) noexcept : text(std::move(o.text)) { ++alive, ++moves; }
    yielded& operator=(yielded const&) = delete;
    ~yielded() { --alive; }
};

/// Notes its end, in the frame of a coroutine.
struct end_note {
    std::string& log;
    char const* what;
    end_note(std::string& l, char const* w) : log(l), what(w) {}
    end_note(end_note const&) = delete;
    end_note& operator=(end_note const&) = delete;
    ~end_note() { log += what; }
};

generator<int> up_to(int n) {
    for (int i = 1; i <= n; ++i)
        co_yield i;
}

class Generator : public testing::Test {
public:
    /// Runs a coroutine in the simulated world, until nothing is left to do.
    template <class F> void run(F f) {
        bool done = false;
        co_spawn(context, std::move(f), bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) {
                     done = true;
                     thrown = e;
                 }));
        world.run();
        EXPECT_TRUE(done);
    }
    template <class F> void run_well(F f) {
        run(std::move(f));
        if (thrown)
            std::rethrow_exception(thrown);
    }
    awaitable<void> sleep(steady_clock::duration d) {
        steady_timer t(context, d);
        co_await t.async_wait();
    }
    /// A value each second.
    generator<int> ticks(int n) {
        end_note const note(log, "ticks end ");
        for (int i = 1; i <= n; ++i) {
            co_await sleep(1s);
            co_yield i;
        }
    }
    awaitable<int> sum_of(generator<int> g) {
        int sum = 0;
        while (auto const v = co_await g.next())
            sum += *v;
        co_return sum;
    }
    std::chrono::seconds passed() const { return std::chrono::floor<std::chrono::seconds>(world.now() - created); }

    sim::world world{1};
    io_context& context = world.context();
    steady_clock::time_point const created = world.now();
    cancellation_signal signal;
    std::exception_ptr thrown;
    std::string log;
};

TEST_F(Generator, GivesItsValuesInOrderAndThenNone) {
    std::vector<int> seen;
    run_well([&]() -> awaitable<void> {
        auto g = up_to(3);
        while (auto const v = co_await g.next())
            seen.push_back(*v);
        EXPECT_FALSE(co_await g.next());
        EXPECT_FALSE(co_await g.next()) << "the end does not change";
    });
    EXPECT_EQ(seen, (std::vector<int>{1, 2, 3}));
}

TEST_F(Generator, WithoutAYieldEndsAtOnce) {
    run_well([]() -> awaitable<void> {
        auto g = up_to(0);
        auto const v = co_await g.next();
        EXPECT_FALSE(v);
    });
}

/// g++ 12 misplaces some conditions with a co_await, where nothing is declared before: not this one.
awaitable<void> add_to(generator<int>& g, int& sum) {
    while (auto const v = co_await g.next())
        sum += *v;
}

TEST_F(Generator, IsReadByAnAwaitableWithoutVariables) {
    int sum = 0;
    run_well([&]() -> awaitable<void> {
        auto g = up_to(10);
        co_await add_to(g, sum);
    });
    EXPECT_EQ(sum, 55);
}

TEST_F(Generator, StartsWhenTheFirstNextIsAwaited) {
    run_well([&]() -> awaitable<void> {
        auto const noting = [](std::string& l) -> generator<int> {
            l += "begun ";
            co_yield 1;
        };
        auto g = noting(log);
        auto n = g.next();
        log += "not yet ";
        co_await n;
    });
    EXPECT_EQ(log, "not yet begun ");
}

TEST_F(Generator, AwaitsOperationsBetweenItsValues) {
    int sum = 0;
    run_well([&]() -> awaitable<void> { sum = co_await sum_of(ticks(3)); });
    EXPECT_EQ(sum, 6);
    EXPECT_EQ(passed(), 3s);
}

TEST_F(Generator, GivesTheLinesOfAStream) {
    using socket = local::stream_protocol::socket;
    std::vector<std::string> seen;
    auto const lines = [](socket s) -> generator<std::string> {
        std::string text;
        for (;;) {
            auto const [ec, n] = co_await async_read_until(s, dynamic_buffer(text), '\n', as_tuple);
            if (ec)
                co_return;
            co_yield text.substr(0, n - 1);
            text.erase(0, n);
        }
    };
    run_well([&]() -> awaitable<void> {
        socket near(context), far(context);
        local::connect_pair(near, far);
        std::string const sent = "one\ntwo\n\nthree\nno line";
        co_await async_write(far, buffer(sent));
        far.close();
        auto g = lines(std::move(near));
        while (auto line = co_await g.next())
            seen.push_back(std::move(*line));
    });
    EXPECT_EQ(seen, (std::vector<std::string>{"one", "two", "", "three"}));
}

TEST_F(Generator, ReadsFromAGeneratorInsideIt) {
    auto const twice = [](generator<int> of) -> generator<int> {
        while (auto const v = co_await of.next()) {
            co_yield *v;
            co_yield *v;
        }
    };
    int sum = 0;
    run_well([&]() -> awaitable<void> { sum = co_await sum_of(twice(twice(ticks(3)))); });
    EXPECT_EQ(sum, 24);
    EXPECT_EQ(passed(), 3s);
}

TEST_F(Generator, ReadsAGeneratorOfItsOwnForEachValue) {
    auto const triangle = [](int n) -> generator<int> {
        for (int i = 1; i <= n; ++i) {
            auto row = up_to(i);
            while (auto const v = co_await row.next())
                co_yield *v;
        }
    };
    int sum = 0;
    run_well([&]() -> awaitable<void> { sum = co_await sum_of(triangle(4)); });
    EXPECT_EQ(sum, 1 + 3 + 6 + 10);
}

TEST_F(Generator, MayBeReadByOneCoroutineAfterTheOther) {
    auto g = ticks(4);
    int first = 0, second = 0;
    run_well([&]() -> awaitable<void> { first = *co_await g.next(); });
    EXPECT_TRUE(g.valid());
    run_well([&]() -> awaitable<void> {
        second = *co_await g.next();
        second = *co_await g.next();
    });
    EXPECT_EQ(first, 1);
    EXPECT_EQ(second, 3);
    EXPECT_EQ(passed(), 3s);
}

TEST_F(Generator, MovesWhatIsTemporaryAndCopiesVariables) {
    auto const yields = []() -> generator<yielded> {
        co_yield yielded("temporary");
        yielded const constant("constant");
        co_yield constant;
        yielded variable("variable");
        co_yield variable;
        EXPECT_EQ(variable.text, "variable") << "it was copied";
        co_yield std::move(variable);
        EXPECT_EQ(variable.text, "") << "it was moved";
    };
    yielded::begin();
    run_well([&]() -> awaitable<void> {
        auto g = yields();
        {
            auto const v = co_await g.next();
            EXPECT_EQ(v->text, "temporary");
            EXPECT_EQ(yielded::copies, 0);
            EXPECT_EQ(yielded::moves, 1);
        }
        for (char const* text : {"constant", "variable", "variable"}) {
            auto const v = co_await g.next();
            EXPECT_EQ(v->text, text);
        }
        EXPECT_EQ(yielded::copies, 2);
        EXPECT_EQ(yielded::moves, 4) << "once from where each lies";
        EXPECT_FALSE(co_await g.next());
    });
    EXPECT_EQ(yielded::alive, 0);
}

TEST_F(Generator, GivesMoveOnlyValuesAndThoseWithoutDefault) {
    auto const pointers = []() -> generator<std::unique_ptr<int>> {
        co_yield std::make_unique<int>(1);
        auto two = std::make_unique<int>(2);
        co_yield std::move(two);
    };
    static_assert(!std::is_default_constructible_v<yielded>);
    int sum = 0;
    run_well([&]() -> awaitable<void> {
        auto g = pointers();
        while (auto const v = co_await g.next())
            sum += **v;
    });
    EXPECT_EQ(sum, 3);
}

TEST_F(Generator, ConvertsWhatItYields) {
    auto const texts = []() -> generator<std::string> {
        co_yield "a text that is too long to lie within a string";
        co_yield {};
    };
    std::vector<std::string> seen;
    run_well([&]() -> awaitable<void> {
        auto g = texts();
        while (auto v = co_await g.next())
            seen.push_back(std::move(*v));
    });
    EXPECT_EQ(seen, (std::vector<std::string>{"a text that is too long to lie within a string", ""}));
}

TEST_F(Generator, OfReferencesGivesPointersAndCopiesNothing) {
    auto const elements = [](std::vector<yielded>& of) -> generator<yielded&> {
        for (auto& e : of)
            co_yield e;
    };
    std::vector<yielded> all;
    all.reserve(2);
    all.emplace_back("a");
    all.emplace_back("b");
    yielded::begin();
    run_well([&]() -> awaitable<void> {
        auto g = elements(all);
        static_assert(std::is_same_v<decltype(g.next().await_resume()), yielded*>);
        while (auto* const v = co_await g.next())
            v->text += "!";
        EXPECT_EQ(co_await g.next(), nullptr);
    });
    EXPECT_EQ(all[0].text + all[1].text, "a!b!");
    EXPECT_EQ(yielded::copies + yielded::moves, 0);
}

TEST_F(Generator, TemporaryBehindAConstantReferenceLivesUntilTheNextCall) {
    auto const texts = []() -> generator<yielded const&> {
        co_yield yielded("temporary");
        yielded const variable("variable");
        co_yield variable;
    };
    yielded::begin();
    run_well([&]() -> awaitable<void> {
        auto g = texts();
        static_assert(std::is_same_v<decltype(g.next().await_resume()), yielded const*>);
        auto const* const first = co_await g.next();
        co_await sleep(1s);
        EXPECT_EQ(first->text, "temporary");
        EXPECT_EQ(yielded::alive, 1);
        auto const* const second = co_await g.next();
        EXPECT_EQ(second->text, "variable");
        EXPECT_EQ(yielded::alive, 1) << "the temporary has gone";
        EXPECT_EQ(yielded::copies + yielded::moves, 0);
        EXPECT_EQ(co_await g.next(), nullptr);
    });
    EXPECT_EQ(yielded::alive, 0);
}

TEST_F(Generator, ExceptionLeavesNextOnceAndThenItHasEnded) {
    auto const fails = [](std::string& l) -> generator<int> {
        end_note const note(l, "unwound ");
        co_yield 1;
        throw generator_failure();
    };
    run_well([&]() -> awaitable<void> {
        auto g = fails(log);
        EXPECT_EQ(*co_await g.next(), 1);
        try {
            co_await g.next();
            log += "nothing thrown ";
        } catch (generator_failure const&) {
            log += "caught ";
        }
        EXPECT_FALSE(co_await g.next());
        EXPECT_FALSE(co_await g.next());
    });
    EXPECT_EQ(log, "unwound caught ");
}

TEST_F(Generator, ExceptionBeforeTheFirstYieldLeavesTheFirstNext) {
    auto const fails = []() -> generator<int> {
        throw generator_failure();
        co_yield 1;
    };
    run([&]() -> awaitable<void> {
        auto g = fails();
        co_await g.next();
    });
    EXPECT_THROW(std::rethrow_exception(thrown), generator_failure);
}

TEST_F(Generator, ExceptionThatNobodyAskedForGoesWithIt) {
    auto const fails = []() -> generator<int> {
        co_yield 1;
        throw generator_failure();
    };
    run_well([&]() -> awaitable<void> {
        auto g = fails();
        co_await g.next();
    });
}

struct throws_when_copied {
    throws_when_copied() {}
    throws_when_copied(throws_when_copied const&) { throw generator_failure(); }
    throws_when_copied(throws_when_copied&&) noexcept {}
};

TEST_F(Generator, ExceptionOfACopyIsThrownInsideIt) {
    auto const yields = [](std::string& l) -> generator<throws_when_copied> {
        throws_when_copied const value;
        try {
            co_yield value;
        } catch (generator_failure const&) {
            l += "caught ";
        }
        co_yield throws_when_copied();
    };
    run_well([&]() -> awaitable<void> {
        auto g = yields(log);
        auto const v = co_await g.next();
        EXPECT_TRUE(v);
    });
    EXPECT_EQ(log, "caught ");
}

TEST_F(Generator, DestroyedBeforeTheFirstNextFreesItsArguments) {
    auto const unused = [](yielded, std::string& l) -> generator<int> {
        l += "ran";
        co_yield 1;
    };
    {
        auto const g = unused(yielded("argument"), log);
        EXPECT_TRUE(g.valid());
        EXPECT_EQ(yielded::alive, 1);
    }
    EXPECT_EQ(yielded::alive, 0);
    EXPECT_EQ(log, "");
}

TEST_F(Generator, DestroyedAtAYieldUnwindsItsVariables) {
    auto const endless = [](std::string& l) -> generator<yielded> {
        end_note const note(l, "unwound ");
        for (;;)
            co_yield yielded("value");
    };
    run_well([&]() -> awaitable<void> {
        {
            auto g = endless(log);
            for (int i = 0; i != 3; ++i)
                co_await g.next();
            EXPECT_EQ(log, "");
        }
        EXPECT_EQ(log, "unwound ");
    });
    EXPECT_EQ(yielded::alive, 0);
}

TEST_F(Generator, DestroyedAfterItsEndFreesItsArguments) {
    auto const one = [](yielded) -> generator<int> { co_yield 1; };
    run_well([&]() -> awaitable<void> {
        auto g = one(yielded("argument"));
        while (co_await g.next())
            ;
        g = {};
        EXPECT_FALSE(g.valid());
        EXPECT_EQ(yielded::alive, 0);
    });
}

TEST_F(Generator, IsMoveOnlyAndMovesBetweenTwoCalls) {
    static_assert(!std::is_copy_constructible_v<generator<int>>);
    static_assert(std::is_nothrow_move_constructible_v<generator<int>>);
    run_well([&]() -> awaitable<void> {
        auto a = up_to(4);
        EXPECT_EQ(*co_await a.next(), 1);
        auto b = std::move(a);
        EXPECT_FALSE(a.valid());
        EXPECT_EQ(*co_await b.next(), 2);
        a = std::move(b);
        EXPECT_EQ(*co_await a.next(), 3);
        a = up_to(1);
        EXPECT_EQ(*co_await a.next(), 1);
    });
}

TEST_F(Generator, RequestEndsTheOperationInsideIt) {
    world.at(2500ms, [&] { signal.emit(cancellation_type::terminal); });
    run([&]() -> awaitable<void> {
        auto g = ticks(10);
        try {
            while (auto const v = co_await g.next())
                log += std::to_string(*v) + " ";
        } catch (system_error const& e) {
            EXPECT_EQ(e.code(), error::operation_aborted);
            log += "caught ";
        }
        EXPECT_FALSE(co_await g.next());
    });
    EXPECT_EQ(log, "1 2 ticks end caught ");
    EXPECT_EQ(passed(), 2s);
}

TEST_F(Generator, RequestBetweenTwoCallsIsSeenByTheNextOperationInsideIt) {
    auto const looks = [](Generator& t) -> generator<int> {
        auto state = co_await this_coro::cancellation_state;
        co_yield static_cast<int>(state.cancelled());
        state = co_await this_coro::cancellation_state;
        co_yield static_cast<int>(state.cancelled()); // No operation: it goes on.
        co_await t.sleep(1s);
        co_yield 0;
    };
    run([&]() -> awaitable<void> {
        auto g = looks(*this);
        EXPECT_EQ(*co_await g.next(), 0);
        signal.emit(cancellation_type::terminal);
        EXPECT_EQ(*co_await g.next(), static_cast<int>(cancellation_type::terminal));
        co_await g.next();
        log += "went on ";
    });
    EXPECT_THROW(std::rethrow_exception(thrown), system_error);
    EXPECT_EQ(log, "");
    EXPECT_EQ(passed(), 0s) << "the wait did not begin";
}

TEST_F(Generator, FiltersOfItsReaderAreItsOwn) {
    auto const changes = []() -> generator<bool> {
        co_yield co_await this_coro::throw_if_cancelled();
        co_await this_coro::throw_if_cancelled(false);
        co_yield co_await this_coro::throw_if_cancelled();
    };
    run_well([&]() -> awaitable<void> {
        auto g = changes();
        EXPECT_TRUE(*co_await g.next());
        EXPECT_FALSE(*co_await g.next());
        bool const throws = co_await this_coro::throw_if_cancelled();
        EXPECT_FALSE(throws) << "they are one chain";
    });
}

TEST_F(Generator, RunsOnTheExecutorOfItsReader) {
    auto const executors = []() -> generator<any_io_executor const&> {
        for (;;)
            co_yield co_await this_coro::executor;
    };
    run_well([&]() -> awaitable<void> {
        auto g = executors();
        EXPECT_EQ(*co_await g.next(), any_io_executor(context.get_executor()));
    });
}

TEST_F(Generator, IsReadByTheMembersOfAGroup) {
    int a = 0, b = 0;
    run_well([&]() -> awaitable<void> {
        auto [x, y] = co_await when_all(sum_of(ticks(3)), sum_of(ticks(4)));
        a = x;
        b = y;
    });
    EXPECT_EQ(a, 6);
    EXPECT_EQ(b, 10);
    EXPECT_EQ(passed(), 4s);
}

TEST_F(Generator, WithoutAwaitsLeavesOthersTheirTurns) {
    bool stopped = false;
    post(context, [&] { post(context, [&] { stopped = true; }); });
    auto const endless = []() -> generator<int> {
        for (;;)
            co_yield 1;
    };
    run_well([&]() -> awaitable<void> {
        auto g = endless();
        while (!stopped)
            co_await g.next();
    });
}

} // namespace
