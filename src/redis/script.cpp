// Calls of scripts and functions, with the code that the server lacks.
#include <fairlead/redis/script_call.hpp>

#include <redis/call.hpp>
#include <redis/commands.hpp>
#include <redis/connection_core.hpp>
#include <redis/sha1.hpp>

#include <fairlead/base/error.hpp>
#include <fairlead/redis/cmd/functions.hpp>
#include <fairlead/redis/typed_call.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::redis::impl {

std::shared_ptr<stored_code const> keep_script(std::string&& source) {
    auto const sha1 = sha1_of(source);
    return std::make_shared<stored_code>(std::move(source), sha1, false);
}

std::shared_ptr<stored_code const> keep_library(std::string&& source) {
    return std::make_shared<stored_code>(std::move(source), std::array<char, 40>{}, true);
}

namespace {

std::string_view eval_of(std::string_view evalsha) noexcept {
    return equals_capitals(evalsha, "EVALSHA_RO") ? "EVAL_RO" : "EVAL";
}

} // namespace

request with_source(request const& by_digest, stored_code const& code) {
    auto whole = replaced(by_digest, 0, {eval_of(arguments_of(by_digest.payload()).next()), code.source});
    whole.set_repeatable(by_digest.is_repeatable());
    return whole;
}

namespace {

/// The limit of a call that may take several executions.
class limit_of_all {
public:
    limit_of_all(connection_core& c, request const& first)
        : core_(c),
          due_ns_(first.timeout().count() == 0 ? 0 : c.engine().now_ns() + nanoseconds(first.timeout()).count()) {}
    /// The rest of it, for the next execution; one that has none left ends at once.
    void pass_on_to(request& next) const {
        if (due_ns_ == 0)
            return;
        auto const left = std::chrono::ceil<std::chrono::milliseconds>(nanoseconds(due_ns_ - core_.engine().now_ns()));
        next.set_timeout(std::max(left, std::chrono::milliseconds(1)));
    }

private:
    using nanoseconds = std::chrono::nanoseconds;
    connection_core& core_;
    std::int64_t due_ns_; // 0: none of its own
};

/// A server has no error code for it.
bool lacks_function(error_code const& ec, std::string_view refusal) noexcept {
    return ec == error::server_error && refusal.starts_with("ERR Function not found");
}

/// Whether the server refused a call of `code` because it has not got it. Then nothing was executed.
bool lacks(stored_code const& code, error_code const& ec, std::string_view refusal) noexcept {
    return code.is_library ? lacks_function(ec, refusal) : ec == error::no_script;
}

/// The calls of an unordered pipeline whose code the server lacks, and the request that brings it.
class calls_without_code {
public:
    calls_without_code(std::shared_ptr<stored_code const> const* code, response_ref to) noexcept
        : code_(code),
          to_(to) {}

    bool empty() const noexcept { return calls_.empty(); }
    /// For the replies to all commands: those that say that code is missing are noted.
    response_ref refer() noexcept {
        return {this,
                [](void* object, std::size_t index, reply_view const& reply) {
                    auto& self = *static_cast<calls_without_code*>(object);
                    auto const& first = reply.nodes[0];
                    if (self.code_[index] && resp3::is_error(first.kind) &&
                        lacks(*self.code_[index], refusal_of(first.value), first.value))
                        self.calls_.push_back(index);
                    return self.to_.deliver(self.to_.object, index, reply);
                },
                to_.replies};
    }
    /// The libraries, and the calls in their order; the first one of each script has its source.
    request with_code(request const& all) {
        request again;
        for (auto const call : calls_) {
            auto const* const code = code_[call].get();
            if (!code->is_library || std::ranges::find(libraries_, code) != libraries_.end())
                continue;
            libraries_.push_back(code);
            again.push("FUNCTION", "LOAD", "REPLACE", code->source);
        }
        refusals_.resize(libraries_.size());
        std::vector<stored_code const*> sent;
        auto next = calls_.begin();
        auto rest = all.payload();
        for (std::size_t i = 0; next != calls_.end(); ++i) {
            arguments_of words(rest);
            std::vector<std::string_view> command;
            while (words.left() != 0)
                command.push_back(words.next());
            rest = words.rest();
            if (i != *next)
                continue;
            ++next;
            auto const* const code = code_[i].get();
            if (!code->is_library && std::ranges::find(sent, code) == sent.end()) {
                sent.push_back(code);
                command[0] = eval_of(command[0]);
                command[1] = code->source;
            }
            again.push_range(command[0], std::span(command).subspan(1));
        }
        again.set_repeatable(all.is_repeatable());
        return again;
    }
    /// For the replies to that.
    response_ref refer_again() noexcept {
        return {this,
                [](void* object, std::size_t index, reply_view const& reply) {
                    return static_cast<calls_without_code*>(object)->deliver_again(index, reply);
                },
                libraries_.size() + calls_.size()};
    }
    /// The calls that have no second answer get an error in place of their first one.
    void fail_rest(error_code const& ec, fail_function fail) const {
        for (std::size_t i = answered_; i != calls_.size(); ++i)
            fail(to_.object, calls_[i], ec);
    }

private:
    error_code deliver_again(std::size_t index, reply_view const& reply) {
        auto const& first = reply.nodes[0];
        if (index < libraries_.size()) {
            if (resp3::is_error(first.kind))
                refusals_[index] = first.value;
            return {};
        }
        auto const call = calls_[index - libraries_.size()];
        ++answered_;
        auto const& code = *code_[call];
        if (code.is_library && resp3::is_error(first.kind) && lacks_function(refusal_of(first.value), first.value)) {
            // The reason is that of its library, if that was refused.
            auto const& why =
                refusals_[static_cast<std::size_t>(std::ranges::find(libraries_, &code) - libraries_.begin())];
            if (!why.empty()) {
                auto node = first;
                node.value = why;
                return to_.deliver(to_.object, call, {{&node, 1}});
            }
        }
        return to_.deliver(to_.object, call, reply);
    }

