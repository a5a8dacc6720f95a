// Commands that wait for a key: their queues, their time limits, and the moment at which they run anew.
#include <redis_server/call.hpp>

#include <fairlead/base/assert.hpp>

#include <string>
#include <utility>
#include <vector>

namespace fairlead::redis::server_impl {
namespace {

// The reply of a command that waited is complete: the client's next requests may be read.
void complete_wait(server_session& who, std::size_t before) {
    command const* const cmd = who.waits->cmd;
    who.server.stop_waiting(who);
    finish_reply(who, cmd, before);
    who.server.resumed.push_back(&who);
    who.server.signal(who);
}

void run_anew(server_session& who, watched_key const& key) {
    waiting_command const& waiting = *who.waits;
    std::vector<std::string_view> const args(waiting.arguments.begin(), waiting.arguments.end());
    std::string_view const changed = key.second;
    std::size_t const before = who.output.size();
    who.is_running = true;
    call now{who.server, who, *waiting.cmd, args, &changed};
    waiting.cmd->run(now);
    who.is_running = false;
    if (!now.goes_on_waiting)
        complete_wait(who, before);
}

} // namespace

void server_state::wait(server_session& who, waiting_command command) {
    FAIRLEAD_ASSERT(!who.waits);
    command.order = ++last_order;
    for (auto const& key : command.keys)
        waiters[key].emplace(command.order, &who);
    if (command.until)
        time_limits.emplace(std::pair(*command.until, command.order), &who);
    who.waits = std::move(command);
}

void server_state::stop_waiting(server_session& who) {
    for (auto const& key : who.waits->keys)
        if (auto const at = waiters.find(key); at != waiters.end()) { // Gone already when a key was named twice.
            at->second.erase(who.waits->order);
            if (at->second.empty())
                waiters.erase(at);
        }
    if (who.waits->until)
        time_limits.erase({*who.waits->until, who.waits->order});
    who.waits.reset();
}

void server_state::end_wait(server_session& who, std::string_view error) {
    std::size_t const before = who.output.size();
    if (!error.empty())
        resp3::append_simple_error(who.output, error);
    else if (who.waits->when_late == late_reply::zero)
        resp3::append_number(who.output, 0);
    else
        resp3::append_null_array(who.output, who.protocol);
    complete_wait(who, before);
}

void server_state::serve_waiting() {
    // A command that runs anew may change keys for which others wait, as BLMOVE does.
    while (!ready.empty())
        for (auto const& key : std::exchange(ready, {})) {
            auto const at = waiters.find(key);
            if (at == waiters.end())
                continue;
            auto const queue = at->second; // a copy: those who are served leave it
            for (auto const& [order, who] : queue)
                if (!who->closing)
                    run_anew(*who, key);
        }
}

void server_state::end_late_waits() {
    if (time_limits.empty())
        return;
    std::int64_t const t = now();
    while (!time_limits.empty() && time_limits.begin()->first.first <= t)
        end_wait(*time_limits.begin()->second, {});
}

} // namespace fairlead::redis::server_impl
