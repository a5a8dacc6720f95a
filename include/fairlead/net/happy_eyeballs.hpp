// Connecting to one of several endpoints by attempts that overlap: Happy Eyeballs version 2.
//
// The first attempt is made with the program's socket, each that overlaps with others with a spare one. The program's
// socket has an attempt for as long as any is under way, so that its cancel() and close() end the operation. The
// winner's descriptor moves into it.
//
// All of this lies in one block, which goes when each of its ops has come back. Ops come back on the executor of the
// handler, perhaps on several threads at once (operation/returned_ops.hpp).
//
// Source: RFC 8305 §4, §5.
#pragma once

#include <fairlead/net/attempt_order.hpp>
#include <fairlead/net/attempt_terms.hpp>
#include <fairlead/net/socket.hpp>
#include <fairlead/operation/completion.hpp>
#include <fairlead/operation/request_relay.hpp>
#include <fairlead/operation/returned_ops.hpp>

#include <atomic>
#include <tuple>
#include <utility>

namespace fairlead::impl::net {

/// Errors of a computer that has no way to an address. They tell less than those of any attempt that had one.
inline bool has_no_way(error_code const& ec) noexcept {
    return ec == error::network_unreachable || ec == error::address_family_not_supported ||
           ec == std::errc::address_not_available;
}
/// Which of two errors is reported: the later one, unless it tells less.
inline error_code const& more_telling(error_code const& before, error_code const& later) noexcept {
    return before && has_no_way(later) && !has_no_way(before) ? before : later;
}

template <class Endpoint, class Range, class Handler> class connect_race {
public:
    /// The range is not empty.
    template <class R, class H>
    static void start(socket_core& s, R&& endpoints, attempt_terms const& terms, H&& handler) {
        auto* const r = operation::allocate_with<connect_race>(handler, s, std::forward<R>(endpoints), terms,
                                                               std::forward<H>(handler));
        try {
            r->relay_.listen(r->handler_, *r);
        } catch (...) {
            auto h(std::move(r->handler_));
            operation::deallocate_with(h, r);
            throw;
        }
        r->start_next();
        r->set_wait();
        r->attend(true);
    }

    template <class R, class H> connect_race(socket_core& s, R&& endpoints, attempt_terms const& terms, H&& handler)
        : socket_(&s),
          engine_(s.engine),
          endpoints_(std::forward<R>(endpoints)),
          order_(terms.may_overlap()),
          terms_(terms),
          first_(*this),
          wait_(*this),
          asking_(*this),
          handler_(std::forward<H>(handler)),
          work_(handler_, engine_) {}
    connect_race(connect_race const&) = delete;
    connect_race& operator=(connect_race const&) = delete;

private:
    static constexpr std::int64_t never = attempt_terms::never;

    /// An op of the block.
    template <class Record> struct part : Record {
        connect_race& race;
        explicit part(connect_race& r) noexcept : race(r) {}
    };
    struct attempt : part<io::io_op> {
        connect_to<Endpoint> connecting;
        socket_core spare{}; ///< open while the attempt is not made with the program's socket
        std::int64_t deadline_ns = never;
        bool is_under_way = false;
        bool had_descriptor = false;
        bool is_late = false; ///< it has been ended by its limit
        unsigned number = 0;  ///< counts attempts
        attempt* next = nullptr;
        explicit attempt(connect_race& r) noexcept : part<io::io_op>(r), connecting(*r.socket_, Endpoint()) {}
    };
    friend operation::request_relay<connect_race>;

    // ---- how ops come back

    /// Where an op completes: it goes on to the executor of the handler.
    template <class Op> static void completed(op* base, op_mode mode) {
        auto& o = *static_cast<Op*>(base);
        if constexpr (operation::has_own_executor<Handler>) {
            if (mode == op_mode::complete) {
                auto const target = get_associated_executor(o.race.handler_);
                if (!exec::runs_here(target)) {
                    o.run = &has_come<Op>;
                    return exec::dispatch_op(target, o);
                }
            }
        }
        has_come<Op>(base, mode);
    }
    template <class Op> static void has_come(op* base, op_mode mode) {
        connect_race& r = static_cast<Op*>(base)->race;
        if (mode == op_mode::abandon)
            r.is_abandoned_.store(true, std::memory_order_relaxed);
        if (r.returned_.add(*base))
            r.attend(false);
    }
    /// Takes the ops that have come, until there are none. One thread at a time does this.
    void attend(bool is_starting) {
        for (;;) {
            returned_.take([this](op& o) { take(o); });
            if (is_decided_ || is_abandoned_.load(std::memory_order_relaxed))
                end_wait();
            else
                set_wait();
            if (has_ended())
                return complete(is_starting);
            if (returned_.leave())
                return; // The next op's now; nothing is touched below.
        }
    }
    void take(op& o) {
        if (is_abandoned_.load(std::memory_order_relaxed))
            close_spares(); // The program's socket may have gone.
        if (&o == &asking_) {
            has_asked_ = true;
            if (!is_over())
                give_up();
        } else if (&o == &wait_) {
            --under_way_;
            is_waiting_ = false;
            if (!is_over())
                time_has_passed();
        } else {
            auto& a = static_cast<attempt&>(o);
            --under_way_;
            --attempts_;
            a.is_under_way = false;
            if (!is_over()) // Else its spare socket is closed already.
                attempt_has_ended(a);
            discard(a);
        }
    }
    bool is_over() const noexcept { return is_decided_ || is_abandoned_.load(std::memory_order_relaxed); }

    // ---- attempts

    /// False: there is no other endpoint, or no memory for an attempt beside those under way.
    bool start_next() {
        if (!order_.find(endpoints_))
            return false;
        attempt* const a = free_attempt();
        if (!a)
            return false;
        a->connecting.endpoint = order_.take(endpoints_);
        begin(*a);
        return true;
    }
    attempt* free_attempt() {
        is_short_of_memory_ = false;
        if (!first_.is_under_way)
            return &first_;
        try {
            auto* const a = operation::allocate_with<attempt>(handler_, *this);
            a->next = std::exchange(others_, a);
            return a;
        } catch (...) { // The next one begins when an attempt has failed.
            is_short_of_memory_ = true;
            return nullptr;
        }
    }
    void begin(attempt& a) {
        if (in_socket_)
            a.spare.engine = engine_;
        else
            in_socket_ = &a;
        auto& core = core_of(a);
        core.close(); // A failed connect leaves it in no defined state.
        a.result = {0, 0, 0};
        a.run = &completed<attempt>;
        a.connecting.socket = &core;
        a.connecting.prepare(a);
        a.had_descriptor = core.handle.is_open();
        a.is_late = false;
        a.is_under_way = true;
        a.number = ++begun_;
        ++attempts_;
        ++under_way_;
        set_times(a);
        a.connecting.submit(a); // Another thread may have it now.
    }
    void set_times(attempt& a) {
        bool const may_overlap = terms_.may_overlap() && order_.find(endpoints_);
        if (!may_overlap && !terms_.has_limit())
            return;
        next_start_ns_ = !may_overlap ? never : io::impl::later_ns(*engine_, terms_.delay_ns);
        a.deadline_ns = !terms_.has_limit() ? never : io::impl::later_ns(*engine_, terms_.limit_ns);
    }
    socket_core& core_of(attempt& a) noexcept { return &a == in_socket_ ? *socket_ : a.spare; }

    void attempt_has_ended(attempt& a) {
        auto const [ec] = connect_to<Endpoint>::take(a);
        bool const was_closed = in_socket_->had_descriptor && !socket_->handle.is_open();
        if (was_closed || (ec == error::operation_aborted && !a.is_late))
            return give_up(); // by the program
        if (!ec)
            return win(a);
        error_ = more_telling(error_, a.is_late ? error::make_error_code(error::timed_out) : ec);
        if (&a == in_socket_)
            move_oldest_in();
        else
            a.spare.close();
        if (!start_next() && attempts_ == 0)
            is_decided_ = true;
    }
    void win(attempt& a) {
        is_decided_ = true;
        error_ = {};
        found_ = a.connecting.endpoint;
        if (&a != in_socket_)
            move_in(a);
        close_spares();
    }
    /// The attempt in the program's socket has failed.
    void move_oldest_in() {
        in_socket_ = nullptr;
        attempt* oldest = first_.is_under_way ? &first_ : nullptr;
        for (attempt* a = others_; a; a = a->next)
            if (a->is_under_way && (!oldest || a->number < oldest->number))
                oldest = a;
        if (oldest)
            move_in(*oldest);
    }
    void move_in(attempt& a) {
        socket_->close();
        socket_->handle = std::exchange(a.spare.handle, {});
        socket_->family = a.spare.family;
        in_socket_ = &a;
    }
    /// Nobody wants a connection any more.
    void give_up() {
        is_decided_ = true;
        error_ = error::operation_aborted;
        socket_->close();
        close_spares();
    }
    void close_spares() noexcept {
        first_.spare.close();
        for (attempt* a = others_; a; a = a->next)
            a->spare.close();
    }
    void discard(attempt& a) {
        if (&a == &first_)
            return;
        attempt** at = &others_;
        while (*at != &a)
            at = &(*at)->next;
        *at = a.next;
        operation::deallocate_with(handler_, &a);
    }

    // ---- the wait for what is due next

    void set_wait() {
        if (is_waiting_) // It ends no later, and is set anew then.
            return;
        auto at = never;
        if (next_start_ns_ != never && !is_short_of_memory_ && order_.find(endpoints_))
            at = next_start_ns_;
        for_each_under_way([&](attempt& a) {
            if (!a.is_late && a.deadline_ns < at)
                at = a.deadline_ns;
        });
        if (at == never)
            return;
        wait_.result = {0, 0, 0};
        wait_.run = &completed<part<io::timer_op>>;
        wait_.cancel = reinterpret_cast<void*>(operation::next_ticket());
        wait_.deadline_ns = at;
        wait_.waits = &waits_;
        is_waiting_ = true;
        ++under_way_;
        engine_->arm(wait_);
    }
    void time_has_passed() {
        if (wait_.result.error == ENOMEM) { // There was no memory for a wait.
            give_up();
            error_ = error::no_memory;
            return;
        }
        auto const now = engine_->now_ns();
        for_each_under_way([&](attempt& a) {
            if (a.is_late || a.deadline_ns > now)
                return;
            a.is_late = true;
            error_code ignored; // It has completed, then.
            core_of(a).cancel(ignored);
        });
        if (next_start_ns_ <= now)
            start_next();
    }
    void end_wait() {
        if (!is_waiting_ || wait_is_asked_)
            return;
        if (engine_->disarm(wait_)) {
            is_waiting_ = false;
            --under_way_;
        } else {
            wait_is_asked_ = true;
            engine_->ask(wait_);
        }
    }
    template <class F> void for_each_under_way(F f) {
        if (first_.is_under_way)
            f(first_);
        for (attempt* a = others_; a; a = a->next)
            if (a->is_under_way)
                f(*a);
    }

    // ---- the end

    /// Called by who emits the signal of the handler's slot, in any thread.
    void request(cancellation_type type) {
        if (!(type & (cancellation_type::terminal | cancellation_type::partial)) || is_asked_.exchange(true))
            return;
        asking_.run = &has_come<part<op>>;
        if constexpr (operation::has_own_executor<Handler>)
            exec::execute_op(get_associated_executor(handler_), asking_);
        else
            engine_->post(asking_);
    }
    /// No op of the block is under way any more.
    bool has_ended() {
        if (under_way_ != 0)
            return false;
        relay_.stop(handler_); // From here on nobody asks.
        return !is_asked_.load() || has_asked_;
    }
    void complete(bool is_starting) {
        [[maybe_unused]] operation::handler_work<Handler> const work(std::move(work_)); // until it has been called
        io::impl::io_loop_ref const engine(std::move(engine_));
        bool const is_abandoned = is_abandoned_.load(std::memory_order_relaxed);
        Handler h(operation::move_out(handler_, [this] { operation::deallocate_with(handler_, this); }));
        std::tuple<error_code, Endpoint> values(error_, found_);
        operation::deallocate_with(h, this);
        if (is_abandoned)
            return;
        if (is_starting)
            operation::post_values(loop_executor(static_cast<io_loop*>(engine)), std::move(h), std::move(values));
        else
            operation::dispatch_values(h, std::move(values));
    }

    socket_core* socket_;
    io::impl::io_loop_ref engine_;
    Range endpoints_;
    attempt_order<Endpoint> order_;
    attempt_terms terms_;
    attempt first_;
    attempt* others_ = nullptr;
    attempt* in_socket_ = nullptr; ///< made with the program's socket
    part<io::timer_op> wait_;
    op_queue waits_;
    part<op> asking_; ///< the request that the handler's slot has brought
    std::int64_t next_start_ns_ = never;
    unsigned begun_ = 0;
    unsigned attempts_ = 0;  ///< under way
    unsigned under_way_ = 0; ///< attempts, and the wait
    bool is_waiting_ = false;
    bool wait_is_asked_ = false;
    bool is_short_of_memory_ = false;
    bool is_decided_ = false;
    bool has_asked_ = false;
    std::atomic<bool> is_asked_{false};
    std::atomic<bool> is_abandoned_{false};
    operation::returned_ops returned_;
    error_code error_; ///< what tells most of the attempts that have failed; the end
    Endpoint found_;
    operation::request_relay<connect_race> relay_;
    Handler handler_;
    [[no_unique_address]] operation::work_beside_handler<Handler> work_;
};

} // namespace fairlead::impl::net
