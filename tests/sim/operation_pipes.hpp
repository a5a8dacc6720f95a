// Pipes for the operations of core_operations_test.cpp, with an account of their bytes. Each has a descriptor at one
// end.
#pragma once

#include <fairlead/net/descriptor.hpp>
#include <fairlead/net/pipe.hpp>

#include <sim/ledger.hpp>
#include <sim/operation_home.hpp>
#include <sim/operation_streams.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace fairlead::test::script {

/// The account of one pipe.
struct pipe_account {
    numbered_bytes numbers;
    std::string accepted, received;
    std::size_t fillers = 0;                      ///< that were written
    bool out_is_lost = false, in_is_lost = false; ///< closed or destroyed

    /// The bytes of a write, which may be started later.
    std::string take(std::size_t n) {
        auto bytes = numbers.take(n);
        writes_.push_back({++steps_, ~std::size_t{0}});
        for (char const c : bytes)
            write_of_[static_cast<unsigned char>(c)] = writes_.size() - 1;
        return bytes;
    }
    void wrote(std::string const& bytes, std::size_t n) {
        accepted.append(bytes, 0, n);
        if (n != 0)
            writes_[write_of_[static_cast<unsigned char>(bytes.front())]].over = ++steps_;
    }
    void received_some(ledger& l, std::string const& got) {
        for (std::size_t i = 0; i != got.size(); ++i)
            for (std::size_t j = 0; j != i; ++j)
                check_order(l, got, j, i);
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

private:
    /// A write, from when its bytes were taken until it was over. One that was made later comes behind it.
    struct written {
        std::size_t made, over;
    };
    void check_order(ledger& l, std::string const& got, std::size_t first, std::size_t second) const {
        auto const before = static_cast<unsigned char>(got[first]), after = static_cast<unsigned char>(got[second]);
        if (got[first] == numbered_bytes::filler || got[second] == numbered_bytes::filler)
            return;
        if (write_of_[before] == write_of_[after])
            l.check(second - first == numbers_between(before, after),
                    "the bytes of a write to a pipe are not in one piece");
        else
            l.check(writes_[write_of_[after]].over > writes_[write_of_[before]].made,
                    "a write to a pipe overtakes an earlier one");
    }
    static std::size_t numbers_between(unsigned before, unsigned after) noexcept {
        auto const line_feed = static_cast<unsigned>(numbered_bytes::line_feed);
        return after - before - (before < line_feed && line_feed < after);
    }

    std::vector<written> writes_;
    std::array<std::size_t, 256> write_of_{};
    std::size_t steps_ = 0;
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
        auto const bytes = take(n);
        error_code ec;
        auto const taken = out.now().write_some(buffer(bytes), ec);
        wrote(bytes, taken);
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
