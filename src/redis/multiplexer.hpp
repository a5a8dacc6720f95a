// Requests to bytes, bytes to replies, in order. No sockets, no clock.
//
// A ring of entries, one for each request (more where SUBSCRIBE is among its commands), in the order of sending:
//
//     head_              written_            tail_
//      | await replies ... | wait in fill_ ... |
//
// An entry points at the caller's record. When a written request is given up, the pointer is cleared and the entry
// stays as a tombstone. Its replies are parsed and dropped. No memory of the caller is needed, and the other requests
// keep their own replies.
#pragma once

#include <redis/event_ring.hpp>
#include <redis/shown.hpp>

#include <fairlead/redis/connection.hpp>
#include <fairlead/redis/retry.hpp>
#include <fairlead/resp3/parser.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::redis::impl {

class session_watch;

/// As connection_counters.
struct shown_counters {
    shown_count generations, requests, commands, replies, replies_dropped, writes, reads, bytes_written, bytes_read,
        pushes, pushes_dropped;

    connection_counters get() const noexcept;
};

class multiplexer {
public:
    explicit multiplexer(config const& cfg);
    ~multiplexer();

    void configure(config const& cfg);

    // ---- requests

    /// Takes a request in: its bytes are copied. False: it has completed with an error and is the caller's again.
    bool add(exec_op& o) noexcept;
    /// Takes an ordinary request in, without any memory but what is there. False: add() has to be asked.
    bool add_at_once(exec_op& o) noexcept {
        auto const& r = *o.request;
        auto const bytes = r.payload();
        auto const used = tail_ - head_;
        bool const has_place = used < entries_max_ && used + entries_more_max <= ring_.size();
        if (!has_place || bytes.size() > fill_room() || r.empty()) [[unlikely]]
            return false;
        auto const begin = fill_.size();
        fill_.append(bytes);
        put_entry_at(tail_++, o, begin, no_effect);
        note_taken(o);
        return true;
    }
    bool has_room_for(request const& r) const noexcept {
        return tail_ - head_ + entries_of(r) <= entries_max_ &&
               (fill_.empty() || fill_.size() + r.payload().size() <= cfg_.queued_bytes_max);
    }
    /// As long as it holds back, add() refuses all with too_many_requests.
    void hold_back(bool does) noexcept { entries_max_ = does ? 0 : cfg_.requests_max; }
    bool holds_back() const noexcept { return entries_max_ != cfg_.requests_max; }
    /// Gives a pending request up; it is the caller's again, with operation_aborted when it was not written yet,
    /// maybe_executed otherwise. False: it is not pending here.
    bool cancel(exec_op& o) noexcept;
    /// The pending request at `where` that has this ticket, if it is pending. O(pending requests).
    exec_op* find(op const* where, void* ticket) noexcept;
    /// The first pending one that is marked (exec/op.hpp).
    exec_op* find_marked() noexcept;
    /// Gives up all executions of the request at `r`, which go to `done`. It is compared, not looked at.
    std::size_t cancel(request const* r, op_queue& done) noexcept;
    std::size_t pending() const noexcept { return pending_.pending(); }
    pending_count& counts() noexcept { return pending_; }
    /// Replies are still due.
    bool in_flight() const noexcept { return head_ != written_; }
    /// Bytes that next_output() would return, and those of requests given up since.
    std::size_t waiting_bytes() const noexcept { return fill_.size(); }

    // ---- values in pieces (decision 047). Their ops are those of request_for_piece(), which have no place in the
    // ring.

    /// As add(), for a request with an argument in pieces. Until all of these have come, nothing else is taken in.
    bool add_with_value(exec_op& o) noexcept;
    bool is_sending_value() const noexcept { return is_value_out_; }
    /// Takes bytes of it. take_written_piece() gives the op back when they were written. False: as add().
    bool add_piece(exec_op& o) noexcept;
    exec_op* take_written_piece() noexcept { return std::exchange(piece_sending_, nullptr); }
    /// A reply in pieces is under way.
    bool is_receiving_value() const noexcept { return is_value_in_; }
    /// The op gets the next bytes of it.
    void await_piece(exec_op& o) noexcept { piece_in_ = &o; }
    /// The bytes that come next are somebody's who has not asked for them yet: no more may be read.
    bool waits_for_a_piece() const noexcept { return is_value_in_ && body_left_ != 0 && !piece_in_; }
    /// An op of a piece fails with maybe_executed where the server may get all of the argument.
    bool cancel_piece(exec_op& o) noexcept;
    /// All ops of pieces, which fail. `bytes_written` of the last output.
    void fail_pieces(error_code const& ec, std::size_t bytes_written, op_queue& done) noexcept;

