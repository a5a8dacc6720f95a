// A reply into memory of the caller.
#pragma once

#include <fairlead/redis/command.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace fairlead::redis {

namespace impl {
struct reply_memory_access;
}

/// A response for one text, which is written into memory of the caller as it comes; nothing is allocated for it:
///
///     char space[4096];
///     redis::reply_memory value(space);
///     co_await conn.async_exec(get, value); // error::memory_too_small when it does not fit
///     if (value.has_value())
///         use(value.text());
///
/// A large text goes from the read buffer straight into the memory, if it is the only reply of its request. So an
/// execution that ends with an error may have written a part of it.
/// Lifetime   the memory outlives the execution
class reply_memory {
public:
    explicit reply_memory(std::span<char> memory) noexcept : memory_(memory) {}
    explicit reply_memory(std::span<std::byte> memory) noexcept
        : memory_(reinterpret_cast<char*>(memory.data()), memory.size()) {}

    /// A text came, and it fits. False: null came, or nothing yet.
    bool has_value() const noexcept { return state_ == state::whole; }
    /// Bytes of the text, also of one that did not fit.
    std::size_t size() const noexcept { return size_; }
    /// The text that came, in the memory; empty when it did not fit.
    std::string_view text() const noexcept { return has_value() ? std::string_view(memory_.data(), size_) : ""; }

    /// Reads a text, or null.
    /// Errors     error::memory_too_small   nothing was written; size() says how much it needs
    ///            error::incompatible_type  a reply of another kind
    friend FAIRLEAD_EXPORT error_code from_reply(reply_reader& in, reply_memory& value);

    /// For the library: how replies get into it.
    impl::response_ref refer() noexcept { return {this, &reply_memory::deliver, 1}; }

private:
    friend struct impl::reply_memory_access;
    FAIRLEAD_EXPORT static error_code deliver(void* object, std::size_t index, reply_view const& reply);

    enum class state : unsigned char { none, whole, too_large };
    std::span<char> memory_;
    std::size_t size_ = 0;
    state state_ = state::none;
};

/// The response of get_into().
class get_into_response {
public:
    using value_type = std::optional<std::size_t>;
    explicit get_into_response(std::span<char> memory) noexcept : memory_(memory) {}

    value_type value() const noexcept { return memory_.has_value() ? value_type(memory_.size()) : value_type(); }

    /// For the library: how replies get into it.
    impl::response_ref refer() noexcept { return memory_.refer(); }

private:
    reply_memory memory_;
};

/// A command whose reply is written into memory of the caller. The result is its size, or nothing without the key.
class [[nodiscard]] get_into_command {
public:
    /// The size of the value.
    using result_type = std::optional<std::size_t>;
    using response_type = get_into_response;

    get_into_command(request&& r, std::span<char> memory) noexcept : request_(std::move(r)), memory_(memory) {}

    request const& req() const noexcept { return request_; }
    response_type response() const noexcept { return response_type(memory_); }
    /// The most time that an execution may take: request::set_timeout().
    void set_timeout(std::chrono::milliseconds t) noexcept { request_.set_timeout(t); }
    /// To execute it twice does no more than to execute it once: request::set_repeatable().
    void set_repeatable(bool is_repeatable = true) noexcept { request_.set_repeatable(is_repeatable); }

private:
    request request_;
    std::span<char> memory_;
};

} // namespace fairlead::redis
