#include <fairlead/redis/connection.hpp>

#include <redis/multiplexer.hpp>
#include <redis/read_into.hpp>
#include <redis/session_machine.hpp>
#include <redis/shown.hpp>

#include <fairlead/base/dynamic_buffer.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/recycler.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/adapters.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>

namespace fairlead::redis {
namespace detail {
namespace {

using fairlead::detail::socket_core;
using fairlead::detail::to_error_code;

bool is_numeric(server_address const& address, ip::tcp::endpoint& endpoint) {
    error_code ec;
    auto const host = ip::make_address(address.host, ec);
    if (ec)
        return false;
    auto const port = resp3::to_integer<std::uint16_t>(address.port, ec);
    if (ec)
        return false;
    endpoint = ip::tcp::endpoint(host, port);
    return true;
}

constexpr std::chrono::hours for_ever(24 * 365); // What is longer might overflow.

template <int Name> using tcp_number =
    fairlead::detail::integer_option<fairlead::detail::option_key<IPPROTO_TCP, Name>>;

} // namespace

/// Performs what the machines ask for. Lives until the connection has gone and nothing is under way.
///
/// One coroutine (serve) connects, greets and reads. Writing needs none: one op, started by the flush op at the end of
/// the turn in which the first request came, and again when it is done and more has come meanwhile.
class connection_core {
public:
    explicit connection_core(any_io_executor const& ex)
        : executor_(ex),
          context_(fairlead::detail::io_loop_for(ex)),
          mux_(cfg_),
          tcp_(io_executor()),
          unix_(io_executor()),
          resolver_(io_executor()),
          timer_(io_executor()) {
        if (!fairlead::detail::loop_of(executor_)) {
            elsewhere_.emplace(executor_);
            references_.fetch_or(runs_elsewhere, std::memory_order_relaxed);
        }
        flush_.core = arrive_.core = homing_.core = write_.core = this;
        flush_.run = &connection_core::on_flush;
        arrive_.run = &connection_core::on_arrive;
        homing_.run = &connection_core::on_homing;
        flush_.cancel = arrive_.cancel = homing_.cancel = nullptr;
        write_.run = &connection_core::on_written;
        ping_.first_slot = 0;
        ping_request_.push("PING");
    }
    connection_core(connection_core const&) = delete;
    connection_core& operator=(connection_core const&) = delete;

    void retain(std::uint64_t n = one_reference) noexcept { references_.fetch_add(n, std::memory_order_relaxed); }
    void release(std::uint64_t n = one_reference) noexcept {
        if ((references_.fetch_sub(n, std::memory_order_acq_rel) & ~runs_elsewhere) == n)
            delete this;
    }

    fairlead::loop& loop() noexcept { return *context_; }
    /// Everything of the connection runs on one loop, wherever its callers are.
    any_io_executor io_executor() noexcept { return loop_executor(&loop()); }
    any_io_executor const& executor() const noexcept { return executor_; }

    // ---- any thread

    /// Starts an op at once unless another thread runs the loop, which then starts it.
    template <class Op> void start_anywhere(Op& o) noexcept {
        if (references_.load(std::memory_order_relaxed) >= one_message) [[unlikely]]
            start_carefully(o);
        else if (!context_->at_once([this, &o] { start(o); })) [[unlikely]]
            send(o);
    }
    void cancel() noexcept;
    std::size_t cancel(request const& r) noexcept;
    /// The connection object goes.
    void close() noexcept;

    bool is_connected() const noexcept { return phase_ == phase::ready; }
    resp3::version protocol() const noexcept { return protocol_; }
    std::string server_text() const {
        auto text = session_.server_text();
        return text.empty() ? mux_.refusal() : text;
    }
    std::size_t pending() noexcept { return mux_.counts().pending_with(started_elsewhere_); }
    connection_counters counters() noexcept { return mux_.counters().get(); }

private:
    enum class phase : unsigned char { idle, connecting, greeting, ready, ending };

    struct core_op : op {
        connection_core* core;
    };
    struct write_op : io::io_op {
        connection_core* core;
    };
    struct reference {
        connection_core* core;
        explicit reference(connection_core* c) noexcept : core(c) { c->retain(); }
        reference(reference&& other) noexcept : core(std::exchange(other.core, nullptr)) {}
        reference& operator=(reference&&) = delete;
        ~reference() {
            if (core)
                core->release();
        }
    };
    /// Ends the session with the coroutine, also when that is destroyed with its context.
    struct session_end {
        connection_core& core;
        error_code ec = fairlead::error::operation_aborted;
        explicit session_end(connection_core& c) noexcept : core(c) {}
        session_end(session_end const&) = delete;
        session_end& operator=(session_end const&) = delete;
        ~session_end() { core.finish(ec); }
    };

