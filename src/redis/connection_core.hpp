// One connection: everything that its callers share. It performs what the machines ask for.
//
//     connection_requests.cpp  executions and receives: taken in, written, answered
//     connection_threads.cpp   what other threads ask for
//     connection_home.cpp      handlers whose executor runs no loop
//     connection_session.cpp   connects, greets
//     connection_end.cpp       cancels, ends
//     connection_time.cpp      time-outs
//     connection_health.cpp    is the server well?
//     connection_pieces.cpp    values in pieces
//     connection_auth.cpp      credentials that change
#pragma once

#include <redis/backoff.hpp>
#include <redis/call_observer.hpp>
#include <redis/chances.hpp>
#include <redis/due_timer.hpp>
#include <redis/event_ring.hpp>
#include <redis/greeting.hpp>
#include <redis/multiplexer.hpp>
#include <redis/request_line.hpp>
#include <redis/request_taker.hpp>
#include <redis/session_machine.hpp>
#include <redis/session_watch.hpp>
#include <redis/shown.hpp>
#include <redis/socket_transport.hpp>
#include <redis/stream_transport.hpp>

#include <fairlead/base/assert.hpp>
#include <fairlead/base/dynamic_buffer.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/redis/connection.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace fairlead::redis::impl {

inline constexpr std::chrono::hours for_ever(24 * 365); // A longer time might overflow.
/// The longest time for which readers of pushes may hold up what one read has brought.
inline constexpr std::chrono::milliseconds held_up_max{10};

/// Performs what the machines ask for. Lives until the connection has gone and nothing is under way. One coroutine
/// (connect) connects and begins the greeting; writing and reading need none.
class connection_core {
public:
    explicit connection_core(any_io_executor const& ex, transport* other = nullptr);
    connection_core(any_io_executor const& ex, connector const& c);
    /// On the same loop, with the same clock of limits. A null `c`: with sockets.
    connection_core(connection_core& like, connector const* c);
    connection_core(connection_core const&) = delete;
    connection_core& operator=(connection_core const&) = delete;
    ~connection_core();

    void retain(std::uint64_t n = one_reference) noexcept { references_.fetch_add(n, std::memory_order_relaxed); }
    void release(std::uint64_t n = one_reference) noexcept {
        if ((references_.fetch_sub(n, std::memory_order_acq_rel) & ~(runs_elsewhere | is_watched)) == n)
            delete this;
    }

    fairlead::loop& loop() noexcept { return *engine_; }
    /// Everything of the connection runs on one loop, wherever its callers are.
    any_io_executor io_executor() noexcept { return loop_executor(&loop()); }
    any_io_executor const& executor() const noexcept { return executor_; }

    // ---- any thread

    /// Starts an op at once unless another thread runs the loop, which then starts it.
    template <class Op> void start_anywhere(Op& o) noexcept;
    void cancel() noexcept;
    std::size_t cancel(request const& r) noexcept;
    /// Lets one that cannot go meanwhile end early, if it is still pending.
    void ask(exec_op& o) noexcept;
    void ask(run_op& o) noexcept;
    /// By the owner of the loop.
    void end(run_op& o) noexcept;
    /// The connection object goes.
    void close() noexcept;
    /// Tells the watch.
    void give_back() noexcept;
    void renew() noexcept;
    /// Before it is used. Requests that only read may be sent anew so many times.
    void is_watched_by(session_watch& w, std::uint8_t repeats) noexcept {
        watch_ = &w;
        repeats_ = repeats;
        mux_.send_pushes_to(w);
        w.retain();
    }
    /// Before it is used: limits count from the first request on, not from the first session.
    void configure(config const& cfg) {
        cfg_ = cfg;
        was_configured();
    }
    /// By then the next sessions have to be ready, whatever time their settings would give them.
    void is_ready_by(steady_clock::time_point t) noexcept { ready_by_ = t; }
    /// Before it is used: requests that it cannot execute go there.
    void leaves_requests_to(request_taker& t) noexcept { taker_ = &t; }
    /// Before it is used.
    void repeats_refused(retry_policy const& p) noexcept {
        retry_ = p;
        mux_.defer_refusals(p);
    }
    /// Before it is used: its watch hears when it is left alone, and nobody receives its pushes.
    void serves_alone() noexcept {
        tells_when_alone_ = true;
        shows_pushes_ = false;
    }
    /// Before it is used: only those of the client's subscriptions have somebody to take what they bring.
    void takes_subscriptions_of_client_only() noexcept { shows_pushes_ = false; }
    /// Before it is used: it is for subscriptions alone. With RESP2 arrays bring their messages, and confirm them.
    void carries_topics() noexcept {
        tells_when_alone_ = true;
        carries_topics_ = true;
        mux_.takes_arrays_for_pushes();
    }
    /// Before it is used: of each call `o` hears when it begins and how it ends.
    void is_observed_by(std::shared_ptr<call_observer const> o) noexcept {
        observer_ = std::move(o);
        references_.fetch_or(is_watched, std::memory_order_relaxed);
        ends_plainly_ = false;
    }
    io_loop& engine() noexcept { return *engine_; }

