// The results of commands of streams.
#pragma once

#include <fairlead/redis/response.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::redis {

/// An entry of a stream, with its fields in their order. One that was deleted, and is still pending, has none.
struct stream_entry {
    std::string id;
    std::vector<std::pair<std::string, std::string>> fields;

    /// The value of the first field of that name, or null.
    std::string const* find(std::string_view name) const noexcept {
        for (auto const& each : fields)
            if (each.first == name)
                return &each.second;
        return nullptr;
    }
    friend bool operator==(stream_entry const&, stream_entry const&) = default;
};
/// Reads an entry as all commands of streams give it.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, stream_entry& entry);

/// Entries of several streams, with the name of each.
using stream_entries = std::vector<std::pair<std::string, std::vector<stream_entry>>>;

/// An entry that was delivered to a consumer, and not acknowledged.
struct pending_entry {
    std::string id;
    std::string consumer;
    std::chrono::milliseconds idle{}; ///< Since its last delivery.
    std::int64_t deliveries = 0;

    friend bool operator==(pending_entry const&, pending_entry const&) = default;
};
/// Reads an entry of XPENDING with a range.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, pending_entry& entry);

/// The pending entries of a group: XPENDING without a range.
struct pending_summary {
    std::int64_t entries = 0;
    std::optional<std::string> first_id;
    std::optional<std::string> last_id;
    std::vector<std::pair<std::string, std::int64_t>> consumers; ///< With the entries of each.
};
/// Reads the reply to XPENDING without a range.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, pending_summary& summary);

/// A page of XAUTOCLAIM. The next one begins at `next`; the last page has "0-0" there. Entry is a stream_entry, or a
/// std::string with just_id.
template <class Entry> struct claimed_page {
    std::string next;
    std::vector<Entry> entries;
    std::vector<std::string> deleted; ///< Ids that were pending, and are no longer in the stream. Empty before 7.0.

    bool is_last() const noexcept { return next == "0-0"; }
    friend error_code from_reply(reply_reader& in, claimed_page& page) {
        error_code ec;
        auto const parts = impl::enter_sequence(in, ec);
        if (!ec && parts != 2 && parts != 3)
            ec = error::incompatible_type;
        if (!ec)
            ec = in.read(page.next);
        if (!ec)
            ec = in.read(page.entries);
        page.deleted.clear();
        if (!ec && parts == 3)
            ec = in.read(page.deleted);
        return ec;
    }
};

/// A stream, as XINFO STREAM describes it.
struct stream_info {
    std::int64_t length = 0;
    std::int64_t groups = 0;
    std::string last_id;            ///< The greatest id so far.
    std::int64_t entries_added = 0; ///< In all its time; 0 before 7.0.
    std::optional<stream_entry> first;
    std::optional<stream_entry> last;
};
/// Reads the reply to XINFO STREAM; what it does not know it passes over.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, stream_info& info);

/// A group of consumers, as XINFO GROUPS describes it.
struct stream_group {
    std::string name;
    std::int64_t consumers = 0;
    std::int64_t pending = 0;
    std::string last_delivered_id;
    std::optional<std::int64_t> entries_read; ///< Since 7.0.
    std::optional<std::int64_t> lag;          ///< Entries that wait for delivery, where the server knows.
};
/// Reads an element of the reply to XINFO GROUPS; what it does not know it passes over.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, stream_group& group);

/// A consumer, as XINFO CONSUMERS describes it.
struct stream_consumer {
    std::string name;
    std::int64_t pending = 0;
    std::chrono::milliseconds idle{}; ///< Since it last tried something.
};
/// Reads an element of the reply to XINFO CONSUMERS; what it does not know it passes over.
FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, stream_consumer& consumer);

} // namespace fairlead::redis
