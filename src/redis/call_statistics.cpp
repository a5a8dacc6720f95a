#include <redis/call_table.hpp>

#include <redis/command_table.hpp>

#include <bit>
#include <new>

namespace fairlead::redis {
namespace impl {

std::size_t bucket_of(std::int64_t ns) noexcept {
    auto const us = ns <= 0 ? 0 : (static_cast<std::uint64_t>(ns) + 999) / 1000;
    auto const k = us <= 1 ? 0 : static_cast<std::size_t>(std::bit_width(us - 1));
    return k < latency_bounds ? k : latency_bounds;
}

call_table::call_table()
    : size(all_command_facts().size() + 1),
      rows(std::make_unique<std::atomic<call_row*>[]>(size)) {}

call_table::~call_table() {
    for (std::size_t i = 0; i != size; ++i)
        delete rows[i].load(std::memory_order_relaxed);
}

std::size_t call_table::place_of(std::string_view name, std::string_view subcommand) noexcept {
    auto const all = all_command_facts();
    auto const* known = facts_of(name);
    if (known && is_container(*known) && !subcommand.empty())
        known = facts_of(name, subcommand);
    return known ? static_cast<std::size_t>(known - all.data()) : all.size();
}

void call_table::count(std::size_t place, ended_command const& e) noexcept {
    auto* row = rows[place].load(std::memory_order_acquire);
    if (!row) [[unlikely]] {
        auto* const fresh = new (std::nothrow) call_row;
        if (!fresh)
            return;
        if (rows[place].compare_exchange_strong(row, fresh, std::memory_order_acq_rel)) {
            row = fresh;
        } else {
            delete fresh; // Another thread was first: `row` is its row.
        }
    }
    auto const add = [](std::atomic<std::uint64_t>& to, std::uint64_t n) {
        to.fetch_add(n, std::memory_order_relaxed);
    };
    add(row->by_outcome[static_cast<std::size_t>(e.outcome)], 1);
    add(row->by_latency[bucket_of(e.took_ns)], 1);
    add(row->bytes_sent, e.bytes_sent);
    add(row->bytes_received, e.bytes_received);
    add(row->time_ns, e.took_ns > 0 ? static_cast<std::uint64_t>(e.took_ns) : 0);
}

} // namespace impl

namespace {

constexpr std::string_view outcome_names[] = {"answered",          "refused_by_server", "incompatible_reply",
                                              "refused_by_client", "timed_out",         "cancelled",
                                              "not_sent",          "maybe_executed",    "other"};
static_assert(std::size(outcome_names) == call_outcomes);

command_statistics read(std::string_view name, impl::call_row const& row) {
    command_statistics s{.command = name};
    auto const value = [](std::atomic<std::uint64_t> const& of) { return of.load(std::memory_order_relaxed); };
    for (std::size_t i = 0; i != call_outcomes; ++i)
        s.by_outcome[i] = value(row.by_outcome[i]);
    for (std::size_t i = 0; i != s.by_latency.size(); ++i) {
        s.by_latency[i] = value(row.by_latency[i]);
        s.calls += s.by_latency[i];
    }
    s.bytes_sent = value(row.bytes_sent);
    s.bytes_received = value(row.bytes_received);
    s.time = std::chrono::nanoseconds(static_cast<std::int64_t>(value(row.time_ns)));
    return s;
}

} // namespace

std::string_view to_string(call_outcome o) noexcept { return outcome_names[static_cast<std::size_t>(o)]; }

call_statistics::call_statistics() : table_(std::make_unique<impl::call_table>()) {}
call_statistics::~call_statistics() = default;

std::vector<command_statistics> call_statistics::commands() const {
    std::vector<command_statistics> all;
    auto const facts = impl::all_command_facts();
    for (std::size_t i = 0; i != table_->size; ++i)
        if (auto const* const row = table_->rows[i].load(std::memory_order_acquire))
            all.push_back(read(i < facts.size() ? facts[i].name : "other", *row));
    return all;
}

} // namespace fairlead::redis