    bool is_connected() const noexcept { return session_.is_ready(); }
    resp3::version protocol() const noexcept { return protocol_; }
    std::string server_text() const {
        auto text = greeting_.server_text();
        return text.empty() ? mux_.refusal() : text;
    }
    std::size_t pending() noexcept {
        return mux_.counts().pending_with(started_elsewhere_) + before_the_queue_.size() + refused_.size();
    }
    connection_counters counters() noexcept { return mux_.counters().get(); }
    std::uint64_t repeated() const noexcept { return mux_.repeated(); }
    /// Any thread.
    std::uint64_t chance() noexcept { return chances_.next(engine_->now_ns()); }
    std::string recent_events() const { return events_.text(); }
    /// Of the last session that ended, for the exceptions of those who come too late (endings.hpp). 0: none has ended.
    std::uint32_t ending_of_last() noexcept;

    // ---- the owner of the loop
    /// Ends the requests that wait with error::not_sent, and fails others from now on.
    void refuse_requests() noexcept;
    /// None waits for the session after this one.
    void refuse_when_lost() noexcept { refuses_ = true; }
    void accept_requests() noexcept { refuses_ = false; }
    /// Executes a request that a connection on this loop has admitted. False: it has failed, and was completed.
    bool take_over(exec_op& o) noexcept;
    void complete(op& o) noexcept {
        if (is_to_go_home(o)) [[unlikely]]
            send_home(o);
        else
            loop().post(o);
    }
    void complete(exec_op& o) noexcept {
        if (observer_)
            observer_->end(o);
        complete(static_cast<op&>(o));
    }
    bool cancel_if_pending(exec_op& o) noexcept;
    std::size_t cancel_here(request const* r) noexcept;
    exec_op* find(op const* where, void* ticket) noexcept;
    exec_op* find_marked() noexcept;
    /// Ends the session.
    void drop() noexcept { stop(fairlead::error::operation_aborted); }
    due_timer const& limits() const noexcept { return limits_; }

    // ---- of a connection that serves alone: what it was used for since the last question
    struct use {
        bool watched = false; ///< keys, perhaps
        bool changed = false; ///< in another way
    };
    use take_use() noexcept { return std::exchange(use_, use()); }
    /// The next command is not anybody's.
    bool is_reserved() const noexcept { return mux_.is_reserved(); }
    /// Answers are due, also to what was given up.
    bool has_answers_due() noexcept { return mux_.in_flight(); }
    /// Executes a command of its own, of which the watch hears as of those in session_watch::opened().
    /// False: no memory.
    bool execute_own(std::string_view command) noexcept;
    /// Sends AUTH with the credentials of `from`, behind all that waits. Its watch hears of the answer. False: not now.
    bool authenticate(config const& from) noexcept;

private:
    connection_core(any_io_executor const& ex, io::impl::io_loop_ref const& on, transport* other);

    struct core_op : op {
        connection_core* core;
    };
    struct stream_op : transport_op {
        connection_core* core;
    };
    struct reference {
        connection_core* core;
        explicit reference(connection_core* c) noexcept : core(c) { c->retain(); }
        reference(reference&& other) noexcept : core(std::exchange(other.core, nullptr)) {}
        reference& operator=(reference&&) = delete;
        ~reference() {
            if (core)
                core->release();
        }
    };