    // ---- limits, on a clock of milliseconds that may pass its end

    /// When the next limit is over, as far as is known: none may be over before.
    struct next_due {
        bool is_there;
        std::uint32_t at_ms;
    };
    /// Gives up all requests whose limit is over at `now_ms`; they go to `done`. O(those), where limits are over in the
    /// order of the requests, as with one limit for all; else O(pending requests).
    next_due expire(std::uint32_t now_ms, op_queue& done) noexcept;
    /// Those that have none in the server, and wait to be written once more, are to be written by `due_ms`. True:
    /// there are some. O(pending requests), of which none may be in flight.
    bool limit_again(std::uint32_t due_ms) noexcept;
    /// Some pending request has one.
    bool has_limits() const noexcept { return limited_ != 0; }

    // ---- what the server is doing, as far as the requests tell

    /// The next command has to be the caller's: a transaction is open, or the last command concerns the next one.
    bool is_reserved() const noexcept { return in_transaction_ || reserved_at_ == head_; }
    /// A command of our own may go out behind all that waits: it would become part of nothing.
    /// O(pending requests).
    bool may_put_in_own() noexcept;
    /// By how much more than usual the next reply may be late, for requests that wait in the server.
    /// O(pending requests).
    std::uint32_t late_ms() noexcept;
    /// How long the server has been asked to pause since this was last called.
    std::uint32_t take_pause_ms() noexcept { return std::exchange(pause_ms_, 0U); }

    // ---- one generation of the connection

    /// Forgets what the last connection's parser held. Nothing may be in flight.
    void begin_generation() noexcept;
    /// Commands that go before all waiting requests, while these may not be written yet. Returns the bytes to send.
    std::string_view begin_handshake(exec_op& o, std::string_view payload, std::size_t replies);
    /// A request that goes before all waiting ones, while nothing is in flight. Returns the bytes to send.
    /// Throws     bad_alloc
    std::string_view put_first(exec_op& o);
    /// From now on waiting requests may be written.
    void open() noexcept { open_ = true; }
    /// Gives back the waiting requests that need pushes, which RESP2 has not got. They are pending no more.
    void take_subscriptions_out(op_queue& into) noexcept;
    /// Ends the generation: requests in flight complete with maybe_executed. Those not written, or behind the first
    /// `bytes_written` of the last output, complete with not_sent; `aborted` turns that into operation_aborted. With
    /// `keep_waiting` those that were never part of an output stay.
    /// With `repeat` all others that were not sent stay, too. So do those in flight that may be repeated, as long as no
    /// reply to them has come.
    struct ending {
        bool aborted = false;
        bool keep_waiting = false;
        bool repeat = false;
        error_code sent = error::maybe_executed; ///< with which those in flight complete
        std::size_t bytes_written = static_cast<std::size_t>(-1);
    };
    void end_generation(ending how, op_queue& done) noexcept;

    /// Of config::check_order: where the numbers begin, which differs from connection to connection.
    void begin_tokens_behind(std::uint32_t n) noexcept { token_ = n; }

    // ---- refusals that pass

    /// Requests with retries that are refused so go to deferred(), as not pending any more.
    void defer_refusals(retry_policy const& p) noexcept { deferring_ = p; }
    op_queue& deferred() noexcept { return deferred_; }

    // ---- bytes

    /// Bytes to write now: all that waits, as one batch, or nothing. They stay valid until the next call.
    std::string_view next_output() noexcept;
    bool has_output() const noexcept { return open_ && (written_ != tail_ || piece_out_); }
    /// The bytes from next_output() or begin_handshake() are no longer needed.
    void output_done() noexcept;

    struct progress {
        std::size_t consumed;    ///< remove so many bytes from the front
        error_code ec;           ///< the connection cannot go on
        bool is_held_up = false; ///< the others run first, then the rest of the bytes is its turn
    };
    /// Parses what was received; requests that are complete go to `done`, each exactly once.
    progress on_bytes(std::string_view unread, op_queue& done, bool may_be_held_up = false) noexcept;
    /// Of what was received last: how many there were, and their kinds as bit_of() has them.
    std::uint32_t replies() const noexcept { return replies_; }
    std::uint32_t kinds_of_replies() const noexcept { return kinds_; }
    /// While a large body comes in: how much of it is missing, so that the next read can be large.
    std::uint64_t body_missing() const noexcept { return body_left_; }

    // ---- pushes

    generic_response& pushes() noexcept { return pushes_; }
    /// All arrays but the answer to a PING are pushes, as on a connection of RESP2 that is subscribed.
    void takes_arrays_for_pushes() noexcept { are_arrays_pushes_ = true; }
    /// They go there, and none is held.
    void send_pushes_to(session_watch& w) noexcept { watch_ = &w; }

