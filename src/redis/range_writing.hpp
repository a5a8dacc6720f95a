// One text that is written in ranges (redis/value_ranges.hpp, decision 052).
#pragma once

#include <redis/call.hpp>
#include <redis/connection_core.hpp>

#include <fairlead/redis/value_ranges.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead::redis::impl {

/// A key in the same slot of a cluster. `number` makes it another one. A key with a brace but no tag has no such other
/// name: that one is in any slot.
std::string name_beside(std::string_view key, std::int64_t number);

/// One attempt, on one connection. The key beside has a time to expire until it is whole.
///
/// Threads    its caller's; while a request is under way, the loop
class range_writing {
public:
    range_writing(connection_core& c, std::string_view key, std::string_view value, writing_options const& how);
    range_writing(range_writing const&) = delete;

    enum class outcome : unsigned char {
        done,
        unmet,      ///< the condition: the key is as it was
        changed,    ///< the key, since it was looked at: it is as others left it
        name_taken, ///< nothing was written
        lost,       ///< the key is as it was: it may be begun anew
        failed,
    };
    awaitable<outcome> write(std::string_view beside);
    /// After another outcome than `done` and `unmet`. `is_asked`: to end, which may be why.
    [[noreturn]] void throw_failure(bool is_asked) const;

private:
    enum class reply_kind : unsigned char { done, number, outcome };

    static error_code deliver(void* object, std::size_t index, reply_view const& reply);

    awaitable<outcome> write_at_once();
    awaitable<outcome> write_ranges(std::string_view beside);
    awaitable<outcome> look_at_condition();
    awaitable<outcome> finish(std::string_view beside);
    awaitable<outcome> watch_key();
    awaitable<outcome> put_in_place(std::string_view beside);
    awaitable<void> forget(std::string_view beside);
    awaitable<call_error> execute_request();
    void clear_request() noexcept;
    template <class... Words> void ask(reply_kind reply, Words const&... words);
    void note_refusal(std::size_t index, std::string_view text);
    outcome end_with(error_code const& ec, outcome how, std::uint64_t ending = 0) noexcept;
    outcome end_unwritten(call_error const& ec) noexcept;

    connection_core& core_;
    std::string_view const key_;
    std::string_view const value_;
    writing_options const how_;

    request request_;
    std::array<reply_kind, 4> expected_{};
    std::size_t replies_ = 0;

    std::int64_t number_ = 0;         // the last reply of that kind
    std::int64_t expires_at_ms_ = -1; // as the key says when it is watched; less than 0: never
    bool is_null_ = false;            // the last outcome
    bool is_gone_ = false;            // RENAME has found no key
    bool is_there_ = false;           // RENAMENX has found another one
    bool is_in_place_ = false;        // perhaps

    call_error failure_{};
    std::string refusal_;
    std::uint32_t refused_at_ = 0;
};

} // namespace fairlead::redis::impl