    // Requests of other threads come through the inbox of the loop, in order. They wait in arrivals_ until an item of
    // the loop carries them out. The connection changes only in its items, or while nobody runs it. The inbox may
    // be taken by a borrower, in the middle of such an item.
    enum class errand : unsigned {
        exec,
        receive,
        run,
        cancel,
        cancel_one,
        ask,
        look_for_marks,
        give_back,
        renew,
        close
    };
    /// One that is no operation.
    struct message : outcome_record {
        void const* about = nullptr; // is compared only: it may have gone
        void* ticket = nullptr;      // of the op that is asked to end
        /// Of a sender without memory for a message, which waits until it has been read.
        fairlead::impl::exec::blocking_wait* sender = nullptr;
        message() noexcept {}
        void begin(connection_core* core, void const* concerns) noexcept {
            outcome_record::begin(core);
            result.flags = 0;
            about = concerns;
        }
    };
    static constexpr std::uint64_t one_reference = 1;
    // One look tells whether a call is an ordinary one: no messages on their way, an executor that runs a loop, and no
    // observer. A message is a reference, too.
    static constexpr std::uint64_t one_message = std::uint64_t{1} << 32;
    static constexpr std::uint64_t runs_elsewhere = std::uint64_t{1} << 63;
    static constexpr std::uint64_t is_watched = std::uint64_t{1} << 62;

    /// Calls f() unless another thread runs the loop, after what other threads have asked for before. False: one does.
    template <class F> bool here(F f) noexcept {
        // Inside as_owner(), as under a limit, the caller has the loop while the thread that runs it may be in an item.
        return !engine_->is_run_elsewhere() && engine_->at_once([this, &f] {
            if (references_.load(std::memory_order_relaxed) >= one_message) [[unlikely]]
                catch_up();
            f();
        });
    }
    template <class Op> FAIRLEAD_NOINLINE void start_carefully(Op& o) noexcept {
        if (elsewhere_)
            note_handler(o);
        if constexpr (std::is_same_v<Op, exec_op>)
            if (observer_)
                observer_->begin(o, loop());
        if (!here([this, &o] { start(o); }))
            send(o);
    }
    void send(exec_op& o) noexcept {
        started_elsewhere_.fetch_add(1, std::memory_order_release);
        send(o, errand::exec);
    }
    void send(receive_op& o) noexcept { send(o, errand::receive); }
    void send(run_op& o) noexcept { send(o, errand::run); }
    void send(outcome_record& o, errand what) noexcept;
    message* make_message(void const* about) noexcept;
    void send_message(errand what, request const* about) noexcept;
    // Handlers run on the connection's executor. Where that runs no loop, an op with a handler is handed to it when it
    // has completed; until then the executor has work. An awaited one sends its coroutine home by itself, from the
    // loop.
    static constexpr unsigned goes_home = 0x100; // beside the errand
    void note_handler(op& o) noexcept;
    bool is_to_go_home(op const& o) const noexcept { return elsewhere_ && (o.result.flags & goes_home); }
    /// One of the connection's own, for which no caller waits.
    bool is_own(op const& o) const noexcept {
        return reinterpret_cast<std::uintptr_t>(&o) - reinterpret_cast<std::uintptr_t>(this) < sizeof *this;
    }
    void pass_on_own(op& o) noexcept;
    void has_authenticated() noexcept;
    void send_home(op& o) noexcept;
    static void on_homing(op* base, op_mode mode);
    static void on_arrival(fairlead::loop& l, op& o);
    static void on_arrive(op* base, op_mode mode);
    void catch_up() noexcept;
    bool take_arrivals(std::size_t most) noexcept;
    void take_arrival(outcome_record& o) noexcept;
    void abandon_arrival(outcome_record& o);
    static errand errand_of(op const& o) noexcept { return static_cast<errand>(o.result.flags & ~goes_home); }
    static void done_with(message& m) noexcept;
    /// Gives back the reference of a message. It is not the last: whoever reads messages has one.
    void message_read() noexcept {
        [[maybe_unused]] auto const before = references_.fetch_sub(one_message, std::memory_order_acq_rel);
        FAIRLEAD_ASSERT((before & ~(runs_elsewhere | is_watched)) > one_message);
    }

