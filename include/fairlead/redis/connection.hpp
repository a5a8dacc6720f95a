// One connection to a Redis or Valkey server, shared by any number of callers.
#pragma once

#include <fairlead/operation/async_result.hpp> // First: its refusals are then shown with few lines about headers.

#include <fairlead/exec/cancellation_type.hpp>
#include <fairlead/exec/executor.hpp>
#include <fairlead/operation/async_op.hpp>
#include <fairlead/redis/config.hpp>
#include <fairlead/redis/request.hpp>
#include <fairlead/redis/response.hpp>
#include <fairlead/resp3/node.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>

namespace fairlead::redis {

class connector;

/// The work of a connection so far, over all its generations. Each number is exact by itself; while the connection is
/// at work they may have been read at different moments.
struct connection_counters {
    std::uint64_t generations;     ///< Sessions that became ready.
    std::uint64_t requests;        ///< Accepted for sending.
    std::uint64_t commands;        ///< In them.
    std::uint64_t replies;         ///< Received, also those of cancelled requests.
    std::uint64_t replies_dropped; ///< Of requests that were cancelled after they had been written.
    std::uint64_t writes;          ///< Batches given to the system.
    std::uint64_t reads;           ///< That brought bytes.
    std::uint64_t bytes_written;
    std::uint64_t bytes_read;
    std::uint64_t pushes;         ///< Received.
    std::uint64_t pushes_dropped; ///< Because nobody received them in time.
};

namespace impl {

class connection_core;

/// A result that is an error of any category, and a count. For records that live uninitialised in frames.
struct outcome_record : op {
    connection_core* connection;
    error_category const* category; ///< null: no error
    int value;
    std::uint32_t index; ///< of the next reply to deliver
    std::size_t count;

    outcome_record() noexcept {}
    void begin(connection_core* c) noexcept {
        cancel = nullptr;
        connection = c;
        category = nullptr;
        value = 0;
        index = 0;
        count = 0;
    }
    void fail(error_code const& ec) noexcept {
        if (!category && ec) // The first error is the one to report.
            give_up(ec);
    }
    /// Not everything came: that is worse than whatever was wrong with a part.
    void give_up(error_code const& ec) noexcept {
        category = &ec.category();
        value = ec.value();
    }
    error_code error() const noexcept { return category ? error_code(value, *category) : error_code(); }
};

/// A request under way. Lies in the await record or in the handler's block; the multiplexer only points at it.
struct exec_op : outcome_record {
    redis::request const* request;
    void* object;
    deliver_function deliver;
    /// Its place in the multiplexer's ring; 0 before it has one. When it has ended with its connection, the number of
    /// the text of that one's events.
    std::uint64_t first_entry;
    std::uint32_t failed_at; ///< with an error: the reply that had it, if it is one of a reply
    static constexpr std::uint32_t subscription = UINT32_MAX; ///< which has no reply but its refusal
    /// 0: none. Once due_ms is known, and at_first_byte says so, what is added to that then.
    std::uint32_t limit_ms;
    std::uint32_t due_ms;   ///< when that is over, on the multiplexer's clock
    std::uint8_t repeats;   ///< how often it may still be sent anew after its connection was lost
    std::uint8_t retries;   ///< ... after a refusal
    bool is_asked_when_due; ///< to end, as by a slot, when the limit is over; else it has timed out
    /// The fate of its limit when it is written, if it waits in the server.
    enum class limit_change : unsigned char {
        none,
        longer,          ///< by limit_ms
        longer_by_token, ///< by limit_ms; then that is the limit of its token
        dropped,         ///< until it waits to be written once more
    };
    limit_change at_first_byte;

