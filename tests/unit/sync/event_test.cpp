#include <fairlead/sync/event.hpp>

#include <unit/sync/waiting.hpp>

#include <memory>

namespace {

using namespace waiting;

class Event : public World {};

TEST_F(Event, LetsAllPassOnceItIsSet) {
    event e(context);
    for (int i = 0; i != 3; ++i)
        e.async_wait([this](error_code ec) { log += ec ? "?" : "x"; });
    world.run();
    EXPECT_EQ(log, "");
    e.set();
    e.reset(); // They go all the same.
    world.run();
    EXPECT_EQ(log, "xxx");
    EXPECT_FALSE(e.is_set());
    e.set();
    spawn([&]() -> awaitable<void> {
        co_await e.async_wait();
        log += "y";
    });
    world.run();
    EXPECT_EQ(log, "xxxy");
}

TEST_F(Event, CancelledOrDestroyedItsWaitsEnd) {
    auto e = std::make_unique<event>(context);
    cancellation_signal signal;
    e->async_wait(bind_cancellation_slot(signal.slot(),
                                         [this](error_code ec) { log += ec == error::operation_aborted ? "a" : "?"; }));
    signal.emit(cancellation_type::partial);
    signal.emit(cancellation_type::partial);
    world.run();
    EXPECT_EQ(log, "a");
    e->async_wait([this](error_code ec) { log += ec == error::operation_aborted ? "b" : "?"; });
    EXPECT_EQ(e->cancel(), 1U);
    world.run();
    e->async_wait([this](error_code ec) { log += ec == error::operation_aborted ? "c" : "?"; });
    e.reset();
    world.run();
    EXPECT_EQ(log, "abc");
}

TEST_F(Event, AWaitWithALimitEndsWithIt) {
    event e(context);
    spawn([&]() -> awaitable<void> {
        auto [ec] = co_await e.async_wait(cancel_after(3s, as_tuple));
        EXPECT_EQ(ec, error::operation_aborted);
        EXPECT_EQ(passed(), 3s);
        log = "done";
    });
    world.run();
    EXPECT_EQ(log, "done");
}

} // namespace
