// A member of a group of consumers: the entries of a stream, one after the other, until they are acknowledged.
#pragma once

#include <fairlead/base/durations.hpp>
#include <fairlead/coro/awaitable.hpp>
#include <fairlead/redis/cmd/stream_results.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace fairlead::redis {

class client;

/// The behaviour of a consumer_group.
struct consumer_options {
    /// Behind which id a group begins that is made: "0" for all entries, "$" for those that come from now on.
    std::string begin = "0";
    std::int64_t batch = 64; ///< Entries that are read at once, and held.
    /// Without entries it waits at the server, by a command that blocks for so long at most, on a connection of the
    /// client's pool (client_options::leases_max). Less than config::request_timeout. Zero: it looks again after
    /// poll_interval instead.
    std::chrono::milliseconds block_for{5'000};
    std::chrono::milliseconds poll_interval{100}; ///< Also of a client without a pool.
    /// Entries that have been pending for so long, for whatever consumer, are taken over. Longer than the work on one
    /// takes, or else that comes again. Zero: none are.
    std::chrono::milliseconds claim_idle{0};
    std::chrono::milliseconds claim_interval{10'000}; ///< How often it looks for them.
    /// The stream keeps about so many entries, whether these were read or not. Zero: all.
    std::int64_t keep_about = 0;
    /// So many entries are acknowledged by one command. ack() of one is noted until then, and says true. Those that are
    /// noted are sent before the next ones are read. After a crash they come again.
    std::size_t ack_batch = 1;
};

/// An entry for a consumer.
struct consumed_entry : stream_entry {
    enum class origin : unsigned char {
        fresh,   ///< It was delivered to nobody before.
        pending, ///< It was delivered to this consumer before, and not acknowledged.
        claimed, ///< It was another consumer's, or for too long this one's.
    };
    origin from = origin::fresh;
};

namespace impl {

template <class T>
concept acknowledgeable = std::derived_from<T, stream_entry> || std::convertible_to<T const&, std::string_view>;
template <class T> using element_of = std::remove_cvref_t<decltype(*std::begin(std::declval<T const&>()))>;
template <class T>
concept acknowledgeable_range =
    !acknowledgeable<T> && requires { typename element_of<T>; } && acknowledgeable<element_of<T>>;
template <acknowledgeable T> std::string id_of(T const& entry) {
    if constexpr (std::derived_from<T, stream_entry>)
        return entry.id;
    else
        return std::string(std::string_view(entry));
}
template <acknowledgeable_range Range> std::vector<std::string> ids_of(Range const& all) {
    std::vector<std::string> ids;
    for (auto const& each : all)
        ids.push_back(id_of(each));
    return ids;
}

class group_reader;
struct discard_reader {
    FAIRLEAD_EXPORT void operator()(group_reader* r) const noexcept;
};

} // namespace impl

/// The entries of a stream for one consumer of a group:
///
///     redis::consumer_group orders(db, "orders", "billing", "worker-1", {.claim_idle = 1min});
///     while (auto order = co_await orders.next()) {
///         co_await bill(*order);
///         co_await orders.ack(*order);
///     }
///
/// First come the consumer's own entries that are pending, from before it was started. The group and the stream are
/// made when they are not there. It goes on when the connection was lost. An entry comes at least once until it is
/// acknowledged. It comes again when it was claimed, or when the answer of the server was lost.
///
/// Names are those of one consumer: two objects with the same one get each other's entries.
///
/// Lifetime   it may outlive the client; next() gives nothing then
/// Threads    one next() at a time; ack() beside it on the same executor
class FAIRLEAD_EXPORT consumer_group {
public:
    consumer_group(client& db, std::string_view stream, std::string_view group, std::string_view consumer,
                   consumer_options options = {});

    /// The next entry, also after a wait. Nothing: the client has ended.
    /// Sends before it reads what ack() has noted.
    /// Throws     system_error of operation_aborted      the coroutine was asked to end; the next call has the entry
    ///            of condition::refused_by_server        the server refused a command, other than for now
    awaitable<std::optional<consumed_entry>> next();

    /// Acknowledges an entry: nobody gets it any more. It is repeated when the connection is lost. False: it was not
    /// pending, for somebody has acknowledged it.
    /// Throws     what client::async_exec() ends with, other than maybe_executed
    /// With consumer_options::ack_batch it may only be noted.
    awaitable<bool> ack(stream_entry const& entry);
    awaitable<bool> ack(std::string_view id);
    /// Acknowledges several entries, or entries of these ids, by one command: `co_await orders.ack(done)`. Those that
    /// ack() of one has noted go with them. Of none it sends only those.
    /// Returns    how many were pending; all of them if it had to be repeated
    /// Throws     as above; none, some or all of them are acknowledged then, and it may be called again
    template <impl::acknowledgeable_range Range> awaitable<std::size_t> ack(Range const& all) {
        return ack_all(impl::ids_of(all));
    }
    template <impl::acknowledgeable... More> awaitable<std::size_t>
    ack(impl::acknowledgeable auto const& first, impl::acknowledgeable auto const& second, More const&... more) {
        return ack_all({impl::id_of(first), impl::id_of(second), impl::id_of(more)...});
    }

private:
    awaitable<std::size_t> ack_all(std::vector<std::string> ids);

    std::unique_ptr<impl::group_reader, impl::discard_reader> reader_;
};

} // namespace fairlead::redis
