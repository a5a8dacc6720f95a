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
#include <new>
#include <string>
#include <utility>

namespace fairlead::redis::impl {

std::shared_ptr<stored_code const> keep_script(std::string&& source) {
    auto const sha1 = sha1_of(source);
    return std::make_shared<stored_code>(std::move(source), sha1, false);
}

std::shared_ptr<stored_code const> keep_library(std::string&& source) {
    return std::make_shared<stored_code>(std::move(source), std::array<char, 40>{}, true);
}

request with_source(request const& by_digest, stored_code const& code) {
    bool const reads_only = equals_capitals(arguments_of(by_digest.payload()).next(), "EVALSHA_RO");
    auto whole = replaced(by_digest, 0, {reads_only ? "EVAL_RO" : "EVAL", code.source});
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

} // namespace

awaitable<void> execute_stored(connection_core& c, request const& by_name, stored_code const& code, response_ref to,
                               std::string const& refusal) {
    limit_of_all const limit(c, by_name);
    auto trying = executed(c, by_name, to);
    auto ec = co_await std::move(trying);
    if (!ec)
        co_return;
    // Either refusal says that nothing was executed.
    if (ec == error::no_script && !code.is_library) {
        // With EVAL nobody's SCRIPT FLUSH can come between loading and executing.
        auto complete = with_source(by_name, code);
        limit.pass_on_to(complete);
        auto again = executed(c, complete, to);
        ec = co_await std::move(again);
        if (ec)
            throw_failed_call(ec, complete, refusal);
        co_return;
    }
    if (code.is_library && lacks_function(ec, refusal)) {
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
