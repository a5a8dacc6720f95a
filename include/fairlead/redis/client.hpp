// A Redis or Valkey server as one object: it connects, connects again, and ends every call.
#pragma once

#include <fairlead/operation/async_result.hpp> // First: its refusals are then shown with few lines about headers.

#include <fairlead/coro/awaitable.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/operation/give_exception.hpp>
#include <fairlead/operation/wait_for.hpp>
#include <fairlead/redis/adjusted_calls.hpp>
#include <fairlead/redis/client_options.hpp>
#include <fairlead/redis/client_statistics.hpp>
#include <fairlead/redis/command_set.hpp>
#include <fairlead/redis/connection.hpp>
#include <fairlead/redis/connector.hpp>
#include <fairlead/redis/scan.hpp>
#include <fairlead/redis/script_call.hpp>
#include <fairlead/redis/subscription.hpp>
#include <fairlead/redis/typed_call.hpp>
#include <fairlead/token/adapters.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

namespace fairlead::redis {

class lease;

namespace impl {

class client_core;
struct client_access;
FAIRLEAD_EXPORT any_io_executor executor_of(client_core& c);
FAIRLEAD_EXPORT any_io_executor loop_executor_of(client_core& c);
/// Parts of the exception of a client that gave up.
struct giving_up {
    error_code why;
    std::string recent_events; ///< empty: it did not
};
/// Throws     unexpected_error if the client gave up
FAIRLEAD_EXPORT std::string describe_failed(giving_up const& g);
FAIRLEAD_EXPORT awaitable<error_code> run_of(client_core& c, std::shared_ptr<giving_up> g);

template <class Handler> struct client_run_handler {
    Handler handler;
    std::shared_ptr<giving_up> outcome;
    void operator()(std::exception_ptr const& e, error_code ec) {
        if (ec)
            fairlead::impl::operation::give_exception(
                handler, [&] { fairlead::impl::base::throw_error_now(ec, describe_failed(*outcome).c_str()); });
        // The coroutine throws nothing but what its context's end does, and memory that was not there.
        std::move(handler)(e ? error_code(make_error_code(fairlead::error::no_memory)) : ec);
    }
};

struct client_run {
    client_core* core;
    std::shared_ptr<giving_up> outcome = std::make_shared<giving_up>(); // The client may have gone before it is read.

    explicit client_run(client_core* c) : core(c) {}
    static std::string describe() { return "redis client"; }
    std::string describe_failed() const { return impl::describe_failed(*outcome); }
    std::tuple<error_code> block() { return fairlead::impl::operation::wait_for<std::tuple<error_code>>(*this); }
    any_io_executor get_executor() const { return executor_of(*core); }
    template <class Handler> void operator()(Handler&& handler) const {
        auto ex = get_associated_executor(handler, executor_of(*core));
        co_spawn(loop_executor_of(*core), run_of(*core, outcome),
                 bind_executor(std::move(ex),
                               client_run_handler<std::decay_t<Handler>>{std::forward<Handler>(handler), outcome}));
    }
};

} // namespace impl

/// A client that any number of coroutines and callbacks use at the same time, as a redis::connection, which it connects
/// again whenever it is lost. Requests wait meanwhile. Every one of them ends:
///   - with its replies;
///   - with the server's refusal, condition::refused_by_server, or another error of connection::async_exec();
///   - with error::not_sent_in_time or no_answer_in_time, where it has a limit (config::request_timeout, within(),
///     request::set_timeout()), which covers waiting for a connection, queueing and the reply;
///   - with error::maybe_executed, when its connection was lost between the first byte and the reply. Requests
///     that only read, and repeatable() ones, are sent anew instead (client_options::repeats_max), in their order;
///   - with fairlead::error::operation_aborted or error::maybe_executed, when it was cancelled;
///   - with error::not_connected, when async_run has ended, or config::cancel_if_not_connected is set.
///
/// Messages of channels come through subscribe(). SUBSCRIBE and its relatives through async_exec end with
/// error::refused_command, for nobody would get the messages.
///
/// Handlers, threads and executors: as of connection. Requests that were not written when a connection ended always
/// wait for the next one, as with config::keep_unsent.
///
/// Throws     std::invalid_argument from the constructor, for config::dedicated and the limits of pushes: these are of
///            a connection alone
/// Threads    any, also several at the same time, the destructor by itself; but one thread is inside run() of the
///            io_context on which the client is. A thread_pool may have many
/// Lifetime   outlived by its context; destroying it completes what is pending with operation_aborted or maybe_executed
class FAIRLEAD_EXPORT client : public command_set<client> {
public:
    using executor_type = any_io_executor;