    void cancel_here() noexcept;
    void restore();
    void cancel_here(exec_op& o) noexcept;
    void tell_when_alone() noexcept {
        if (tells_when_alone_ && watch_ && mux_.pending() == 0 && mux_.deferred().empty() && refused_.empty())
            watch_->left_alone(mux_.in_flight());
    }
    void stop_here(void* ticket) noexcept;
    void call_for_marked() noexcept;
    void cancel_marked() noexcept;
    void close_here() noexcept;
    void start(exec_op& o) noexcept;
    void start(receive_op& o) noexcept;
    void start(run_op& o) noexcept;
    error_code admit(exec_op const& o, bool is_ready) noexcept;
    bool admits_unfit(request const& r) noexcept;
    bool admits_subscriptions(request const& r) const noexcept;
    bool leaves_to_taker(request const& r) const noexcept { return taker_ && r.fit() == request::fitness::alone; }
    /// Its confirmations would look like replies.
    bool lacks_pushes_for(request const& r) const noexcept {
        return r.has_subscriptions() && session_.is_ready() && greeting_.protocol() == resp3::version::resp2 &&
               !carries_topics_;
    }
    void leave_to_taker(exec_op& o) noexcept;
    void start_in_pieces(exec_op& o, bool is_ready) noexcept;
    void ask_for_piece(exec_op& o) noexcept;
    void hold_reading() noexcept;
    void go_on_reading() noexcept;
    bool begin_ordinary(exec_op& o) noexcept;
    bool put_limit(exec_op& o, std::uint32_t ms) noexcept;
    bool enqueue(exec_op& o, bool is_ready) noexcept;
    bool add_after_all(exec_op& o) noexcept;
    bool may_wait_for_room(exec_op& o) noexcept;
    void let_in() noexcept;
    void begin(exec_op& o) const noexcept {
        o.repeats = repeats_;
        o.retries = retry_.attempts_max;
    }
    void keep_refused() noexcept;
    void repeat_refused() noexcept;
    bool arm_limit_of(exec_op& o) noexcept;
    std::uint32_t limit_of(request const& r) const noexcept;
    void set_limit(exec_op& o) noexcept;
    void set_limit_once_written(exec_op& o, std::uint32_t by_token) const noexcept;
    void limit_what_waits_again() noexcept;
    void was_configured() {
        mux_.configure(cfg_);
        limit_ms_ = limit_of(request());
    }
    /// The requests that one write will take have come at one time, as far as their limits go.
    std::uint32_t batch_ms() noexcept {
        if (!is_batch_timed_) {
            batch_ms_ = static_cast<std::uint32_t>(limits_.now_ms());
            is_batch_timed_ = session_.is_flush_queued();
        }
        return batch_ms_;
    }
    /// The millisecond that has begun does not count.
    std::uint32_t due_of(exec_op const& o) noexcept { return batch_ms() + o.limit_ms + 1; }
    void on_limits() noexcept;

    static awaitable<void> connect(reference self);
    error_code begin_connecting(address_parts& address);
    std::chrono::milliseconds probe_after() const noexcept;
    error_code greet();
    error_code proceed(greeting::action next);
    error_code greeted();
    void greeted_late() noexcept;
    void pass_on(op_queue& done) noexcept;
    void hand_out_pushes() noexcept;

    void queue_flush() noexcept;
    static void on_flush(op* base, op_mode mode);
    void write_next() noexcept;
    void begin_write(std::string_view bytes) noexcept;
    static void on_written(op* base, op_mode mode);
    bool written() noexcept;
    void write_broke() noexcept;

    void read_on(error_code ec) noexcept;
    error_code begin_read();
    static void on_read(op* base, op_mode mode);
    error_code received(std::size_t n);
    error_code take_in();
    static void on_turn_of_others(op* base, op_mode mode);
    template <class F> static error_code or_no_memory(F f) noexcept {
        try {
            return f();
        } catch (...) {
            return fairlead::impl::base::code_of(std::errc::not_enough_memory);
        }
    }

