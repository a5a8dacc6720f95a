// One or more commands that are sent together.
#pragma once

#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/redis/command_text.hpp>

#include <cstddef>
#include <cstdint>
#include <fairlead/base/durations.hpp>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::redis {

namespace impl {

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

/// The effect of a request on the transaction of its connection.
enum class transaction : unsigned char { as_it_was, left_open, closed };

/// A value that passes in pieces, and has a connection for itself.
enum class piecewise : unsigned char {
    nothing,
    reply,    ///< the reply of this request
    argument, ///< an argument of it, whose bytes its payload does not have
    next_in,  ///< no command: the next piece of such a reply
    next_out, ///< no command: the next piece of such an argument
};

struct command_info;
class arguments_of;
struct request_access;

template <class R>
concept argument_range = std::ranges::forward_range<R const> && !std::convertible_to<R const&, std::string_view>;

/// The error of the compiler for other arguments. A base, because clang prints it twice for a member of the class
/// itself.
struct refuses_arguments {
    template <class... Arguments>
        requires(!(resp3::argument<Arguments> && ...))
    FAIRLEAD_REFUSED("an argument is text or a number: write *x for an optional, x.count() for a duration, int(x) for "
                     "a bool or an enumeration, and push_range for a container")
    void push(std::string_view name, Arguments const&... arguments);
};

} // namespace impl

/// Commands to be executed together, in order, by one write: a pipeline. Arguments are serialised at once, with their
/// lengths, so whatever they contain cannot become a command. clear() keeps the memory.
///
/// SUBSCRIBE and its relatives are answered by pushes, not by replies: they count in commands() only.
///
/// Two kinds of commands are noted, in any spelling. Some break the order of replies on any connection: CLIENT REPLY,
/// MONITOR, HELLO, RESET, QUIT, SYNC, SCRIPT DEBUG and others. Some disturb other callers on a shared one: SELECT,
/// WATCH, AUTH, MULTI without EXEC in the same request, and blocking commands. With one of them async_exec fails with
/// error::refused_command before a byte is written. A client (redis/client.hpp) executes blocking commands on other
/// connections. The command is refused(), and instead() says what to write. MULTI,
/// EXEC and DISCARD with arguments are of the first kind: servers refuse these, but differ in whether the transaction
/// is open afterwards.
///
/// Threads    one at a time; while an execution is pending, none may change it
/// Throws     bad_alloc, or what the conversion of an argument throws; the request is unchanged then
class request : private impl::refuses_arguments {
public:
    using impl::refuses_arguments::push;
    enum class fitness : unsigned char {
        shared,    ///< fit for any connection
        alone,     ///< needs a connection for itself while it is executed: one of a client's, or config::dedicated
        dedicated, ///< needs config::dedicated
        never,     ///< would break the order of replies
    };

    /// Adds a command: push("SET", key, 42, "EX", 60).
    template <resp3::argument... Arguments> void push(std::string_view name, Arguments const&... arguments) {
        std::size_t const start = payload_.size();
        resp3::impl::write_command(payload_, name, arguments...);
        note(start, name);
    }
    /// Adds a command whose last arguments are the elements of a range; pairs count as two.
    template <impl::argument_range Range> void push_range(std::string_view name, Range const& range) {
        push_range_of(range, name);
    }
    template <resp3::argument Key, impl::argument_range Range>
    void push_range(std::string_view name, Key const& key, Range const& range) {
        push_range_of(range, name, key);
    }

    /// Adds the commands of another request behind those that are there.
    FAIRLEAD_EXPORT void append(request const& other);
    /// The most time that an execution may take, from its start until its last reply, waiting for a connection
    /// included. In place of config::request_timeout; clear() keeps it. Zero or less: the connection's. At most 24 days
    /// count. A command that waits in the server, such as BLPOP, has its own time in addition, once it is written; 0,
    /// for ever, adds nothing.
    void set_timeout(std::chrono::milliseconds t) noexcept {
        auto const ms = t.count();
        timeout_ms_ = ms <= 0 ? 0 : ms < timeout_ms_max ? static_cast<std::uint32_t>(ms) : timeout_ms_max;
    }
    /// Whether it has one of its own.
    bool has_timeout() const noexcept { return timeout_ms_ != 0; }
    std::chrono::milliseconds timeout() const noexcept { return std::chrono::milliseconds(timeout_ms_); }

    /// To execute it twice does no more than to execute it once: SET, EXPIRE, HSET, but not INCR or LPUSH. A client
    /// sends such a request anew when its connection was lost before its first reply, as those that only read
    /// (client_options::repeats_max). It counts for all commands of the request; clear() takes it back.
    void set_repeatable(bool is_repeatable = true) noexcept { is_repeatable_ = is_repeatable; }
    bool is_repeatable() const noexcept { return is_repeatable_; }

    FAIRLEAD_EXPORT void clear() noexcept;
    void reserve(std::size_t bytes) { payload_.reserve(bytes); }

    bool empty() const noexcept { return commands_ == 0; }
    std::size_t commands() const noexcept { return commands_; }
    /// How many replies a response gets: one for each command but the SUBSCRIBE family.
    std::size_t expected_replies() const noexcept { return replies_; }
    bool has_subscriptions() const noexcept { return !parts_.empty(); }
    /// The bytes as they are sent.
    std::string_view payload() const noexcept { return payload_; }

