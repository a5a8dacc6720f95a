// One text that is read in ranges (redis/value_ranges.hpp, decision 052).
#pragma once

#include <redis/call.hpp>
#include <redis/connection_core.hpp>

#include <fairlead/redis/value_ranges.hpp>
#include <fairlead/sync/event.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace fairlead::redis::impl {

/// The reader and the request under way share it. That request goes on when its caller is asked to end: a second EXEC
/// could not tell what the first one said.
///
/// Threads    its reader, one call at a time; while a request is under way, the loop
class range_reading : public std::enable_shared_from_this<range_reading> {
public:
    /// `is_callers`: the connection is a lease of the caller's, which has to be left without watched keys.
    range_reading(connection_core& c, key_view key, reading_options const& how, bool is_callers);
    range_reading(range_reading const&) = delete;
    ~range_reading() { core_.release(); }

    using pointer = std::shared_ptr<range_reading>;

    /// Watches the key, and reads the first range.
    static awaitable<void> begin(pointer self) { return await_step(std::move(self)); }
    /// Makes sure that there are bytes, if the value has any that were not taken.
    static awaitable<void> fill(pointer self);
    /// Nobody reads any more.
    static void leave(pointer self) noexcept;
    /// After begin(): nothing without the key.
    static std::optional<value_reader> reader_of(pointer self, lease&& own);

    /// Bytes that have come and were not taken.
    std::string_view bytes() const noexcept { return std::string_view(range_).substr(taken_); }
    void take(std::size_t n) noexcept { taken_ += n; }

private:
    enum class reply_kind : unsigned char { done, text, number, outcome };

    static awaitable<void> await_step(pointer self);
    static awaitable<void> perform_step(pointer self);
    static awaitable<void> forget_key(pointer self);
    static error_code deliver(void* object, std::size_t index, reply_view const& reply);

    awaitable<void> begin_here();
    awaitable<void> make_sure_of_first();
    awaitable<void> read_next();
    awaitable<bool> execute_request();
    void clear_request() noexcept;
    void ask_for_range();
    void ask_whether_changed();
    void watches_no_more() noexcept;
    template <class... Words> void ask(reply_kind reply, Words const&... words);
    error_code take_reply(reply_kind expected, reply_reader& in);
    void end_with(error_code const& ec) noexcept;
    void note_failure(call_error const& ec);
    [[noreturn]] void throw_failure() const;

    connection_core& core_;
    std::string const key_;
    std::uint64_t const range_bytes_;
    bool const is_callers_;

    request request_;
    std::array<reply_kind, 3> expected_{};
    std::size_t replies_ = 0;

    std::string range_; // the last one
    std::size_t taken_ = 0;
    std::uint64_t read_ = 0;   // bytes of the value
    std::uint64_t size_ = 0;   // of the value
    std::uint64_t number_ = 0; // the last reply of that kind
    bool is_there_ = false;
    bool has_begun_ = false;
    bool is_watching_ = false;
    bool asks_whether_changed_ = false;
    bool is_unchanged_ = false; // as EXEC says

    call_error failure_{};
    std::string refusal_;
    std::uint32_t refused_at_ = 0;

    bool is_under_way_ = false; // the reader's
    fairlead::event is_done_;
};

} // namespace fairlead::redis::impl