    exec_op() noexcept {}
    void begin(connection_core* c, redis::request const* r) noexcept {
        outcome_record::begin(c);
        request = r;
        first_entry = 0;
        limit_ms = 0;
        repeats = retries = 0;
        is_asked_when_due = false;
        at_first_byte = limit_change::none;
    }
    void fail(error_code const& ec) noexcept { fail(ec, index); }
    void fail(error_code const& ec, std::uint32_t at) noexcept {
        if (!category && ec) {
            give_up(ec);
            failed_at = at;
        }
    }
};
static_assert(await_record::fits<exec_op>);

struct receive_op : outcome_record {
    generic_response* into;
    receive_op() noexcept {}
};
struct run_op : outcome_record {
    config* settings; ///< for this session and the next ones, which the start takes; null: those of the last time
    char address[40]; ///< of the configuration, for the message of an error: perhaps cut off
    /// The number of the text of its connection's events; 0: none.
    std::uint64_t ending() const noexcept { return count; }
    void set_ending(std::uint32_t number) noexcept { count = number; }
    run_op() noexcept {}
};
static_assert(await_record::fits<run_op>);

/// The limit of the token cancel_after for a request. It is kept where all limits of a connection are.
class limit_by_token {
public:
    template <class Duration> void at_most(Duration d, cancellation_type type) noexcept {
        constexpr std::uint32_t ms_max = INT32_MAX / 2;
        if (!(type & accepted))
            return;
        auto const ms = std::chrono::ceil<std::chrono::duration<double, std::milli>>(d).count();
        auto const n = ms >= ms_max ? ms_max : ms > 1 ? static_cast<std::uint32_t>(ms) : 1U;
        ms_ = ms_ == 0 || n < ms_ ? n : ms_;
    }
    void put_into(exec_op& o) const noexcept {
        o.limit_ms = ms_;
        o.is_asked_when_due = ms_ != 0;
    }

private:
    static constexpr auto accepted = cancellation_type::terminal | cancellation_type::partial;
    std::uint32_t ms_ = 0; // 0: none
};

/// How a request is asked to end early.
struct exec_canceller {
    static constexpr auto accepts = cancellation_type::terminal | cancellation_type::partial;
    FAIRLEAD_EXPORT void request(op& o) const noexcept;
    FAIRLEAD_EXPORT void end(exec_op& o) const noexcept;
};
inline exec_canceller cancellation_of(exec_op&, loop&) noexcept { return {}; }
struct run_canceller {
    static constexpr auto accepts = cancellation_type::terminal;
    FAIRLEAD_EXPORT void request(op& o) const noexcept;
    FAIRLEAD_EXPORT void end(run_op& o) const noexcept;
};
inline run_canceller cancellation_of(run_op&, loop&) noexcept { return {}; }

FAIRLEAD_EXPORT loop* loop_of(connection_core& c) noexcept;
FAIRLEAD_EXPORT void start(connection_core& c, exec_op& o) noexcept;
FAIRLEAD_EXPORT void start(connection_core& c, receive_op& o) noexcept;
FAIRLEAD_EXPORT void start(connection_core& c, run_op& o) noexcept;
struct discard_settings {
    FAIRLEAD_EXPORT void operator()(config* c) const noexcept;
};
using settings_of_run = std::unique_ptr<config, discard_settings>;
FAIRLEAD_EXPORT settings_of_run keep_settings(config_view const& cfg);
/// Names the command that has failed.
/// Throws     unexpected_error, which is for the caller, when it ended with its connection
FAIRLEAD_EXPORT std::string describe_failed(exec_op const& o);
/// Names the server.
/// Throws     unexpected_error, as above
FAIRLEAD_EXPORT std::string describe_failed(run_op const& o);

struct execute : fairlead::impl::operation::primitive<execute> {
    using signature = void(error_code, std::size_t);
    using record = exec_op;

    connection_core* connection;
    redis::request const* request;
    void* object;
    deliver_function deliver;
    std::uint32_t replies; ///< that the response takes
    limit_by_token limit;

    execute(connection_core& c, redis::request const& r, response_ref to) noexcept
        : connection(&c),
          request(&r),
          object(to.object),
          deliver(to.deliver),
          replies(to.replies < any_number ? static_cast<std::uint32_t>(to.replies) : any_number) {}
    loop* home() const noexcept { return loop_of(*connection); }
    void prepare(record& o) const noexcept {
        o.begin(connection, request);
        o.object = object;
        o.deliver = deliver;
        limit.put_into(o);
        if (replies != any_number && replies != request->expected_replies())
            o.fail(error::response_mismatch);
    }
    void submit(record& o) const noexcept { start(*o.connection, o); }
    template <class Duration> void limit_to(Duration d, cancellation_type type) noexcept { limit.at_most(d, type); }
    static std::tuple<error_code, std::size_t> take(record& o) noexcept { return {o.error(), o.count}; }
    static std::string describe(record const& o) { return describe_failed(o); }

private:
    static constexpr std::uint32_t any_number = UINT32_MAX;
};
static_assert(sizeof(execute) <= async_op<execute::signature>::storage_size);

struct receive : fairlead::impl::operation::primitive<receive> {
    using signature = void(error_code, std::size_t);
    using record = receive_op;

    connection_core* connection;
    generic_response* into;

