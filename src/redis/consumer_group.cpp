// Reads a stream for one consumer of a group: first its own pending entries, then those that others left, then new
// ones.
#include <fairlead/redis/consumer_group.hpp>

#include <redis/call.hpp>
#include <redis/client_core.hpp>

#include <fairlead/coro/this_coro.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/redis/cmd/streams.hpp>
#include <fairlead/redis/script_call.hpp>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace fairlead::redis::impl {

struct client_access {
    static client_core& core_of(client& c) noexcept { return *c.core_; }
};

/// Those that were noted, on their way. They are noted again unless they get there.
struct taken_acks {
    std::vector<std::string>& from;
    std::vector<std::string> ids; // behind those that were noted there may be others
    std::size_t noted = ids.size();
    bool are_sent = false;

    explicit taken_acks(std::vector<std::string>& all) noexcept : from(all), ids(std::exchange(all, {})) {}
    taken_acks(taken_acks const&) = delete;
    taken_acks& operator=(taken_acks const&) = delete;
    ~taken_acks() {
        if (are_sent)
            return;
        ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(noted), ids.end());
        ids.swap(from);
        try {
            from.insert(from.end(), std::make_move_iterator(ids.begin()), std::make_move_iterator(ids.end()));
        } catch (...) { // Without memory those that were noted meanwhile come again.
        }
    }
};

class group_reader {
public:
    group_reader(client_core& c, std::string_view stream, std::string_view group, std::string_view consumer,
                 consumer_options&& o)
        : client_(&c),
          options_(std::move(o)),
          stream_(stream),
          group_(group),
          consumer_(consumer),
          begin_(options_.begin) {}

    awaitable<std::optional<consumed_entry>> next();
    awaitable<bool> ack(std::string id);
    awaitable<std::size_t> ack(std::vector<std::string> ids);

private:
    using origin = consumed_entry::origin;
    enum class step : unsigned char { go_on, find_nothing, pause, end };

    connection_core& connection() noexcept { return client_.core->shared(); }
    std::int64_t now_ns() { return connection().engine().now_ns(); }
    bool is_time_to_claim() { return options_.claim_idle.count() > 0 && now_ns() >= claim_at_ns_; }

    awaitable<step> fill();
    awaitable<step> make_group();
    awaitable<step> read(std::string id, origin from, std::chrono::milliseconds block = {});
    awaitable<step> claim();
    awaitable<step> acknowledge();
    awaitable<step> forget_deleted();
    awaitable<step> trim();
    awaitable<step> after(call_error ec, request const& r, std::string const& refusal);
    awaitable<step> wait_for_more();
    std::chrono::milliseconds longest_wait();
    void hold(std::vector<stream_entry>&& entries, origin from) noexcept {
        held_ = std::move(entries);
        at_ = 0;
        from_ = from;
    }

    client_core::reference client_;
    consumer_options options_;
    std::string stream_, group_, consumer_;

    std::vector<stream_entry> held_;
    std::size_t at_ = 0; // of the next one
    origin from_ = origin::fresh;
    std::vector<std::string> deleted_; // pending, and no longer in the stream
    std::vector<std::string> noted_;   // by ack(), and not acknowledged yet

    std::string begin_;         // of the group, when it is made
    bool has_group_ = false;    // as far as is known
    bool is_group_new_ = false; // and nothing was read since
    bool can_block_ = true;     // as far as is known
    bool reads_pending_ = true;
    std::string read_up_to_ = "0"; // what is pending behind it was not held yet
    std::string claim_from_ = "0-0";
    std::int64_t claim_at_ns_ = 0;
    std::int64_t untrimmed_ = 0; // entries that came since the last time
};

awaitable<std::optional<consumed_entry>> group_reader::next() {
    for (;;) {
        while (at_ != held_.size()) {
            auto& entry = held_[at_++];
            if (!entry.fields.empty())
                co_return consumed_entry{std::move(entry), from_};
            deleted_.push_back(std::move(entry.id));
        }
        auto filling = fill();
        auto what = co_await std::move(filling);
        if (what == step::find_nothing) {
            auto waiting = wait_for_more();
            what = co_await std::move(waiting);
        }
        if (what == step::pause) {
            steady_timer pause(co_await this_coro::executor, options_.poll_interval);
            auto resting = pause.async_wait();
            co_await std::move(resting);
        }
        if (what == step::end)
            co_return std::nullopt;
    }
}

