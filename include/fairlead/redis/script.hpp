// Scripts and libraries of functions as objects, and calls of them that load what the server does not have.
#pragma once

#include <fairlead/redis/command.hpp>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace fairlead::redis {

namespace impl {

/// Code that a server keeps: a script by its digest, or a library of functions.
struct stored_code {
    std::string source;
    std::array<char, 40> sha1{}; // of a script
    bool is_library = false;
};
FAIRLEAD_EXPORT std::shared_ptr<stored_code const> keep_script(std::string&& source);
FAIRLEAD_EXPORT std::shared_ptr<stored_code const> keep_library(std::string&& source);
/// EVAL in place of EVALSHA.
FAIRLEAD_EXPORT request with_source(request const& by_digest, stored_code const& code);

} // namespace impl

/// A script in Lua. Its digest is computed once, and calls send that: the source goes out only when the server does not
/// have it. A copy is cheap. To be made once, and kept:
///
///     redis::script const take("if redis.call('GET', KEYS[1]) == ARGV[1] then ...");
///     long const left = co_await db.eval<long>(take, "stock:42", {"shop", 3});
///
/// Threads    any
class script {
public:
    explicit script(std::string source) : code_(impl::keep_script(std::move(source))) {}

    std::string_view source() const noexcept { return code_->source; }
    /// Forty digits, in lower case: the name of the script on any server.
    std::string_view sha1() const noexcept { return {code_->sha1.data(), code_->sha1.size()}; }

    /// For the library.
    std::shared_ptr<impl::stored_code const> const& code() const noexcept { return code_; }

private:
    std::shared_ptr<impl::stored_code const> code_;
};

/// The source of a library of functions, which begins with "#!lua name=...". A call of one of its functions loads it,
/// when the server has no such function. A pipeline or a transaction loads it first, unless the server has a library of
/// that name. A copy is cheap.
///
/// Threads    any
class function_source {
public:
    explicit function_source(std::string source) : code_(impl::keep_library(std::move(source))) {}

    std::string_view source() const noexcept { return code_->source; }

    /// For the library.
    std::shared_ptr<impl::stored_code const> const& code() const noexcept { return code_; }

private:
    std::shared_ptr<impl::stored_code const> code_;
};

/// A call of a script, or of a function of a library. A client sends the digest alone, and the source after NOSCRIPT:
/// the script is executed at most once. In a pipeline or a transaction the first call of each script has the source,
/// and the next ones have the digest. In an unordered_pipeline each is sent as by itself.
///
/// Lifetime   the source is kept, and nothing of its arguments
template <class Result> class [[nodiscard]] script_command {
public:
    /// The type of the script's result.
    using result_type = Result;
    using response_type = typed_response<Result>;

    script_command(std::shared_ptr<impl::stored_code const> code, request&& by_name,
                   impl::read_function read = impl::usual_reader<Result>()) noexcept
        : code_(std::move(code)),
          request_(std::move(by_name)),
          read_(read) {}

    /// By its name alone: EVALSHA, or FCALL.
    request const& req() const noexcept { return request_; }
    response_type response() const noexcept(std::is_nothrow_default_constructible_v<Result>) {
        return response_type(read_);
    }
    /// The most time that an execution may take: request::set_timeout().
    void set_timeout(std::chrono::milliseconds t) noexcept { request_.set_timeout(t); }
    /// To execute it twice does no more than to execute it once: request::set_repeatable().
    void set_repeatable(bool is_repeatable = true) noexcept { request_.set_repeatable(is_repeatable); }
    /// The same call with the source, EVAL, which any connection takes; of a function FCALL.
    command<Result> with_source() const {
        return command<Result>(code_->is_library ? request(request_) : impl::with_source(request_, *code_), read_);
    }

    /// For the library.
    impl::read_function reader() const noexcept { return read_; }
    std::shared_ptr<impl::stored_code const> const& code() const noexcept { return code_; }

private:
    std::shared_ptr<impl::stored_code const> code_;
    request request_;
    impl::read_function read_;
};

} // namespace fairlead::redis