    void stop(error_code const& ec) noexcept;
    void finish(error_code const& ec) noexcept;
    void finish_now() noexcept;
    void note_ending_of(op_queue& done) noexcept;
    void note_ending_text() noexcept;
    void give_up_requests(bool aborted, std::size_t bytes_written) noexcept;
    void count_work() noexcept;

    void arm_timer(std::chrono::milliseconds after);
    void arm_timer_of_beginning(std::chrono::milliseconds after);
    void arm_timer_at(steady_clock::time_point at);
    void on_timer() noexcept;
    std::chrono::milliseconds interval() const noexcept;
    void check_health();
    void note_delivery(steady_clock::time_point now) noexcept;
    steady_clock::time_point silent_at() noexcept;
    void ask() noexcept;
    std::int64_t delivered_bytes() noexcept;
    std::int64_t undelivered_bytes() noexcept;
    std::chrono::milliseconds look_after() const noexcept;

    std::atomic<std::uint64_t> references_{one_reference};
    std::atomic<std::uint32_t> started_elsewhere_{0}; // executions, so far
    any_io_executor executor_;
    std::optional<fairlead::impl::exec::executor_resumer> elsewhere_; // if the executor runs no loop of ours
    io::impl::io_loop_ref engine_;
    chances& chances_;
    config cfg_;
    multiplexer mux_;
    session_machine session_;
    greeting greeting_;
    shown<resp3::version> protocol_{resp3::version::resp3};

    // Is the server well? Times are those of the loop's clock.
    steady_clock::time_point alive_at_;    // the last sign of life, or when something was asked for to get one
    steady_clock::time_point quiet_until_; // the server was asked to pause until then
    std::int64_t question_end_ = 0;        // in the bytes of this session: what came before the question
    std::int64_t delivered_ = 0;           // so much of that had reached the server at the last look

    op_queue arrivals_; // belongs to whoever owns the loop
    op_queue homeward_;

    event_ring events_;
    std::uint32_t last_ending_ = 0; // of this session or the last one; 0: none was asked for
    bool has_ended_ = false;
    std::shared_ptr<call_observer const> observer_; // or null
    bool ends_plainly_ = true;                      // a call: it is posted to the loop, and that is all

    session_watch* watch_ = nullptr; // or null
    request_taker* taker_ = nullptr; // or null
    std::uint8_t repeats_ = 0;
    bool refuses_ = false; // nobody will connect
    bool tells_when_alone_ = false;
    bool shows_pushes_ = true;
    bool carries_topics_ = false;
    use use_;

    run_op* run_ = nullptr;
    op_queue receivers_;
    error_code reason_; // why the session ends, if known before the reader sees it

    socket_transport sockets_;
    std::optional<stream_transport> streams_; // of the program's connector
    transport* stream_;                       // sockets_, unless another one was given
    steady_timer timer_;
    steady_clock::time_point ready_by_ = steady_clock::time_point::max();

    // Limits of requests. Their clock is looked at once for each batch.
    due_timer limits_;
    request_line before_the_queue_; // with config::wait_when_full
    request_line refused_;          // for now; all are repeated together
    retry_policy retry_{.attempts_max = 0};
    backoff refusals_;
    due_timer repeating_;
    std::int64_t repeated_at_ms_ = 0;
    std::uint32_t limit_ms_ = 0; // of a request that says nothing about it
    std::uint32_t batch_ms_ = 0;
    bool is_batch_timed_ = false;
    std::atomic<unsigned> marks_{0};        // requests to end that have no message of their own
    std::atomic<void*> asked_run_{nullptr}; // one of them: the ticket of a run_op

    bool is_reading_held_ = false; // until somebody asks for the next piece of a value
    lazy_buffer in_;
    std::size_t read_bytes_ = 0;
    std::size_t bytes_taken_in_ = 0;
    core_op flush_;
    core_op others_;          // has its turn when those have had theirs who take what was read
    bool is_held_up_ = false; // until then
    core_op arrive_;
    core_op homing_;
    message close_;
    message marked_;
    stream_op write_;
    stream_op read_;
    exec_op hello_;
    exec_op ping_;
    request ping_request_;
    exec_op restore_;
    request restore_request_;
    exec_op auth_;
    request auth_request_;
    shown_text auth_text_; // of its refusal
    bool is_authenticating_ = false;
};

} // namespace fairlead::redis::impl
