#include <fairlead/redis/cmd/stream_results.hpp>

#include <redis/reply_fields.hpp>

#include <tuple>

namespace fairlead::redis {

namespace {

error_code read_milliseconds(reply_reader& in, std::chrono::milliseconds& into) {
    std::int64_t n = 0;
    auto const ec = in.read(n);
    into = std::chrono::milliseconds(n);
    return ec;
}

} // namespace

error_code from_reply(reply_reader& in, stream_entry& entry) {
    error_code ec;
    entry.fields.clear();
    if (impl::enter_sequence(in, ec) != 2 && !ec)
        ec = error::incompatible_type;
    if (!ec)
        ec = in.read(entry.id);
    if (!ec && in.peek().kind == resp3::type::null)
        in.advance();
    else if (!ec)
        ec = in.read(entry.fields);
    return ec;
}

error_code from_reply(reply_reader& in, pending_entry& entry) {
    std::tuple<std::string, std::string, std::int64_t, std::int64_t> all;
    auto const ec = in.read(all);
    std::int64_t idle_ms = 0;
    std::tie(entry.id, entry.consumer, idle_ms, entry.deliveries) = std::move(all);
    entry.idle = std::chrono::milliseconds(idle_ms);
    return ec;
}

error_code from_reply(reply_reader& in, pending_summary& summary) {
    using consumers = std::vector<std::pair<std::string, std::int64_t>>;
    std::tuple<std::int64_t, std::optional<std::string>, std::optional<std::string>, std::optional<consumers>> all;
    auto const ec = in.read(all);
    summary.consumers.clear();
    if (auto& some = std::get<3>(all))
        summary.consumers = *std::move(some);
    std::tie(summary.entries, summary.first_id, summary.last_id, std::ignore) = std::move(all);
    return ec;
}

error_code from_reply(reply_reader& in, stream_info& info) {
    info = {};
    return impl::read_fields(in, [&](std::string const& name, error_code& ec) {
        if (name == "length")
            ec = in.read(info.length);
        else if (name == "groups")
            ec = in.read(info.groups);
        else if (name == "last-generated-id")
            ec = in.read(info.last_id);
        else if (name == "entries-added")
            ec = in.read(info.entries_added);
        else if (name == "first-entry")
            ec = in.read(info.first);
        else if (name == "last-entry")
            ec = in.read(info.last);
        else
            return false;
        return true;
    });
}

error_code from_reply(reply_reader& in, stream_group& group) {
    group = {};
    return impl::read_fields(in, [&](std::string const& name, error_code& ec) {
        if (name == "name")
            ec = in.read(group.name);
        else if (name == "consumers")
            ec = in.read(group.consumers);
        else if (name == "pending")
            ec = in.read(group.pending);
        else if (name == "last-delivered-id")
            ec = in.read(group.last_delivered_id);
        else if (name == "entries-read")
            ec = in.read(group.entries_read);
        else if (name == "lag")
            ec = in.read(group.lag);
        else
            return false;
        return true;
    });
}

error_code from_reply(reply_reader& in, stream_consumer& consumer) {
    consumer = {};
    return impl::read_fields(in, [&](std::string const& name, error_code& ec) {
        if (name == "name")
            ec = in.read(consumer.name);
        else if (name == "pending")
            ec = in.read(consumer.pending);
        else if (name == "idle")
            ec = read_milliseconds(in, consumer.idle);
        else
            return false;
        return true;
    });
}

} // namespace fairlead::redis