    client(any_io_executor const& ex, config_view const& cfg, client_options options = {});
    template <execution_context_type Context> client(Context& c, config_view const& cfg, client_options options = {})
        : client(any_io_executor(c.get_executor()), cfg, std::move(options)) {}
    /// With streams that `how` makes: TLS, proxies (redis/connector.hpp).
    client(any_io_executor const& ex, config_view const& cfg, connector const& how, client_options options = {});
    template <execution_context_type Context>
    client(Context& c, config_view const& cfg, connector const& how, client_options options = {})
        : client(any_io_executor(c.get_executor()), cfg, how, std::move(options)) {}
    client(client&& other) noexcept
        : command_set(),
          core_(std::exchange(other.core_, nullptr)),
          shared_(std::exchange(other.shared_, nullptr)) {}
    client& operator=(client&& other) noexcept {
        std::swap(core_, other.core_);
        std::swap(shared_, other.shared_);
        return *this;
    }
    ~client();

    executor_type get_executor() const noexcept;

    /// Connects and serves requests, and connects again, until it is cancelled or gives up.
    /// Completes  (error_code ec), never without an error
    /// Errors     error::operation_aborted    cancelled
    ///            error::already_running      another one is under way
    ///            of the last attempt         client_options::attempts_max or give_up_after is over. At once for errors
    ///                                        that no repetition mends: error::invalid_address, resp3_required, and
    ///                                        auth_refused unless client_options::ask_credentials is set
    /// Cancel     terminal; also through cancel(). Requests that wait end as when it gives up: with error::not_sent
    /// At its end all subscriptions have ended, too. When it is called again the client begins without any.
    /// Immediate  never
    /// Lifetime   as the client
    /// Threads    any
    /// Allocates  when it connects
    template <class Token = use_await_t> decltype(auto) async_run(Token&& token = {}) {
        return completion_token_transform<void(error_code)>(std::forward<Token>(token), impl::client_run(core_));
    }

    /// As connection::async_exec(), over all connections of the client.
    /// Completes  (error_code ec, std::size_t n): n bytes of text in the replies
    /// Errors     as the comment on client says
    /// Cancel     terminal or partial: before it was written it is taken back; then its replies are dropped when they
    ///            come. Also through cancel(req)
    /// Immediate  never
    /// Lifetime   req and resp outlive the completion; req is not changed meanwhile
    /// Threads    any
    /// Allocates  nothing awaited, after warm-up, beyond what the values need
    template <class Response, class Token = use_await_t>
    decltype(auto) async_exec(request const& req, Response& resp, Token&& token = {}) noexcept(
        fairlead::impl::operation::nothrow_token<std::decay_t<Token>, redis::impl::execute>) {
        return completion_token_transform<impl::execute::signature>(std::forward<Token>(token),
                                                                    impl::execute(*shared_, req, impl::refer_to(resp)));
    }

