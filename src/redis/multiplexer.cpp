#include <redis/multiplexer.hpp>

#include <redis/call_observer.hpp>
#include <redis/pushed_message.hpp>
#include <redis/read_only.hpp>
#include <redis/session_watch.hpp>
#include <redis/value_pieces.hpp>

#include <fairlead/base/assert.hpp>
#include <fairlead/redis/reply_memory.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <type_traits>

namespace fairlead::redis::impl {
namespace {

// Free space below the first entry: a handshake goes before what is already there.
constexpr std::uint64_t first_number = std::uint64_t{1} << 32;

constexpr std::size_t first_ring_size = 64;

// A bulk body of this size or more is gathered as it comes, instead of waiting until all of it is in the read buffer.
constexpr std::uint64_t large_body_bytes = 32 * 1024;

// Buffers that grew beyond this are given back once they are empty.
constexpr std::size_t kept_capacity_max = 4 * 1024 * 1024;

/// Room for what one call of the parser delivers. Its elements are born by being assigned to: to initialise all of them
/// would cost more than to parse the reply of a lone caller.
template <class Each, std::size_t Size> class batch_of {
public:
    std::span<Each> extra_bytes() noexcept { return {reinterpret_cast<Each*>(bytes_), Size}; }

private:
    static_assert(std::is_aggregate_v<Each> && std::is_trivially_copyable_v<Each>);
    alignas(Each) std::byte bytes_[Size * sizeof(Each)];
};
using node_batch = batch_of<resp3::node, 128>;

// By the value of `confirmation`.
constexpr std::string_view confirmation_names[] = {
    "", "subscribe", "psubscribe", "ssubscribe", "unsubscribe", "punsubscribe", "sunsubscribe"};

// Servers before 7.2 write a push into the middle of EXEC's array when a transaction publishes to its own connection.
// It is no element of it; SUBSCRIBE inside a transaction, whose push would be one, is refused.
bool is_push_inside(resp3::node const& n) noexcept { return n.kind == resp3::type::push && n.depth != 0; }

// As a connection of RESP2 that is subscribed answers a PING.
bool is_pong(std::span<resp3::node const> array) noexcept { return array.size() < 2 || array[1].value == "pong"; }

resp3::limits limits_of(config const& cfg) noexcept {
    auto l = cfg.limits;
    l.pushes_stand_outside = true;
    return l;
}

error_code out_of_memory() noexcept { return fairlead::impl::base::code_of(std::errc::not_enough_memory); }

} // namespace

/// Of one text, which the multiplexer may put there itself.
struct reply_memory_access {
    static std::optional<std::span<char>> of(response_ref const& to) noexcept {
        if (to.deliver != &reply_memory::deliver)
            return std::nullopt;
        return static_cast<reply_memory*>(to.object)->memory_;
    }
};

connection_counters shown_counters::get() const noexcept {
    return {.generations = generations,
            .requests = requests,
            .commands = commands,
            .replies = replies,
            .replies_dropped = replies_dropped,
            .writes = writes,
            .reads = reads,
            .bytes_written = bytes_written,
            .bytes_read = bytes_read,
            .pushes = pushes,
            .pushes_dropped = pushes_dropped};
}

multiplexer::multiplexer(config const& cfg)
    : cfg_(cfg),
      parser_(limits_of(cfg)),
      ring_(first_ring_size),
      head_(first_number),
      written_(first_number),
      tail_(first_number),
      entries_max_(cfg.requests_max),
      sending_first_(first_number) {}

multiplexer::~multiplexer() {
    for (auto* const of_a_loop_that_has_gone : {&unproved_, &unproved_refusals_, &deferred_})
        while (!of_a_loop_that_has_gone->empty())
            of_a_loop_that_has_gone->pop_front();
}

void multiplexer::configure(config const& cfg) {
    cfg_ = cfg;
    parser_ = resp3::parser(limits_of(cfg));
    entries_max_ = cfg.requests_max;
}

// ---- requests

bool multiplexer::add(exec_op& o) noexcept {
    auto const& r = *o.request;
    if (r.empty())
        return false;
    auto const entries = entries_of(r);
    if (!has_room_for(r)) {
        o.fail(error::too_many_requests);
        return false;
    }
    auto const begin = fill_.size();
    try {
        reserve_entries(entries);
        fill_.append(r.payload());
    } catch (...) {
        o.fail(out_of_memory());
        return false;
    }
    put_entries(o, begin);
    note_taken(o);
    return true;
}

void multiplexer::reserve_entries(std::size_t more) {
    auto const used = static_cast<std::size_t>(tail_ - head_);
    auto const wanted = used + more + 2; // for a handshake, and a question behind them
    if (wanted <= ring_.size())
        return;
    std::vector<entry> larger(std::bit_ceil(wanted));
    for (auto n = head_; n != tail_; ++n)
        larger[n & (larger.size() - 1)] = at(n);
    ring_.swap(larger);
}

void multiplexer::put_entries_at(std::uint64_t n, exec_op& o, std::size_t begin) noexcept {
    auto const& r = *o.request;
    auto const effects = effects_of(r);
    if (r.parts().empty())
        return put_entry_at(n, o, begin, effects);
    o.first_entry = n;
    for (auto const& part : r.parts())
        at(n++) = {.op = &o,
                   .begin = begin,
                   .left = part.count,
                   .late_ms = r.late_ms(),
                   .kind = part.kind,
                   .effects = effects,
                   .is_last = &part == &r.parts().back(),
                   .dead = false,
                   .token = 0};
}

unsigned char multiplexer::effects_of(request const& r) noexcept {
    if (!r.has_effects()) [[likely]]
        return no_effect;
    return static_cast<unsigned char>((r.transaction() == transaction::left_open ? opens : 0) |
                                      (r.transaction() == transaction::closed ? closes : 0) |
                                      (r.precedes() ? reserves : 0) | (r.pauses() ? pauses : 0));
}

// Where SUBSCRIBE stands in such a request, it has several entries; the last one counts.
std::uint32_t multiplexer::late_ms() noexcept {
    std::uint32_t sum = 0;
    for (auto n = head_; n != tail_; ++n) {
        entry const& e = at(n);
        if (e.is_last && !e.dead)
            sum = e.late_ms < request::for_ever_ms - sum ? sum + e.late_ms : request::for_ever_ms;
    }
    return sum;
}

// ---- values in pieces

bool multiplexer::add_with_value(exec_op& o) noexcept {
    auto const& r = *o.request;
    if (is_value_out_ || !has_room_for(r)) {
        o.fail(error::too_many_requests);
        return false;
    }
    auto const begin = fill_.size();
    try {
        reserve_entries(1);
        fill_.append(r.payload().substr(0, r.value_at()));
        value_out_tail_ = r.payload().substr(r.value_at());
        if (r.value_bytes() == 0)
            fill_.append(value_out_tail_);
    } catch (...) {
        fill_.resize(begin);
        o.fail(out_of_memory());
        return false;
    }
    put_entries(o, begin);
    note_taken(o);
    value_out_left_ = r.value_bytes();
    is_value_out_ = value_out_left_ != 0;
    hold_back(is_value_out_);
    return true;
}

bool multiplexer::add_piece(exec_op& o) noexcept {
    if (!is_value_out_ || piece_out_) {
        o.fail(error::value_incomplete);
        return false;
    }
    auto const begin = fill_.size();
    auto const n = static_cast<std::size_t>(std::min<std::uint64_t>({o.count, piece_bytes_max, value_out_left_}));
    try {
        fill_.append(static_cast<char const*>(o.object), n);
        if (n == value_out_left_)
            fill_.append(value_out_tail_);
    } catch (...) {
        fill_.resize(begin);
        o.fail(out_of_memory());
        return false;
    }
    o.count = n;
    piece_out_ = &o;
    piece_end_ = fill_.size();
    value_out_left_ -= n;
    if (value_out_left_ == 0) {
        is_value_out_ = false;
        hold_back(false);
    }
    return true;
}

bool multiplexer::cancel_piece(exec_op& o) noexcept {
    for (auto** const each : {&piece_in_, &piece_out_, &piece_sending_})
        if (*each == &o) {
            bool const may_be_sent = each != &piece_in_ && !is_value_out_; // It is the last one.
            *each = nullptr;
            if (may_be_sent)
                o.fail(error::maybe_executed);
            else
                o.fail(fairlead::error::operation_aborted);
            return true;
        }
    return false;
}

void multiplexer::fail_pieces(error_code const& ec, std::size_t bytes_written, op_queue& done) noexcept {
    is_value_in_ = false;
    if (piece_sending_ && !is_value_out_ && bytes_written >= piece_end_) { // The server may have got the last one.
        piece_sending_->fail(error::maybe_executed);
        done.push_back(*std::exchange(piece_sending_, nullptr));
    }
    if (std::exchange(is_value_out_, false))
        hold_back(false);
    for (auto** const each : {&piece_in_, &piece_out_, &piece_sending_})
        if (auto* const o = std::exchange(*each, nullptr)) {
            o->fail(ec);
            done.push_back(*o);
        }
}

void multiplexer::deliver(exec_op& o, reply_view const& reply) noexcept {
    for (auto const& n : reply.nodes)
        o.count += n.value.size();
    try {
        o.fail(o.deliver(o.object, o.index, reply));
    } catch (std::bad_alloc const&) {
        o.fail(out_of_memory());
    } catch (...) {
        o.fail(error::conversion_failed);
    }
    ++o.index;
}

/// Its call ends with the size; the bytes are asked for one piece after the other.
void multiplexer::announce_value(exec_op& o, op_queue& done) noexcept {
    resp3::node const size{.value = {},
                           .size = body_bytes_,
                           .depth = 0,
                           .kind = resp3::type::blob_string,
                           .in_attribute = false,
                           .last = true,
                           .format = {}};
    is_value_in_ = true;
    deliver(o, {{&size, 1}, nullptr});
    at(head_).op = nullptr;
    ended(o);
    done.push_back(o);
}

std::size_t multiplexer::give_piece(std::string_view bytes) noexcept {
    auto& o = *piece_in_;
    auto const n = std::min(o.count, static_cast<std::size_t>(std::min<std::uint64_t>(body_left_, bytes.size())));
    if (n == 0)
        return 0;
    std::memcpy(o.object, bytes.data(), n);
    o.count = n;
    body_left_ -= n;
    return n;
}

void multiplexer::end_value_in(op_queue& done) noexcept {
    is_value_in_ = false;
    if (auto* const o = std::exchange(piece_in_, nullptr))
        done.push_back(*o);
}

bool multiplexer::cancel(exec_op& o) noexcept {
    auto const n = std::max(o.first_entry, head_);
    if (n >= tail_ || at(n).op != &o)
        return false;
    give_up(o, n >= written_, fairlead::error::operation_aborted, error::maybe_executed);
    compact_if_worth_it();
    return true;
}

void multiplexer::give_up(exec_op& o, bool waits, error_code const& unsent, error_code const& sent) noexcept {
    if (waits)
        o.fail(unsent);
    else
        o.give_up(sent);
    detach(o, waits);
}

exec_op* multiplexer::find(op const* where, void* ticket) noexcept {
    for (auto* const o : {piece_in_, piece_out_, piece_sending_})
        if (o && o == where && fairlead::impl::exec::has_ticket(*o, ticket))
            return o;
    for (auto n = head_; n != tail_; ++n)
        if (auto* const o = at(n).op; o == where && o && fairlead::impl::exec::has_ticket(*o, ticket))
            return o;
    return nullptr;
}

exec_op* multiplexer::find_marked() noexcept {
    for (auto* const o : {piece_in_, piece_out_, piece_sending_})
        if (o && fairlead::impl::exec::is_marked_asked(*o))
            return o;
    for (auto n = head_; n != tail_; ++n)
        if (auto* const o = at(n).op; o && fairlead::impl::exec::is_marked_asked(*o))
            return o;
    return nullptr;
}

// ---- limits

multiplexer::next_due multiplexer::expire(std::uint32_t now_ms, op_queue& done) noexcept {
    next_due next{false, 0};
    for (auto n = head_; n != tail_ && limited_ != 0; ++n) {
        auto* const o = at(n).op;
        if (!o || o->limit_ms == 0)
            continue;
        if (is_over(o->due_ms, now_ms)) {
            if (o->is_asked_when_due)
                give_up(*o, n >= written_, fairlead::error::operation_aborted, error::maybe_executed);
            else
                give_up(*o, n >= written_, error::not_sent_in_time, error::no_answer_in_time);
            done.push_back(*o);
            if (events_)
                events_->note_more(event::over, 1);
            continue;
        }
        if (!next.is_there || is_over(o->due_ms, next.at_ms))
            next = {true, o->due_ms};
        if (dues_ascend_)
            break;
    }
    compact_if_worth_it();
    return next;
}

/// Of the requests that are being written.
void multiplexer::change_limits() noexcept {
    limits_change_ = false;
    for (auto n = written_; n != tail_; ++n)
        if (auto* const o = at(n).op; o && o->limit_ms != 0)
            change_limit(*o);
}

void multiplexer::change_limit(exec_op& o) noexcept {
    using change = exec_op::limit_change;
    if (o.at_first_byte == change::none)
        return;
    if (o.at_first_byte == change::dropped) {
        o.limit_ms = 0;
        --limited_;
        return;
    }
    o.due_ms += o.limit_ms;
    o.is_asked_when_due = o.at_first_byte == change::longer_by_token;
    o.at_first_byte = change::none;
    dues_ascend_ = false;
}

bool multiplexer::limit_again(std::uint32_t due_ms) noexcept {
    bool are_some = false;
    for (auto n = head_; n != tail_; ++n) {
        auto* const o = at(n).op;
        if (!o || o->limit_ms != 0 || o->at_first_byte != exec_op::limit_change::dropped)
            continue;
        o->limit_ms = request::for_ever_ms;
        o->due_ms = due_ms;
        note_limit(*o);
        are_some = true;
    }
    return are_some;
}

std::size_t multiplexer::cancel(request const* r, op_queue& done) noexcept {
    std::size_t n = 0;
    for (auto i = head_; i < tail_; ++i) {
        auto* const o = at(i).op;
        if (!o || o->request != r)
            continue;
        give_up(*o, i >= written_, fairlead::error::operation_aborted, error::maybe_executed);
        done.push_back(*o);
        ++n;
    }
    compact_if_worth_it();
    return n;
}

void multiplexer::detach(exec_op& o, bool dead) noexcept {
    for (auto n = std::max(o.first_entry, head_);; ++n) {
        entry& e = at(n);
        e.op = nullptr;
        e.dead = dead;
        dead_entries_ += dead;
        if (e.is_last)
            break;
    }
    if (dead && is_value_out_ && o.request && o.request->pieces() == piecewise::argument) [[unlikely]] {
        is_value_out_ = false; // Its beginning is not sent, so neither are its pieces.
        hold_back(false);
    }
    ended(o);
}

void multiplexer::compact_if_worth_it() noexcept {
    if (dead_entries_ >= 64 && dead_entries_ > (tail_ - written_) / 2)
        compact();
}

// Removes what was given up before it was written. O(waiting bytes), at most once for each output, or when half is
// dead.
void multiplexer::compact() noexcept {
    // The last piece of an argument may stand before all entries.
    std::size_t to_byte = piece_out_ ? at(written_).begin : 0;
    auto to = written_;
    for (auto from = written_; from != tail_;) {
        auto last = from;
        while (!at(last).is_last)
            ++last;
        auto const begin = at(from).begin;
        auto const end = last + 1 == tail_ ? fill_.size() : at(last + 1).begin;
        if (at(from).dead) {
            from = last + 1;
            continue;
        }
        std::memmove(fill_.data() + to_byte, fill_.data() + begin, end - begin);
        if (piece_out_ && piece_end_ > begin && piece_end_ <= end)
            piece_end_ -= begin - to_byte;
        at(from).op->first_entry = to;
        for (; from <= last; ++from, ++to) {
            entry e = at(from);
            e.begin = to_byte;
            at(to) = e;
        }
        to_byte += end - begin;
    }
    fill_.resize(to_byte);
    tail_ = to;
    dead_entries_ = 0;
}

// ---- generations

void multiplexer::begin_generation() noexcept {
    FAIRLEAD_ASSERT(head_ == written_);
    parser_.reset();
    forget_message();
    broken_.clear();
    refusal_.clear();
    in_transaction_ = false;
    pause_ms_ = 0;
    reserved_at_ = last_question_ = 0;
}

std::string_view multiplexer::put_first(exec_op& o) {
    FAIRLEAD_ASSERT(head_ == written_);
    auto const entries = entries_of(*o.request);
    reserve_entries(entries);
    sending_.assign(o.request->payload());
    head_ -= entries;
    put_entries_at(head_, o, 0);
    sending_first_ = head_;
    pending_.add_one();
    return sending_;
}

std::string_view multiplexer::begin_handshake(exec_op& o, std::string_view payload, std::size_t replies) {
    FAIRLEAD_ASSERT(head_ == written_ && !open_);
    reserve_entries(0);
    sending_.assign(payload);
    --head_;
    at(head_) = {.op = &o,
                 .begin = 0,
                 .left = static_cast<std::uint32_t>(replies),
                 .late_ms = 0,
                 .kind = confirmation::none,
                 .effects = no_effect,
                 .is_last = true,
                 .dead = false,
                 .token = 0};
    o.first_entry = sending_first_ = head_;
    pending_.add_one();
    return sending_;
}

void multiplexer::take_subscriptions_out(op_queue& into) noexcept {
    for (auto n = written_; n != tail_; ++n) {
        auto* const o = at(n).op;
        if (!o || !o->request->has_subscriptions())
            continue;
        detach(*o, true);
        into.push_back(*o);
    }
}

void multiplexer::end_generation(ending how, op_queue& done) noexcept {
    error_code const unsent =
        how.aborted ? make_error_code(fairlead::error::operation_aborted) : make_error_code(error::not_sent);
    bool const keep = how.keep_waiting && !how.aborted;
    fail_unproved(how.sent, done);
    if (keep && how.repeat) {
        end_and_repeat(how, done);
    } else {
        auto const end = keep ? written_ : tail_;
        for (auto n = head_; n != end; ++n) {
            entry const& e = at(n);
            if (!e.op || !e.is_last)
                continue;
            e.op->give_up(is_unsent(n, how) ? unsent : how.sent);
            ended(*e.op);
            done.push_back(*e.op);
        }
        head_ = written_ = sending_first_ = end;
        if (!keep) {
            fill_.clear();
            dead_entries_ = 0;
        }
    }
    open_ = false;
    sending_.clear();
    trim(sending_);
    trim(fill_);
    forget_message();
}

// Those that go on are put into the ring once more, from their requests, in their order.
void multiplexer::end_and_repeat(ending const& how, op_queue& done) noexcept {
    op_queue kept;
    for (auto n = head_; n != tail_; ++n) {
        entry const& e = at(n);
        if (!e.op || !e.is_last)
            continue;
        bool const is_lost = how.sent == error::maybe_executed; // else nobody knows what it has been answered
        bool const goes_on =
            e.op->request && (is_unsent(n, how) || (is_lost && may_repeat(*e.op))); // Not the greeting.
        if (goes_on) {
            kept.push_back(*e.op);
            continue;
        }
        e.op->give_up(how.sent);
        ended(*e.op);
        done.push_back(*e.op);
    }
    head_ = written_ = sending_first_ = tail_;
    fill_.clear();
    dead_entries_ = 0;
    put_again(kept, done);
}

void multiplexer::put_again(op_queue& kept, op_queue& done) noexcept {
    while (!kept.empty()) {
        auto& o = static_cast<exec_op&>(*kept.pop_front());
        auto const begin = fill_.size();
        try {
            fill_.append(o.request->payload());
            put_entries(o, begin);
        } catch (...) {
            o.give_up(out_of_memory());
            ended(o);
            done.push_back(o);
        }
    }
}

/// A reply that has come is in the caller's memory already.
bool multiplexer::may_repeat(exec_op& o) noexcept {
    if (o.repeats == 0 || o.index != 0 || !(o.request->is_repeatable() || only_reads(*o.request)))
        return false;
    --o.repeats;
    ++repeated_;
    return true;
}

// ---- output

std::string_view multiplexer::next_output() noexcept {
    if (dead_entries_ != 0)
        compact();
    if (!has_output())
        return {};
    if (limits_change_) [[unlikely]]
        change_limits();
    if (cfg_.check_order) [[unlikely]]
        append_question();
    sending_.clear();
    sending_.swap(fill_);
    piece_sending_ = std::exchange(piece_out_, nullptr);
    sending_first_ = written_;
    written_ = tail_;
    return sending_;
}

// ---- is the order kept?

namespace {

constexpr std::string_view token_prefix = "fairlead-order-";

/// Takes no block: it is too long for a small string.
class text_of_token {
public:
    explicit text_of_token(std::uint32_t token) noexcept {
        auto* const digits = std::copy(token_prefix.begin(), token_prefix.end(), text_);
        size_ = static_cast<std::size_t>(std::to_chars(digits, std::end(text_), token).ptr - text_);
    }
    operator std::string_view() const noexcept { return {text_, size_}; }

private:
    static constexpr std::size_t digits_max = 10;
    char text_[token_prefix.size() + digits_max];
    std::size_t size_;
};
/// Refusals of any command, a PING too, as long as the server or the user is in some state. So the answer is in its
/// place.
bool refuses_questions(resp3::node const& answer) noexcept {
    if (!resp3::is_error(answer.kind))
        return false;
    switch (refusal_of(answer.value)) {
    case error::loading:
    case error::busy:
    case error::master_down:
    case error::cluster_down:
    case error::misconfigured:
    case error::not_authenticated:
    case error::no_permission: return true;
    default: return false;
    }
}

} // namespace

/// Behind a request that leaves a transaction open, a PING would be one of its commands.
bool multiplexer::may_put_in_own() noexcept {
    if (in_transaction_ || is_value_out_)
        return false;
    for (auto n = head_; n != tail_; ++n)
        if (at(n).effects & (opens | reserves))
            return false;
    return true;
}

void multiplexer::append_question() {
    if (!may_put_in_own())
        return;
    auto const begin = fill_.size();
    try {
        resp3::append_command(fill_, "PING", std::string_view(text_of_token(++token_)));
    } catch (...) {
        fill_.resize(begin);
        return; // The next one will tell.
    }
    token_ += token_ == 0;
    last_question_ = tail_;
    at(tail_++) = {.op = nullptr,
                   .begin = begin,
                   .left = 1,
                   .late_ms = 0,
                   .kind = confirmation::none,
                   .effects = no_effect,
                   .is_last = true,
                   .dead = false,
                   .token = token_};
}

bool multiplexer::take_token(resp3::node const& answer, std::uint32_t token, op_queue& done) noexcept {
    auto text = answer.value;
    bool const is_text = answer.kind == resp3::type::blob_string && text.starts_with(token_prefix);
    std::uint32_t told = 0;
    if (is_text) {
        text.remove_prefix(token_prefix.size());
        std::from_chars(text.data(), text.data() + text.size(), told);
    }
    if (told != token && !refuses_questions(answer)) {
        broken_ = error::answers_out_of_order;
        fail_unproved(broken_, done);
        return false;
    }
    while (!unproved_.empty()) {
        auto& o = static_cast<exec_op&>(*unproved_.pop_front());
        ended(o);
        done.push_back(o);
    }
    while (!unproved_refusals_.empty()) {
        auto& o = static_cast<exec_op&>(*unproved_refusals_.pop_front());
        ended(o);
        deferred_.push_back(o);
    }
    return true;
}

void multiplexer::fail_unproved(error_code const& ec, op_queue& done) noexcept {
    unproved_.splice_back(unproved_refusals_);
    while (!unproved_.empty()) {
        auto& o = static_cast<exec_op&>(*unproved_.pop_front());
        o.give_up(ec);
        ended(o);
        done.push_back(o);
    }
}

void multiplexer::output_done() noexcept {
    sending_first_ = written_;
    sending_.clear();
    trim(sending_);
}

void multiplexer::trim(std::string& buffer) noexcept {
    if (buffer.empty() && buffer.capacity() > kept_capacity_max) [[unlikely]]
        std::string().swap(buffer);
}

// ---- input

multiplexer::progress multiplexer::on_bytes(std::string_view unread, op_queue& done, bool may_be_held_up) noexcept {
    progress all{0, {}};
    replies_ = kinds_ = pushes_read_ = 0;
    portion_ = 0;
    is_held_up_ = false;
    if (may_be_held_up)
        portion_ = portions_ = portions_ == UINT32_MAX ? 1 : portions_ + 1;
    try {
        node_batch batch;
        for (;;) {
            if (body_left_ != 0) {
                auto const taken = take_body(unread.substr(all.consumed));
                all.consumed += taken;
                if (body_left_ != 0) {
                    if (is_value_in_ && taken != 0) [[unlikely]]
                        done.push_back(*std::exchange(piece_in_, nullptr));
                    break;
                }
            }
            if (all.consumed != unread.size() && unread[all.consumed] == static_cast<char>(resp3::type::push) &&
                watch_) {
                all.consumed += take_messages(unread.substr(all.consumed));
                if (is_held_up_)
                    break;
            }
            auto const part = parser_.parse_some(unread.substr(all.consumed), batch.extra_bytes());
            all.consumed += part.consumed;
            on_nodes(batch.extra_bytes().first(part.nodes), done);
            if (!broken_ && part.what == resp3::status::failed) {
                broken_ = part.ec;
                refusal_.set(resp3::printable(unread.substr(all.consumed)));
            }
            if (broken_ || is_held_up_)
                break;
            if (part.what == resp3::status::node)
                continue;
            if (parser_.pending_body() < large_body_bytes)
                break;
            begin_body(done);
        }
        keep_partial_message();
    } catch (...) { // The parser's stack or our buffers: the message is lost, so the connection is.
        broken_ = out_of_memory();
    }
    counters_.replies += replies_;
    if (pushes_read_ != 0) {
        counters_.pushes += pushes_read_;
        if (events_)
            events_->note_more(event::pushed, pushes_read_);
    }
    all.ec = broken_;
    all.is_held_up = is_held_up_ && all.consumed != unread.size();
    return all;
}

// Messages of channels come in rows, each whole as a rule: they need no nodes. The watch gets so many at a time as a
// batch of nodes would hold, and may hold up what comes behind them.
std::size_t multiplexer::take_messages(std::string_view unread) noexcept {
    batch_of<resp3::text_push, messages_at_once> batch;
    auto const pushes = batch.extra_bytes();
    std::size_t consumed = 0;
    for (;;) {
        auto const taken = parser_.take_text_pushes(unread.substr(consumed), pushes);
        std::size_t messages = 0;
        while (messages != taken.pushes && is_message(pushes[messages]))
            ++messages;
        if (messages == 0)
            return consumed;
        pushes_read_ += static_cast<std::uint32_t>(messages);
        is_held_up_ |= watch_->messages_pushed(pushes.first(messages), portion_);
        auto const last = pushes[messages - 1].texts[pushes[messages - 1].size - 1];
        auto const behind = static_cast<std::size_t>(last.data() + last.size() + 2 - unread.data());
        consumed = messages == taken.pushes ? consumed + taken.consumed : behind;
        if (is_held_up_ || messages != taken.pushes)
            return consumed;
    }
}

void multiplexer::begin_body(op_queue& done) {
    keep_partial_message(); // From here on the body is the last thing in kept_.
    body_bytes_ = body_left_ = parser_.pending_body();
    auto const body = parser_.claim_body();
    body_begin_ = kept_.size();
    has_body_ = true;
    place_body(body, done);
}

/// Most large texts are the whole reply of one command.
void multiplexer::place_body(resp3::node const& body, op_queue& done) noexcept {
    body_goes_ = body_goes::into_kept;
    bool const is_a_reply = body.depth == 0 && !resp3::is_error(body.kind) && head_ != written_;
    if (!is_a_reply)
        return;
    entry const& e = at(head_);
    if (e.kind != confirmation::none)
        return;
    if (!e.op) { // Nobody waits for it any more.
        body_goes_ = body_goes::nowhere;
        return;
    }
    auto& o = *e.op;
    if (o.request && o.request->pieces() == piecewise::reply)
        return announce_value(o, done);
    auto const memory = reply_memory_access::of(call_observer::response_of(o));
    if (!memory)
        return;
    body_goes_ = body_bytes_ <= memory->size() ? body_goes::into_memory : body_goes::nowhere;
    body_memory_ = memory->data();
}

std::size_t multiplexer::take_body(std::string_view bytes) {
    if (is_value_in_) [[unlikely]]
        return piece_in_ ? give_piece(bytes) : 0;
    auto const n = static_cast<std::size_t>(std::min<std::uint64_t>(body_left_, bytes.size()));
    if (body_goes_ != body_goes::into_kept) {
        bool const is_wanted = body_goes_ == body_goes::into_memory && at(head_).op;
        if (is_wanted && n != 0)
            std::memcpy(body_memory_ + (body_bytes_ - body_left_), bytes.data(), n);
        body_left_ -= n;
        return n;
    }
    // Room for all of it at once, but only when a fair part has really come: a length is just a claim.
    auto const arrived = body_bytes_ - body_left_ + n;
    if (auto const whole = body_begin_ + static_cast<std::size_t>(body_bytes_);
        kept_.capacity() < whole && arrived >= body_bytes_ / 8)
        kept_.reserve(whole);
    kept_.append(bytes.data(), n);
    body_left_ -= n;
    return n;
}

// Nearly all messages lie complete in one batch: they are passed on where they stand.
void multiplexer::on_nodes(std::span<resp3::node const> nodes, op_queue& done) {
    while (!nodes.empty() && !broken_) {
        std::size_t n = 0;
        bool is_plain = nodes_.empty() && !has_body_;
        bool is_last = false;
        while (!is_last && n != nodes.size()) {
            is_plain = is_plain && !nodes[n].in_attribute && !is_push_inside(nodes[n]);
            is_last = nodes[n].last;
            ++n;
        }
        if (is_plain && is_last) {
            on_message({nodes.first(n), nullptr}, done);
        } else {
            for (auto const& each : nodes.first(n))
                on_node(each, done);
        }
        nodes = nodes.subspan(n);
    }
}

void multiplexer::on_node(resp3::node const& n, op_queue& done) {
    if (n.in_attribute) [[unlikely]] {
        if (std::exchange(has_body_, false))
            kept_.resize(body_begin_);
        return;
    }
    has_push_inside_ = has_push_inside_ || is_push_inside(n);
    if (n.last && nodes_.empty()) [[likely]] { // a scalar, or an empty aggregate
        if (!std::exchange(has_body_, false))
            return on_message({{&n, 1}, nullptr}, done);
        auto const whole = with_body(n);
        on_message({{&whole, 1}, body_goes_ == body_goes::into_kept ? &kept_ : nullptr}, done);
        kept_.clear();
        trim(kept_);
        return;
    }
    nodes_.push_back(n);
    if (std::exchange(has_body_, false))
        places_.push_back({body_begin_, kept_.size() - body_begin_});
    else
        places_.push_back({npos, 0});
    if (!n.last)
        return;
    for (std::size_t i = 0; i != nodes_.size(); ++i)
        if (places_[i].offset != npos)
            nodes_[i].value = std::string_view(kept_).substr(places_[i].offset, places_[i].length);
    if (std::exchange(has_push_inside_, false)) [[unlikely]]
        take_pushes_out(done);
    on_message({nodes_, nullptr}, done);
    forget_message();
}

/// A scalar whose body was taken as it came.
resp3::node multiplexer::with_body(resp3::node n) noexcept {
    switch (body_goes_) {
    case body_goes::into_kept: n.value = kept_; break;
    case body_goes::into_memory:
        if (head_ != written_ && at(head_).op)
            n.value = {body_memory_, static_cast<std::size_t>(body_bytes_)};
        break;
    case body_goes::nowhere: n.size = body_bytes_; break;
    }
    return n;
}

// Routes pushes that stand between the elements of the message in nodes_, and leaves the message without them.
void multiplexer::take_pushes_out(op_queue& done) {
    for (auto first = nodes_.begin(); first != nodes_.end();) {
        if (!is_push_inside(*first)) {
            ++first;
            continue;
        }
        auto const depth = first->depth;
        auto const end = std::find_if(first + 1, nodes_.end(), [&](auto const& n) { return n.depth <= depth; });
        std::for_each(first, end, [&](auto& n) { n.depth -= depth; });
        (end - 1)->last = true;
        on_push({first, end}, done);
        first = nodes_.erase(first, end);
    }
}

// The bytes of this read are about to go: what nodes view of them is copied.
void multiplexer::keep_partial_message() {
    for (; kept_nodes_ != nodes_.size(); ++kept_nodes_) {
        auto& n = nodes_[kept_nodes_];
        auto& p = places_[kept_nodes_];
        if (p.offset == npos) {
            p = {kept_.size(), n.value.size()};
            kept_.append(n.value);
        }
        n.value = {};
    }
}

void multiplexer::forget_message() noexcept {
    constexpr std::size_t nodes_max = kept_capacity_max / sizeof(resp3::node);
    nodes_.clear();
    places_.clear();
    if (nodes_.capacity() > nodes_max) [[unlikely]] {
        std::vector<resp3::node>().swap(nodes_);
        std::vector<place>().swap(places_);
    }
    kept_.clear();
    trim(kept_);
    kept_nodes_ = 0;
    body_left_ = 0;
    has_body_ = has_push_inside_ = false;
}

void multiplexer::on_message(reply_view const& message, op_queue& done) {
    auto const kind = message.nodes[0].kind;
    if (kind == resp3::type::push || (are_arrays_pushes_ && kind == resp3::type::array && !is_pong(message.nodes)))
        on_push(message.nodes, done);
    else
        on_reply(message, done);
}

void multiplexer::on_reply(reply_view const& reply, op_queue& done) {
    if (head_ == written_) [[unlikely]] {
        broken_ = error::unexpected_reply;
        return;
    }
    ++replies_;
    kinds_ |= bit_of(static_cast<char>(reply.nodes[0].kind));
    entry& e = at(head_);
    if (e.kind != confirmation::none) [[unlikely]] {
        // SUBSCRIBE is confirmed by pushes but refused by a reply.
        if (!resp3::is_error(reply.nodes[0].kind)) {
            broken_ = error::unexpected_reply;
            return;
        }
        refusal_.set(resp3::printable(reply.nodes[0].value, 256));
        if (e.op)
            e.op->fail(refusal_of(reply.nodes[0].value), exec_op::subscription);
        finish_front(done);
        return;
    }
    bool const is_refusal = resp3::is_error(reply.nodes[0].kind);
    if (is_refusal && e.op && e.op->retries != 0 && is_deferred(*e.op, reply.nodes[0].value)) [[unlikely]]
        e.op = nullptr;
    else if (e.op) [[likely]]
        deliver(*e.op, reply);
    else if (is_value_in_)
        end_value_in(done);
    else if (e.token == 0)
        ++counters_.replies_dropped;
    else if (!take_token(reply.nodes[0], e.token, done))
        return;
    if (--e.left != 0)
        return;
    if (e.effects != no_effect && e.is_last) [[unlikely]]
        correct_effects(e, reply.nodes[0]);
    finish_front(done);
}

/// True: it waits for another attempt.
bool multiplexer::is_deferred(exec_op& o, std::string_view refusal) noexcept {
    if (o.request->commands() != 1)
        return false;
    bool passes = false;
    switch (refusal_of(refusal)) {
    case error::loading: passes = deferring_.loading; break;
    case error::busy: passes = deferring_.busy; break;
    case error::master_down: passes = deferring_.master_down; break;
    case error::cluster_down: passes = deferring_.cluster_down; break;
    case error::try_again: passes = deferring_.try_again; break;
    case error::read_only: passes = deferring_.read_only; break;
    default: break;
    }
    if (!passes)
        return false;
    --o.retries;
    ++repeated_;
    if (head_ < last_question_) { // It may be another one's refusal.
        unproved_refusals_.push_back(o);
        return true;
    }
    ended(o);
    deferred_.push_back(o);
    return true;
}

/// By its last reply. A user who may not DISCARD has the transaction open still, in which all that comes next is
/// queued: nobody can share the connection then. A MULTI that was refused has opened none.
void multiplexer::correct_effects(entry& e, resp3::node const& last) noexcept {
    bool const is_refused = resp3::is_error(last.kind);
    bool const is_queued = last.kind == resp3::type::simple_string && last.value == "QUEUED";
    if ((e.effects & closes) && (is_queued || (is_refused && last.value.starts_with("NOPERM")))) {
        e.effects ^= opens | closes;
        if (!cfg_.dedicated)
            broken_ = error::unexpected_reply;
    } else if ((e.effects & opens) && is_refused && e.op && e.op->request->expected_replies() == 1) {
        e.effects &= static_cast<unsigned char>(~opens);
    }
}

void multiplexer::finish_front(op_queue& done) noexcept {
    entry const& e = at(head_);
    ++head_;
    if (e.effects != no_effect && e.is_last) [[unlikely]]
        take_effect(e);
    if (!e.op || !e.is_last)
        return;
    if (head_ <= last_question_) [[unlikely]]
        return unproved_.push_back(*e.op);
    ended(*e.op);
    done.push_back(*e.op);
}

void multiplexer::take_effect(entry const& e) noexcept {
    if (e.effects & (opens | closes))
        in_transaction_ = e.effects & opens;
    if (e.effects & reserves)
        reserved_at_ = head_;
    if (e.effects & pauses)
        pause_ms_ = e.late_ms == request::for_ever_ms ? 0 : e.late_ms; // Nobody asks for 50 days: it was refused.
}

void multiplexer::keep_push(std::span<resp3::node const> message) {
    pushes_.append(message);
    while (pushes_.messages() > cfg_.pushes_max || pushes_.bytes() > cfg_.push_bytes_max) {
        if (cfg_.pushes == push_policy::close) {
            broken_ = error::pushes_overflow;
            return;
        }
        counters_.pushes_dropped += pushes_.drop_older_half();
    }
}

void multiplexer::on_push(std::span<resp3::node const> message, op_queue& done) {
    ++pushes_read_;
    if (watch_)
        is_held_up_ |= watch_->pushed(message, portion_);
    else
        keep_push(message);
    if (broken_ || head_ == written_)
        return;
    entry& e = at(head_);
    if (e.kind == confirmation::none || message.size() < 2)
        return;
    if (message[1].value == confirmation_names[static_cast<std::size_t>(e.kind)] && --e.left == 0)
        finish_front(done);
}

} // namespace fairlead::redis::impl