/// Waits at the server, by a command that blocks on a connection of the pool.
awaitable<group_reader::step> group_reader::wait_for_more() {
    if (!can_block_ || options_.block_for.count() <= 0)
        co_return step::pause;
    auto reading = read(">", origin::fresh, longest_wait());
    auto const what = co_await std::move(reading);
    co_return what == step::find_nothing ? step::go_on : what;
}

/// Not beyond the time at which it looks for entries of others.
std::chrono::milliseconds group_reader::longest_wait() {
    if (options_.claim_idle.count() <= 0)
        return options_.block_for;
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::nanoseconds(claim_at_ns_ - now_ns()));
    return std::clamp(left, std::chrono::milliseconds(1), options_.block_for);
}

/// One step towards entries.
awaitable<group_reader::step> group_reader::fill() {
    if (!has_group_)
        return make_group();
    if (!noted_.empty())
        return acknowledge();
    if (!deleted_.empty())
        return forget_deleted();
    if (reads_pending_)
        return read(read_up_to_, origin::pending);
    if (is_time_to_claim())
        return claim();
    if (options_.keep_about > 0 && untrimmed_ >= std::max(options_.batch, options_.keep_about / 8))
        return trim();
    return read(">", origin::fresh);
}

awaitable<group_reader::step> group_reader::make_group() {
    auto const making = cmd::xgroup_create(stream_, group_, begin_, options::mkstream);
    auto made = making.response();
    auto executing = executed(connection(), making.req(), made.refer());
    auto const ec = co_await std::move(executing);
    if (ec && ec != error::busy_group) {
        auto failing = after(ec, making.req(), made.refusal());
        co_return co_await std::move(failing);
    }
    is_group_new_ = !ec;
    has_group_ = true;
    begin_ = "0"; // If somebody deletes the stream, whatever comes until the group is there again is not lost.
    co_return step::go_on;
}

awaitable<group_reader::step> group_reader::read(std::string id, origin from, std::chrono::milliseconds block) {
    auto const count = options::count(options_.batch);
    auto const reading = block.count() > 0
                             ? cmd::xreadgroup(group_, consumer_, {{stream_, id}}, count, options::block_for(block))
                             : cmd::xreadgroup(group_, consumer_, {{stream_, id}}, count);
    auto found = reading.response();
    auto executing = executed(connection(), reading.req(), found.refer());
    auto const ec = co_await std::move(executing);
    if (ec) {
        // Entries that the server has delivered meanwhile are pending behind those that were read.
        reads_pending_ = reads_pending_ || ec == error::maybe_executed || ec == error::no_answer_in_time;
        if (ec == error::refused_command && block.count() > 0) { // by a client without a pool
            can_block_ = false;
            co_return step::pause;
        }
        auto failing = after(ec, reading.req(), found.refusal());
        co_return co_await std::move(failing);
    }
    is_group_new_ = false;
    auto& streams = found.value();
    bool const is_empty = streams.empty() || streams[0].second.empty();
    if (is_empty && from == origin::pending) {
        reads_pending_ = false;
        co_return step::go_on;
    }
    if (is_empty)
        co_return step::find_nothing;
    read_up_to_ = streams[0].second.back().id;
    if (from == origin::fresh)
        untrimmed_ += static_cast<std::int64_t>(streams[0].second.size());
    hold(std::move(streams[0].second), from);
    co_return step::go_on;
}

awaitable<group_reader::step> group_reader::claim() {
    auto const claiming =
        cmd::xautoclaim(stream_, group_, consumer_, options_.claim_idle, claim_from_, options::count(options_.batch));
    auto page = claiming.response();
    auto executing = executed(connection(), claiming.req(), page.refer());
    auto const ec = co_await std::move(executing);
    if (ec) {
        // Entries whose page was lost are this consumer's, and are found again once they have been idle for so long.
        auto failing = after(ec, claiming.req(), page.refusal());
        co_return co_await std::move(failing);
    }
    claim_from_ = page.value().next;
    if (page.value().is_last())
        claim_at_ns_ = now_ns() + std::chrono::nanoseconds(options_.claim_interval).count();
    hold(std::move(page.value().entries), origin::claimed);
    co_return step::go_on;
}

/// Those that were noted.
awaitable<group_reader::step> group_reader::acknowledge() {
    taken_acks noted(noted_);
    auto const acknowledging = cmd::xack(stream_, group_, noted.ids);
    auto done = acknowledging.response();
    auto executing = executed(connection(), acknowledging.req(), done.refer());
    auto const ec = co_await std::move(executing);
    noted.are_sent = !ec;
    if (!ec)
        co_return step::go_on;
    auto failing = after(ec, acknowledging.req(), done.refusal());
    co_return co_await std::move(failing);
}

