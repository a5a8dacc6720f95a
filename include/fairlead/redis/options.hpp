// The options of commands: one name for each, whichever commands have it.
#pragma once

#include <fairlead/redis/command.hpp>

#include <chrono>
#include <cstddef>
#include <type_traits>

namespace fairlead::redis {

namespace impl {

/// Of those of one kind a command takes at most one. `alone`: whatever else is there.
enum class option_kind : unsigned char {
    alone,
    expiry,
    condition,  // what has to be there, or not
    comparison, // of what is there with what comes
    order,
    meaning, // of the bounds of a range
    trimming,
    unit,
    mode,
    filter
};

template <std::size_t N> struct literal {
    char text[N];
    consteval literal(char const (&from)[N]) noexcept {
        for (std::size_t i = 0; i != N; ++i)
            text[i] = from[i];
    }
    constexpr std::string_view view() const noexcept { return {text, N - 1}; }
};

struct option_base {};

/// An option that is a word by itself.
template <literal Word, option_kind Kind = option_kind::alone> struct word_option : option_base {
    static constexpr option_kind kind = Kind;
    constexpr word_option() noexcept = default;
    part as_part() const noexcept { return Word.view(); }
};

/// A word, and what stands behind it.
template <option_kind Kind = option_kind::alone> class option : public option_base {
public:
    static constexpr option_kind kind = Kind;
    part as_part() const noexcept {
        return argument_list{this, arguments_, [](command_text& out, void const* object, std::size_t count) {
                                 auto const& self = *static_cast<option const*>(object);
                                 append_argument(out, self.word_);
                                 if (count > 1)
                                     append_argument(out, self.first_.text());
                                 if (count > 2)
                                     append_argument(out, self.second_.text());
                                 if (count > 3)
                                     append_argument(out, self.third_.text());
                             }};
    }

protected:
    option(std::string_view word, value_view first) noexcept : word_(word), first_(first), arguments_(2) {}
    option(std::string_view word, value_view first, value_view second) noexcept
        : word_(word),
          first_(first),
          second_(second),
          arguments_(3) {}
    option(std::string_view word, value_view first, value_view second, value_view third) noexcept
        : word_(word),
          first_(first),
          second_(second),
          third_(third),
          arguments_(4) {}

private:
    std::string_view word_;
    value_view first_;
    value_view second_{""};
    value_view third_{""};
    std::size_t arguments_;
};

template <class T> inline constexpr bool is_duration = false;
template <class Rep, class Period> inline constexpr bool is_duration<std::chrono::duration<Rep, Period>> = true;
template <class T> inline constexpr bool is_time_point = false;
template <class D> inline constexpr bool is_time_point<std::chrono::time_point<std::chrono::system_clock, D>> = true;

/// A duration that is a whole number of Unit.
template <class Unit> class whole {
public:
    template <class D>
        requires(is_duration<D> && std::convertible_to<D, Unit>)
    constexpr whole(D d) noexcept : count_(Unit(d).count()) {}
    template <class D>
        requires(is_duration<D> && !std::convertible_to<D, Unit>)
    FAIRLEAD_REFUSED("this command counts in a coarser unit: write its form in milliseconds (px, pexpire, psetex), or "
                     "std::chrono::duration_cast")
    whole(D);
    template <class T>
        requires(!is_duration<T>)
    FAIRLEAD_REFUSED("a time is a duration: write 10s or 10ms, with using namespace std::chrono_literals")
    whole(T const&);

    constexpr std::int64_t count() const noexcept { return count_; }

private:
    std::int64_t count_;
};
using seconds_view = whole<std::chrono::seconds>;
using milliseconds_view = whole<std::chrono::milliseconds>;

/// A point in time, rounded down to a whole number of Unit.
template <class Unit> class instant {
public:
    template <class T>
        requires(is_time_point<T>)
    constexpr instant(T at) noexcept : count_(std::chrono::floor<Unit>(at.time_since_epoch()).count()) {}
    template <class T>
        requires(!is_time_point<T>)
    FAIRLEAD_REFUSED("a point in time is a std::chrono::system_clock::time_point: write system_clock::now() + 10s, or "
                     "the form of the command that takes a duration")
    instant(T const&);

    constexpr std::int64_t count() const noexcept { return count_; }

private:
    std::int64_t count_;
};
using instant_s = instant<std::chrono::seconds>;
using instant_ms = instant<std::chrono::milliseconds>;

/// For how long a command may wait for something; a server takes a fraction of seconds, and 0 as for ever.
class wait_time {
public:
    template <class D>
        requires(is_duration<D>)
    constexpr wait_time(D d) noexcept : seconds_(std::chrono::duration<double>(d).count()) {}
    template <class T>
        requires(!is_duration<T>)
    FAIRLEAD_REFUSED("a time limit is a duration: write 10s or 500ms, and options::for_ever for none")
    wait_time(T const&);

