// Decides who may run what, and runs it.
#include <redis_server/call.hpp>

#include <string>
#include <utility>

namespace fairlead::redis::server_impl {
namespace {

void refuse_unknown(server_session& self, std::span<std::string_view const> args) {
    constexpr std::size_t shown_max = 128;
    std::string text = "ERR unknown command '";
    text.append(args[0].substr(0, shown_max)).append("', with args beginning with: ");
    std::size_t shown = 0;
    for (std::string_view const arg : args.subspan(1)) {
        if (shown >= shown_max)
            break;
        std::string_view const part = arg.substr(0, shown_max - shown);
        text.append("'").append(part).append("' ");
        shown += part.size() + 3;
    }
    resp3::append_simple_error(self.output, text);
}

// Why `self` may not run `cmd` now, or an empty text.
std::string refusal(server_session const& self, command const& cmd, std::span<std::string_view const> args) {
    if (!self.authenticated && !(cmd.flags & no_auth))
        return "NOAUTH Authentication required.";
    if (auto refused = acl_refusal(self.server.users.find(self.user)->second, cmd, args); !refused.empty())
        return refused;
    if (self.protocol == resp3::version::resp2 && self.has_subscriptions() && !(cmd.flags & in_subscription))
        return "ERR Can't execute '" + std::string(cmd.name) +
               "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context";
    return {};
}

void enqueue(server_session& self, command const& cmd, std::span<std::string_view const> args) {
    std::size_t bytes = 0;
    for (std::string_view const arg : args)
        bytes += arg.size() + sizeof(std::string);
    if (bytes > self.server.options.transaction_bytes_max - self.queued_bytes) {
        self.transaction_failed = true;
        resp3::append_simple_error(self.output, "ERR transaction is too large");
        return;
    }
    self.queued_bytes += bytes;
    self.queue.push_back({&cmd, {args.begin(), args.end()}});
    self.output += "+QUEUED\r\n";
}

// Finds the command, and runs it unless something is in the way.
void dispatch(server_session& self, std::span<std::string_view const> args) {
    command const* cmd = find_command(args[0]);
    if (cmd && !self.server.knows(*cmd))
        cmd = nullptr;
    std::string problem;
    if (!cmd) {
        refuse_unknown(self, args);
    } else if (!has_arity(*cmd, args.size())) {
        problem = "ERR wrong number of arguments for '" + std::string(cmd->name) + "' command";
    } else {
        problem = refusal(self, *cmd, args);
    }
    if (!cmd || !problem.empty()) {
        if (cmd && cmd->name == "exec") { // It will not come again: the transaction, if there is one, is over.
            problem = "EXECABORT Transaction discarded because of: " + problem;
            end_transaction(self);
        }
        if (cmd)
            resp3::append_simple_error(self.output, problem);
        self.transaction_failed = self.in_transaction;
        return;
    }
    if (self.in_transaction && !(cmd->flags & unqueued))
        enqueue(self, *cmd, args);
    else
        run(self, *cmd, args);
}

} // namespace

void run(server_session& self, command const& cmd, std::span<std::string_view const> args) {
    ++self.server.commands_run;
    self.last_command = cmd.name;
    call now{self.server, self, cmd, args};
    cmd.run(now);
}

void finish_reply(server_session& self, command const* cmd, std::size_t before) {
    if (self.replies != reply_mode::on) {
        bool const by_push = cmd && (cmd->flags & replies_by_push) && self.protocol == resp3::version::resp3;
        if (!by_push)
            self.output.resize(before);
        if (self.replies == reply_mode::skip_this)
            self.replies = reply_mode::on;
    }
    self.output += std::exchange(self.pushes_to_self, {});
}

void serve(server_session& self, std::span<std::string_view const> args) {
    if (self.replies == reply_mode::skip_next)
        self.replies = reply_mode::skip_this;
    std::size_t const before = self.output.size();
    self.is_running = true;
    dispatch(self, args);
    self.is_running = false;
    if (!self.waits)
        finish_reply(self, find_command(args[0]), before);
    self.server.serve_waiting();
}

} // namespace fairlead::redis::server_impl
