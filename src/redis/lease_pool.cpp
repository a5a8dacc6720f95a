#include <redis/lease_pool.hpp>

#include <redis/client_core.hpp>

#include <algorithm>

namespace fairlead::redis::impl {

lease_pool::lease_pool(client_core& c)
    : client_(c),
      most_(c.options().leases_max),
      all_(std::make_unique<std::unique_ptr<leased_connection>[]>(most_)),
      limits_(c.shared().engine(), 0, this, [](void* self) noexcept { static_cast<lease_pool*>(self)->on_limits(); }) {
    limits_.start_from(c.shared().limits());
}

lease_pool::~lease_pool() {
    while (!line_.empty())
        line_.pop_front(); // of a loop that has gone
}

// ---- those who wait

bool lease_pool::take(exec_op& o) noexcept {
    if (most_ == 0)
        return false;
    if (o.limit_ms != 0 && !limits_.arm_by(o.due_ms)) {
        o.fail(fairlead::impl::base::code_of(std::errc::not_enough_memory));
        client_.shared().complete(o);
        return true;
    }
    put_in_line(o);
    look_for_work();
    return true;
}

void lease_pool::put_in_line(exec_op& o) noexcept {
    if (line_.empty())
        client_.shared().loop().work_started();
    line_.push_back(o);
    waiting_.fetch_add(1, std::memory_order_relaxed);
}

void lease_pool::take_out(exec_op& o) noexcept {
    op_queue::unlink(o);
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    if (!line_.empty())
        return;
    limits_.disarm(); // It would keep the loop running.
    client_.shared().loop().work_finished();
}

void lease_pool::give_up(exec_op& o, error_code const& ec) noexcept {
    take_out(o);
    o.fail(ec);
    client_.shared().complete(o);
}

bool lease_pool::cancel(exec_op& o) noexcept {
    bool is_mine = false;
    line_.for_each([&](op& each) {
        if (&each != &o)
            return;
        is_mine = true;
        give_up(o, fairlead::error::operation_aborted);
    });
    for_each([&](leased_connection& l) { is_mine = is_mine || l.core().cancel_if_pending(o); });
    return is_mine;
}

std::size_t lease_pool::cancel(request const* r) noexcept {
    std::size_t n = 0;
    line_.for_each([&](op& each) {
        auto& o = static_cast<exec_op&>(each);
        if (o.request != r)
            return;
        ++n;
        give_up(o, fairlead::error::operation_aborted);
    });
    for_each([&](leased_connection& l) { n += l.core().cancel_here(r); });
    return n;
}

exec_op* lease_pool::find(op const* where, void* ticket) noexcept {
    exec_op* found = nullptr;
    line_.for_each([&](op& each) {
        if (&each == where && fairlead::impl::exec::has_ticket(each, ticket))
            found = static_cast<exec_op*>(&each);
    });
    for_each([&](leased_connection& l) { found = found ? found : l.core().find(where, ticket); });
    return found;
}

exec_op* lease_pool::find_marked() noexcept {
    exec_op* found = nullptr;
    line_.for_each([&](op& each) {
        if (fairlead::impl::exec::is_marked_asked(each))
            found = static_cast<exec_op*>(&each);
    });
    for_each([&](leased_connection& l) { found = found ? found : l.core().find_marked(); });
    return found;
}

void lease_pool::on_limits() noexcept {
    auto const now_ms = static_cast<std::uint32_t>(limits_.now_ms());
    line_.for_each([&](op& each) {
        auto& o = static_cast<exec_op&>(each);
        if (o.limit_ms == 0)
            return;
        if (static_cast<std::int32_t>(now_ms - o.due_ms) >= 0)
            give_up(o, error::not_sent_in_time);
        else
            limits_.arm_by(o.due_ms);
    });
}

void lease_pool::end_all(error_code const& ec) noexcept {
    while (!line_.empty())
        give_up(static_cast<exec_op&>(*line_.front()), ec);
    for_each([](leased_connection& l) { l.end(); });
}

void lease_pool::close() noexcept {
    for_each([](leased_connection& l) { l.close(); });
}

// ---- connections

void lease_pool::look_for_work() noexcept {
    while (!line_.empty()) {
        auto* const l = find_in(leased_connection::state::free);
        if (!l)
            break;
        auto& o = static_cast<exec_op&>(*line_.front());
        take_out(o);
        give(*l, o);
    }
    if (!client_.shared().is_connected()) // Whether there is a server at all, the shared one finds out.
        return;
    auto wanted = line_.count_up_to(static_cast<unsigned>(most_));
    for_each(
        [&](leased_connection& l) { wanted -= wanted != 0 && l.now_in() == leased_connection::state::connecting; });
    try {
        for (; wanted != 0; --wanted) {
            auto* const l = make_one();
            if (!l)
                return;
            l->connect();
        }
    } catch (...) {
        if (!line_.empty())
            give_up(static_cast<exec_op&>(*line_.front()), fairlead::impl::base::code_of(std::errc::not_enough_memory));
    }
}

void lease_pool::give(leased_connection& l, exec_op& o) noexcept {
    if (o.deliver != &deliver_lease)
        return l.execute(o);
    l.lend();
    client_.lend(l, o.object);
    client_.shared().complete(o);
}

leased_connection* lease_pool::find_in(leased_connection::state s) noexcept {
    leased_connection* found = nullptr;
    for_each([&](leased_connection& l) {
        if (!found && l.now_in() == s)
            found = &l;
    });
    return found;
}

/// A cold one, or a new one. Null: there are as many as may be.
leased_connection* lease_pool::make_one() {
    if (auto* const l = find_in(leased_connection::state::cold))
        return l;
    auto const n = made_.load(std::memory_order_relaxed);
    if (n == most_)
        return nullptr;
    all_[n] =
        std::make_unique<leased_connection>(*this, client_.shared(), client_.how(), client_.options().repeats_max);
    made_.store(n + 1, std::memory_order_release);
    return all_[n].get();
}

bool lease_pool::prepare(error_code& ec) noexcept { return client_.ask_credentials(ec); }

config_view lease_pool::settings() const noexcept {
    config_view cfg = client_.settings();
    cfg.dedicated = true;
    return cfg;
}

std::chrono::milliseconds lease_pool::next_pause(backoff& b) noexcept {
    auto const& o = client_.options();
    return b.next_pause(o.pause_min, o.pause_max, client_.shared().engine().now_ns());
}

std::chrono::milliseconds lease_pool::idle_max() const noexcept {
    return std::min<std::chrono::milliseconds>(client_.options().lease_idle, for_ever);
}

// ---- any thread

std::size_t lease_pool::pending() noexcept {
    auto n = waiting_.load(std::memory_order_relaxed);
    for_each([&](leased_connection& l) { n += l.core().pending(); });
    return n;
}

std::uint64_t lease_pool::repeated() const noexcept {
    std::uint64_t n = 0;
    for_each([&](leased_connection& l) { n += l.core().repeated(); });
    return n;
}

void lease_pool::add_counters(connection_counters& to) const noexcept {
    for_each([&](leased_connection& l) {
        auto const c = l.core().counters();
        to.generations += c.generations;
        to.requests += c.requests;
        to.commands += c.commands;
        to.replies += c.replies;
        to.replies_dropped += c.replies_dropped;
        to.writes += c.writes;
        to.reads += c.reads;
        to.bytes_written += c.bytes_written;
        to.bytes_read += c.bytes_read;
        to.pushes += c.pushes;
        to.pushes_dropped += c.pushes_dropped;
    });
}

error_code deliver_lease(void*, std::size_t, reply_view const&) { return {}; }

request const& request_for_lease() {
    static request const r = [] {
        request never_sent;
        never_sent.push("PING");
        never_sent.set_apart();
        return never_sent;
    }();
    return r;
}

} // namespace fairlead::redis::impl
