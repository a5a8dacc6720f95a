// Primitives: the operations of the library, from whose initiations the op of a driver or of a timer is made.
#pragma once

#include <fairlead/operation/async_result.hpp>
#include <fairlead/operation/completion.hpp>
#include <fairlead/operation/give_exception.hpp>
#include <fairlead/operation/initiation_storage.hpp>
#include <fairlead/operation/operation_slot.hpp>

#include <string>
#include <tuple>
#include <utility>

namespace fairlead::impl::operation {

/// A primitive whose op needs memory beside its record, for a copy of what the initiation holds.
template <class Init>
concept needs_extra_bytes = requires(Init const& i) { i.extra_bytes(); };

template <class Init> struct extra_bytes_of {
    static constexpr std::size_t extra = 0;
};
template <needs_extra_bytes Init> struct extra_bytes_of<Init> {
    std::size_t extra;
};

/// After that no thread can ask it any more, and before anything else is done with an op that has completed.
template <class Init> void op_has_completed([[maybe_unused]] typename Init::record& o) noexcept {
    if constexpr (requires { Init::completed(o); })
        Init::completed(o);
}

/// A primitive that brings the slot it listens to, in place of its handler's.
template <class Init>
concept has_own_slot = requires(typename Init::record& o) { Init::slot_of(o); };
/// One that listens to its handler's slot as well, if that has one.
template <class Init>
concept hears_both = has_own_slot<Init> && requires { typename Init::hears_both; };
template <class Init, class Handler>
auto slot_of([[maybe_unused]] typename Init::record& o, [[maybe_unused]] Handler const& h) noexcept {
    if constexpr (has_own_slot<Init>)
        return Init::slot_of(o);
    else
        return get_associated_cancellation_slot(h);
}

/// The op of a library primitive with the handler behind it, in one block from the handler's allocator.
template <class Init, class Handler> struct handler_op : Init::record {
    Handler handler;
    [[no_unique_address]] work_beside_handler<Handler> work;
    [[no_unique_address]] extra_bytes_of<Init> more;

    template <class H> handler_op(H&& h, loop* home) : handler(std::forward<H>(h)), work(handler, home) {}

    template <class H> static handler_op* make(H&& h, Init const& init) {
        handler_op* o;
        if constexpr (needs_extra_bytes<Init>) {
            auto const extra = init.extra_bytes();
            o = allocate_with_extra_bytes<handler_op>(h, extra, std::forward<H>(h), init.home());
            o->more.extra = extra;
            init.prepare(*o, extra_bytes_behind(o));
        } else {
            o = allocate_with<handler_op>(h, std::forward<H>(h), init.home());
            init.prepare(*o);
        }
        o->run = &run_it;
        return o;
    }
    /// `h` is the handler that was moved out.
    void give_back(Handler const& h) noexcept {
        if constexpr (needs_extra_bytes<Init>)
            deallocate_with_extra_bytes(h, this, more.extra);
        else
            deallocate_with(h, this);
    }

    static void run_it(op* base, op_mode mode) {
        auto* self = static_cast<handler_op*>(static_cast<typename Init::record*>(base));
        if constexpr (listens<Init, Handler>)
            stop_listening(slot_of<Init>(*self, self->handler), *self);
        if (mode == op_mode::complete)
            op_has_completed<Init>(*self);
        Handler h(move_out(self->handler, [self] {
            Init::drop(*self);
            self->give_back(self->handler);
        }));
        if (mode == op_mode::abandon) {
            Init::drop(*self);
            self->give_back(h);
            return;
        }
        [[maybe_unused]] handler_work<Handler> kept(std::move(self->work)); // until the handler has run
        auto values = Init::take(*self);
        tell_failure<Init>(h, *self, values);
        self->give_back(h);
        dispatch_values(h, std::move(values));
    }
};

/// Base of the initiation of every library primitive. A primitive Init has
///   signature   its completion signature
///   record      its op (derived from op, at most await_record::lendable bytes)
///   home()      the loop that completes it
///   ready()     optional: it can be tried now, and is likely to succeed. Only with attempt().
///   prepare(r)  fills the record (all but run); called once. The record may refer to the initiation
///   prepare(r, extra), extra_bytes()  the same for an initiation that goes before its op. It copies what the record
///               refers to into so many bytes behind the op. Only for primitives that hold more than fits into it.
///   attempt(r)  tries; true: done, the result is in r; false: nothing happened
///   is_tried_anywhere  optional, with attempt(): any thread may try it, not only the owner of the loop
///   attempt_unprepared(r)  optional, beside attempt(): tries without a prepared record, and writes whatever take()
///               reads. An await then prepares the record only if it has to wait
///   submit(r)   hands the record over; it will be run exactly once, never from within this call
///   block(v)    optional: performs the operation in the calling thread; or block(), which returns the values
///   take(r)     static: the arguments of the completion, from the result in r
///   take_here(r)  instead, for those who still have the initiation: an await. A handler is then called by operator()
///   take_value(r)  static, optional, beside take(r): of an op that has succeeded, what an await of it returns
///   describe()  optional: the text of an await that throws. Another form is describe(r), which sees the record that
///               has failed. A third is describe_failed(), which may take a while: only errors that are thrown ask for it
///   drop(r)     static, with `drops = true`: the result will not be taken, and the record owns something
///   completed(r)  static, optional: called before anything else when the op has completed, by who runs its loop
///   slot_of(r)  static, optional: the slot that the op listens to, in place of its handler's
///   hears_both  optional type, with slot_of(r): the call operator takes care of a handler that has a slot, too
///   plain_result  optional type: take(r) does no more than read error and n of the result, and needs no drop
///   plain_attempt  optional type: as plain_result, after attempt() has succeeded
template <class Derived> struct primitive {
    using primitive_tag = void;
    static constexpr bool drops = false;
    template <class Token> static constexpr bool refuses_slot_of = ignores_slot_of<Derived, Token>;

    template <class Handler> void operator()(Handler&& handler) const {
        auto const& self = static_cast<Derived const&>(*this);
        using op_type = handler_op<Derived, std::decay_t<Handler>>;
        expect_slot_is_heard<Derived>(std::as_const(handler));
        auto* o = op_type::make(std::forward<Handler>(handler), self);
        if constexpr (has_immediate_executor<std::decay_t<Handler>> &&
                      requires(typename Derived::record& r) { self.attempt(r); }) {
            if (try_at_once(self, *o)) {
                std::decay_t<Handler> h(std::move(o->handler));
                [[maybe_unused]] handler_work<std::decay_t<Handler>> kept(std::move(o->work));
                auto values = Derived::take(*o);
                tell_failure<Derived>(h, *o, values);
                o->give_back(h);
                complete_immediately(loop_executor(self.home()), std::move(h), std::move(values));
                return;
            }
        }
        if constexpr (listens<Derived, std::decay_t<Handler>>) {
            auto const give_up = [o] {
                Derived::drop(*o);
                auto h(std::move(o->handler));
                o->give_back(h);
            };
            listen_or(give_up, slot_of<Derived>(*o, o->handler), *o, *self.home());
        }
        self.submit(*o);
    }

    template <class Record> static void drop(Record&) noexcept {}

private:
    template <class Record> static bool try_at_once(Derived const& self, Record& r) {
        exec::section const s;
        return (tried_anywhere<Derived> || self.home()->may_try(s)) && self.ready() && self.attempt(r);
    }
};

/// The members that a primitive around another one passes on. Record: that of the one inside, or derived from it.
template <class Derived, class Init, class Record = typename Init::record> struct around_primitive
    : primitive<Derived> {
    using record = Record;
    static constexpr std::size_t async_op_storage = storage_for<Init>();

    Init inner;

    explicit around_primitive(Init&& i) : inner(std::move(i)) {}

    loop* home() const noexcept { return inner.home(); }
    void prepare(record& o) const noexcept { inner.prepare(o); }
    void prepare(record& o, void* extra) const noexcept
        requires needs_extra_bytes<Init>
    {
        inner.prepare(o, extra);
    }
    std::size_t extra_bytes() const noexcept
        requires needs_extra_bytes<Init>
    {
        return inner.extra_bytes();
    }
    bool ready() const noexcept
        requires requires { inner.ready(); }
    {
        return inner.ready();
    }
    bool attempt(record& o) const
        requires requires { inner.attempt(o); }
    {
        return inner.attempt(o);
    }
    void submit(record& o) const noexcept { inner.submit(o); }
    static constexpr bool only_queues = operation::only_queues<Init>;
    static constexpr bool is_tried_anywhere = tried_anywhere<Init>;
    static constexpr bool drops = Init::drops;
    static void drop(record& o) noexcept { Init::drop(o); }
    static void completed(record& o) noexcept
        requires requires { Init::completed(o); }
    {
        Init::completed(o);
    }
    static auto slot_of(record& o) noexcept
        requires has_own_slot<Init>
    {
        return Init::slot_of(o);
    }
};

template <class Init> struct plain_result_of {};
template <class Init>
    requires requires { typename Init::plain_result; }
struct plain_result_of<Init> {
    using plain_result = void;
};

/// One that has the signature, the result and the name of the one inside, and a record with more in it.
template <class Derived, class Init, class Record> struct extended_primitive : around_primitive<Derived, Init, Record>,
                                                                               plain_result_of<Init> {
    using base = around_primitive<Derived, Init, Record>;
    using base::base;
    using base::inner;
    using typename base::record;
    using signature = typename Init::signature;
    static constexpr std::size_t async_op_storage = extended_storage;

    static auto take(record& o) { return Init::take(o); }
    std::string describe() const
        requires requires { inner.describe(); }
    {
        return inner.describe();
    }
    std::string describe_failed() const
        requires requires { inner.describe_failed(); }
    {
        return inner.describe_failed();
    }
    std::string describe(record const& o) const
        requires requires { inner.describe(o); }
    {
        return inner.describe(o);
    }
};

/// A primitive with another signature over the same record: what an adapter makes of a primitive.
template <class Init, class Adapt> struct adapted_primitive : around_primitive<adapted_primitive<Init, Adapt>, Init> {
    using base = around_primitive<adapted_primitive<Init, Adapt>, Init>;
    using base::inner;
    using typename base::record;
    using inner_values = values_of<typename Init::signature>;
    using signature = typename Adapt::template signature<typename Init::signature>;

    [[no_unique_address]] Adapt adapt;

    adapted_primitive(Init&& i, Adapt a) : base(std::move(i)), adapt(a) {}

    static auto take(record& o) { return Adapt::values(Init::take(o)); }
    template <class Values> Values block_as() const
        requires can_block<Init const, inner_values>
    {
        return Adapt::values(perform_blocking<inner_values>(inner));
    }
};

} // namespace fairlead::impl::operation