    // Requests of other threads come through the inbox of the loop, in order. They wait in arrivals_ until an item of
    // the loop carries them out. The connection changes only in its items, or while nobody runs it. The inbox may
    // be taken by a visitor, in the middle of such an item.
    enum class errand : unsigned { exec, receive, run, cancel, cancel_one, close };
    /// One that is no operation.
    struct message : outcome_record {
        request const* about = nullptr; // is compared only: it may have gone
        /// Of a sender without memory for a message, which waits until it has been read.
        fairlead::detail::blocking_wait* sender = nullptr;
        message() noexcept {}
        void begin(connection_core* core, request const* r) noexcept {
            outcome_record::begin(core);
            result.flags = 0;
            about = r;
        }
    };
    static constexpr std::uint64_t one_reference = 1;
    // One look tells whether a call is an ordinary one: no messages on their way, and an executor that runs a loop. A
    // message is a reference, too.
    static constexpr std::uint64_t one_message = std::uint64_t{1} << 32;
    static constexpr std::uint64_t runs_elsewhere = std::uint64_t{1} << 63;

    /// Calls f() unless another thread runs the loop, after what other threads have asked for before. False: one does.
    template <class F> bool here(F f) noexcept {
        return context_->at_once([this, &f] {
            if (references_.load(std::memory_order_relaxed) >= one_message) [[unlikely]]
                catch_up();
            f();
        });
    }
    template <class Op> FAIRLEAD_NOINLINE void start_carefully(Op& o) noexcept {
        if (elsewhere_)
            note_handler(o);
        if (!here([this, &o] { start(o); }))
            send(o);
    }
    void send(exec_op& o) noexcept {
        started_elsewhere_.fetch_add(1, std::memory_order_release);
        send(o, errand::exec);
    }
    void send(receive_op& o) noexcept { send(o, errand::receive); }
    void send(run_op& o) noexcept { send(o, errand::run); }
    void send(outcome_record& o, errand what) noexcept;
    void send_message(errand what, request const* about) noexcept;
    // Handlers run on the connection's executor. Where that runs no loop, an op with a handler is handed to it when it
    // has completed; until then the executor has work. An awaited one sends its coroutine home by itself, from the
    // loop.
    static constexpr unsigned goes_home = 0x100; // beside the errand
    void note_handler(op& o) noexcept;
    bool is_to_go_home(op const& o) const noexcept { return elsewhere_ && (o.result.flags & goes_home); }
    void complete(op& o) noexcept {
        if (is_to_go_home(o)) [[unlikely]]
            send_home(o);
        else
            loop().post(o);
    }
    void send_home(op& o) noexcept;
    static void on_homing(op* base, op_mode mode);
    static void on_arrival(fairlead::loop& l, op& o);
    static void on_arrive(op* base, op_mode mode);
    void catch_up() noexcept;
    bool take_arrivals(std::size_t most) noexcept;
    void take_arrival(outcome_record& o) noexcept;
    void abandon_arrival(outcome_record& o);
    static errand errand_of(op const& o) noexcept { return static_cast<errand>(o.result.flags & ~goes_home); }
    static void done_with(message& m) noexcept;

    void cancel_here() noexcept;
    std::size_t cancel_here(request const* r) noexcept;
    void close_here() noexcept;
    void start(exec_op& o) noexcept;
    void start(receive_op& o) noexcept;
    void start(run_op& o) noexcept;
    error_code admit(exec_op const& o, bool is_ready) const noexcept;

    static awaitable<void> serve(reference self);
    awaitable<error_code> connect();
    void keep_alive() noexcept;
    error_code greet();
    error_code proceed(session_machine::action next);
    error_code greeted();
    void greeted_late() noexcept;
    error_code received(std::size_t n);
    void pass_on(op_queue& done) noexcept;
    void hand_out_pushes() noexcept;

    void queue_flush() noexcept;
    static void on_flush(op* base, op_mode mode);
    void write_next() noexcept;
    void begin_write(std::string_view bytes) noexcept;
    static void on_written(op* base, op_mode mode);
    void written() noexcept;

    void stop(error_code const& ec) noexcept;
    void finish(error_code const& ec) noexcept;
    void finish_now() noexcept;
    void give_up_requests(bool aborted, std::size_t bytes_written) noexcept;
    void count_work() noexcept;