    shown_counters& counters() noexcept { return counters_; }
    /// Pushes and limits that are over are noted there.
    void note_in(event_ring& r) noexcept { events_ = &r; }
    /// Requests that were put in once more.
    std::uint64_t repeated() const noexcept { return repeated_; }
    /// A message of the server that no response could take: the refusal of a SUBSCRIBE, or bytes that are no RESP.
    std::string refusal() const { return refusal_.get(); }

private:
    /// How a request leaves the connection: bits.
    enum effect : unsigned char { no_effect = 0, opens = 1, closes = 2, reserves = 4, pauses = 8 };
    static unsigned char effects_of(request const& r) noexcept;

    struct entry {
        exec_op* op;           // null: a tombstone
        std::size_t begin;     // of the request's bytes, in the buffer that holds them
        std::uint32_t left;    // replies, or confirmations
        std::uint32_t late_ms; // of its request, in the last entry
        confirmation kind;
        unsigned char effects; // in the last entry
        bool is_last;          // of its request
        bool dead;             // given up before it was written
        std::uint32_t token;   // of the question that stands here; 0: this is a request
    };

    /// A request of one entry, a handshake, and a question behind them may come at once.
    static constexpr std::size_t entries_more_max = 3;
    /// Bytes that may be added without memory, and without asking for the limit of those that wait.
    std::size_t fill_room() const noexcept {
        return std::min(fill_.capacity(), cfg_.queued_bytes_max) - std::min(fill_.size(), cfg_.queued_bytes_max);
    }
    void put_entry_at(std::uint64_t n, exec_op& o, std::size_t begin, unsigned char effects) noexcept {
        auto const& r = *o.request;
        o.first_entry = n;
        at(n) = {.op = &o,
                 .begin = begin,
                 .left = static_cast<std::uint32_t>(r.expected_replies()),
                 .late_ms = r.late_ms(),
                 .kind = confirmation::none,
                 .effects = effects,
                 .is_last = true,
                 .dead = false,
                 .token = 0};
    }
    void note_taken(exec_op const& o) noexcept {
        if (o.limit_ms != 0)
            note_limit(o);
        pending_.add_one();
        ++counters_.requests;
        counters_.commands += o.request->commands();
    }
    entry& at(std::uint64_t n) noexcept { return ring_[n & (ring_.size() - 1)]; }
    void reserve_entries(std::size_t more);
    void put_entries(exec_op& o, std::size_t begin) noexcept {
        auto const first = tail_;
        tail_ += entries_of(*o.request);
        put_entries_at(first, o, begin);
    }
    void put_entries_at(std::uint64_t n, exec_op& o, std::size_t begin) noexcept;
    static std::size_t entries_of(request const& r) noexcept { return r.parts().empty() ? 1 : r.parts().size(); }
    void detach(exec_op& o, bool dead) noexcept;
    void give_up(exec_op& o, bool waits, error_code const& unsent, error_code const& sent) noexcept;
    static bool is_over(std::uint32_t due_ms, std::uint32_t now_ms) noexcept {
        return static_cast<std::int32_t>(now_ms - due_ms) >= 0;
    }
    void note_limit(exec_op const& o) noexcept {
        dues_ascend_ = limited_++ == 0 || (dues_ascend_ && is_over(last_due_ms_, o.due_ms));
        last_due_ms_ = o.due_ms;
        limits_change_ = limits_change_ || o.at_first_byte != exec_op::limit_change::none;
    }
    void change_limits() noexcept;
    void change_limit(exec_op& o) noexcept;
    bool may_repeat(exec_op& o) noexcept;
    void end_and_repeat(ending const& how, op_queue& done) noexcept;
    void put_again(op_queue& kept, op_queue& done) noexcept;
    bool is_unsent(std::uint64_t n, ending const& how) noexcept {
        return n >= written_ || (n >= sending_first_ && at(n).begin >= how.bytes_written);
    }
    void append_question();
    /// False: the connection cannot go on.
    bool take_token(resp3::node const& answer, std::uint32_t token, op_queue& done) noexcept;
    void fail_unproved(error_code const& ec, op_queue& done) noexcept;
    bool is_deferred(exec_op& o, std::string_view refusal) noexcept;
    void ended(exec_op& o) noexcept {
        limited_ -= o.limit_ms != 0;
        pending_.remove_one();
    }
    void compact() noexcept;
    void compact_if_worth_it() noexcept;
    static void trim(std::string& buffer) noexcept;

