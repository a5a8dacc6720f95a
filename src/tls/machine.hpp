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
#include <cstdint>
#include <memory>
#include <mutex>

namespace fairlead::ssl::impl {

/// The stream keeps it, and so do its ops, and each op that is under way below.
class machine final : public byte_stream {
public:
    template <class From> machine(From&& from, below_ref b);
    ~machine() override;

    impl::engine& tls() noexcept { return engine_; }
    below_ref& below() noexcept { return below_; }

    bool try_now(stream_op& o) noexcept override;
    void submit(stream_op& o) noexcept override;
    void cancel(stream_op& o) noexcept override;
    void perform(stream_op& o) noexcept override;
    void is_at(void*) noexcept override {}
    /// The stream goes: nobody starts anything any more.
    void leave() noexcept;

private:
    /// One of both directions below.
    struct direction {
        error_category const* category = nullptr; ///< of the failure; null: there was none
        int value = 0;
        bool is_under_way = false;
        bool is_blocking = false; ///< in the thread of a caller: nobody can ask it to end
        bool is_dropped = false;  ///< the last one was asked to end: its error says nothing of the stream below

        /// Of the stream below in this direction, for ever.
        bool has_failed() const noexcept { return category; }
        error_code failure() const noexcept { return {value, *category}; }
        void fail(error_code const& ec) noexcept {
            category = &ec.category();
            value = ec.value();
        }
    };
    /// Of an op below, which names the machine as its stream.
    static void run_way(op* o, op_mode mode);
    /// The bytes of a read that has waited at a socket: its memory comes when they do.
    struct landing final : io::lender {
        lent_memory bytes;

        void* lend() noexcept override { return bytes.borrow() ? bytes.space() : nullptr; }
        void take_back() noexcept override { bytes.give_back(); }
    };
    /// The time limit of a handshake or a shutdown: a timer, which is there while it is under way.
    struct limit : io::timer_op {
        machine* of;
        op_queue pending; ///< itself, for the loop
        bool is_dropped = false;

        explicit limit(machine* m) noexcept : of(m) {
            run = &run_limit;
            waits = &pending;
        }
    };
    static void run_limit(op* o, op_mode mode);

    // ---- under the lock
    static std::size_t place_of(stream_verb v) noexcept;
    bool is_refused(stream_op& o) noexcept;
    /// True: it is done.
    bool step(stream_op& o) noexcept;
    bool takes_bytes(stream_op& o) noexcept;
    progress handshake_step(stream_op& o) noexcept;
    unsigned port_of_peer() noexcept;
    progress read_step(stream_op& o) noexcept;
    progress write_step(stream_op& o) noexcept;
    void end(stream_op& o, error_code const& ec) noexcept;
    void end_unwritten(stream_op& o) noexcept;
    bool finds_alert() noexcept;
    void look_for_more() noexcept;
    /// Tries all that wait, reads and writes below. Those that are done are moved to `done`.
    void go_on(op_queue& done) noexcept;
    void step_all(op_queue& done) noexcept;
    bool has_waiting() const noexcept;
    class direct_writer;
    std::size_t write_now(void const* from, std::size_t n) noexcept;
    void begin_below(stream_op& o, stream_verb v, io::kind k, void* d, std::size_t n) noexcept;
    bool tries_below() const noexcept;
    bool reads_in_vain(stream_op& o) noexcept;
    void wait_for_bytes() noexcept;
    bool try_read_below() noexcept;
    bool try_write_below(stream_op& o) noexcept;
    bool try_at_socket(stream_op& o) noexcept;
    void perform_below(stream_op& o) noexcept;
    bool prepare_write(stream_op& o) noexcept;
    bool write_below() noexcept;
    bool submit_write(stream_op const& o) noexcept;
    void free_write() noexcept;
    void begin_read(std::byte* into, std::size_t size) noexcept;
    bool begin_waiting_read() noexcept;
    void take_landed() noexcept;
    bool prepare_read() noexcept;
    bool try_read() noexcept;
    bool read_below() noexcept;
    void drop(direction& d) noexcept;
    void drop_unwanted_read() noexcept;
    void give_back_input() noexcept;
    void end_all(op_queue& done) noexcept;
    void wrote(stream_op& o) noexcept;
    void has_read() noexcept;
    void has_news(stream_op& o, op_mode mode) noexcept;
    void submit_below(direction& d, stream_op& o) noexcept;
    bool wants_input() const noexcept;
    void give_up(op_queue& done, bool is_reading) noexcept;
    void withdraw(stream_op& o, error_code const& ec, op_queue& done) noexcept;
    void begin_limit(stream_op& o) noexcept;
    void set_limit(op_queue& done) noexcept;
    void drop_limit() noexcept;
    error_code is_late(stream_op const& o) noexcept;
    void is_due(op_mode mode) noexcept;
    void finish(op_queue& done) noexcept;
    void go_on_with_held(std::unique_lock<fairlead::impl::exec::short_lock>& lock) noexcept;

    fairlead::impl::exec::short_lock lock_;
    /// Below, before others have their turn: a peer that is as fast as this end would keep the loop.
    static constexpr unsigned char tries_in_a_row = 4;
    unsigned char tries_left_ = 0;
    bool is_first_read_ = false; ///< the read that is under way has that memory
    bool is_held_ = false;       ///< an operation waits until somebody reads
    bool has_left_ = false;
    std::array<bool, 3> waits_for_input_{};
    std::array<stream_op*, 3> waiting_{}; ///< a handshake or a shutdown, a write, a read
    impl::engine engine_;
    below_ref below_;
    direction reading_, writing_;
    stream_op read_;             ///< a connection that waits has one
    stream_op* write_ = nullptr; ///< one that waits; a block of the recycler
    std::unique_ptr<limit> limit_;
    std::int64_t limit_ns_ = 0;            ///< of the operation that waits
    std::int64_t handshakes_until_ns_ = 0; ///< all handshakes of the stream have one limit together; 0: none yet
    landing landing_;
    /// The place of a read that waits at a stream that is no socket of ours: most messages are short.
    struct first_bytes {
        std::array<std::byte, 512> bytes;
    };
    std::unique_ptr<first_bytes> first_;
    lent_memory flying_; ///< what is being written
};

} // namespace fairlead::ssl::impl