    void arm_timer(std::chrono::milliseconds after);
    void arm_timer_at(steady_clock::time_point at);
    void on_timer() noexcept;
    std::chrono::milliseconds interval() const noexcept;
    void check_health();
    void note_delivery(steady_clock::time_point now) noexcept;
    steady_clock::time_point silent_at() noexcept;
    void ask() noexcept;
    std::int64_t delivered_bytes() noexcept;
    std::int64_t undelivered_bytes() noexcept;
    std::int64_t in_socket() noexcept;
    std::int64_t unread_bytes() noexcept;
    std::chrono::milliseconds look_after() const noexcept;

    std::atomic<std::uint64_t> references_{one_reference};
    std::atomic<std::uint32_t> started_elsewhere_{0}; // executions, so far
    any_io_executor executor_;
    std::optional<fairlead::detail::executor_resumer> elsewhere_; // if the executor runs no loop of ours
    fairlead::detail::io_loop_ref context_;
    config cfg_;
    multiplexer mux_;
    session_machine session_;
    shown<phase> phase_{phase::idle};
    shown<resp3::version> protocol_{resp3::version::resp3};
    bool closed_ = false;  // the connection object has gone
    bool counted_ = false; // as work of the loop
    bool flush_queued_ = false;
    bool writing_ = false;
    bool write_failed_ = false;
    bool greeted_ = false; // the replies to the handshake under way have come

    // Is the server well? Times are those of the loop's clock.
    steady_clock::time_point alive_at_;    // the last sign of life, or when something was asked for to get one
    steady_clock::time_point quiet_until_; // the server was asked to pause until then
    bool asked_ = false;                   // what is under way must be answered within an interval
    bool had_all_ = false;                 // ... and the server had it when it was asked
    std::int64_t question_end_ = 0;        // in the bytes of this session: what came before the question
    std::int64_t delivered_ = 0;           // so much of that had reached the server at the last look

    op_queue arrivals_; // These two belong to whoever owns the loop.
    bool arriving_ = false;
    op_queue homeward_;

    run_op* run_ = nullptr;
    op_queue receivers_;
    error_code reason_; // why the session ends, if known before the reader sees it

    ip::tcp::socket tcp_;
    local::stream_protocol::socket unix_;
    ip::tcp::resolver resolver_;
    steady_timer timer_;
    socket_core* socket_ = nullptr; // of the one that is connected