    /// Executes a typed command, a pipeline of them or a transaction (redis/cmd.hpp), and gives its result:
    /// `auto visits = co_await db.async_exec(cmd::get<long>("visits"))`.
    /// Completes  (error_code ec, result_type); the result counts when ec is not set
    /// Errors     as above; what an await throws has the server's words
    /// Cancel     as above
    /// Immediate  never
    /// Lifetime   the command is kept
    /// Threads    any
    /// Allocates  nothing, after warm-up, beyond what the result needs: a text of more than 15 bytes takes a block
    template <typed_command Command, class Token = use_await_t>
    decltype(auto) async_exec(Command c, Token&& token = {}) {
        return completion_token_transform<typename impl::typed_call<Command>::signature>(
            std::forward<Token>(token), impl::typed_call<Command>(*shared_, std::move(c)));
    }
    /// Calls a script, or a function of a library (redis/script.hpp): `co_await db.eval<long>(take, "stock", 3)`. The
    /// server is given the code when it does not have it. The code is executed at most once.
    /// Completes  (error_code ec, Result); the result counts when ec is not set
    /// Errors     as above. error::no_script never comes
    /// Cancel     as above
    /// Immediate  never
    /// Lifetime   the call is kept, with its source
    /// Threads    any
    /// Allocates  what the call and its result need, and with a handler a coroutine
    template <class Result, class Token = use_await_t>
    decltype(auto) async_exec(script_command<Result> c, Token&& token = {}) {
        return impl::exec_with_code(*shared_, std::move(c), std::forward<Token>(token));
    }
    /// Executes an unordered_pipeline: scripts by their digests, and once more with their sources where the server has
    /// them not.
    /// Completes  (error_code ec, result_type); the result counts when ec is not set
    /// Errors     as above. A result has error::no_script only if somebody's SCRIPT FLUSH came between two calls
    /// Cancel     as above; what had been executed has its results
    /// Immediate  never
    /// Lifetime   the commands are kept
    /// Threads    any
    /// Allocates  what the commands and their results need, and with a handler a coroutine
    template <class... Result, class Token = use_await_t>
    decltype(auto) async_exec(unordered_commands<Result...> c, Token&& token = {}) {
        return impl::exec_with_code(*shared_, std::move(c), std::forward<Token>(token));
    }
    /// The same operation.
    template <typed_command Command> decltype(auto) call(Command c) { return async_exec(std::move(c)); }
    template <class... Result> decltype(auto) call(unordered_commands<Result...> c) { return async_exec(std::move(c)); }

    /// The same calls with a limit for each: `co_await db.within(50ms).get("key")`, also of a pipeline or a script:
    /// `db.within(50ms).call(pipeline(...))`. Zero or less: config::request_timeout.
    adjusted_calls<client> within(std::chrono::milliseconds limit) noexcept {
        return adjusted_calls(*this).within(limit);
    }
    /// The same calls, for commands that do no more when they are executed twice: `co_await
    /// db.repeatable().set("key", "value")`. They are sent anew where they would end with error::maybe_executed,
    /// client_options::repeats_max times at the most.
    adjusted_calls<client> repeatable() noexcept { return adjusted_calls(*this).repeatable(); }

    using keys_of<client>::scan;
    using hashes_of<client>::hscan;
    using sets_of<client>::sscan;
    using sorted_sets_of<client>::zscan;
    /// All keys, a page at a time: `auto keys = db.scan(match("user:*")); while (auto k = co_await keys.next()) ...`.
    /// It has the options match, count and of_type. The other ranges are those of a hash, a set and a sorted set.
    ///   - A key that is there all the time comes at least once, perhaps more than once. One that comes or goes
    ///   meanwhile
    ///     may come.
    ///   - It begins anew when the client has connected again, for cursors are of one process of the server.
    ///   - It holds one page, of about `count` elements.
    /// A failed call of next() throws, as async_exec() does, and ends the range. Asked to end, it ends as a call does.
    /// Lifetime   it may outlive the client, and next() throws then; the options and the key are copied
    /// Threads    one next() at a time
    template <std::derived_from<impl::option_base>... Option> generator<std::string> scan(Option const&... option) {
        return impl::scan_items<std::string>(impl::hold(*core_), cmd::scan(0, option...).req(), 1);
    }
    /// All fields of a hash with their values, as scan(). It has the options match and count.
    template <class T = std::string, std::derived_from<impl::option_base>... Option>
    generator<std::pair<std::string, T>> hscan(key_view key, Option const&... option) {
        return impl::scan_items<std::pair<std::string, T>>(impl::hold(*core_), cmd::hscan<T>(key, 0, option...).req(),
                                                           2);
    }
    /// All members of a set, as scan(). It has the options match and count.
    template <class T = std::string, std::derived_from<impl::option_base>... Option>
    generator<T> sscan(key_view key, Option const&... option) {
        return impl::scan_items<T>(impl::hold(*core_), cmd::sscan<T>(key, 0, option...).req(), 2);
    }
    /// All members of a sorted set with their scores, as scan(). It has the options match and count.
    template <class T = std::string, std::derived_from<impl::option_base>... Option>
    generator<std::pair<T, double>> zscan(key_view key, Option const&... option) {
        return impl::scan_items<std::pair<T, double>>(impl::hold(*core_), cmd::zscan<T>(key, 0, option...).req(), 2);
    }

