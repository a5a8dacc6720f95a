// The text of a failed call's exception: the command that failed.
#include <fairlead/redis/typed_call.hpp>

#include <redis/commands.hpp>
#include <redis/endings.hpp>

#include <fairlead/redis/client.hpp>
#include <fairlead/redis/unexpected_error.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace fairlead::redis::impl {
namespace {

constexpr std::size_t name_shown_max = 32;

/// The command that `at` of a request's replies answers, counted from 0, or the first that has no reply.
std::string_view command_at(request const& r, std::uint32_t at) noexcept {
    auto bytes = r.payload();
    while (!bytes.empty()) {
        arguments_of words(bytes);
        auto const name = words.next();
        auto const* const known = find_command(name);
        bool const is_confirmed = known && known->what == role::confirmed;
        if (is_confirmed ? at == exec_op::subscription : at == 0)
            return name;
        at -= !is_confirmed && at != exec_op::subscription;
        while (words.left() != 0)
            words.next();
        bytes = words.rest();
    }
    return {};
}

/// Nothing came of it, or nobody knows: no single reply is to blame.
bool concerns_all(error_code const& ec) noexcept {
    return ec == condition::not_executed || ec == error::maybe_executed;
}

} // namespace

namespace {

std::string text_of_failed(exec_op const& o) {
    auto const& r = *o.request;
    auto const ec = o.error();
    auto const shown = [](std::string_view name) { return resp3::printable(name, name_shown_max); };
    std::string what = "redis ";
    if (ec == error::refused_command && !r.refused().empty())
        return what.append(r.refused()).append(" (instead: ").append(r.instead()).append(")");
    if (r.empty())
        return what.append("without a command");
    if (!concerns_all(ec)) {
        what.append(shown(command_at(r, o.failed_at)));
        if (o.failed_at == exec_op::subscription)
            what.append(", see connection::server_text()");
        else if (auto const replies = r.expected_replies(); replies > 1)
            what.append(", reply ")
                .append(std::to_string(o.failed_at + 1))
                .append(" of ")
                .append(std::to_string(replies));
        return what;
    }
    arguments_of first(r.payload());
    what.append(shown(first.next()));
    if (r.commands() > 1)
        what.append(" and ").append(std::to_string(r.commands() - 1)).append(" more");
    return what;
}

} // namespace

std::string describe_failed(exec_op const& o) {
    auto what = text_of_failed(o);
    if (auto events = find_ending(o.first_entry))
        throw unexpected_error(o.error(), what, std::move(events));
    return what;
}

std::string describe_failed(run_op const& o) {
    auto what = std::string("redis connection to ").append(o.address);
    if (auto events = find_ending(o.ending()))
        throw unexpected_error(o.error(), what, std::move(events));
    return what;
}

std::string describe_failed(giving_up const& g) {
    std::string what = "redis client";
    if (!g.recent_events.empty())
        throw unexpected_error(g.why, what, std::make_shared<std::string const>(g.recent_events));
    return what;
}

std::string described(exec_op const& o, std::string_view refusal) {
    auto what = describe_failed(o);
    if (!refusal.empty())
        what.append(": ").append(resp3::printable(refusal, 256));
    return what;
}

} // namespace fairlead::redis::impl