    lazy_buffer in_;
    std::size_t read_bytes_ = 0;
    core_op flush_;
    core_op arrive_;
    core_op homing_;
    message close_;
    write_op write_;
    exec_op hello_;
    exec_op ping_;
    request ping_request_;
};

// ---- other threads

void connection_core::send(outcome_record& o, errand what) noexcept {
    static constinit fairlead::detail::owner_request arrival{{}, &connection_core::on_arrival};
    o.result.flags = static_cast<unsigned>(what) | (is_to_go_home(o) ? goes_home : 0);
    retain(one_message); // Before it can be seen: whoever knows that it was sent finds it on its way.
    context_->post_request(o, arrival);
}

void connection_core::send_message(errand what, request const* about) noexcept {
    if (void* const memory = fairlead::detail::recycle_allocate_or_null(sizeof(message))) {
        auto& m = *::new (memory) message;
        m.begin(this, about);
        return send(m, what);
    }
    fairlead::detail::blocking_wait until_read;
    message m;
    m.begin(this, about);
    m.sender = &until_read;
    send(m, what);
    until_read.wait();
}

/// In any thread that owns the loop for a moment.
void connection_core::on_arrival(fairlead::loop& l, op& o) {
    auto& core = *static_cast<outcome_record&>(o).connection;
    core.arrivals_.push_back(o);
    if (std::exchange(core.arriving_, true))
        return;
    core.retain();
    l.push(core.arrive_);
}

void connection_core::on_arrive(op* base, op_mode mode) {
    auto& core = *static_cast<core_op*>(base)->core;
    if (mode == op_mode::complete) {
        // Other items have their turn, too, when many requests have come.
        constexpr std::size_t most = 256;
        core.context_->as_owner([&core]() noexcept {
            core.arriving_ = !core.take_arrivals(most);
            if (core.arriving_) {
                core.retain();
                core.loop().push(core.arrive_);
            }
        });
    } else {
        op_queue given_up;
        core.context_->as_owner([&]() noexcept {
            core.arriving_ = false;
            given_up.splice_back(core.arrivals_);
        });
        while (!given_up.empty())
            core.abandon_arrival(static_cast<outcome_record&>(*given_up.pop_front()));
    }
    core.release();
}

/// Earlier requests come first, also those of this thread.
void connection_core::catch_up() noexcept {
    context_->take_inbox();
    take_arrivals(static_cast<std::size_t>(-1));
}

/// Inside a section of the owner. False: there are more.
bool connection_core::take_arrivals(std::size_t most) noexcept {
    for (; !arrivals_.empty(); --most) {
        if (most == 0)
            return false;
        take_arrival(static_cast<outcome_record&>(*arrivals_.pop_front()));
        release(one_message); // Not the last: the caller has one.
    }
    return true;
}

void connection_core::take_arrival(outcome_record& o) noexcept {
    switch (errand_of(o)) {
    case errand::exec: return mux_.counts().arrive([&] { start(static_cast<exec_op&>(o)); });
    case errand::receive: return start(static_cast<receive_op&>(o));
    case errand::run: return start(static_cast<run_op&>(o));
    case errand::cancel: cancel_here(); return done_with(static_cast<message&>(o));
    case errand::cancel_one: cancel_here(static_cast<message&>(o).about); return done_with(static_cast<message&>(o));
    case errand::close: return close_here();
    }
}

void connection_core::abandon_arrival(outcome_record& o) {
    switch (errand_of(o)) {
    case errand::exec: mux_.counts().arrive([] {}); break;
    case errand::receive: break;
    case errand::run: discard_settings()(static_cast<run_op&>(o).settings); break;
    case errand::cancel:
    case errand::cancel_one: done_with(static_cast<message&>(o)); return release(one_message);
    case errand::close: close_here(); return release(one_message);
    }
    bool const is_work = is_to_go_home(o);
    fairlead::loop::abandon(o);
    if (is_work)
        elsewhere_->count_work(-1);
    release(one_message);
}

void connection_core::done_with(message& m) noexcept {
    if (m.sender) {
        m.sender->finish();
        return;
    }
    m.~message();
    fairlead::detail::recycle_free(&m);
}

void connection_core::cancel() noexcept {
    if (!here([this] { cancel_here(); }))
        send_message(errand::cancel, nullptr);
}

std::size_t connection_core::cancel(request const& r) noexcept {
    std::size_t n = 1;
    if (!here([this, &r, &n] { n = cancel_here(&r); }))
        send_message(errand::cancel_one, &r);
    return n;
}

void connection_core::close() noexcept {
    fairlead::detail::io_loop_ref const kept(context_); // Ours may be the last one, and we may go in there.
    if (here([this] { close_here(); }))
        return;
    close_.begin(this, nullptr);
    send(close_, errand::close);
}

void connection_core::close_here() noexcept {
    closed_ = true;
    cancel_here();
    release();
}

// ---- the handlers' executor

void connection_core::note_handler(op& o) noexcept {
    // A thread that blocks for the op may be the only one that the executor has.
    auto const* const waits = fairlead::detail::this_thread.waits;
    bool const has_handler = o.run && !(waits && waits->is_starting());
    o.result.flags = has_handler ? goes_home : 0;
    if (has_handler)
        elsewhere_->count_work(+1);
}

/// Not from here: an executor of a user's may do anything with it.
void connection_core::send_home(op& o) noexcept {
    bool const is_first = homeward_.empty();
    homeward_.push_back(o);
    if (!is_first)
        return;
    retain();
    loop().post(homing_);
}

void connection_core::on_homing(op* base, op_mode mode) {
    auto& core = *static_cast<core_op*>(base)->core;
    op_queue all;
    all.splice_back(core.homeward_);
    while (!all.empty()) {
        op& o = *all.pop_front();
        if (mode == op_mode::complete)
            core.elsewhere_->resume_soon(o);
        else
            fairlead::loop::abandon(o);
        core.elsewhere_->count_work(-1);
    }
    core.release();
}

// ---- requests

error_code connection_core::admit(exec_op const& o, bool is_ready) const noexcept {
    if (o.category)
        return o.error();
    if (closed_)
        return fairlead::error::operation_aborted;
    auto const allowed = cfg_.dedicated ? request::fitness::dedicated : request::fitness::shared;
    bool const lacks_pushes = is_ready && session_.protocol() == resp3::version::resp2;
    if (o.request->fit() > allowed || (lacks_pushes && o.request->has_subscriptions()))
        return error::refused_command;
    if (cfg_.cancel_if_not_connected && !is_ready)
        return error::not_connected;
    return {};
}

void connection_core::start(exec_op& o) noexcept {
    bool const is_ready = phase_ == phase::ready;
    if (auto const ec = admit(o, is_ready)) [[unlikely]] {
        o.fail(ec);
        complete(o);
        return;
    }
    if (!mux_.add(o)) [[unlikely]] {
        complete(o);
        return;
    }
    if (is_ready) [[likely]]
        queue_flush();
    else
        count_work();
}

void connection_core::start(receive_op& o) noexcept {
    if (closed_) {
        o.fail(fairlead::error::operation_aborted);
        complete(o);
        return;
    }
    receivers_.push_back(o);
    hand_out_pushes();
    count_work();
}

void connection_core::hand_out_pushes() noexcept {
    auto& pushes = mux_.pushes();
    if (receivers_.empty() || pushes.empty())
        return;
    auto& o = static_cast<receive_op&>(*receivers_.pop_front());
    o.into->clear();
    o.into->swap(pushes);
    o.count = o.into->messages();
    complete(o);
}

std::size_t connection_core::cancel_here(request const* r) noexcept {
    op_queue done;
    auto const n = mux_.cancel(r, done);
    pass_on(done);
    count_work();
    return n;
}

void connection_core::pass_on(op_queue& done) noexcept {
    while (!done.empty()) {
        op* const o = done.pop_front();
        if (o == &hello_) [[unlikely]]
            greeted_ = true;
        else if (o == &ping_) [[unlikely]]
            continue;
        else if (is_to_go_home(*o)) [[unlikely]]
            send_home(*o);
        else
            loop().post(*o);
    }
}

// A pending operation is work, as everywhere; while a session runs its own read is.
void connection_core::count_work() noexcept {
    bool const counts = phase_ == phase::idle && (mux_.pending() != 0 || !receivers_.empty());
    if (counts == counted_)
        return;
    counted_ = counts;
    if (counts)
        loop().work_started();
    else
        loop().work_finished();
}

// ---- a session

void connection_core::start(run_op& o) noexcept {
    settings_of_run settings(o.settings);
    auto const& address = settings ? settings->address : cfg_.address;
    o.address[address.copy(o.address, sizeof o.address - 1)] = '\0';
    if (phase_ != phase::idle || closed_) {
        o.fail(closed_ ? make_error_code(fairlead::error::operation_aborted) : make_error_code(error::already_running));
        complete(o);
        return;
    }
    run_ = &o;
    phase_ = phase::connecting;
    reason_.clear();
    count_work();
    try {
        if (settings) {
            cfg_ = std::move(*settings);
            mux_.configure(cfg_);
        }
        co_spawn(io_executor(), serve(reference(this)), detached);
    } catch (...) {
        if (run_ == &o && phase_ == phase::connecting)
            finish(fairlead::detail::code_of(std::errc::not_enough_memory));
    }
}

awaitable<void> connection_core::serve(reference self) {
    auto& core = *self.core;
    session_end end(core);
    auto connecting = core.connect();
    error_code ec = co_await std::move(connecting);
    if (!ec)
        ec = core.greet();
    while (!ec) {
        mutable_buffer const room = core.in_.prepare(core.read_bytes_);
        auto reading = read_into(*core.socket_, room);
        auto const [read_error, n] = co_await std::move(reading);
        ec = read_error ? read_error : core.received(n);
    }
    end.ec = ec;
}

awaitable<error_code> connection_core::connect() {
    if (reason_) // cancelled before it began
        co_return reason_;
    server_address address;
    if (auto const ec = parse_address(cfg_.address, address))
        co_return ec;
    arm_timer(cfg_.connect_timeout);
    error_code ec;
    if (address.is_unix) {
        local::stream_protocol::endpoint endpoint;
        try {
            endpoint.path(address.host);
        } catch (system_error const& e) {
            ec = e.code();
        }
        if (ec)
            co_return ec;
        auto joining = unix_.async_connect(endpoint, redirect_error(ec));
        co_await std::move(joining);
        socket_ = &unix_.core();
    } else {
        ip::tcp::endpoint numeric;
        if (is_numeric(address, numeric)) { // no look-up, which would take a thread
            auto joining = tcp_.async_connect(numeric, redirect_error(ec));
            co_await std::move(joining);
        } else {
            auto asking = resolver_.async_resolve(address.host, address.port, redirect_error(ec));
            auto const found = co_await std::move(asking);
            if (ec || reason_)
                co_return ec;
            auto joining = async_connect(tcp_, found, redirect_error(ec));
            co_await std::move(joining);
        }
        error_code ignored; // A connection without it works too.
        if (!ec) {
            tcp_.set_option(ip::tcp::no_delay(true), ignored);
            keep_alive();
        }
        socket_ = &tcp_.core();
    }
    co_return ec;
}

/// On a dedicated connection there are times at which no PING can be sent (see ask()): then the systems of both sides
/// talk to each other, in the same intervals. Between processes of one machine there is no need.
void connection_core::keep_alive() noexcept {
    auto const after = interval();
    if (!cfg_.dedicated || after <= std::chrono::milliseconds::zero())
        return;
    constexpr int probes = 4;
    static constexpr std::int64_t most = 32'767; // of Linux
    auto const seconds = [](std::chrono::milliseconds d) {
        return static_cast<int>(std::clamp<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(d).count(), 1, most));
    };
    error_code ignored; // A connection without it works too.
    tcp_.set_option(tcp_number<TCP_KEEPIDLE>(seconds(after)), ignored);
    tcp_.set_option(tcp_number<TCP_KEEPINTVL>(seconds(after / probes)), ignored);
    tcp_.set_option(tcp_number<TCP_KEEPCNT>(probes), ignored);
    tcp_.set_option(socket_base::keep_alive(true), ignored); // The last: it starts with what is set.
}

error_code connection_core::greet() {
    if (reason_)
        return reason_;
    phase_ = phase::greeting;
    in_.consume(in_.size());
    read_bytes_ = std::max<std::size_t>(cfg_.read_bytes_min, 1);
    mux_.begin_generation();
    arm_timer(cfg_.hello_timeout);
    return proceed(session_.start(cfg_));
}

error_code connection_core::proceed(session_machine::action next) {
    switch (next) {
    case session_machine::action::send:
        greeted_ = false;
        hello_.begin(this);
        hello_.request = nullptr;
        hello_.object = this;
        hello_.deliver = [](void* object, std::size_t index, reply_view const& reply) {
            static_cast<connection_core*>(object)->session_.on_reply(index, reply);
            return error_code();
        };
        begin_write(mux_.begin_handshake(hello_, session_.payload(), session_.replies()));
        return {};
    case session_machine::action::failed: return session_.failure();
    case session_machine::action::ready: break;
    }
    ++mux_.counters().generations;
    protocol_ = session_.protocol();
    phase_ = phase::ready;
    if (session_.protocol() == resp3::version::resp2) {
        op_queue done;
        mux_.refuse_subscriptions(done);
        pass_on(done);
    }
    mux_.open();
    alive_at_ = quiet_until_ = context_->now();
    asked_ = false;
    arm_timer(interval());
    write_next();
    return {};
}

error_code connection_core::received(std::size_t n) {
    in_.commit(n);
    alive_at_ = context_->now();
    asked_ = false;
    auto& counters = mux_.counters();
    ++counters.reads;
    counters.bytes_read += n;
    if (n == read_bytes_)
        read_bytes_ = std::max(read_bytes_, std::min(read_bytes_ * 2, cfg_.read_bytes_max));

    op_queue done;
    auto const bytes = in_.data();
    auto const p = mux_.on_bytes({static_cast<char const*>(bytes.data()), bytes.size()}, done);
    in_.consume(p.consumed);
    pass_on(done);
    hand_out_pushes();
    if (p.ec)
        return p.ec;
    if (auto const ms = mux_.take_pause_ms()) [[unlikely]]
        quiet_until_ = alive_at_ + std::chrono::milliseconds(ms);
    // The completion of the write may come after the answer to what it wrote; only then can there be another write.
    if (phase_ == phase::greeting && greeted_ && !writing_)
        return greeted();
    return {};
}

void connection_core::greeted_late() noexcept {
    try {
        if (auto const ec = greeted())
            stop(ec);
    } catch (...) {
        stop(fairlead::detail::code_of(std::errc::not_enough_memory));
    }
}

error_code connection_core::greeted() { return hello_.category ? hello_.error() : proceed(session_.next()); }

// ---- writing

void connection_core::queue_flush() noexcept {
    if (flush_queued_ || writing_)
        return;
    flush_queued_ = true;
    retain();
    loop().post(flush_);
}

void connection_core::on_flush(op* base, op_mode mode) {
    auto& core = *static_cast<core_op*>(base)->core;
    core.flush_queued_ = false;
    if (mode == op_mode::complete && core.phase_ == phase::ready && !core.writing_)
        core.write_next();
    core.release();
}

void connection_core::write_next() noexcept {
    if (write_failed_)
        return;
    if (auto const bytes = mux_.next_output(); !bytes.empty())
        begin_write(bytes);
}

void connection_core::begin_write(std::string_view bytes) noexcept {
    ++mux_.counters().writes;
    write_.set(socket_->handle, io::kind::send_all, const_cast<char*>(bytes.data()), bytes.size());
    bool const is_done = context_->as_owner([this]() noexcept {
        auto& reactor = context_->reactor();
        return reactor.ready(write_.handle, write_.kind, write_.size) && reactor.try_now(write_);
    });
    if (is_done) {
        written();
        return;
    }
    writing_ = true;
    retain();
    context_->submit(write_);
}

void connection_core::on_written(op* base, op_mode mode) {
    auto& core = *static_cast<write_op*>(base)->core;
    core.writing_ = false;
    if (mode == op_mode::complete)
        core.written();
    else
        core.write_failed_ = true;
    if (core.phase_ == phase::ending)
        core.finish_now();
    else if (core.phase_ == phase::ready)
        core.write_next();
    else if (core.phase_ == phase::greeting && core.greeted_ && !core.write_failed_)
        core.greeted_late();
    core.release();
}

void connection_core::written() noexcept {
    mux_.counters().bytes_written += write_.result.n;
    if (!write_.result.error) [[likely]] {
        mux_.output_done();
        return;
    }
    // What the server said before it closed may still be unread, so the reader ends the session: it will see the end
    // too. Where that is not certain, it is made to.
    write_failed_ = true;
    auto const ec = to_error_code(write_.result.error);
    if (ec != fairlead::error::broken_pipe && ec != fairlead::error::connection_reset)
        stop(ec);
}

// ---- the end of a session

void connection_core::stop(error_code const& ec) noexcept {
    if (phase_ == phase::idle || phase_ == phase::ending)
        return;
    if (!reason_)
        reason_ = ec;
    resolver_.cancel();
    error_code ignored; // They are being thrown away.
    tcp_.close(ignored);
    unix_.close(ignored);
}

void connection_core::cancel_here() noexcept {
    if (phase_ == phase::idle)
        give_up_requests(true, 0);
    else
        stop(fairlead::error::operation_aborted);
}

void connection_core::finish(error_code const& ec) noexcept {
    stop(ec);
    phase_ = phase::ending;
    timer_.cancel();
    if (!writing_) // else its completion, already on its way, tells how much was written
        finish_now();
}

void connection_core::finish_now() noexcept {
    auto const bytes_written = std::exchange(write_failed_, false) ? write_.result.n : static_cast<std::size_t>(-1);
    phase_ = phase::idle;
    socket_ = nullptr;
    give_up_requests(reason_ == fairlead::error::operation_aborted, bytes_written);
    if (auto* const o = std::exchange(run_, nullptr)) {
        o->fail(reason_);
        complete(*o);
    }
}

void connection_core::give_up_requests(bool aborted, std::size_t bytes_written) noexcept {
    mux_.cancel(ping_); // It concerns this session only, whatever is kept for the next one.
    op_queue done;
    mux_.end_generation(
        {.aborted = aborted || closed_, .keep_waiting = cfg_.keep_unsent, .bytes_written = bytes_written}, done);
    pass_on(done);
    while (!receivers_.empty()) {
        auto& o = static_cast<receive_op&>(*receivers_.pop_front());
        o.fail(fairlead::error::operation_aborted);
        complete(o);
    }
    count_work();
}

// ---- time

void connection_core::arm_timer(std::chrono::milliseconds after) {
    timer_.cancel();
    if (after > std::chrono::milliseconds::zero())
        arm_timer_at(context_->now() + std::min<std::chrono::milliseconds>(after, for_ever));
}

void connection_core::arm_timer_at(steady_clock::time_point at) {
    timer_.expires_at(at);
    struct tick {
        reference self;
        void operator()(error_code const& ec) {
            if (!ec)
                self.core->on_timer();
        }
    };
    timer_.async_wait(tick{reference(this)});
}

void connection_core::on_timer() noexcept {
    if (context_->now() < timer_.expiry())
        return; // It had expired already when it was set anew.
    try {
        switch (phase_) {
        case phase::connecting: return stop(error::connect_timed_out);
        case phase::greeting: return stop(error::hello_timed_out);
        case phase::ready: return check_health();
        default: break;
        }
    } catch (...) {
        stop(fairlead::detail::code_of(std::errc::not_enough_memory));
    }
}

// ---- is the server well?
//
// After an interval without a byte from it, something is under way that it must answer: what callers have asked for, or
// a PING. After another one it is silent. Not counted is the time in which it takes what was sent before the question,
// and the time for which callers have made it wait (BLPOP) or pause.
//
// A PING is a command: it would become part of a transaction that is open, and use up what ASKING allows. Then nothing
// is asked; whether the server's host is still there, TCP finds out (keep_alive()).

std::chrono::milliseconds connection_core::interval() const noexcept {
    return std::min<std::chrono::milliseconds>(cfg_.health_check_interval, for_ever);
}

void connection_core::check_health() {
    auto const now = context_->now();
    note_delivery(now);
    auto const due = silent_at();
    if (now >= due) {
        // What came while this process was stopped is still unread: then it was not the server that was silent.
        if (asked_ && unread_bytes() == 0)
            return stop(error::server_silent);
        if (!asked_)
            ask();
        return arm_timer_at(now + look_after());
    }
    arm_timer_at(std::min(due, now + look_after()));
}

/// While bytes are to be seen moving, they are looked at more often, for nobody tells when they do.
std::chrono::milliseconds connection_core::look_after() const noexcept {
    auto const all = interval();
    return asked_ && delivered_ < question_end_ ? std::max(all / 4, std::chrono::milliseconds(1)) : all;
}

void connection_core::note_delivery(steady_clock::time_point now) noexcept {
    if (!asked_ || delivered_ == question_end_)
        return;
    auto const reached = std::min(delivered_bytes(), question_end_);
    if (reached > delivered_) {
        delivered_ = reached;
        alive_at_ = now;
    }
}

/// When the silence will have lasted too long for this stage, as far as one can tell now.
steady_clock::time_point connection_core::silent_at() noexcept {
    auto const at = alive_at_ + interval();
    // What it has not got keeps it from nothing. What it had when it was asked has had its time before.
    if ((asked_ && had_all_) || undelivered_bytes() != 0)
        return at;
    auto const late = mux_.late_ms();
    if (late == request::for_ever_ms)
        return steady_clock::time_point::max();
    return std::max(at + std::chrono::milliseconds(late), quiet_until_ + interval());
}

void connection_core::ask() noexcept {
    auto const before = undelivered_bytes();
    if (!mux_.in_flight() && mux_.pending() == 0) {
        if (mux_.is_reserved())
            return;
        ping_.begin(this);
        ping_.request = &ping_request_;
        ping_.object = nullptr;
        ping_.deliver = &deliver_nothing;
        if (!mux_.add(ping_))
            return; // no memory: next time
        queue_flush();
    }
    asked_ = true;
    had_all_ = before == 0;
    alive_at_ = context_->now();
    delivered_ = delivered_bytes();
    question_end_ = delivered_ + before;
}

/// Of all that was ever written here. Grows as the server's system takes it.
std::int64_t connection_core::delivered_bytes() noexcept {
    auto const written = mux_.counters().bytes_written + (writing_ ? write_.result.n : 0);
    return static_cast<std::int64_t>(written) - in_socket();
}

/// Written or not, but not taken by the server's system yet.
std::int64_t connection_core::undelivered_bytes() noexcept {
    return in_socket() + static_cast<std::int64_t>((writing_ ? write_.size : 0) + mux_.waiting_bytes());
}

std::int64_t connection_core::unread_bytes() noexcept {
    return context_->as_owner([this]() noexcept { return context_->descriptors().available(socket_->handle).value; });
}

std::int64_t connection_core::in_socket() noexcept {
    int n = 0; // Where nobody can say, all that was written counts as delivered.
    auto const said =
        context_->as_owner([&]() noexcept { return context_->descriptors().control(socket_->handle, SIOCOUTQ, &n); });
    return said.error ? 0 : n;
}

// ---- the doors of the header

loop* loop_of(connection_core& c) noexcept { return &c.loop(); }
void start(connection_core& c, exec_op& o) noexcept { c.start_anywhere(o); }
void start(connection_core& c, receive_op& o) noexcept { c.start_anywhere(o); }
void start(connection_core& c, run_op& o) noexcept { c.start_anywhere(o); }
void discard_settings::operator()(config* c) const noexcept { delete c; }
settings_of_run keep_settings(config_view const& cfg) { return settings_of_run(new config(cfg)); }

} // namespace detail

connection::connection(any_io_executor const& ex) : core_(new detail::connection_core(ex)) {}
connection::~connection() {
    if (core_)
        core_->close();
}
any_io_executor connection::get_executor() const noexcept { return core_->executor(); }
void connection::cancel() noexcept { core_->cancel(); }
std::size_t connection::cancel(request const& req) noexcept { return core_->cancel(req); }
bool connection::is_ready() const noexcept { return core_->is_connected(); }
resp3::version connection::protocol() const noexcept { return core_->protocol(); }
std::string connection::server_text() const { return core_->server_text(); }
std::size_t connection::pending() const noexcept { return core_->pending(); }
connection_counters connection::counters() const noexcept { return core_->counters(); }

} // namespace fairlead::redis
