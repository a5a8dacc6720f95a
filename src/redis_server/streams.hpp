// Parts that the commands on streams and on their groups have in common.
#pragma once

#include <redis_server/call.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::redis::server_impl {

/// "ms-seq", or "ms" alone with `missing_seq`; also "-" and "+" where `has_ends`.
bool parse_stream_id(std::string_view text, std::uint64_t missing_seq, bool has_ends, stream_id& id) noexcept;
/// As parse_stream_id(), but answers with an error.
bool read_stream_id(call& c, std::string_view text, std::uint64_t missing_seq, stream_id& id);

/// A range whose ends may be open, as "(5-1". False: answered.
struct stream_range {
    stream_id first, last;
};
bool read_stream_range(call& c, std::string_view first, std::string_view last, stream_range& range);

using stream_item = std::pair<stream_id const, std::vector<std::string>>;
void append_stream_entry(call& c, stream_item const& item);
void append_stream_id(call& c, stream_id id);

/// How many entries were ever added up to `id`, if that can be told.
std::optional<std::uint64_t> entries_until(stream_value const& stream, stream_id id);
/// An entry behind `after` was deleted, so counting those that are there does not tell how many there were.
bool has_gaps(stream_value const& stream, stream_id after) noexcept;

stream_consumer& find_or_make_consumer(stream_group& group, std::string_view name, std::int64_t now);
/// The consumer owns the entry now; returns the entry.
pending_entry& assign(stream_group& group, stream_id id, std::string_view consumer);
void forget(stream_group& group, std::map<stream_id, pending_entry>::iterator at);

} // namespace fairlead::redis::server_impl
