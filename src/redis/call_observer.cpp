#include <redis/call_observer.hpp>

#include <redis/lease_pool.hpp>

#include <redis/call_table.hpp>
#include <redis/command_table.hpp>
#include <redis/commands.hpp>

#include <fairlead/exec/recycler.hpp>
#include <fairlead/redis/error.hpp>
#include <fairlead/resp3/error.hpp>

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

namespace fairlead::redis::impl {
namespace {

/// The first word of an error, which says its kind.
constexpr std::size_t refusal_bytes_max = 32;

struct named_command {
    std::size_t place;
    std::string_view name;
    std::size_t bytes;
    bool is_confirmed; // by pushes: no reply comes
};

/// Takes the first command off `bytes`.
named_command take_command(std::string_view& bytes) noexcept {
    auto const before = bytes.size();
    arguments_of words(bytes);
    auto const name = words.next();
    auto const subcommand = words.left() != 0 ? words.next() : std::string_view();
    while (words.left() != 0)
        words.next();
    bytes = words.rest();
    auto const* const known = may_be_found(name) ? find_command(name) : nullptr;
    auto const place = call_table::place_of(name, subcommand);
    auto const all = all_command_facts();
    return {.place = place,
            .name = place < all.size() ? all[place].name : name,
            .bytes = before - bytes.size(),
            .is_confirmed = known && known->what == role::confirmed};
}

} // namespace

struct call_observer::call {
    call_observer const* observer;
    fairlead::loop* clock;
    redis::request const* request;
    std::string_view rest; // of its commands: those that have not been counted
    void* object;          // the caller's response
    deliver_function deliver;
    std::int64_t begun_ns;
    call_begin told; // to the hook before; its texts are those of the table or of the request
    std::uintptr_t of_program = 0;
    std::size_t bytes_received = 0;
    std::size_t refusal_bytes = 0;
    char refusal[refusal_bytes_max];
};

call_outcome outcome_of(error_code const& ec) noexcept {
    if (!ec)
        return call_outcome::answered;
    if (ec == condition::refused_by_server)
        return call_outcome::refused_by_server;
    if (ec == condition::timed_out)
        return call_outcome::timed_out;
    if (ec == fairlead::error::operation_aborted)
        return call_outcome::cancelled;
    if (ec == error::maybe_executed)
        return call_outcome::maybe_executed;
    if (ec == error::not_sent || ec == error::not_connected)
        return call_outcome::not_sent;
    if (ec == error::refused_command || ec == error::too_many_requests || ec == error::response_mismatch)
        return call_outcome::refused_by_client;
    if (ec == error::incompatible_type || ec == error::conversion_failed ||
        ec.category() == resp3::get_error_category())
        return call_outcome::incompatible_reply;
    return call_outcome::other;
}

void call_observer::begin(exec_op& o, fairlead::loop& clock) const noexcept {
    if (o.deliver == &deliver_lease) // It executes nothing.
        return;
    void* const memory = fairlead::impl::exec::recycle_allocate_or_null(sizeof(call));
    if (!memory)
        return;
    auto& c = *::new (memory) call{.observer = this,
                                   .clock = &clock,
                                   .request = o.request,
                                   .rest = o.request->payload(),
                                   .object = o.object,
                                   .deliver = o.deliver,
                                   .begun_ns = clock.clock_ns(),
                                   .told = {},
                                   .refusal = {}};
    o.object = &c;
    o.deliver = &call_observer::deliver;
    tell_begin(c);
}

response_ref call_observer::response_of(exec_op const& o) noexcept {
    if (o.deliver != &call_observer::deliver)
        return {o.object, o.deliver, response_ref::any_number};
    auto const& c = *static_cast<call const*>(o.object);
    return {c.object, c.deliver, response_ref::any_number};
}

error_code call_observer::deliver(void* object, std::size_t index, reply_view const& reply) {
    auto& c = *static_cast<call*>(object);
    std::size_t bytes = 0;
    for (auto const& n : reply.nodes)
        bytes += n.value.size();
    c.bytes_received += bytes;
    auto outcome = call_outcome::answered;
    if (auto const& first = reply.nodes[0]; resp3::is_error(first.kind)) {
        outcome = call_outcome::refused_by_server;
        if (c.refusal_bytes == 0)
            c.refusal_bytes = first.value.substr(0, first.value.find(' ')).copy(c.refusal, refusal_bytes_max);
    }
    try {
        auto const ec = c.deliver(c.object, index, reply);
        if (ec && outcome == call_outcome::answered)
            outcome = outcome_of(ec);
        c.observer->count(c, outcome, bytes);
        return ec;
    } catch (...) {
        c.observer->count(c, call_outcome::incompatible_reply, bytes);
        throw;
    }
}

/// The next command that has a reply, and those before it that have none.
void call_observer::count(call& c, call_outcome outcome, std::size_t bytes_received) const noexcept {
    if (!statistics_)
        return;
    auto const took = c.clock->clock_ns() - c.begun_ns;
    while (!c.rest.empty()) {
        auto const next = take_command(c.rest);
        ended_command const e{.outcome = next.is_confirmed ? call_outcome::answered : outcome,
                              .bytes_sent = next.bytes,
                              .bytes_received = next.is_confirmed ? 0 : bytes_received,
                              .took_ns = took};
        statistics_->table_->count(next.place, e);
        if (!next.is_confirmed)
            return;
    }
}

void call_observer::end(exec_op& o) const noexcept {
    if (o.deliver != &call_observer::deliver)
        return;
    auto& c = *static_cast<call*>(o.object);
    o.object = c.object;
    o.deliver = c.deliver;
    if (statistics_) {
        auto const outcome = outcome_of(o.error());
        auto const took = c.clock->clock_ns() - c.begun_ns;
        while (!c.rest.empty()) {
            auto const next = take_command(c.rest);
            statistics_->table_->count(
                next.place, {.outcome = outcome, .bytes_sent = next.bytes, .bytes_received = 0, .took_ns = took});
        }
    }
    tell_end(c, o);
    fairlead::impl::exec::recycle_free_sized(&c, sizeof(call));
}

// ---- hooks

namespace {

call_begin description_of(redis::request const& r) noexcept {
    call_begin b;
    b.commands = r.commands();
    b.bytes_sent = r.payload().size();
    std::string_view rest = r.payload();
    if (!rest.empty())
        b.command = take_command(rest).name;
    while (!rest.empty() && b.is_same)
        b.is_same = take_command(rest).name == b.command;
    return b;
}

} // namespace

/// A hook that throws must not cost a call.
void call_observer::tell_begin(call& c) const noexcept {
    if (!before_ && !after_)
        return;
    c.told = description_of(*c.request);
    if (!before_)
        return;
    try {
        c.of_program = before_(c.told);
    } catch (...) { // As client_options says.
    }
}

void call_observer::tell_end(call const& c, exec_op const& o) const noexcept {
    if (!after_)
        return;
    try {
        call_end e;
        static_cast<call_begin&>(e) = c.told;
        e.ec = o.error();
        e.refusal = {c.refusal, c.refusal_bytes};
        e.bytes_received = c.bytes_received;
        e.duration = std::chrono::nanoseconds(c.clock->clock_ns() - c.begun_ns);
        after_(e, c.of_program);
    } catch (...) { // As client_options says.
    }
}

} // namespace fairlead::redis::impl