    /// A client executes it on a connection of its pool: for large values, behind whose bytes no other call should
    /// wait. The order among calls is kept within one request only then. clear() keeps it.
    void set_apart(bool is_apart = true) noexcept {
        is_apart_ = is_apart;
        is_ordinary_ = is_ordinary_ && !is_apart;
        if (fitness_ <= fitness::alone)
            fitness_ = is_apart || refused_ ? fitness::alone : fitness::shared;
    }

    fitness fit() const noexcept { return leaves_open() && fitness_ <= fitness::alone ? fitness::dedicated : fitness_; }
    /// The first of the commands that are least fit for a shared connection, in capitals, with its subcommand if that
    /// is why: "SELECT", "CLIENT REPLY". Else what a client refuses, although a connection takes it: SUBSCRIBE and its
    /// relatives, CLIENT TRACKING. Empty when there is none.
    FAIRLEAD_EXPORT std::string_view refused() const noexcept;
    /// Says what to write instead of refused(). Empty when there is nothing to say.
    FAIRLEAD_EXPORT std::string_view instead() const noexcept;

    /// For the library: it is of a subscription of the client, which is given what it brings.
    void serve_subscription() noexcept {
        is_of_subscription_ = true;
        is_ordinary_ = false;
    }
    bool is_of_subscription() const noexcept { return is_of_subscription_; }
    /// For the library: it is fit for any connection, and nothing is to be known about it but its bytes, its replies
    /// and its timeout. One look in place of ten. False may also say that nobody made sure.
    bool is_ordinary() const noexcept { return is_ordinary_; }
    /// For the library: the parts in their order. Empty when all commands have replies.
    std::vector<impl::request_part> const& parts() const noexcept { return parts_; }
    /// For the library: whether a transaction is open behind the last command.
    impl::transaction transaction() const noexcept { return transaction_; }
    /// For the library: the server may answer as late as it likes, and is well.
    bool may_block() const noexcept { return late_ms_ != 0 && !pauses_; }
    /// For the library: by how much more than usual its last reply may be late although the server is well.
    static constexpr std::uint32_t for_ever_ms = 0xffffffffU;
    std::uint32_t late_ms() const noexcept { return late_ms_; }
    /// For the library: it may leave the connection in another state than before.
    bool has_effects() const noexcept { return has_effects_; }
    /// For the library: it leaves more than watched keys to the commands that come after it on its connection.
    bool changes_session() const noexcept { return changes_session_; }
    /// For the library: the replies to what comes after it may be as late.
    bool pauses() const noexcept { return pauses_; }
    /// For the library: it asks for invalidations, which come as pushes until the connection ends.
    bool tracks() const noexcept { return tracks_; }
    /// For the library: what of it passes in pieces.
    impl::piecewise pieces() const noexcept { return pieces_; }
    /// For the library: where in the payload the bytes of such an argument belong, and how many they are.
    std::size_t value_at() const noexcept { return value_at_; }
    std::uint64_t value_bytes() const noexcept { return value_bytes_; }
    /// For the library: its last command concerns the command that comes next.
    bool precedes() const noexcept { return precedes_at_ != 0 && precedes_at_ == commands_; }

private:
    friend struct impl::request_access; // for commands of redis::command, which are serialised in one place

    template <class Range, class... Arguments>
    void push_range_of(Range const& range, std::string_view name, Arguments const&... arguments) {
        auto const start = payload_.size();
        auto keep = start; // of the payload, should the range throw
        fairlead::impl::base::at_scope_end const cut([&] { payload_.resize(keep); });
        resp3::impl::write_command_range(payload_, range, name, arguments...);
        note(start, name);
        keep = payload_.size();
    }

    void append_each(request const& other);
    /// Files the command that begins at `start` of the payload.
    FAIRLEAD_EXPORT void note(std::size_t start, std::string_view name);
    void note_special(std::size_t start, std::string_view name);
    void note_effects(impl::command_info const& known, impl::arguments_of arguments) noexcept;
    void refuse(impl::command_info const& known, fitness fit, std::string_view instead) noexcept;
    bool is_refused_for_subscriptions() const noexcept;
    bool leaves_open() const noexcept { return transaction_ == impl::transaction::left_open; }

    impl::command_text payload_;
    std::vector<impl::request_part> parts_;
    std::size_t commands_ = 0;
    std::size_t replies_ = 0;
    impl::command_info const* refused_ = nullptr;
    std::string_view instead_; // a literal
    fitness fitness_ = fitness::shared;
    impl::transaction transaction_ = impl::transaction::as_it_was;
    bool has_effects_ = false;
    bool pauses_ = false;
    bool tracks_ = false;
    bool is_apart_ = false;
    bool is_repeatable_ = false;
    bool changes_session_ = false;
    bool is_of_subscription_ = false;
    impl::piecewise pieces_ = impl::piecewise::nothing;
    bool is_ordinary_ = true;
    static constexpr std::uint32_t timeout_ms_max = INT32_MAX;
    std::uint32_t late_ms_ = 0;
    std::uint32_t timeout_ms_ = 0;
    std::size_t precedes_at_ = 0; // commands() right behind such a command
    std::size_t value_at_ = 0;
    std::uint64_t value_bytes_ = 0;
};

} // namespace fairlead::redis