    receive(connection_core& c, generic_response& r) noexcept : connection(&c), into(&r) {}
    loop* home() const noexcept { return loop_of(*connection); }
    void prepare(record& o) const noexcept {
        o.begin(connection);
        o.into = into;
    }
    void submit(record& o) const noexcept { start(*o.connection, o); }
    static std::tuple<error_code, std::size_t> take(record& o) noexcept { return {o.error(), o.count}; }
    static std::string describe() { return "redis receive"; }
};

struct run : fairlead::impl::operation::primitive<run> {
    using signature = void(error_code);
    using record = run_op;

    connection_core* connection;
    settings_of_run mutable settings; ///< until it is started

    explicit run(connection_core& c, settings_of_run s = nullptr) noexcept : connection(&c), settings(std::move(s)) {}
    loop* home() const noexcept { return loop_of(*connection); }
    void prepare(record& o) const noexcept {
        o.begin(connection);
        o.settings = settings.release();
    }
    void submit(record& o) const noexcept { start(*o.connection, o); }
    static std::tuple<error_code> take(record& o) noexcept { return {o.error()}; }
    static std::string describe(record const& o) { return describe_failed(o); }
};

} // namespace impl

/// A connection that any number of coroutines and callbacks use at the same time. Their requests of one turn of the
/// loop go out in one write. Replies are matched to requests in order, and pushes are handed out while replies flow. A
/// request that is cancelled, or whose response does not fit, never shifts the replies of the others.
///
/// A connection has one generation for each async_run: resolve, connect, HELLO (with credentials, name and database),
/// then requests until the connection ends. It does not reconnect by itself: call async_run again, after a pause.
///
/// A server from which nothing has come for a config::health_check_interval has to answer something within another
/// one: the requests of callers, or else a PING. Otherwise async_run ends with error::server_silent. Not counted is
///   - the time in which bytes move to the server that were sent before that question: a slow upload is no silence;
///   - the timeouts of blocking commands (BLPOP, BLMOVE, XREAD BLOCK, WAIT ...), 0 being for ever. Those of CLIENT
///   PAUSE
///     are not counted either. All of this holds as far as the commands came from this connection.
/// No PING is sent inside an open transaction, of which it would become part. Nor is one sent behind ASKING and CLIENT
/// CACHING, which concern the next command. WATCH and subscriptions do not keep it away. Where nothing can be asked, on
/// a dedicated connection, TCP looks after the server's host (SO_KEEPALIVE). When that is gone, async_run ends with
/// error::timed_out after about two intervals, in whole seconds. A server that hangs is not noticed then.
///
/// Handlers run on the connection's executor, unless they have one of their own; replies are converted before that, in
/// the thread that performs the I/O. Where the executor is a pool, a strand, or one of a user's, its operations are
/// work of the executor until their handlers run.
///
/// Calls are carried out in their order, whichever threads make them, as far as these threads know of an order. While
/// another thread runs the loop, a call is a message to it, and returns at once. That thread may be inside a handler
/// that waits for the caller.
///
/// Threads    any, also several at the same time, the destructor by itself; but one thread is inside run() of the
///            io_context on which the connection is. A thread_pool may have many
/// Lifetime   outlived by its context; destroying it completes what is pending with operation_aborted or maybe_executed
class FAIRLEAD_EXPORT connection {
public:
    using executor_type = any_io_executor;

