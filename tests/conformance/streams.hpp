// Steps that tests of streams are made of.
#pragma once

#include "driver_under_test.hpp"

#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>

#include <string>

namespace fairlead::conformance {

/// The common part of suites about streams.
class stream_conformance_test : public conformance_test {
protected:
    /// Lets `from` send `text` and `to` receive it.
    template <class Socket> void pass(Socket& from, Socket& to, std::string const& text) {
        std::string got(text.size(), ' ');
        completion sent, received;
        async_write(from, buffer(text), sent.handler());
        async_read(to, buffer(got), received.handler());
        run_until([&] { return sent.count && received.count; });
        EXPECT_TRUE(sent.succeeded()) << sent.ec.message();
        EXPECT_TRUE(received.succeeded()) << received.ec.message();
        EXPECT_EQ(got, text);
    }
    /// Sends `text` and waits until all of it can be read at the other end.
    template <class Socket> void send(Socket& from, Socket& to, std::string const& text) {
        completion sent;
        async_write(from, buffer(text), sent.handler());
        run_until([&] { return sent.count != 0; });
        EXPECT_TRUE(sent.succeeded()) << sent.ec.message();
        while (to.available() != text.size())
            settle();
    }
    /// The error of the next read of one byte.
    template <class Socket> error_code read_error(Socket& s) {
        char c;
        completion read;
        s.async_read_some(buffer(&c, 1), read.handler());
        run_until([&] { return read.count != 0; });
        EXPECT_TRUE(read.ec || read.n == 1);
        return read.ec;
    }
    template <class Socket> error_code write_error(Socket& s) {
        completion written;
        s.async_write_some(buffer("x", 1), written.handler());
        run_until([&] { return written.count != 0; });
        EXPECT_TRUE(written.ec || written.n == 1);
        return written.ec;
    }
    /// Reads to the end; what ended it is the result.
    template <class Socket> error_code read_to_end(Socket& s, std::string& into) {
        error_code end;
        char chunk[1000];
        while (!end) {
            completion read;
            s.async_read_some(buffer(chunk), read.handler());
            run_until([&] { return read.count != 0; });
            into.append(chunk, read.n);
            end = read.ec;
        }
        return end;
    }
    template <class Socket> void wait_until(Socket& s, socket_base::wait_type what) {
        completion ready;
        s.async_wait(what, ready.handler());
        run_until([&] { return ready.count != 0; });
        EXPECT_TRUE(ready.succeeded()) << ready.ec.message();
    }
    template <class Socket> void wait_until_readable(Socket& s) { wait_until(s, socket_base::wait_read); }
};

} // namespace fairlead::conformance
