// A TLS stream as a machine between two sets of ops. Above are those of the program, below one read and one write of
// encrypted bytes.
//
// An op of the program waits in a place of its own until the engine has taken a step for it. Whenever anything happens,
// every op that waits is tried again. Bytes that the engine has made are written at once, whoever has caused them: an
// alert goes out although nobody writes. Only those of a write that was cancelled wait for the next one. Bytes are read
// only while an op waits for some.
#pragma once

#include <fairlead/exec/short_lock.hpp>
#include <fairlead/tls/operations.hpp>

#include <tls/engine.hpp>

#include <array>
#include <atomic>
#include <memory>

namespace fairlead::ssl::impl {

/// Counted: the stream has it, and each op that is under way below.
class machine {
public:
    template <class From> machine(From&& from, std::unique_ptr<below> b);
    machine(machine const&) = delete;
    machine& operator=(machine const&) = delete;

    io_loop& engine() const noexcept { return below_->engine(); }
    impl::engine& tls() noexcept { return engine_; }
    below& stream_below() noexcept { return *below_; }

    bool ready() noexcept;
    /// A read, by the owner of the loop. True: done.
    bool try_now(tls_op& o) noexcept;
    void submit(tls_op& o) noexcept;
    /// In the calling thread.
    void perform(tls_op& o) noexcept;
    void cancel(tls_op& o) noexcept;
    /// The stream goes: nobody starts anything any more.
    void leave() noexcept;

private:
    /// An op below, and the machine that it belongs to.
    struct way : below_op {
        machine* of = nullptr;
        bool is_under_way = false;
        bool is_blocking = false; ///< in the thread of a caller: nobody can ask it to end
        bool is_dropped = false;  ///< the last one was asked to end: its error says nothing of the stream below
        error_code failure;       ///< of the stream below in this direction, for ever
    };
    static void run_way(op* o, op_mode mode);

    // ---- under the lock
    static std::size_t place_of(verb v) noexcept;
    bool is_refused(tls_op& o) noexcept;
    /// True: it is done.
    bool step(tls_op& o) noexcept;
    void end(tls_op& o, error_code const& ec) noexcept;
    /// Tries all that wait, reads and writes below. Those that are done are moved to `done`.
    void go_on(op_queue& done) noexcept;
    void step_all(op_queue& done) noexcept;
    bool prepare_write() noexcept;
    bool write_below() noexcept;
    bool try_read() noexcept;
    bool read_below() noexcept;
    void drop(way& w) noexcept;
    void drop_unwanted_read() noexcept;
    void end_all(op_queue& done) noexcept;
    void wrote() noexcept;
    void has_read() noexcept;
    void has_news(way& w, op_mode mode) noexcept;
    void submit_below(way& w) noexcept;
    bool wants_input() const noexcept;
    void give_up(op_queue& done, bool is_reading) noexcept;
    void finish(op_queue& done) noexcept;
    void release() noexcept;

    fairlead::impl::exec::short_lock lock_;
    impl::engine engine_;
    std::unique_ptr<below> const below_;
    way reading_, writing_;
    std::array<std::byte, 512> first_; ///< what a read that waits puts its bytes into: most messages are short
    lent_memory flying_;               ///< what is being written
    std::array<tls_op*, 3> waiting_{}; ///< a handshake or a shutdown, a write, a read
    std::array<bool, 3> waits_for_input_{};
    std::atomic<unsigned> references_{1};
    bool has_left_ = false;
};

} // namespace fairlead::ssl::impl