    /// Subscribes to channels, patterns and channels of shards: `co_await db.subscribe("news", pattern("log.*"))`. They
    /// are subscribed to again after each loss of the connection, before any request is sent. They end with async_run.
    /// Returns    when the server has confirmed all; at once when the connection is lost meanwhile
    /// Throws     system_error of condition::refused_by_server: the server refused one of them; no subscription is left
    ///            what async_exec() ends with           it waited for a connection, and was cancelled or timed out, or
    ///                                                  async_run has ended
    /// Lifetime   the texts are copied
    /// Threads    any
    template <std::convertible_to<topic>... Topics>
        requires(sizeof...(Topics) != 0)
    awaitable<subscription> subscribe(Topics const&... all) {
        return impl::subscribe_to(*core_, impl::keep_topics(topic(all)...), {});
    }
    /// As subscribe() above, with limits for this subscription.
    template <std::convertible_to<topic>... Topics>
        requires(sizeof...(Topics) != 0)
    awaitable<subscription> subscribe(subscription_options const& limits, Topics const&... all) {
        return impl::subscribe_to(*core_, impl::keep_topics(topic(all)...), limits);
    }

    /// Takes a connection out of the client's pool, for what changes the state of a connection: WATCH, a transaction in
    /// several requests, SELECT (redis/lease.hpp). Waits for one if all are taken: client_options::leases_max.
    /// Throws     system_error of what async_exec() ends with
    /// Threads    any
    awaitable<lease> acquire();

    /// Asks client_options::ask_credentials now, and has AUTH sent on all connections, without making them anew. Calls
    /// that were made before have the old credentials, and later ones the new ones. A connection of the pool gets them
    /// when it has nothing else to do and no transaction is open. The events renewed and not_renewed tell of the shared
    /// connection; a refusal leaves the old credentials in force. Without that option it does nothing.
    /// Threads    any
    void renew_credentials() noexcept;

    /// Ends async_run, all requests, and all subscriptions.
    /// Threads    any
    void cancel() noexcept;
    /// Gives up the pending executions of `req`, as connection::cancel(req) does.
    std::size_t cancel(request const& req) noexcept;

    /// A server serves now. Any thread may ask, as with what follows.
    bool is_ready() const noexcept;
    /// How the server refused the last session, made fit for a log.
    std::string server_text() const;
    /// Requests that wait to be written or answered.
    std::size_t pending() const noexcept;
    client_counters counters() const noexcept;
    /// Of all its connections together.
    connection_counters traffic() const noexcept;
    /// All of these, and the calls by command with client_options::statistics. Any thread.
    client_statistics statistics() const;
    /// As connection::recent_events().
    std::string recent_events() const;

private:
    friend struct impl::client_access;
    impl::client_core* core_;
    impl::connection_core* shared_;
};

} // namespace fairlead::redis

template <template <class, class> class A, class H, class D>
struct fairlead::associator<A, fairlead::redis::impl::client_run_handler<H>, D>
    : fairlead::impl::operation::pass_on<A, fairlead::redis::impl::client_run_handler<H>, H, D> {};
