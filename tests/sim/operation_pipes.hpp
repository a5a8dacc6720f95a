// Pipes for the operations of core_operations_test.cpp, with an account of their bytes. Each has a descriptor at one
// end.
#pragma once

#include <fairlead/net/descriptor.hpp>
#include <fairlead/net/pipe.hpp>

#include <sim/ledger.hpp>
#include <sim/operation_home.hpp>
#include <sim/operation_streams.hpp>

#include <cstddef>
#include <string>

namespace fairlead::test::script {

/// The account of one pipe.
struct pipe_account {
    numbered_bytes numbers;
    std::string accepted, received;
    std::size_t fillers = 0;                      ///< that were written
    bool out_is_lost = false, in_is_lost = false; ///< closed or destroyed

    void received_some(ledger& l, std::string const& got) {
        l.check(numbered_bytes::is_in_order(got), "bytes of a pipe are out of order");
        received += got;
    }
    void check_counts(ledger& l) const {
        auto const given = numbered_bytes::counted(accepted), got = numbered_bytes::counted(received);
        bool const is_whole = !out_is_lost && !in_is_lost;
        for (int i = 0; i != 255; ++i) {
            auto const at = static_cast<std::size_t>(i);
            l.check(got[at] <= given[at], "a byte comes out of a pipe that nobody has put in, or twice");
            l.check(got[at] == given[at] || !is_whole, "a byte gets lost in a pipe");
        }
        l.check(got[255] == static_cast<int>(fillers) || !is_whole, "bytes before a write get lost in a pipe");
    }
};

template <class Out, class In> struct tube : pipe_account {
    home<Out> out;
    home<In> in;

    explicit tube(io_context& c) : out(c), in(c) {
        readable_pipe reads(c);
        writable_pipe writes(c);
        connect_pipe(reads, writes);
        in.here().assign(reads.release());
        out.here().assign(writes.release());
    }
    void send(std::size_t n) {
        if (!numbers.has(n))
            return;
        auto const bytes = numbers.take(n);
        error_code ec;
        accepted.append(bytes, 0, out.now().write_some(buffer(bytes), ec));
    }
    void drain() {
        if (!in_is_lost)
            take_rest(in.now(), received);
    }
    /// No write completes before drain().
    void clog() {
        std::string const some(4096, numbered_bytes::filler);
        for (error_code ec; !ec;)
            fillers += out.now().write_some(buffer(some), ec);
    }
    void end_sending() {
        error_code ec;
        out.now().close(ec);
        out_is_lost = true;
    }
    void check(ledger& l) {
        drain();
        check_counts(l);
    }
};

using tube_to_descriptor = tube<writable_pipe, posix::stream_descriptor>;
using tube_from_descriptor = tube<posix::stream_descriptor, readable_pipe>;

} // namespace fairlead::test::script
