// Objects that are not the business of every driver: where there are none, they say so and nothing else happens.
#include "driver_under_test.hpp"

#include <fairlead/net/descriptor.hpp>
#include <fairlead/net/pipe.hpp>
#include <fairlead/net/signal_set.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>

#include <csignal>
#include <string>

namespace fairlead::conformance {
namespace {

class Objects : public conformance_test {};

TEST_P(Objects, PipesCarryBytes) {
    each_world([&] {
        readable_pipe reads(context());
        writable_pipe writes(context());
        error_code ec;
        connect_pipe(reads, writes, ec);
        ASSERT_FALSE(ec);
        std::string got(3, ' ');
        std::size_t n = 0;
        async_read(reads, buffer(got), [&](error_code, std::size_t count) { n = count; });
        async_write(writes, buffer("abc", 3), [](error_code, std::size_t) {});
        run();
        EXPECT_EQ(n, 3U);
        EXPECT_EQ(got, "abc");
    });
}

TEST_P(Objects, AnEndOfAPipeGoesOnAsADescriptor) {
    each_world([&] {
        readable_pipe reads(context());
        writable_pipe writes(context());
        connect_pipe(reads, writes);
        char c = ' ';
        completion before, after, ended, wrong;
        reads.async_read_some(buffer(&c, 1), before.handler());
        settle();
        int const fd = reads.release();
        EXPECT_FALSE(reads.is_open());
        run();
        EXPECT_EQ(before.ec, error::operation_aborted);
        EXPECT_EQ(writes.write_some(buffer("x", 1)), 1U);
        posix::stream_descriptor d(context(), fd);
        d.async_write_some(buffer("y", 1), wrong.handler());
        run();
        EXPECT_EQ(wrong.ec, error::bad_descriptor) << "it is the end for reading";
        d.async_read_some(buffer(&c, 1), after.handler());
        run();
        EXPECT_FALSE(after.ec) << after.ec.message();
        EXPECT_EQ(c, 'x');
        writes.close();
        d.async_read_some(buffer(&c, 1), ended.handler());
        run();
        EXPECT_EQ(ended.ec, error::eof);
    });
}

TEST_P(Objects, APipeWithoutAReaderIsBroken) {
    each_world([&] {
        readable_pipe reads(context());
        writable_pipe writes(context());
        connect_pipe(reads, writes);
        EXPECT_EQ(writes.write_some(buffer("never read", 10)), 10U);
        reads.close();
        run();
        completion sent;
        writes.async_write_some(buffer("x", 1), sent.handler());
        run();
        EXPECT_EQ(sent.ec, error::broken_pipe) << sent.ec.message();
    });
}

/// poll(2): the write end of a pipe without a reader is broken, the read end of one without a writer hung up.
TEST_P(Objects, WaitsAtAPipeHearThatItsOtherEndIsClosed) {
    using kind = posix::descriptor::wait_type;
    for (bool const at_the_read_end : {false, true})
        for (auto const what : {kind::wait_read, kind::wait_write, kind::wait_error})
            each_world([&] {
                readable_pipe reads(context());
                writable_pipe writes(context());
                connect_pipe(reads, writes);
                posix::descriptor d(context(), at_the_read_end ? reads.release() : writes.release());
                completion waited;
                d.async_wait(what, waited.handler());
                settle();
                bool const is_ready = !at_the_read_end && what == kind::wait_write;
                EXPECT_EQ(waited.count, is_ready ? 1 : 0) << at_the_read_end << what;
                at_the_read_end ? writes.close() : reads.close();
                run();
                EXPECT_EQ(waited.count, 1) << at_the_read_end << what;
                EXPECT_FALSE(waited.ec) << waited.ec.message();
            });
}

TEST_P(Objects, ThereIsNoDescriptorToBeTakenOver) {
    each_world([&] {
        posix::stream_descriptor d(context());
        error_code ec;
        d.assign(-1, ec);
        EXPECT_EQ(ec, error::bad_descriptor);
        EXPECT_FALSE(d.is_open());
    });
}

TEST_P(Objects, SignalsComeToTheSetsThatHaveThem) {
    each_world([&] {
        signal_set set(context());
        error_code ec;
        set.add(SIGUSR1, ec);
        int completed = 0;
        error_code end;
        int number = 0;
        set.async_wait([&](error_code e, int n) {
            ++completed;
            end = e;
            number = n;
        });
        EXPECT_EQ(completed, 0) << "not inside the call";
        EXPECT_FALSE(ec);
        raise(SIGUSR1);
        run();
        EXPECT_EQ(completed, 1);
        EXPECT_EQ(end, ec);
        EXPECT_EQ(number, ec ? 0 : SIGUSR1);
        set.cancel();
        set.remove(SIGUSR1, ec);
        EXPECT_FALSE(ec);
    });
}

TEST_P(Objects, ATimerWaitsInTheCallingThreadOrSaysThatItCannot) {
    each_world([&] {
        steady_timer timer(context(), std::chrono::nanoseconds(1));
        error_code ec;
        timer.wait(ec);
        if (differs("nothing-blocks")) {
            EXPECT_EQ(ec, error::operation_not_supported);
            EXPECT_TRUE(ec.category() == error::get_system_category());
        } else {
            EXPECT_FALSE(ec);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Drivers, Objects, testing::ValuesIn(every_driver()), name_of);

} // namespace
} // namespace fairlead::conformance
