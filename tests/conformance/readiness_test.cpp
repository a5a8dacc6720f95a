// Waiting until a stream can be read, written, or has an error.
#include "streams.hpp"

namespace fairlead::conformance {
namespace {

class Readiness : public stream_conformance_test {};

TEST_P(Readiness, WaitForReadingEndsWithDataAndWithTheEndAndTakesNothing) {
    connected([&](auto& near, auto& far) {
        completion waited;
        far.async_wait(socket_base::wait_read, waited.handler());
        settle();
        EXPECT_EQ(waited.count, 0);
        completion sent;
        async_write(near, buffer("a", 1), sent.handler());
        run();
        EXPECT_TRUE(waited.succeeded()) << waited.ec.message();
        EXPECT_EQ(far.available(), 1U);
        wait_until_readable(far); // already
        EXPECT_FALSE(read_error(far));
        completion end;
        far.async_wait(socket_base::wait_read, end.handler());
        settle();
        EXPECT_EQ(end.count, 0);
        near.close();
        run();
        EXPECT_TRUE(end.succeeded());
        EXPECT_EQ(read_error(far), error::eof);
    });
}

TEST_P(Readiness, WaitForWritingEndsWhenThereIsRoom) {
    connected([&](auto& near, auto& far) {
        completion at_once;
        near.async_wait(socket_base::wait_write, at_once.handler());
        run();
        EXPECT_TRUE(at_once.succeeded());
        auto const n = fill(near);
        completion waited;
        near.async_wait(socket_base::wait_write, waited.handler());
        settle();
        EXPECT_EQ(waited.count, 0);
        drain(far, n);
        run();
        EXPECT_TRUE(waited.succeeded()) << waited.ec.message();
    });
}

TEST_P(Readiness, WaitForAnErrorEndsWithAReset) {
    connected([&](auto& near, auto& far) {
        completion waited;
        near.async_wait(socket_base::wait_error, waited.handler());
        pass(far, near, "abc"); // data is no error
        settle();
        EXPECT_EQ(waited.count, 0);
        send(near, far, "unread");
        far.close();
        run_until([&] { return waited.count != 0; });
        EXPECT_TRUE(waited.succeeded()) << waited.ec.message();
        EXPECT_EQ(read_error(near), error::connection_reset);
    });
}

TEST_P(Readiness, WaitForAnErrorEndsWhenBothWaysAreShut) {
    connected([&](auto& near, auto& far) {
        completion waited;
        near.async_wait(socket_base::wait_error, waited.handler());
        far.shutdown(socket_base::shutdown_send);
        EXPECT_EQ(read_error(near), error::eof);
        settle();
        EXPECT_EQ(waited.count, 0);
        near.shutdown(socket_base::shutdown_send);
        run();
        EXPECT_TRUE(waited.succeeded()) << waited.ec.message();
        completion again;
        far.async_wait(socket_base::wait_error, again.handler()); // it is so already
        run();
        EXPECT_TRUE(again.succeeded());
    });
}

TEST_P(Readiness, WaitsNeitherHoldUpTransfersNorAreHeldUp) {
    connected([&](auto& near, auto& far) {
        completion error_wait, read_wait, read, write_wait, written;
        std::string got(2, ' ');
        near.async_wait(socket_base::wait_error, error_wait.handler()); // for ever
        near.async_wait(socket_base::wait_read, read_wait.handler());
        async_read(near, buffer(got), read.handler());
        settle();
        EXPECT_EQ(read_wait.count + read.count, 0);
        completion part;
        async_write(far, buffer("a", 1), part.handler()); // not all that the read wants
        run_until([&] { return part.count != 0; });
        settle();
        // The read takes the byte as soon as it comes; a wait behind it may see it or not.
        completion late;
        near.async_wait(socket_base::wait_read, late.handler());
        completion rest;
        async_write(far, buffer("bc", 2), rest.handler());
        run_until([&] { return read.count && late.count && read_wait.count; });
        EXPECT_TRUE(read.succeeded());
        EXPECT_EQ(got, "ab");
        EXPECT_TRUE(late.succeeded());
        EXPECT_TRUE(read_wait.succeeded());
        // A write that waits for space does not hold up the wait for an error, nor that the write.
        auto const n = fill(near);
        async_write(near, buffer("x", 1), written.handler());
        near.async_wait(socket_base::wait_write, write_wait.handler());
        settle();
        EXPECT_EQ(written.count + write_wait.count, 0);
        drain(far, n);
        run_until([&] { return written.count && write_wait.count; });
        EXPECT_TRUE(written.succeeded() && write_wait.succeeded());
        EXPECT_EQ(error_wait.count, 0);
        near.cancel();
        run();
        EXPECT_EQ(error_wait.ec, error::operation_aborted);
    });
}

INSTANTIATE_TEST_SUITE_P(Conformance, Readiness, testing::ValuesIn(every_driver_and_stream()), name_of);

} // namespace
} // namespace fairlead::conformance
