// Scripts of the embedded server: functions of the program in the place of Lua.
#pragma once

#include <fairlead/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::redis {

namespace server_impl {
struct call;
}

/// The reply of a command that a script runs, and the reply of a script. Replies are those of RESP2, as in Lua.
class FAIRLEAD_EXPORT server_value {
public:
    /// The kinds of replies. A status is a text such as OK; an error begins with its code, as in "ERR ...".
    enum class kind : unsigned char { null, integer, text, status, error, array };

    server_value() noexcept = default; ///< Null.
    server_value(std::int64_t n) : kind_(kind::integer), integer_(n) {}
    server_value(int n) : server_value(static_cast<std::int64_t>(n)) {}
    server_value(std::string text) : kind_(kind::text), text_(std::move(text)) {}
    server_value(char const* text) : server_value(std::string(text)) {}
    server_value(std::vector<server_value> elements) : kind_(kind::array), elements_(std::move(elements)) {}
    /// A status, such as OK.
    static server_value status(std::string text) { return {kind::status, std::move(text)}; }
    /// An error; `text` begins with its code.
    static server_value error(std::string text) { return {kind::error, std::move(text)}; }

    kind which() const noexcept { return kind_; }
    bool is_null() const noexcept { return kind_ == kind::null; }
    bool is_error() const noexcept { return kind_ == kind::error; }
    std::int64_t integer() const noexcept { return integer_; } ///< Of an integer, else 0.
    std::string const& text() const noexcept { return text_; } ///< Of a text, a status or an error, else empty.
    std::vector<server_value> const& elements() const noexcept { return elements_; } ///< Of an array, else empty.

private:
    server_value(kind which, std::string text) : kind_(which), text_(std::move(text)) {}

    kind kind_ = kind::null;
    std::int64_t integer_ = 0;
    std::string text_;
    std::vector<server_value> elements_;
};

/// One run of a script: its keys and arguments, and the server's commands. No other client's command runs meanwhile.
class FAIRLEAD_EXPORT server_script_run {
public:
    std::span<std::string_view const> keys() const noexcept { return keys_; }
    std::span<std::string_view const> arguments() const noexcept { return arguments_; }

    /// Runs a command in the name of the client that called the script. Errors come as a value. As with a real server,
    /// XREAD finds nothing instead of waiting, and BLPOP, MULTI, SUBSCRIBE and their kin are refused.
    server_value run(std::span<std::string_view const> command);
    server_value run(std::initializer_list<std::string_view> command) {
        return run(std::span<std::string_view const>(command.begin(), command.size()));
    }

private:
    friend struct server_script_access;
    server_script_run(server_impl::call& called, std::span<std::string_view const> keys,
                      std::span<std::string_view const> arguments, bool is_read_only) noexcept
        : call_(called),
          keys_(keys),
          arguments_(arguments),
          is_read_only_(is_read_only) {}

    server_impl::call& call_;
    std::span<std::string_view const> keys_;
    std::span<std::string_view const> arguments_;
    bool is_read_only_;
};

/// A script. An exception that it throws becomes an error for the client; the commands that it ran stay done.
using server_script = std::function<server_value(server_script_run&)>;

/// The name that EVALSHA has for a script: the SHA-1 of its text, in hexadecimal digits.
FAIRLEAD_EXPORT std::string script_sha1(std::string_view body);

} // namespace fairlead::redis
