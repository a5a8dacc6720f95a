// Several commands in one request whose order does not matter: scripts among them go by their digests.
#pragma once

#include <fairlead/redis/command.hpp>
#include <fairlead/redis/script.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <tuple>
#include <utility>

namespace fairlead::redis {

namespace impl {

template <batchable Command> std::shared_ptr<stored_code const> code_of_batch(Command const& c) {
    if constexpr (requires { c.code(); })
        return c.code();
    else
        return nullptr;
}

} // namespace impl

/// The commands of an unordered_pipeline(). A client or a lease executes them.
template <class... Result> class [[nodiscard]] unordered_commands {
public:
    using result_type = std::tuple<result<Result>...>;

    template <impl::batchable... Command>
        requires(sizeof...(Command) == sizeof...(Result))
    explicit unordered_commands(Command const&... each) : read_{each.reader()...},
                                                          code_{impl::code_of_batch(each)...} {
        impl::batch_part const parts[] = {{&each.req(), nullptr}...};
        request_ = impl::in_sequence(parts, sizeof...(Result));
    }
    /// The most time that an execution may take, with all that is sent again: request::set_timeout().
    void set_timeout(std::chrono::milliseconds t) noexcept { request_.set_timeout(t); }
    /// To execute it twice does no more than to execute it once: request::set_repeatable().
    void set_repeatable(bool is_repeatable = true) noexcept { request_.set_repeatable(is_repeatable); }

    /// For the library: scripts by their digests, functions by their names.
    request const& by_name() const noexcept { return request_; }
    std::array<impl::read_function, sizeof...(Result)> const& readers() const noexcept { return read_; }
    std::shared_ptr<impl::stored_code const> const* code() const noexcept { return code_.data(); }

private:
    std::array<impl::read_function, sizeof...(Result)> read_;
    std::array<std::shared_ptr<impl::stored_code const>, sizeof...(Result)> code_;
    request request_;
};

/// As pipeline(), of commands that do not need what stands before them. All scripts go as EVALSHA. The calls that the
/// server answers with NOSCRIPT, which were not executed, are sent once more with the sources, behind all others.
/// Functions of libraries alike. Nothing is executed twice:
///
///     auto [a, b] = co_await db.call(redis::unordered_pipeline(cmd::eval<bool>(take, "user:1"), cmd::get("name")));
///
/// When the calls that are sent once more fail, their results have the error: result<T>::code().
///
/// Lifetime   sources are kept, and nothing of the arguments
template <impl::batchable... Command>
    requires(sizeof...(Command) > 0 && impl::answer_by_replies<typename Command::result_type...>())
unordered_commands<typename Command::result_type...> unordered_pipeline(Command const&... each) {
    return unordered_commands<typename Command::result_type...>(each...);
}
template <impl::batchable... Command>
    requires(!impl::answer_by_replies<typename Command::result_type...>())
FAIRLEAD_REFUSED("a subscription is confirmed by pushes, not by a reply: execute it by itself")
unordered_commands<typename Command::result_type...> unordered_pipeline(Command const&... each);

} // namespace fairlead::redis
