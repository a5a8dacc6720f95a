#include <fairlead/redis/value_stream.hpp>

#include <redis/call.hpp>
#include <redis/connection_core.hpp>
#include <redis/lease_pool.hpp>
#include <redis/range_reading.hpp>
#include <redis/value_pieces.hpp>

#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/coro/when_any.hpp>
#include <fairlead/sync/event.hpp>
#include <fairlead/token/adapters.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>
#include <tuple>

namespace fairlead::redis {
namespace impl {
namespace {

/// One piece, in or out: `memory` is filled, or sent.
struct move_piece : fairlead::impl::operation::primitive<move_piece> {
    using signature = void(error_code, std::size_t);
    using record = exec_op;

    connection_core* connection;
    piecewise kind;
    char* memory;
    std::size_t bytes;

    move_piece(connection_core& c, piecewise k, char* m, std::size_t n) noexcept
        : connection(&c),
          kind(k),
          memory(m),
          bytes(n) {}
    fairlead::loop* home() const noexcept { return loop_of(*connection); }
    void prepare(record& o) const noexcept {
        o.begin(connection, &request_for_piece(kind));
        o.object = memory;
        o.deliver = &deliver_lease; // It is no command.
        o.count = bytes;
    }
    void submit(record& o) const noexcept { start(*o.connection, o); }
    static std::tuple<error_code, std::size_t> take(record& o) noexcept {
        return {o.error(), o.category ? 0 : o.count};
    }
    static std::string describe() { return "redis value in pieces"; }
};

awaitable<std::size_t> moved(connection_core& c, piecewise kind, char* memory, std::size_t bytes) {
    auto moving = completion_token_transform<move_piece::signature>(use_await, move_piece(c, kind, memory, bytes));
    auto const n = co_await std::move(moving);
    co_return n;
}

/// The beginning of a value: all of it if it is small, else its size.
struct value_beginning {
    bool is_there = false;
    std::uint64_t size = 0;
    std::string whole;
    std::string refusal;
};

error_code deliver_beginning(void* object, std::size_t, reply_view const& reply) {
    auto& to = *static_cast<value_beginning*>(object);
    auto const& first = reply.nodes[0];
    if (resp3::is_error(first.kind)) {
        to.refusal.assign(first.value);
        return refusal_of(first.value);
    }
    to.is_there = first.kind != resp3::type::null;
    if (!to.is_there)
        return {};
    reply_reader in(reply);
    if (!holds_text(first.kind))
        return not_a_value(in);
    to.size = first.size != 0 ? first.size : first.value.size();
    to.whole.assign(first.value);
    return {};
}

} // namespace

struct reader_access {
    static value_reader make(connection_core& c, lease&& own, value_beginning&& from) {
        value_reader r(c, std::move(own));
        r.size_ = r.left_ = from.size;
        r.whole_ = std::move(from.whole);
        if (!r.whole_.empty() || from.size == 0)
            r.own_ = lease(); // It came as a whole.
        return r;
    }
};

namespace {

awaitable<std::optional<value_reader>> begin_reading(connection_core& c, lease own, request r) {
    value_beginning from;
    bool is_over = false;
    // A call that is given up leaves a reply behind that may be large.
    fairlead::impl::base::at_scope_end const leave([&c, &is_over] {
        if (!is_over)
            c.cancel();
    });
    auto executing = executed(c, r, {&from, &deliver_beginning, 1});
    auto const ec = co_await std::move(executing);
    is_over =
        !ec || ec == condition::refused_by_server || ec == error::incompatible_type || ec == condition::not_executed;
    if (ec)
        throw_failed_call(ec, r, from.refusal);
    std::optional<value_reader> reader;
    if (from.is_there)
        reader.emplace(reader_access::make(c, std::move(own), std::move(from)));
    co_return reader;
}

} // namespace

awaitable<std::optional<value_reader>> read_value(client& db, request r) {
    auto acquiring = db.acquire();
    lease own = co_await std::move(acquiring);
    auto& core = lease_access::core(own);
    auto reading = begin_reading(core, std::move(own), std::move(r));
    auto reader = co_await std::move(reading);
    co_return reader;
}

awaitable<std::optional<value_reader>> read_value(lease& own, request r) {
    return begin_reading(lease_access::core(own), lease(), std::move(r));
}

namespace {

struct sending {
    std::uint64_t left;
    bool is_whole = false;
    bool may_be_whole = false; // The last bytes were on their way when it ended.
    std::exception_ptr failure{};
};

awaitable<std::size_t> send_piece(connection_core& c, std::string_view piece, sending& s) {
    try {
        auto moving = moved(c, piecewise::next_out, const_cast<char*>(piece.data()), piece.size());
        auto const n = co_await std::move(moving);
        co_return n;
    } catch (system_error const& e) {
        s.may_be_whole = e.code() == error::maybe_executed;
        throw;
    }
}

/// Ends when it is asked to: the call ends first.
awaitable<void> feed(connection_core& c, piece_source& from, sending& s) {
    try {
        while (s.left != 0) {
            auto asking = from.next();
            auto piece = co_await std::move(asking);
            if (piece.empty())
                break;
            if (piece.size() > s.left)
                throw std::length_error("redis: a source gave more bytes than was said before");
            while (!piece.empty()) {
                auto sending_some = send_piece(c, piece, s);
                auto const n = co_await std::move(sending_some);
                piece.remove_prefix(n);
                s.left -= n;
            }
        }
        s.is_whole = s.left == 0;
    } catch (...) {
        s.failure = std::current_exception();
    }
    if (!s.is_whole)
        c.cancel(); // The server waits for the rest. The call ends with its connection.
    fairlead::event never(c.io_executor());
    auto waiting = never.async_wait();
    co_await std::move(waiting);
}

} // namespace

namespace {

/// Not all bytes were sent, so nothing was executed.
[[noreturn]] void throw_incomplete(sending const& s, call_error const& ec, request const& r,
                                   std::string const& refusal) {
    bool const says_why = ec == condition::refused_by_server || ec == error::not_connected ||
                          ec == error::too_many_requests || ec == error::not_sent_in_time;
    if (says_why)
        throw_failed_call(ec, r, refusal);
    if (ec == error::no_answer_in_time)
        throw_failed_call({error::not_sent_in_time}, r, {});
    if (s.failure) {
        try {
            std::rethrow_exception(s.failure);
        } catch (system_error const& e) {
            bool const was_asked_by_us = ec.ending != 0 && e.code() == fairlead::error::operation_aborted;
            if (e.code() != error::not_connected && e.code() != error::value_incomplete && !was_asked_by_us)
                throw;
        }
    }
    throw_failed_call({error::value_incomplete, ec.ending}, r, {});
}

} // namespace

awaitable<void> write_value(lease& own, request r, response_ref to, std::string const& refusal, piece_source& from) {
    auto& c = lease_access::core(own);
    sending s{.left = r.value_bytes()};
    fairlead::impl::base::at_scope_end const leave([&c, &s] {
        if (!s.is_whole)
            c.cancel();
    });
    auto call = executed(c, r, to);
    auto feeding = feed(c, from, s);
    auto both = when_any(std::move(call), std::move(feeding));
    auto ended = co_await std::move(both);
    call_error ec{fairlead::error::operation_aborted, 0};
    if (ended.get<0>().has_value())
        ec = ended.get<0>().value();
    if (!s.is_whole && !s.may_be_whole) // Else the call itself says what is known.
        throw_incomplete(s, ec, r, refusal);
    if (ec)
        throw_failed_call(ec, r, refusal);
}

} // namespace impl

value_reader::value_reader(impl::connection_core& c, lease&& own) noexcept : own_(std::move(own)), core_(&c) {
    core_->retain();
}
value_reader::value_reader(value_reader&& other) noexcept
    : own_(std::move(other.own_)),
      core_(std::exchange(other.core_, nullptr)),
      size_(other.size_),
      left_(std::exchange(other.left_, 0)),
      whole_(std::move(other.whole_)),
      memory_(std::move(other.memory_)),
      ranges_(std::move(other.ranges_)) {}

value_reader::~value_reader() {
    if (left_ != 0 && ranges_)
        impl::range_reading::leave(std::move(ranges_));
    else if (left_ != 0 && whole_.empty())
        core_->cancel(); // The rest of the value is on the connection.
    own_ = lease();
    if (core_)
        core_->release();
}

awaitable<std::size_t> value_reader::read_some(std::span<char> memory) {
    if (left_ == 0 || memory.empty())
        co_return 0;
    std::size_t n = 0;
    if (ranges_) {
        auto filling = impl::range_reading::fill(ranges_);
        co_await std::move(filling);
        n = ranges_->bytes().copy(memory.data(), memory.size());
        ranges_->take(n);
    } else if (!whole_.empty()) {
        n = whole_.copy(memory.data(), memory.size(), whole_.size() - static_cast<std::size_t>(left_));
    } else {
        auto moving = impl::moved(*core_, impl::piecewise::next_in, memory.data(), memory.size());
        n = co_await std::move(moving);
    }
    left_ -= n;
    if (left_ == 0)
        own_ = lease(); // for others
    co_return n;
}

awaitable<std::string_view> value_reader::next() {
    if (ranges_ && left_ != 0) {
        auto filling = impl::range_reading::fill(ranges_);
        co_await std::move(filling);
        auto const piece = ranges_->bytes().substr(0, impl::piece_bytes_max);
        ranges_->take(piece.size());
        left_ -= piece.size();
        if (left_ == 0)
            own_ = lease(); // for others
        co_return piece;
    }
    auto const bytes = static_cast<std::size_t>(std::min<std::uint64_t>(left_, impl::piece_bytes_max));
    if (!memory_)
        memory_ = std::make_unique<char[]>(impl::piece_bytes_max);
    auto reading = read_some({memory_.get(), bytes});
    auto const n = co_await std::move(reading);
    co_return std::string_view(memory_.get(), n);
}

} // namespace fairlead::redis