    explicit connection(any_io_executor const& ex);
    template <execution_context_type Context> explicit connection(Context& c)
        : connection(any_io_executor(c.get_executor())) {}
    /// With streams that `c` makes (redis/connector.hpp). The health check asks the server alone then.
    connection(any_io_executor const& ex, connector const& c);
    template <execution_context_type Context> connection(Context& ctx, connector const& c)
        : connection(any_io_executor(ctx.get_executor()), c) {}
    connection(connection&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
    connection& operator=(connection&& other) noexcept {
        std::swap(core_, other.core_);
        return *this;
    }
    ~connection();

    executor_type get_executor() const noexcept;

    /// Connects and serves requests, until the connection ends.
    /// Completes  (error_code ec), never without an error
    /// Errors     error::operation_aborted   cancelled
    ///            fairlead::error::eof       the server closed the connection
    ///            what redis::error lists for connections, condition::protocol_error, and errors of sockets and names
    /// Cancel     terminal, which ends the requests, too; also through cancel()
    /// Immediate  never
    /// Lifetime   as the connection; `cfg` is copied, and takes effect when the operation starts
    /// Threads    any
    /// Allocates  when it connects; nothing for each read or write after warm-up
    /// Source     https://redis.io/docs/latest/develop/reference/protocol-spec/
    template <class Token = use_await_t> decltype(auto) async_run(config_view const& cfg, Token&& token = {}) {
        return completion_token_transform<impl::run::signature>(std::forward<Token>(token),
                                                                impl::run(*core_, impl::keep_settings(cfg)));
    }
    /// The same operation, with the configuration of the last one that was started.
    template <class Token = use_await_t>
        requires(!std::convertible_to<Token, config_view>)
    decltype(auto) async_run(Token&& token = {}) {
        return completion_token_transform<impl::run::signature>(std::forward<Token>(token), impl::run(*core_));
    }

    /// Executes the commands of `req` and reads their replies into `resp`: a response<T...>, one value for one reply, a
    /// generic_response, or ignore. Before the connection is ready, it waits.
    /// Completes  (error_code ec, std::size_t n): n bytes of text in the replies
    /// Errors     condition::refused_by_server    the server refused a command, with server_error or one that says
    ///                                            more. With a result<T> it is no error here: ask the result.
    ///            error::incompatible_type, what conversions report: the other replies were delivered
    ///            error::refused_command, too_many_requests, not_connected, not_sent   nothing was executed
    ///            error::operation_aborted        cancelled before it was written: nothing was executed
    ///            error::maybe_executed           written, but lost or cancelled before its replies came
    /// Cancel     terminal or partial: before it was written it is taken back; then its replies are dropped when they
    ///            come. The connection and all other requests go on. Also through cancel(req)
    /// Immediate  never
    /// Lifetime   req and resp outlive the completion; req is not changed meanwhile
    /// Threads    any
    /// Allocates  nothing awaited, after warm-up, beyond what the values need
    template <class Response, class Token = use_await_t>
    decltype(auto) async_exec(request const& req, Response& resp, Token&& token = {}) noexcept(
        fairlead::impl::operation::nothrow_token<std::decay_t<Token>, redis::impl::execute>) {
        return completion_token_transform<impl::execute::signature>(std::forward<Token>(token),
                                                                    impl::execute(*core_, req, impl::refer_to(resp)));
    }

    /// Takes the pushes that have come since the last time, or waits for some.
    /// Completes  (error_code ec, std::size_t n): n messages, which replace the contents of `into`
    /// Errors     error::operation_aborted  cancelled, or async_run ended: nothing was taken
    /// Cancel     through cancel()
    /// Immediate  never
    /// Lifetime   `into` outlives the completion
    /// Threads    any
    /// Allocates  nothing after warm-up: memory changes hands
    template <class Token = use_await_t> decltype(auto) async_receive(generic_response& into, Token&& token = {}) {
        return completion_token_transform<impl::receive::signature>(std::forward<Token>(token),
                                                                    impl::receive(*core_, into));
    }

    /// Ends the connection: async_run, async_receive and all requests complete that have been started before.
    /// While another thread runs the loop, this is a message to that thread.
    /// Threads    any
    /// Allocates  a block of the recycler for a message; without memory the caller waits until it has been read
    void cancel() noexcept;
    /// Gives up the pending executions of `req`; the connection goes on, and replies that still come are dropped.
    /// Returns how many; 1 when it had to be passed on, as cancel() is. O(pending requests).
    /// Lifetime   `req` may go as soon as its executions have completed, also before a message is read
    /// Threads    any
    /// Allocates  as cancel()
    std::size_t cancel(request const& req) noexcept;

    /// Ready: the server has accepted HELLO, requests are sent. Any thread may ask, as with what follows.
    bool is_ready() const noexcept;
    /// The protocol of the current session; meaningful while ready.
    resp3::version protocol() const noexcept;
    /// How the server refused the last session, or a SUBSCRIBE: "WRONGPASS ...". Made fit for a log. A copy, for the
    /// next session has another one.
    std::string server_text() const;
    /// Requests that wait to be written or answered, those included that are on their way from another thread.
    std::size_t pending() const noexcept;
    connection_counters counters() const noexcept;
    /// The last 64 events of the connection, over all its sessions, a line for each. They are bytes that were written
    /// and read, the kinds of replies, and the ends of sessions. For the log, when async_run or a request has ended
    /// unexpectedly. Times are seconds before the last event; one without a time lies between its neighbours. Any
    /// thread.
    std::string recent_events() const;

private:
    impl::connection_core* core_;
};

} // namespace fairlead::redis