    std::size_t take_messages(std::string_view unread) noexcept;
    void on_nodes(std::span<resp3::node const> nodes, op_queue& done);
    void on_node(resp3::node const& n, op_queue& done);
    void take_pushes_out(op_queue& done);
    void on_message(reply_view const& message, op_queue& done);
    void on_push(std::span<resp3::node const> message, op_queue& done);
    void keep_push(std::span<resp3::node const> message);
    void on_reply(reply_view const& reply, op_queue& done);
    FAIRLEAD_ALWAYS_INLINE void deliver(exec_op& o, reply_view const& reply) noexcept;
    void finish_front(op_queue& done) noexcept;
    void correct_effects(entry& e, resp3::node const& last) noexcept;
    void take_effect(entry const& e) noexcept;
    void begin_body(op_queue& done);
    std::size_t take_body(std::string_view bytes);
    void place_body(resp3::node const& body, op_queue& done) noexcept;
    resp3::node with_body(resp3::node n) noexcept;
    void announce_value(exec_op& o, op_queue& done) noexcept;
    std::size_t give_piece(std::string_view bytes) noexcept;
    void end_value_in(op_queue& done) noexcept;
    void keep_partial_message();
    void forget_message() noexcept;

    config cfg_;
    resp3::parser parser_;

    std::vector<entry> ring_; // a power of two
    std::uint64_t head_;
    std::uint64_t written_;
    std::uint64_t tail_;
    pending_count pending_;
    std::size_t entries_max_;
    std::size_t dead_entries_ = 0; // between written_ and tail_
    bool open_ = false;

    std::size_t limited_ = 0; // pending requests that have a limit
    std::uint32_t last_due_ms_ = 0;
    bool dues_ascend_ = true;    // in the order of the requests
    bool limits_change_ = false; // of some that are to be written

    // Effects of the requests that were answered.
    bool in_transaction_ = false;
    std::uint32_t pause_ms_ = 0;
    std::uint64_t reserved_at_ = 0; // where head_ was behind a request that concerns the next one

    // Answered, while the token behind them is not.
    op_queue unproved_;
    std::uint64_t last_question_ = 0; // its entry
    std::uint32_t token_ = 0;         // of it

    retry_policy deferring_{};
    op_queue deferred_;
    op_queue unproved_refusals_;

    std::uint32_t replies_ = 0;     // of these bytes
    std::uint32_t kinds_ = 0;       // of those
    std::uint32_t pushes_read_ = 0; // of these bytes
    event_ring* events_ = nullptr;  // or null

    std::string fill_;
    std::string sending_;
    std::uint64_t sending_first_; // the first entry whose bytes lie in sending_

    /// A large text that is a reply by itself need not be kept.
    enum class body_goes : unsigned char {
        into_kept,
        into_memory, // of the caller, while the entry has its op
        nowhere,
    };

    // The message under way, when it did not end with its first node.
    struct place {
        std::size_t offset; // npos: the node views the bytes of this read
        std::size_t length;
    };
    static constexpr std::size_t npos = static_cast<std::size_t>(-1);
    std::vector<resp3::node> nodes_;
    std::vector<place> places_;    // of their texts in kept_
    std::size_t kept_nodes_ = 0;   // the first so many view nothing of this read
    std::string kept_;             // texts that outlive their read
    std::uint64_t body_bytes_ = 0; // of a large bulk body, which is taken as it comes
    std::uint64_t body_left_ = 0;
    std::size_t body_begin_ = 0;
    char* body_memory_ = nullptr; // of the caller
    body_goes body_goes_ = body_goes::into_kept;
    bool has_push_inside_ = false;
    bool are_arrays_pushes_ = false;
    bool has_body_ = false;     // the next node's text is that body
    bool is_held_up_ = false;   // as the watch has asked for
    std::uint32_t portion_ = 0; // of what was read; 0: nothing is held up
    std::uint32_t portions_ = 0;
    error_code broken_; // the connection cannot go on

    // Values in pieces: at most one at a time, for its connection is its caller's alone.
    bool is_value_in_ = false;
    bool is_value_out_ = false;
    std::uint64_t value_out_left_ = 0;
    std::string_view value_out_tail_; // of the request: what follows the value
    exec_op* piece_in_ = nullptr;     // waits for bytes, or has the last ones
    exec_op* piece_out_ = nullptr;    // its bytes are in fill_
    exec_op* piece_sending_ = nullptr;
    std::size_t piece_end_ = 0; // behind the bytes of either, in fill_ or in sending_

    generic_response pushes_;
    session_watch* watch_ = nullptr;
    shown_text refusal_;
    shown_counters counters_;
    shown_count repeated_;
};

} // namespace fairlead::redis::impl
