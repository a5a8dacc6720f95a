#include <redis/lease_pool.hpp>

#include <redis/client_core.hpp>
#include <redis/topic_connection.hpp>

#include <algorithm>

namespace fairlead::redis::impl {

lease_pool::lease_pool(client_core& c)
    : client_(c),
      most_(c.options().leases_max),
      all_(std::make_unique<std::unique_ptr<leased_connection>[]>(most_)),
      line_(c.shared(), c.shared().engine()) {
    line_.start_from(c.shared().limits());
}

lease_pool::~lease_pool() { delete topics(); }

// ---- those who wait

bool lease_pool::take(exec_op& o) noexcept {
    if (o.request->has_subscriptions()) {
        take_for_topics(o);
        return true;
    }
    if (most_ == 0)
        return false;
    auto const cfg = client_.settings();
    if (!cfg.wait_when_full && line_.size() >= cfg.requests_max) {
        o.fail(error::too_many_requests);
        client_.shared().complete(o);
    } else if (line_.push_back(o)) {
        look_for_work();
    }
    return true;
}

bool lease_pool::cancel(exec_op& o) noexcept {
    bool is_mine = line_.cancel(o);
    for_each([&](leased_connection& l) { is_mine = is_mine || l.core().cancel_if_pending(o); });
    if (auto* const t = topics(); t && !is_mine)
        is_mine = t->core().cancel_if_pending(o);
    return is_mine;
}

std::size_t lease_pool::cancel(request const* r) noexcept {
    auto n = line_.cancel(r);
    for_each([&](leased_connection& l) { n += l.core().cancel_here(r); });
    return topics() ? n + topics()->core().cancel_here(r) : n;
}

exec_op* lease_pool::find(op const* where, void* ticket) noexcept {
    auto* found = line_.find(where, ticket);
    for_each([&](leased_connection& l) { found = found ? found : l.core().find(where, ticket); });
    return !found && topics() ? topics()->core().find(where, ticket) : found;
}

exec_op* lease_pool::find_marked() noexcept {
    auto* found = line_.find_marked();
    for_each([&](leased_connection& l) { found = found ? found : l.core().find_marked(); });
    return !found && topics() ? topics()->core().find_marked() : found;
}

void lease_pool::end_all(error_code const& ec) noexcept {
    line_.give_all_up(ec);
    for_each([](leased_connection& l) { l.end(); });
    if (auto* const t = topics())
        t->end();
}

void lease_pool::close() noexcept {
    for_each([](leased_connection& l) { l.close(); });
    if (auto* const t = topics())
        t->close();
}

// ---- messages, where the shared connection cannot bring them

/// Null: no memory.
topic_connection* lease_pool::topics_made() noexcept {
    if (!topics())
        try {
            topics_.store(new topic_connection(client_), std::memory_order_release);
        } catch (...) {
        }
    return topics();
}

void lease_pool::take_for_topics(exec_op& o) noexcept {
    if (auto* const t = topics_made())
        return t->execute(o);
    o.fail(fairlead::impl::base::code_of(std::errc::not_enough_memory));
    client_.shared().complete(o);
}

void lease_pool::bring_no_messages() noexcept {
    if (auto* const t = topics())
        t->retire();
}

bool lease_pool::bring_messages() noexcept {
    if (client_.shared().protocol() == resp3::version::resp3)
        return false;
    bool const is_wanted = client_.wants_messages();
    auto* const t = is_wanted ? topics_made() : topics();
    if (t)
        t->connect_if_needed();
    return is_wanted && !(t && t->is_in_force());
}

// ---- connections

void lease_pool::look_for_work() noexcept {
    while (!line_.empty()) {
        auto* const l = find_in(leased_connection::state::free);
        if (!l)
            break;
        give(*l, line_.pop_front());
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
            line_.give_up(line_.front(), fairlead::impl::base::code_of(std::errc::not_enough_memory));
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
    return b.next_pause(o.pause_min, o.pause_max, client_.shared().chance());
}

std::chrono::milliseconds lease_pool::idle_max() const noexcept {
    return std::min<std::chrono::milliseconds>(client_.options().lease_idle, for_ever);
}

// ---- any thread

std::size_t lease_pool::pending() noexcept {
    auto n = line_.size();
    for_each([&](leased_connection& l) { n += l.core().pending(); });
    return topics() ? n + topics()->core().pending() : n;
}

std::uint64_t lease_pool::repeated() const noexcept {
    std::uint64_t n = 0;
    for_each([&](leased_connection& l) { n += l.core().repeated(); });
    return n;
}

void lease_pool::add_counters(connection_counters& to) const noexcept {
    auto const add = [&to](connection_core& core) {
        auto const c = core.counters();
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
    };
    for_each([&](leased_connection& l) { add(l.core()); });
    if (auto* const t = topics())
        add(t->core());
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