    std::shared_ptr<stored_code const> const* code_;
    response_ref to_;
    std::vector<std::size_t> calls_;
    std::vector<stored_code const*> libraries_; // of them, each once
    std::vector<std::string> refusals_;         // of the libraries
    std::size_t answered_ = 0;                  // of calls_, the second time
};

} // namespace

awaitable<void> execute_stored(connection_core& c, request const& by_name, stored_code const& code, response_ref to,
                               std::string const& refusal) {
    limit_of_all const limit(c, by_name);
    auto trying = executed(c, by_name, to);
    auto ec = co_await std::move(trying);
    if (!ec)
        co_return;
    // Either refusal says that nothing was executed.
    if (!code.is_library && lacks(code, ec, refusal)) {
        // With EVAL nobody's SCRIPT FLUSH can come between loading and executing.
        auto complete = with_source(by_name, code);
        limit.pass_on_to(complete);
        auto again = executed(c, complete, to);
        ec = co_await std::move(again);
        if (ec)
            throw_failed_call(ec, complete, refusal);
        co_return;
    }
    if (code.is_library && lacks(code, ec, refusal)) {
        auto const load = cmd::function_load(code.source, options::replace);
        auto loaded = load.response();
        auto load_in_time = load.req();
        limit.pass_on_to(load_in_time);
        auto loading = executed(c, load_in_time, loaded.refer());
        ec = co_await std::move(loading);
        if (ec)
            throw_failed_call(ec, load_in_time, loaded.refusal());
        auto call_in_time = by_name;
        limit.pass_on_to(call_in_time);
        auto again = executed(c, call_in_time, to);
        ec = co_await std::move(again);
    }
    if (ec)
        throw_failed_call(ec, by_name, refusal);
}

awaitable<void> execute_unordered(connection_core& c, request const& by_name,
                                  std::shared_ptr<stored_code const> const* code, response_ref to, fail_function fail) {
    limit_of_all const limit(c, by_name);
    calls_without_code lacking(code, to);
    auto trying = executed(c, by_name, lacking.refer());
    auto ec = co_await std::move(trying);
    if (ec)
        throw_failed_call(ec, by_name, {});
    if (lacking.empty())
        co_return;
    auto with_code = lacking.with_code(by_name);
    limit.pass_on_to(with_code);
    auto again = executed(c, with_code, lacking.refer_again());
    ec = co_await std::move(again);
    if (ec)
        lacking.fail_rest(ec, fail); // The others have been executed.
}

void throw_failed_call(call_error const& ec, request const& r, std::string_view refusal) {
    exec_op o;
    o.begin(nullptr, &r);
    o.fail(ec, 0);
    o.first_entry = ec.ending;
    bool const is_refusal = ec == condition::refused_by_server;
    throw system_error(ec, described(o, is_refusal ? refusal : std::string_view()));
}

any_io_executor executor_of(connection_core& c) { return c.executor(); }
any_io_executor loop_executor_of(connection_core& c) { return c.io_executor(); }

error_code code_of(std::exception_ptr const& e) noexcept {
    try {
        std::rethrow_exception(e);
    } catch (system_error const& failure) {
        return failure.code();
    } catch (...) { // Memory that was not there, or the end of the context.
        return fairlead::error::no_memory;
    }
}

} // namespace fairlead::redis::impl
