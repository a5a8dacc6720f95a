// The signals of a simulated process.
#pragma once

#include <fairlead/exec/loop.hpp>
#include <fairlead/io/host.hpp>

#include <array>
#include <cstdint>

namespace fairlead::sim {

class host_signals;

/// The signals of one set: those that it wants, and those that came while nobody waited.
class signal_source final : public io::signal_source, op_link {
public:
    static constexpr int number_most = 64;

    io::outcome remove(int number) noexcept override;
    void close() noexcept override;

private:
    friend class host_signals;
    signal_source(host_signals& h, loop& l) noexcept : process_(&h), loop_(l) {}
    ~signal_source() = default;
    bool wants(int number) const noexcept { return (wanted_ >> (number - 1) & 1) != 0; }
    void serve() noexcept;
    void finish(io::signal_op& o, int error, int number) noexcept;
    std::size_t end_all() noexcept;

    host_signals* process_; ///< null: it has gone
    loop& loop_;
    std::uint64_t wanted_ = 0; ///< bit n - 1 for signal n
    std::array<unsigned, number_most + 1> queued_{};
    op_queue waits_;
};

/// All sets of a host, and what they have agreed on.
class host_signals {
public:
    host_signals() noexcept { sources_.next = sources_.prev = &sources_; }
    host_signals(host_signals const&) = delete;
    host_signals& operator=(host_signals const&) = delete;
    /// Sets may outlive it.
    ~host_signals();

    /// Null: no memory.
    signal_source* open(loop& l) noexcept;
    int add(signal_source& s, int number, int flags) noexcept;
    void wait(signal_source& s, io::signal_op& o) noexcept;
    bool cancel(io::signal_op& o) noexcept;
    std::size_t cancel_all(signal_source& s) noexcept { return s.end_all(); }
    void take_pending(op_queue& into) noexcept;
    /// False: no set has it.
    bool raise(int number) noexcept;
    /// The process has ended: no set has any signal. None waits any more.
    void end() noexcept;
    std::size_t waits() const noexcept { return waits_; }

private:
    friend class signal_source;
    struct agreement {
        unsigned sets = 0;
        int flags = -1;
    };
    void forget(signal_source& s, int number) noexcept;

    op_link sources_;
    std::size_t waits_ = 0; ///< of all sets
    std::array<agreement, signal_source::number_most + 1> agreed_{};
};

} // namespace fairlead::sim