awaitable<group_reader::step> group_reader::forget_deleted() {
    auto const forgetting = cmd::xack(stream_, group_, deleted_);
    auto forgotten = forgetting.response();
    auto executing = executed(connection(), forgetting.req(), forgotten.refer());
    auto const ec = co_await std::move(executing);
    if (!ec) {
        deleted_.clear();
        co_return step::go_on;
    }
    auto failing = after(ec, forgetting.req(), forgotten.refusal());
    co_return co_await std::move(failing);
}

awaitable<group_reader::step> group_reader::trim() {
    auto const trim_all = cmd::xtrim(stream_, options::maxlen_about(options_.keep_about));
    auto trimmed = trim_all.response();
    auto executing = executed(connection(), trim_all.req(), trimmed.refer());
    auto const ec = co_await std::move(executing);
    untrimmed_ = 0;
    if (!ec)
        co_return step::go_on;
    auto failing = after(ec, trim_all.req(), trimmed.refusal());
    co_return co_await std::move(failing);
}

/// Says how it goes on after a failure; throws when only the program can know.
awaitable<group_reader::step> group_reader::after(call_error ec, request const& r, std::string const& refusal) {
    if (ec == error::maybe_executed || ec == error::no_answer_in_time)
        co_return step::go_on;
    if (ec == error::no_group) {
        has_group_ = false;
        co_return is_group_new_ ? step::pause : step::go_on;
    }
    if (ec == error::not_sent_in_time || ec == error::loading || ec == error::busy || ec == error::master_down)
        co_return step::pause;
    bool const has_ended = ec == error::not_connected || ec == error::not_sent;
    auto const state = co_await this_coro::cancellation_state;
    bool const is_asked_to_end = state.cancelled() != cancellation_type::none;
    if (has_ended || (ec == fairlead::error::operation_aborted && !is_asked_to_end))
        co_return step::end;
    throw_failed_call(ec, r, refusal);
}

awaitable<bool> group_reader::ack(std::string id) {
    std::vector<std::string> ids;
    ids.push_back(std::move(id));
    if (noted_.size() + 1 < options_.ack_batch) {
        noted_.push_back(std::move(ids[0]));
        co_return true;
    }
    bool const is_alone = noted_.empty();
    auto acknowledging = ack(std::move(ids));
    auto const n = co_await std::move(acknowledging);
    co_return n != 0 || !is_alone;
}

/// Acknowledges those that were noted, too. They stay noted if that fails; for the others the caller is told.
awaitable<std::size_t> group_reader::ack(std::vector<std::string> ids) {
    taken_acks noted(noted_);
    noted.ids.insert(noted.ids.end(), std::make_move_iterator(ids.begin()), std::make_move_iterator(ids.end()));
    if (noted.ids.empty())
        co_return 0;
    auto const acknowledging = cmd::xack(stream_, group_, noted.ids);
    for (bool is_repeated = false;; is_repeated = true) {
        auto done = acknowledging.response();
        auto executing = executed(connection(), acknowledging.req(), done.refer());
        auto const ec = co_await std::move(executing);
        noted.are_sent = !ec;
        if (!ec)
            co_return is_repeated ? noted.ids.size() : static_cast<std::size_t>(done.value());
        if (ec != error::maybe_executed)
            throw_failed_call(ec, acknowledging.req(), done.refusal());
    }
}

void discard_reader::operator()(group_reader* r) const noexcept { delete r; }

} // namespace fairlead::redis::impl

namespace fairlead::redis {

consumer_group::consumer_group(client& db, std::string_view stream, std::string_view group, std::string_view consumer,
                               consumer_options options)
    : reader_(new impl::group_reader(impl::client_access::core_of(db), stream, group, consumer, std::move(options))) {}

awaitable<std::optional<consumed_entry>> consumer_group::next() { return reader_->next(); }
awaitable<bool> consumer_group::ack(stream_entry const& entry) { return reader_->ack(entry.id); }
awaitable<bool> consumer_group::ack(std::string_view id) { return reader_->ack(std::string(id)); }
awaitable<std::size_t> consumer_group::ack_all(std::vector<std::string> ids) { return reader_->ack(std::move(ids)); }

} // namespace fairlead::redis
