// A queue of messages with those that wait on either side of it: the part that all channels have in common.
//
// Those that wait are all senders or all receivers. A message goes past the buffer if a receiver waits for it. Nobody
// is passed: where senders wait, a place that gets free is the first one's.
#pragma once

#include <fairlead/operation/call_values.hpp>
#include <fairlead/sync/kept_message.hpp>
#include <fairlead/sync/waited_object.hpp>

#include <exception>

namespace fairlead::impl::sync {

/// A send that waits. The message lies in the initiation where it is awaited, else behind the op.
template <class Kept> struct send_op : wait_op {
    Kept* message;
    bool owns;
};

/// Whether a receive may be completed by the sender, in the sender's call.
enum class may_complete : unsigned char {
    by_the_loop,          ///< only: it is awaited, or has a time limit
    inside_the_loop,      ///< its handler runs on the channel's executor
    through_its_executor, ///< its handler finds its own way
};

template <class Kept> struct receive_op : wait_op {
    message_place<Kept> message; ///< once the op has completed without an error
    may_complete where;
};

template <class Kept, class Buffer = message_ring<Kept>> class channel_core : public waited_object {
public:
    using kept = Kept;
    using sending = send_op<Kept>;
    using receiving = receive_op<Kept>;

    template <class Executor> channel_core(Executor const& e, std::size_t capacity, int error_of_cancelled)
        : waited_object(e, error_of_cancelled),
          capacity_(capacity) {}
    ~channel_core() { cancel(); }

    std::size_t capacity() const noexcept { return capacity_; }
    bool is_open() const noexcept {
        return domain().look([this] { return !is_closed_; });
    }
    /// A receive would not wait.
    bool is_ready() const noexcept {
        return domain().look([this] { return buffer_.size() != 0 || senders_wait() || is_closed_; });
    }
    /// Nothing more is sent. Messages that are there, and those that wait to be sent, can still be received.
    void close() noexcept {
        domain().change([this](op_queue& ready) noexcept {
            is_closed_ = true;
            if (receivers_wait())
                domain().end_all(*this, operation::result_of(error::channel_closed), ready);
            usually_fit_ = 0;
        });
    }
    /// As close(), where nobody will receive what is there.
    void close_and_drop() noexcept {
        Buffer old; // goes without the lock
        domain().change([&](op_queue& ready) noexcept {
            is_closed_ = true;
            domain().end_all(*this, operation::result_of(error::channel_closed), ready);
            old = std::move(buffer_);
            usually_fit_ = 0;
        });
    }
    /// As it was in the beginning: open and empty, with nobody who waits.
    void reset() noexcept {
        Buffer old; // goes without the lock
        domain().change([&](op_queue& ready) noexcept {
            domain().cancel_all(*this, ready);
            is_closed_ = false;
            old = std::move(buffer_);
            buffer_ = Buffer();
            usually_fit_ = 0;
        });
    }

    /// Sends what make() returns, if that needs no waiting; else make() is not called.
    /// Throws     what make() throws; std::bad_alloc
    template <class Make> FAIRLEAD_ALWAYS_INLINE bool try_send(Make make, bool via_dispatch = false) {
        if constexpr (noexcept(make()))
            if (auto const s = put_into_buffer(make); s != seen::unusual)
                return s == seen::done;
        return try_send_all_ways(make, via_dispatch);
    }
    /// Receives into `place`, if that needs no waiting.
    FAIRLEAD_ALWAYS_INLINE bool try_receive(message_place<Kept>& place) noexcept {
        auto const s = take_from_buffer(place);
        return s == seen::unusual ? try_receive_all_ways(place) : s == seen::done;
    }

    // ---- for the primitives below
    /// These need nothing of an op but its result, and the place of a message that is received.
    bool try_wait(sending& o, Kept& message) noexcept {
        auto const s = put_into_buffer([&message]() noexcept { return Kept(std::move(message)); });
        if (s == seen::unusual)
            return try_all_ways(o, message);
        o.result = {0, 0, 0};
        return s == seen::done;
    }
    bool try_wait(receiving& o) noexcept {
        auto const s = take_from_buffer(o.message);
        if (s == seen::unusual)
            return try_all_ways(o);
        o.result = {0, 0, 0};
        return s == seen::done;
    }
    template <class Op> void wait(Op& o) noexcept {
        if (finishes_or_waits(o))
            engine().post(o);
    }
    /// prepare() prepares `o`, if it has to wait. Its message lies where its sender is.
    template <class Op, class Prepare, class... Message>
    FAIRLEAD_ALWAYS_INLINE bool try_or_wait(Op& o, Prepare prepare, Message&... message) noexcept {
        auto s = seen::unusual;
        wait_op* released = nullptr;
        domain().do_without_lock([&]() noexcept {
            if (finishes(o, message..., released)) {
                s = seen::done;
            } else {
                prepare(o);
                append(o);
                s = seen::would_wait;
            }
        });
        if (s == seen::unusual) {
            prepare(o);
            return finishes_or_waits(o);
        }
        if (released)
            engine().post(*released);
        return s == seen::done;
    }
    /// False: something else is to be done than to write a message to its place, or to read it there.
    FAIRLEAD_ALWAYS_INLINE bool put_where_usual(Kept& message) noexcept {
        return put_into_buffer([&message]() noexcept { return Kept(std::move(message)); }) == seen::done;
    }
    template <class Place> FAIRLEAD_ALWAYS_INLINE bool take_where_usual(Place& into) noexcept {
        return take_from_buffer(into) == seen::done;
    }

private:
    bool senders_wait() const noexcept { return !empty() && !are_receivers_; }
    bool receivers_wait() const noexcept { return !empty() && are_receivers_; }
    bool takes_one() const noexcept { return !is_closed_ && (empty() ? buffer_.size() < capacity_ : are_receivers_); }

    // The usual ways are short, and call nothing: nobody waits, no memory is needed, no other thread shares the lock.
    // The others are functions of their own, for which the usual ones save no registers.
    enum class seen : unsigned char {
        done,
        would_wait,
        unusual, ///< nothing was done; to be tried in all ways
    };
    template <class Make> FAIRLEAD_ALWAYS_INLINE seen put_into_buffer(Make const& make) noexcept {
        auto s = seen::unusual;
        if constexpr (requires { buffer_.push_back_made_inside(make); })
            domain().do_without_lock([this, &make, &s]() noexcept {
                if (buffer_.size() < usually_fit_) [[likely]] {
                    buffer_.push_back_made_inside(make);
                    s = seen::done;
                } else if (!is_closed_ && (empty() ? buffer_.size() >= capacity_ : !are_receivers_)) {
                    s = seen::would_wait;
                }
            });
        return s;
    }
    template <class Place> FAIRLEAD_ALWAYS_INLINE seen take_from_buffer(Place& into) noexcept {
        auto s = seen::unusual;
        domain().do_without_lock([this, &into, &s]() noexcept {
            if (!senders_wait_) {
                if (buffer_.size() != 0) [[likely]] {
                    if constexpr (requires { buffer_.take_front(into); }) {
                        buffer_.take_front(into);
                    } else {
                        into.put(std::move(buffer_.front()));
                        buffer_.pop_front();
                    }
                    s = seen::done;
                } else if (!is_closed_) {
                    s = seen::would_wait;
                }
            }
        });
        return s;
    }
    template <class Make> FAIRLEAD_NOINLINE bool try_send_all_ways(Make make, bool via_dispatch) {
        bool is_sent = false;
        std::exception_ptr why;
        wait_op* released = nullptr;
        domain().under_lock([this, make, &released, &is_sent, &why]() noexcept {
            if (!takes_one())
                return;
            try {
                if (receivers_wait())
                    released = &give_to_first(make());
                else
                    push_back(make);
                is_sent = true;
            } catch (...) {
                why = std::current_exception();
            }
        });
        if (released)
            let_receiver_go(static_cast<receiving&>(*released), via_dispatch);
        if (why) [[unlikely]]
            std::rethrow_exception(std::move(why));
        return is_sent;
    }
    FAIRLEAD_NOINLINE bool try_receive_all_ways(message_place<Kept>& place) noexcept {
        return releasing([this, &place](wait_op*& released) noexcept { return take(place, released); });
    }
    FAIRLEAD_NOINLINE bool try_all_ways(sending& o, Kept& message) noexcept {
        return releasing([this, &o, &message](wait_op*& released) noexcept { return finishes(o, message, released); });
    }
    FAIRLEAD_NOINLINE bool try_all_ways(receiving& o) noexcept {
        return releasing([this, &o](wait_op*& released) noexcept { return finishes(o, released); });
    }
    /// Returns what f(released) does under the lock. It may release one op of the other side, which is then posted.
    template <class F> FAIRLEAD_ALWAYS_INLINE bool releasing(F f) noexcept {
        wait_op* released = nullptr;
        bool const answer = domain().look([f, &released]() noexcept { return f(released); });
        if (released)
            engine().post(*released);
        return answer;
    }
    /// Where takes_one(). Throws only what the buffer throws.
    void put(Kept&& k, wait_op*& released) {
        if (receivers_wait()) {
            released = &give_to_first(std::move(k));
        } else {
            buffer_.push_back(std::move(k));
            messages_fit();
        }
    }
    /// Where receivers wait.
    wait_op& give_to_first(Kept&& k) noexcept {
        static_cast<receiving&>(front()).message.put(std::move(k));
        wait_op& first = domain().release_first(*this);
        if (empty())
            messages_fit();
        return first;
    }
    /// In a ring the message is made where it stays.
    template <class Make> void push_back(Make const& make) {
        if constexpr (requires { buffer_.push_back_made(make); })
            buffer_.push_back_made(make);
        else
            buffer_.push_back(make());
        messages_fit();
    }
    /// Nobody waits, and the channel is open.
    void messages_fit() noexcept {
        if constexpr (requires { buffer_.places(); })
            usually_fit_ = buffer_.places() < capacity_ ? buffer_.places() : capacity_;
    }
    FAIRLEAD_ALWAYS_INLINE bool take(message_place<Kept>& into, wait_op*& released) noexcept {
        if (buffer_.size() != 0) {
            into.put(std::move(buffer_.front()));
            buffer_.pop_front();
            if (senders_wait())
                move_first_to_buffer(released);
            look_for_senders();
            return true;
        }
        if (!senders_wait()) {
            senders_wait_ = false;
            return false;
        }
        into.put(std::move(*static_cast<sending&>(front()).message));
        released = &domain().release_first(*this);
        look_for_senders();
        return true;
    }
    /// One of them may have been the last that waited.
    void look_for_senders() noexcept {
        senders_wait_ = senders_wait();
        if (!senders_wait_ && !is_closed_)
            messages_fit();
    }
    /// A place of a ring that has got free needs no memory. Another container may fail; then the first one waits on.
    void move_first_to_buffer(wait_op*& released) noexcept {
        try {
            buffer_.push_back(std::move(*static_cast<sending&>(front()).message));
        } catch (...) {
            return;
        }
        released = &domain().release_first(*this);
    }
    bool finishes(sending& o, wait_op*& released) noexcept { return finishes(o, *o.message, released); }
    bool finishes(sending& o, Kept& message, wait_op*& released) noexcept {
        if (takes_one()) [[likely]] {
            o.result = {0, 0, 0};
            try {
                put(std::move(message), released);
            } catch (...) {
                o.result.error = error::no_memory;
            }
            return true;
        }
        o.result.error = operation::result_of(error::channel_closed);
        return is_closed_;
    }
    bool finishes(receiving& o, wait_op*& released) noexcept {
        if (take(o.message, released)) [[likely]] {
            o.result = {0, 0, 0};
            return true;
        }
        o.result.error = operation::result_of(error::channel_closed); // not 0: it has no message
        return is_closed_;
    }
    template <class Op> FAIRLEAD_NOINLINE bool finishes_or_waits(Op& o) noexcept {
        return releasing([this, &o](wait_op*& released) noexcept {
            if (finishes(o, released))
                return true;
            append(o);
            return false;
        });
    }
    template <class Op> FAIRLEAD_ALWAYS_INLINE void append(Op& o) noexcept {
        are_receivers_ = std::is_same_v<Op, receiving>;
        senders_wait_ = !are_receivers_;
        usually_fit_ = 0;
        domain().append(*this, o);
    }
    void let_receiver_go(receiving& o, bool via_dispatch) {
        if (via_dispatch && (o.where == may_complete::through_its_executor ||
                             (o.where == may_complete::inside_the_loop && engine().is_running_this())))
            o.run(&o, op_mode::complete);
        else
            engine().post(o);
    }
    void let_go(op_queue&) noexcept override {} // One that gives up makes no room for others.

    std::size_t const capacity_;
    Buffer buffer_;
    bool is_closed_ = false;
    bool are_receivers_ = false; ///< those that wait
    // Where these say less than there is, the long way is taken, which mends them.
    bool senders_wait_ = false;
    std::size_t usually_fit_ = 0; ///< messages in the buffer, where nobody waits and no memory is needed
};

/// The part of an operation that all cores have, those of channels and others. For direct_op it also says which
/// executor its handlers have, and whether it was moved away.
template <class Core> struct operation_of {
    Core* of;

    explicit operation_of(Core& c) noexcept : of(&c) {}
    loop* home() const noexcept { return &of->engine(); }
    bool runs_handlers() const noexcept { return of->runs_handlers(); }
    auto executor() const noexcept
        requires requires(Core const& c) { c.executor(); }
    {
        return of->executor();
    }
    void leave() noexcept { of = nullptr; }
    bool is_left() const noexcept { return of == nullptr; }
};

/// Sends a message to a core.
template <class Core> struct send_to : operation::primitive<send_to<Core>>, operation_of<Core> {
    using operation_of<Core>::of;
    using signature = void(error_code);
    using plain_result = void;
    using record = typename Core::sending;
    using kept = typename Core::kept;
    static constexpr bool is_tried_anywhere = true;

    mutable kept message; ///< until it has been sent

    send_to(Core& c, kept&& m) noexcept : operation_of<Core>(c), message(std::move(m)) {}
    static std::string describe() { return "send to a channel"; }
    void prepare(record& o) const noexcept {
        o.cancel = nullptr;
        o.domain = &of->domain();
        o.list = nullptr;
        o.message = &message;
        o.owns = false;
    }
    static std::size_t extra_bytes() noexcept { return sizeof(kept); }
    void prepare(record& o, void* extra) const noexcept {
        prepare(o);
        o.message = ::new (extra) kept(std::move(message));
        o.owns = true;
    }
    static bool ready() noexcept { return true; }
    bool attempt(record& o) const noexcept { return of->try_wait(o, *o.message); }
    bool attempt_unprepared(record& o) const noexcept {
        o.owns = false; // take() asks
        return of->try_wait(o, message);
    }
    void submit(record& o) const noexcept { of->wait(o); }
    struct place {};
    FAIRLEAD_ALWAYS_INLINE bool attempt_in_place(place&) const noexcept { return of->put_where_usual(message); }
    static void result_in_place(place&) noexcept {}
    static void move_result(record&, place&) noexcept {}
    FAIRLEAD_ALWAYS_INLINE bool attempt_or_wait(record& o) const noexcept {
        o.owns = false; // take() asks
        return of->try_or_wait(o, [this](record& waits) noexcept { prepare(waits); }, message);
    }
    static void drop(record& o) noexcept {
        if (o.owns)
            o.message->~kept();
    }
    static std::tuple<error_code> take(record& o) noexcept {
        drop(o);
        return {operation::to_error_code(o.result.error)};
    }
};

/// Handlers that find their own way. One bound to an inline executor has none, but is called wherever that may be.
template <class Handler>
concept names_its_executor = operation::has_own_executor<Handler> || requires { typename Handler::executor_type; };

template <class Form> struct place_of {
    struct type {};
};
template <class Form>
    requires requires { typename Form::place; }
struct place_of<Form> {
    using type = typename Form::place;
};

/// Receives a message from a core. Form has the signature, and `values(kept)` and `values(error)` of what completes.
template <class Core, class Form> struct receive_from : operation::primitive<receive_from<Core, Form>>,
                                                        operation_of<Core> {
    using operation_of<Core>::of;
    using base = operation::primitive<receive_from<Core, Form>>;
    using signature = typename Form::signature;
    using record = typename Core::receiving;
    static constexpr bool drops = !std::is_trivially_destructible_v<typename Core::kept>;
    static constexpr bool is_tried_anywhere = true;

    may_complete where = may_complete::by_the_loop;

    explicit receive_from(Core& c) noexcept : operation_of<Core>(c) {}
    template <class Handler> void operator()(Handler&& handler) const {
        using by_type = std::decay_t<Handler>;
        receive_from by_handler(*this);
        if constexpr (!operation::late_slot<by_type>::type::value)
            by_handler.where =
                names_its_executor<by_type> ? may_complete::through_its_executor : may_complete::inside_the_loop;
        by_handler.base::operator()(std::forward<Handler>(handler));
    }
    static std::string describe() { return "receive from a channel"; }
    void prepare(record& o) const noexcept {
        o.cancel = nullptr;
        o.domain = &of->domain();
        o.list = nullptr;
        o.where = where;
    }
    static bool ready() noexcept { return true; }
    bool attempt(record& o) const noexcept { return of->try_wait(o); }
    bool attempt_unprepared(record& o) const noexcept { return attempt(o); }
    void submit(record& o) const noexcept { of->wait(o); }
    using place = typename place_of<Form>::type;
    FAIRLEAD_ALWAYS_INLINE bool attempt_in_place(place& p) const noexcept { return of->take_where_usual(p); }
    FAIRLEAD_ALWAYS_INLINE static void move_result(record& o, place& p) noexcept {
        p.put(std::move(o.message.get()));
        o.message.drop();
    }
    FAIRLEAD_ALWAYS_INLINE static auto result_in_place(place& p)
        requires requires { p.result(); }
    {
        return p.result();
    }
    FAIRLEAD_ALWAYS_INLINE bool attempt_or_wait(record& o) const noexcept {
        return of->try_or_wait(o, [this](record& waits) noexcept { prepare(waits); });
    }
    static void drop(record& o) noexcept {
        if (o.result.error == 0)
            o.message.drop();
    }
    static auto take(record& o) {
        if (o.result.error != 0)
            return Form::values(o.result.error);
        return Form::values(o.message.take());
    }
    static auto take_value(record& o)
        requires requires { Form::value(o.message.get()); }
    {
        auto v = Form::value(o.message.get());
        o.message.drop();
        return v;
    }
};

} // namespace fairlead::impl::sync