    constexpr double seconds() const noexcept { return seconds_; }

private:
    double seconds_;
};

/// The options that a command has.
template <class... Known> struct options_of {
    template <class One> static constexpr bool includes_one = (std::is_same_v<One, Known> || ...);
    template <class... Given> static constexpr bool include = (includes_one<Given> && ...);
};

template <class A, class B> consteval bool go_together() {
    if constexpr (!std::is_base_of_v<option_base, A> || !std::is_base_of_v<option_base, B>)
        return true; // Another error says so.
    else
        return !std::is_same_v<A, B> && (A::kind != B::kind || A::kind == option_kind::alone);
}
template <class... Given> inline constexpr bool compatible = true;
template <class First, class... More> inline constexpr bool compatible<First, More...> =
    (go_together<First, More>() && ...) && compatible<More...>;

template <class Wanted, class... Given> inline constexpr bool has_option = (std::is_same_v<Wanted, Given> || ...);

template <class Option> part part_of(Option const& option) noexcept {
    if constexpr (std::is_base_of_v<option_base, Option>)
        return option.as_part();
    else
        return argument_list{nullptr, 0, nullptr};
}

/// The conditions of EXPIRE, ZADD and their relatives.
template <class... Given> consteval void check_conditions();

/// Stops the compiler, with a sentence, where options exclude each other.
template <class... Given> consteval void check_options() {
    constexpr bool are_compatible = compatible<Given...>;
    static_assert(are_compatible,
                  "these options exclude each other, or one is given twice: write one of nx and xx, one of gt and lt, "
                  "one of ex, px, ex_at, px_at, keep_ttl and persist, one of by_score and by_lex, one of asc and desc, "
                  "one of maxlen and minid, one of by_pattern, by_category and by_module");
}

} // namespace impl

/// Options of commands. With `using namespace fairlead::redis::options;` they read as in
/// `cmd::set("k", "v", ex(10s), nx)`. They are serialised in the order in which they are given.
namespace options {

/// For blocking commands: there is no time limit.
inline constexpr std::chrono::milliseconds for_ever{0};

/// The key expires after so many seconds.
struct ex : impl::option<impl::option_kind::expiry> {
    explicit ex(impl::seconds_view after) noexcept : option("EX", after.count()) {}
};
/// The key expires after so many milliseconds.
struct px : impl::option<impl::option_kind::expiry> {
    explicit px(impl::milliseconds_view after) noexcept : option("PX", after.count()) {}
};
/// The key expires at a time, rounded down to seconds.
struct ex_at : impl::option<impl::option_kind::expiry> {
    explicit ex_at(impl::instant_s at) noexcept : option("EXAT", at.count()) {}
};
/// The key expires at a time, rounded down to milliseconds.
struct px_at : impl::option<impl::option_kind::expiry> {
    explicit px_at(impl::instant_ms at) noexcept : option("PXAT", at.count()) {}
};
/// The type of keep_ttl.
using keep_ttl_t = impl::word_option<"KEEPTTL", impl::option_kind::expiry>;
/// The key keeps its expiry.
inline constexpr keep_ttl_t keep_ttl{};
/// The type of no_expiry.
using no_expiry_t = impl::word_option<"PERSIST", impl::option_kind::expiry>;
/// Of GETEX and HGETEX: what is read expires no more (PERSIST).
inline constexpr no_expiry_t no_expiry{};

/// The type of nx.
using nx_t = impl::word_option<"NX", impl::option_kind::condition>;
/// Only if it is not there yet.
inline constexpr nx_t nx{};
/// The type of xx.
using xx_t = impl::word_option<"XX", impl::option_kind::condition>;
/// Only if it is there.
inline constexpr xx_t xx{};
/// The type of fnx.
using fnx_t = impl::word_option<"FNX", impl::option_kind::condition>;
/// Of HSETEX: only if none of the fields is there.
inline constexpr fnx_t fnx{};
/// The type of fxx.
using fxx_t = impl::word_option<"FXX", impl::option_kind::condition>;
/// Of HSETEX: only if all of the fields are there.
inline constexpr fxx_t fxx{};
/// The type of gt.
using gt_t = impl::word_option<"GT", impl::option_kind::comparison>;
/// Only if the new one is greater.
inline constexpr gt_t gt{};
/// The type of lt.
using lt_t = impl::word_option<"LT", impl::option_kind::comparison>;
/// Only if the new one is less.
inline constexpr lt_t lt{};
/// The type of ch.
using ch_t = impl::word_option<"CH">;
/// Counts what has changed, not only what is new.
inline constexpr ch_t ch{};
/// The type of get_old.
using get_old_t = impl::word_option<"GET">;
/// Of SET: the result is the value that was there before (GET).
inline constexpr get_old_t get_old{};
/// The type of replace.
using replace_t = impl::word_option<"REPLACE">;
/// Over what is there.
inline constexpr replace_t replace{};

/// A part of a range: so many, behind the first `offset`.
struct limit : impl::option<> {
    limit(std::int64_t offset, std::int64_t count) noexcept : option("LIMIT", offset, count) {}
};
/// At most so many; of SCAN: about so many at once.
struct count : impl::option<> {
    explicit count(std::int64_t n) noexcept : option("COUNT", n) {}
};
/// Only what matches a pattern: "user:*".
struct match : impl::option<> {
    explicit match(value_view pattern) noexcept : option("MATCH", pattern) {}
};
/// Of SCAN: only keys of a type, "string" or "hash" for example. Of CLIENT LIST and CLIENT KILL: connections of a type,
/// "normal", "pubsub", "replica" or "master" (TYPE).
struct of_type : impl::option<> {
    explicit of_type(value_view name) noexcept : option("TYPE", name) {}
};
/// Of LPOS: the nth element that is equal; a negative n counts from the end.
struct rank : impl::option<> {
    explicit rank(std::int64_t n) noexcept : option("RANK", n) {}
};

/// The type of with_scores.
using with_scores_t = impl::word_option<"WITHSCORES">;
/// The result has the scores, too.
inline constexpr with_scores_t with_scores{};
/// The type of with_score.
using with_score_t = impl::word_option<"WITHSCORE">;
/// Of ZRANK and ZREVRANK: the result has the score, too.
inline constexpr with_score_t with_score{};
/// The type of with_values.
using with_values_t = impl::word_option<"WITHVALUES">;
/// The result has the values, too.
inline constexpr with_values_t with_values{};
/// The type of rev.
using rev_t = impl::word_option<"REV">;
/// From the end; the bounds stand in this order, too.
inline constexpr rev_t rev{};
/// The type of by_score.
using by_score_t = impl::word_option<"BYSCORE", impl::option_kind::meaning>;
/// The bounds are scores: 1.5, "(1.5" without it, "-inf", "+inf".
inline constexpr by_score_t by_score{};
/// The type of by_lex.
using by_lex_t = impl::word_option<"BYLEX", impl::option_kind::meaning>;
/// The bounds are members: "[a" with it, "(a" without it, "-", "+".
inline constexpr by_lex_t by_lex{};
/// The type of asc.
using asc_t = impl::word_option<"ASC", impl::option_kind::order>;
/// In ascending order; of places: the nearest first.
inline constexpr asc_t asc{};
/// The type of desc.
using desc_t = impl::word_option<"DESC", impl::option_kind::order>;
/// In descending order; of places: the farthest first.
inline constexpr desc_t desc{};

/// The type of byte_unit.
using byte_unit_t = impl::word_option<"BYTE", impl::option_kind::unit>;
/// Positions count bytes.
inline constexpr byte_unit_t byte_unit{};
/// The type of bit_unit.
using bit_unit_t = impl::word_option<"BIT", impl::option_kind::unit>;
/// Positions count bits.
inline constexpr bit_unit_t bit_unit{};

/// The type of in_background.
using in_background_t = impl::word_option<"ASYNC", impl::option_kind::mode>;
/// The server frees the memory in the background (ASYNC).
inline constexpr in_background_t in_background{};
/// The type of at_once.
using at_once_t = impl::word_option<"SYNC", impl::option_kind::mode>;
/// The server frees the memory before it answers (SYNC).
inline constexpr at_once_t at_once{};

/// A stream keeps so many entries, of LPOS: at most so many are compared (MAXLEN).
struct maxlen : impl::option<impl::option_kind::trimming> {
    explicit maxlen(std::int64_t n) noexcept : option("MAXLEN", n) {}
};
/// A stream keeps about so many entries, at least, which is faster (MAXLEN ~).
struct maxlen_about : impl::option<impl::option_kind::trimming> {
    explicit maxlen_about(std::int64_t n) noexcept : option("MAXLEN", "~", n) {}
};
/// A stream keeps the entries from an id on (MINID).
struct minid : impl::option<impl::option_kind::trimming> {
    explicit minid(value_view id) noexcept : option("MINID", id) {}
};
/// A stream keeps the entries from about an id on, which is faster (MINID ~).
struct minid_about : impl::option<impl::option_kind::trimming> {
    explicit minid_about(value_view id) noexcept : option("MINID", "~", id) {}
};
/// With maxlen_about or minid_about: removes at most so many entries (LIMIT).
struct trim_limit : impl::option<> {
    explicit trim_limit(std::int64_t n) noexcept : option("LIMIT", n) {}
};
/// The type of no_mkstream.
using no_mkstream_t = impl::word_option<"NOMKSTREAM">;
/// Of XADD: makes no stream.
inline constexpr no_mkstream_t no_mkstream{};
/// The type of mkstream.
using mkstream_t = impl::word_option<"MKSTREAM">;
/// Makes the stream, if there is none.
inline constexpr mkstream_t mkstream{};
/// Waits so long for an entry (BLOCK); for_ever is no limit. It needs a connection of its own.
struct block_for : impl::option<> {
    explicit block_for(impl::milliseconds_view limit) noexcept : option("BLOCK", limit.count()) {}
};
/// The type of no_ack.
using no_ack_t = impl::word_option<"NOACK">;
/// Entries need no XACK.
inline constexpr no_ack_t no_ack{};
/// Only entries that have been idle for so long; of XCLAIM: they then seem so.
struct idle : impl::option<> {
    explicit idle(impl::milliseconds_view for_at_least) noexcept : option("IDLE", for_at_least.count()) {}
};
/// Of XCLAIM: how often an entry was delivered.
struct retry_count : impl::option<> {
    explicit retry_count(std::int64_t n) noexcept : option("RETRYCOUNT", n) {}
};
/// The type of force.
using force_t = impl::word_option<"FORCE">;
/// Of XCLAIM: also entries that are pending for nobody.
inline constexpr force_t force{};
/// The type of just_id.
using just_id_t = impl::word_option<"JUSTID">;
/// The result has the ids alone.
inline constexpr just_id_t just_id{};
/// Of XGROUP CREATE and SETID: how many entries the group has read.
struct entries_read : impl::option<> {
    explicit entries_read(std::int64_t n) noexcept : option("ENTRIESREAD", n) {}
};

/// The type of only_writes.
using only_writes_t = impl::word_option<"WRITE">;
/// Of CLIENT PAUSE: commands that only read go on.
inline constexpr only_writes_t only_writes{};
/// Of CLIENT KILL: the connections of a user (USER).
struct of_user : impl::option<> {
    explicit of_user(value_view name) noexcept : option("USER", name) {}
};
/// Of CLIENT KILL: the connection from an address, "10.0.0.7:51234" (ADDR).
struct from_address : impl::option<> {
    explicit from_address(value_view address) noexcept : option("ADDR", address) {}
};
/// Of COMMAND LIST: names that match a pattern, "xr*" (FILTERBY PATTERN).
struct by_pattern : impl::option<impl::option_kind::filter> {
    explicit by_pattern(value_view pattern) noexcept : option("FILTERBY", "PATTERN", pattern) {}
};
/// Of COMMAND LIST: the commands of a category of ACL, "read" (FILTERBY ACLCAT).
struct by_category : impl::option<impl::option_kind::filter> {
    explicit by_category(value_view name) noexcept : option("FILTERBY", "ACLCAT", name) {}
};
/// Of COMMAND LIST: the commands of a module (FILTERBY MODULE).
struct by_module : impl::option<impl::option_kind::filter> {
    explicit by_module(value_view name) noexcept : option("FILTERBY", "MODULE", name) {}
};

/// Of COPY: into another database.
struct db : impl::option<> {
    explicit db(std::int64_t number) noexcept : option("DB", number) {}
};
/// The type of alpha.
using alpha_t = impl::word_option<"ALPHA">;
/// Of SORT: by the alphabet, not as numbers.
inline constexpr alpha_t alpha{};
/// Of SORT: by the values of other keys, "weight_*".
struct by : impl::option<> {
    explicit by(value_view pattern) noexcept : option("BY", pattern) {}
};

/// The weight of each key, by which its scores are multiplied (WEIGHTS).
class weights : public impl::option_base {
public:
    static constexpr impl::option_kind kind = impl::option_kind::alone;
    weights(std::initializer_list<double> each) noexcept : each_(each.begin(), each.size()) {}
    explicit weights(std::span<double const> each) noexcept : each_(each) {}
    /// For the library: what it adds to a command.
    impl::part as_part() const noexcept {
        return impl::argument_list{this, each_.size() + 1,
                                   [](impl::command_text& out, void const* object, std::size_t) {
                                       append_argument(out, std::string_view("WEIGHTS"));
                                       for (double const weight : static_cast<weights const*>(object)->each_)
                                           append_argument(out, weight);
                                   }};
    }

private:
    std::span<double const> each_;
};
/// A member of several sets gets the sum of its scores, the least or the greatest of them (AGGREGATE).
struct aggregate : impl::option<> {
    enum class of : unsigned char {
        sum,
        least,
        greatest,
    };
    explicit aggregate(of scores) noexcept
        : option("AGGREGATE", scores == of::sum     ? "SUM"
                              : scores == of::least ? "MIN"
                                                    : "MAX") {}
};

/// The type of with_coord.
using with_coord_t = impl::word_option<"WITHCOORD">;
/// The result has the positions, too.
inline constexpr with_coord_t with_coord{};
/// The type of with_dist.
using with_dist_t = impl::word_option<"WITHDIST">;
/// The result has the distances, too.
inline constexpr with_dist_t with_dist{};
/// The type of with_hash.
using with_hash_t = impl::word_option<"WITHHASH">;
/// The result has the geohashes, too.
inline constexpr with_hash_t with_hash{};
/// The type of store_dist.
using store_dist_t = impl::word_option<"STOREDIST">;
/// Stores distances, not geohashes.
inline constexpr store_dist_t store_dist{};
/// At most so many, whichever are found first (COUNT n ANY).
struct count_any : impl::option<> {
    explicit count_any(std::int64_t n) noexcept : option("COUNT", n, "ANY") {}
};

} // namespace options

namespace impl {

template <class... Given> consteval void check_conditions() {
    check_options<Given...>();
    constexpr bool compares = has_option<options::gt_t, Given...> || has_option<options::lt_t, Given...>;
    constexpr bool are_compatible = !(has_option<options::nx_t, Given...> && compares);
    static_assert(
        are_compatible,
        "nx excludes gt and lt, which compare with what is there: write one of the three, or xx with gt or lt");
}
using conditions = options_of<options::nx_t, options::xx_t, options::gt_t, options::lt_t>;

} // namespace impl
} // namespace fairlead::redis
