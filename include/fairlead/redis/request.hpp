// One or more commands that are sent together.
#pragma once

#include <fairlead/resp3/writer.hpp>

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::redis {

namespace detail {

/// Pushes that confirm a command of the SUBSCRIBE family.
enum class confirmation : unsigned char {
    none,
    subscribe,
    psubscribe,
    ssubscribe,
    unsubscribe,
    punsubscribe,
    sunsubscribe
};

/// Commands of a request that are answered alike: `count` replies, or `count` pushes of one kind.
struct request_part {
    std::uint32_t count;
    confirmation kind;
};

template <class R>
concept argument_range = std::ranges::forward_range<R const> && !std::convertible_to<R const&, std::string_view>;

} // namespace detail

/// Commands to be executed together, in order, by one write: a pipeline. Arguments are serialised at once, with their
/// lengths, so whatever they contain cannot become a command. clear() keeps the memory.
///
/// SUBSCRIBE and its relatives are answered by pushes, not by replies: they count in commands() only. What breaks the
/// order of replies on any connection (CLIENT REPLY, MONITOR, HELLO, RESET, QUIT, SYNC ...), or disturbs other callers
/// on a shared one (SELECT, WATCH, AUTH, MULTI without EXEC in the same request, blocking commands), is noted in any
/// spelling; async_exec then fails with error::refused_command before a byte is written.
///
/// Threads    one at a time; while an execution is pending, none may change it
/// Throws     bad_alloc, or what the conversion of an argument throws; the request is unchanged then
class request {
public:
    enum class fitness : unsigned char {
        shared,    ///< fit for any connection
        dedicated, ///< needs config::dedicated
        never,     ///< would break the order of replies
    };

    /// Adds a command: push("SET", key, 42, "EX", 60).
    template <resp3::argument... Arguments> void push(std::string_view name, Arguments const&... arguments) {
        std::size_t const start = payload_.size();
        resp3::append_command(payload_, name, arguments...);
        note(start, name);
    }
    /// Adds a command whose last arguments are the elements of a range; pairs count as two.
    template <detail::argument_range Range> void push_range(std::string_view name, Range const& range) {
        push_range_of(range, name);
    }
    template <resp3::argument Key, detail::argument_range Range>
    void push_range(std::string_view name, Key const& key, Range const& range) {
        push_range_of(range, name, key);
    }

    FAIRLEAD_EXPORT void clear() noexcept;
    void reserve(std::size_t bytes) { payload_.reserve(bytes); }

    bool empty() const noexcept { return commands_ == 0; }
    std::size_t commands() const noexcept { return commands_; }
    /// How many replies a response gets: one for each command but the SUBSCRIBE family.
    std::size_t expected_replies() const noexcept { return replies_; }
    bool has_subscriptions() const noexcept { return !parts_.empty(); }
    /// The bytes as they are sent.
    std::string_view payload() const noexcept { return payload_; }

    fitness fit() const noexcept {
        return transaction_ == none || fitness_ == fitness::never ? fitness_ : fitness::dedicated;
    }
    /// The first command that is unfit for a shared connection, in capitals; empty when there is none.
    std::string_view refused() const noexcept {
        return !refused_.empty() || transaction_ == none ? refused_ : std::string_view("MULTI");
    }

    /// For the library: what follows what. Empty when all commands have replies.
    std::vector<detail::request_part> const& parts() const noexcept { return parts_; }

private:
    template <class Range, class... Arguments>
    void push_range_of(Range const& range, std::string_view name, Arguments const&... arguments) {
        struct restore {
            std::string& payload;
            std::size_t size;
            bool done = false;
            ~restore() {
                if (!done)
                    payload.resize(size);
            }
        } guard{payload_, payload_.size()};
        resp3::append_command_range(payload_, range, name, arguments...);
        guard.done = true;
        note(guard.size, name);
    }

    /// Files the command that begins at `start` of the payload.
    FAIRLEAD_EXPORT void note(std::size_t start, std::string_view name);
    void note_special(std::size_t start, std::string_view name);

    enum transaction : unsigned char { none, open };

    std::string payload_;
    std::vector<detail::request_part> parts_;
    std::size_t commands_ = 0;
    std::size_t replies_ = 0;
    std::string_view refused_; // a literal
    fitness fitness_ = fitness::shared;
    transaction transaction_ = none;
};

} // namespace fairlead::redis
