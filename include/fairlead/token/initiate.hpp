// How a caller's wish (the token) becomes a handler, and how a handler becomes an op. The only place that erases types.
//
// completion_token_transform<Signature>(token, invoker) is the customisation point (P0055R1): one overload makes a new
// token for every operation, one line makes a new operation for every token. async_result, async_completion and
// async_initiate (P0162R0, Asio) are offered over it and honoured by every operation of the library.
#pragma once

#include <fairlead/token/associated.hpp>
#include <fairlead/token/operation_slot.hpp>

#include <concepts>
#include <tuple>
#include <utility>

namespace fairlead {

namespace detail {

template <class Signature> struct signature_of;
template <class R, class... Args> struct signature_of<R(Args...)> {
    using values = std::tuple<std::decay_t<Args>...>;
    template <class F> static constexpr bool callable = std::invocable<F, Args...>;
};

template <class Signature> using values_of = typename signature_of<Signature>::values;

} // namespace detail

/// void(A, B ...): what an operation completes with.
template <class S>
concept completion_signature = requires { typename detail::values_of<S>; };

/// A movable function object that takes the arguments of the signature (of each, where there are several).
template <class H, class... Signatures>
concept completion_handler_for = std::move_constructible<std::decay_t<H>> &&
                                 (detail::signature_of<Signatures>::template callable<std::decay_t<H>> && ...);

namespace detail {

/// What every function says that meets a last argument which is no token. Those that users' calls reach first ask, so
/// that the compiler shows that call and little else.
#define FAIRLEAD_NO_TOKEN                                                                                              \
    "the last argument is neither a completion token nor a function that takes the arguments of the completion "       \
    "signature (see \"Completes\" in the operation's documentation); for an error_code write redirect_error(ec), or "  \
    "await with as_tuple"

/// What co_await yields of an operation (token/async_op.hpp).
template <class Signature> struct awaited;

/// What a refused call returns: something to await, so that the compiler says no more.
template <class Awaited> struct refused_await {
    static bool await_ready() noexcept;
    static void await_suspend(auto) noexcept;
    static auto await_resume() -> typename Awaited::type;
};
template <class Signature> using refused_token = refused_await<awaited<Signature>>;

} // namespace detail

namespace detail {

/// async_result of a token that is the handler itself.
template <class Token> class token_as_handler {
public:
    using completion_handler_type = Token;
    using return_type = void;
    using takes_the_token_as_handler = void; ///< tells this from specialisations of others

    explicit token_as_handler(completion_handler_type&) noexcept {}
    void get() const noexcept {}

    template <class Initiation, class Handler, class... Args>
    static void initiate(Initiation&& initiation, Handler&& handler, Args&&... args) {
        std::forward<Initiation>(initiation)(std::forward<Handler>(handler), std::forward<Args>(args)...);
    }
};

} // namespace detail

/// What becomes of a token. The primary template takes the token itself as the handler (a callback). Specialise it for
/// a token of your own with either
///   - `template <class Initiation> static auto initiate(Initiation&&, Token, Args...)`, calling
///     `initiation(handler, args...)` when and if the operation is to start; or
///   - the form of P0162R0: `completion_handler_type` constructed from the token, `return_type`, a constructor from an
///     lvalue of the handler, and `get()`.
/// Operations with several signatures ask for all of them at once.
template <class Token, class... Signatures> class async_result : public detail::token_as_handler<Token> {
public:
    using detail::token_as_handler<Token>::token_as_handler;
};

namespace detail {

struct any_initiation {
    template <class... T> void operator()(T&&...) const {}
};

/// A token that starts nothing: what it returns names the signature (token/async_operation.hpp).
struct signature_probe {};

/// Given to completion_token_transform only to see whether there is an overload for a token. The library's is none.
struct overload_probe : any_initiation {};

template <class Result, class Token>
concept initiates = requires(any_initiation i, Token&& t) { Result::initiate(i, std::forward<Token>(t)); };

/// Tokens that nobody has specialised async_result for, and that are no handlers either.
template <class Token, class... Signatures>
concept no_token = !completion_handler_for<Token, Signatures...> &&
                   requires { typename async_result<std::decay_t<Token>, Signatures...>::takes_the_token_as_handler; };

/// Tokens with a function of the program's inside: says here, once, when that does not fit. Specialised beside them.
template <class Token, class Signature> struct token_check {
    static constexpr bool valid = true;
};

/// True when the tokens of this type neither allocate nor start anything by themselves.
template <class Token, class Initiation> inline constexpr bool nothrow_token = false;

} // namespace detail

/// The customisation point: turns `token` into a handler, gives it to `invoker`, and returns what the token promises.
/// A user's token may overload it in its own namespace.
template <completion_signature Signature, class Token, class Invoker>
    requires(!std::same_as<std::decay_t<Invoker>, detail::overload_probe>)
decltype(auto) completion_token_transform(Token&& token, Invoker&& invoker) noexcept(
    detail::nothrow_token<std::decay_t<Token>, std::decay_t<Invoker>>) {
    using result = async_result<std::decay_t<Token>, Signature>;
    if constexpr (!detail::token_check<std::decay_t<Token>, Signature>::valid) {
        return detail::refused_token<Signature>();
    } else if constexpr (detail::no_token<Token, Signature>) {
        static_assert(!sizeof(std::decay_t<Token>), FAIRLEAD_NO_TOKEN);
        return detail::refused_token<Signature>();
    } else if constexpr (requires { result::initiate(std::forward<Invoker>(invoker), std::forward<Token>(token)); }) {
        return result::initiate(std::forward<Invoker>(invoker), std::forward<Token>(token));
    } else {
        typename result::completion_handler_type handler(std::forward<Token>(token));
        result r(handler);
        std::forward<Invoker>(invoker)(std::move(handler));
        return r.get();
    }
}

namespace detail {

/// Where only the argument's own namespaces are searched for completion_token_transform.
namespace own_overload {

template <class> void completion_token_transform() = delete;

template <class Token, class Signature>
concept present =
    requires(Token&& t, overload_probe i) { completion_token_transform<Signature>(std::forward<Token>(t), i); };

} // namespace own_overload

template <class Result>
concept of_two_parts =
    requires(Result r) { r.get(); } && std::constructible_from<Result, typename Result::completion_handler_type&>;

template <class Token, class Signature> consteval bool is_token_for() {
    using result = async_result<std::decay_t<Token>, Signature>;
    if constexpr (completion_handler_for<Token, Signature>)
        return true;
    else if constexpr (requires { typename result::takes_the_token_as_handler; })
        return own_overload::present<Token, Signature>;
    else
        return initiates<result, Token> || of_two_parts<result>;
}

} // namespace detail

/// What an operation with this signature (each of them) takes as its last argument.
template <class T, class... Signatures>
concept completion_token_for = (detail::is_token_for<T, Signatures>() && ...);

namespace detail {

/// Initiations that say where they run: by an executor, or, those of the library, by their loop.
template <class I>
concept names_executor = requires(I const& i) { i.get_executor(); } || requires(I const& i) { i.home(); };
template <names_executor I> auto executor_of(I const& i) noexcept {
    if constexpr (requires { i.get_executor(); })
        return i.get_executor();
    else
        return loop_executor(i.home());
}

/// An initiation with the arguments that its caller passed, as one function of the handler. Like every initiation it is
/// called at most once and gives away what it holds, also as an lvalue: tokens of users call it by its name.
template <class Initiation, class... Args> struct bound_initiation {
    static constexpr bool is_cancellable = can_be_cancelled<Initiation>();

    Initiation initiation;
    std::tuple<Args...> args;

    template <class Handler> void operator()(Handler&& handler) {
        std::apply([&](auto&... a) { std::move(initiation)(std::forward<Handler>(handler), std::move(a)...); }, args);
    }
    auto get_executor() const noexcept
        requires names_executor<Initiation>
    {
        return executor_of(initiation);
    }
};

template <class Initiation, class... Args> auto bind_initiation(Initiation&& initiation, Args&&... args) {
    if constexpr (sizeof...(Args) == 0)
        return std::decay_t<Initiation>(std::forward<Initiation>(initiation));
    else
        return bound_initiation<std::decay_t<Initiation>, std::decay_t<Args>...>{
            std::forward<Initiation>(initiation), std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...)};
}

/// As completion_token_transform, for several signatures.
template <class... Signatures, class Token, class Initiation>
decltype(auto) initiate_several(Token&& token, Initiation&& initiation) {
    using result = async_result<std::decay_t<Token>, Signatures...>;
    if constexpr (no_token<Token, Signatures...>) {
        static_assert(!sizeof(std::decay_t<Token>), FAIRLEAD_NO_TOKEN);
    } else if constexpr (requires {
                             result::initiate(std::forward<Initiation>(initiation), std::forward<Token>(token));
                         }) {
        return result::initiate(std::forward<Initiation>(initiation), std::forward<Token>(token));
    } else {
        typename result::completion_handler_type handler(std::forward<Token>(token));
        result r(handler);
        std::forward<Initiation>(initiation)(std::move(handler));
        return r.get();
    }
}

/// How an adapter of tokens adapts any signature, for operations with several: `signature<S>` of the inner token,
/// `wrap(adapter)` of the handler; the inner token is found by `inner(adapter)`. Specialised beside each adapter.
template <class Token> struct adapter_of;
template <class Token>
concept token_adapter = requires(Token& t) {
    adapter_of<Token>::wrap(t);
    adapter_of<Token>::inner(t);
};

/// What most adapters have: the signature stays, and the token inside is called `token`.
struct adapter_of_handler {
    template <class S> using signature = S;
    template <class Token> static auto&& inner(Token& t) noexcept {
        if constexpr (requires { t.get(); })
            return std::move(t.get());
        else
            return std::move(t.token);
    }
};

} // namespace detail

/// Starts `initiation(handler, args...)` with what `token` becomes. The signature may be named, as in Asio.
///
/// An initiation that takes no `args` may also have, and is then asked for:
///   - `get_executor()`: where the operation completes when its handler names no executor;
///   - `std::optional<std::tuple<Args...>> try_step()`: the result, if it is there. A coroutine that awaits the
///   operation
///     then goes on without suspending. It is asked for within the budget of its turn only (exec/budget.hpp), so what
///     it takes is never held by a coroutine that has to give way, and no loop of such operations starves others;
///   - `void block(std::tuple<Args...>&)`: performs the operation in the calling thread, when the token says block.
/// Completes  when `initiation` calls its handler, once, with what `Signature` says
/// Errors     those of `initiation`
/// Cancel     through the slot that is associated with the handler, as far as `initiation` listens to it
/// Immediate  awaited, when `try_step()` has a result
/// Lifetime   `initiation` and `args` are copied or moved; with a lazy token they live until the operation starts
/// Threads    those of `initiation`
/// Allocates  nothing itself with a callback; an awaited or deferred initiation above 40 bytes takes a block
/// Source     Asio, async_initiate
template <class Token, completion_signature Signature, class Initiation, class... Args>
decltype(auto) async_initiate(Initiation&& initiation, std::type_identity_t<Token>& token, Args&&... args) {
    return completion_token_transform<Signature>(
        std::forward<Token>(token),
        detail::bind_initiation(std::forward<Initiation>(initiation), std::forward<Args>(args)...));
}
/// The same for an operation that completes with one of several signatures. It cannot be awaited: which type would it
/// be? as_tuple and redirect_error, binders, append, prepend and consign adapt each of the signatures.
template <class Token, completion_signature First, completion_signature Second, completion_signature... More,
          class Initiation, class... Args>
decltype(auto) async_initiate(Initiation&& initiation, std::type_identity_t<Token>& token, Args&&... args) {
    return detail::initiate_several<First, Second, More...>(
        std::forward<Token>(token),
        detail::bind_initiation(std::forward<Initiation>(initiation), std::forward<Args>(args)...));
}

/// The same with the signatures alone; the token is taken as it is passed.
template <completion_signature Signature, completion_signature... More, class Initiation, class Token, class... Args>
decltype(auto) async_initiate(Initiation&& initiation, Token&& token, Args&&... args) {
    return async_initiate<Token, Signature, More...>(std::forward<Initiation>(initiation), token,
                                                     std::forward<Args>(args)...);
}

/// The same for an operation that completes with whatever it likes. Only handlers, detached and deferred take it.
template <class Token, class Initiation, class... Args>
    requires(!completion_signature<Token>)
decltype(auto) async_initiate(Initiation&& initiation, std::type_identity_t<Token>& token, Args&&... args) {
    return detail::initiate_several<>(
        std::forward<Token>(token),
        detail::bind_initiation(std::forward<Initiation>(initiation), std::forward<Args>(args)...));
}
template <class Initiation, class Token, class... Args>
    requires(!completion_signature<Initiation>)
decltype(auto) async_initiate(Initiation&& initiation, Token&& token, Args&&... args) {
    return async_initiate<Token>(std::forward<Initiation>(initiation), token, std::forward<Args>(args)...);
}

/// P0162R0's short form for the body of an initiating function: `async_completion<Token, Signature> init(token);`,
/// start the operation with `init.completion_handler`, `return init.result.get();`.
template <class Token, completion_signature... Signatures> class async_completion {
    using result_type = async_result<std::decay_t<Token>, Signatures...>;
    struct no_result {
        explicit no_result(auto&) noexcept {}
        void get() const noexcept {}
    };

    using result_holder = std::conditional_t<requires(result_type r) { r.get(); }, result_type, no_result>;

public:
    using completion_handler_type = typename result_type::completion_handler_type;

    explicit async_completion(Token& token)
        : completion_handler(std::forward<Token>(token)),
          result(completion_handler) {}
    async_completion(async_completion const&) = delete;
    async_completion& operator=(async_completion const&) = delete;

    completion_handler_type completion_handler;
    result_holder result;

    using return_type = decltype(std::declval<result_holder&>().get());
};

// ---- from handler to op

namespace detail {

/// Moves a handler out of its block. A move that throws calls `give_up` first: the block is nobody else's.
template <class Handler, class F>
Handler move_out(Handler& handler, F give_up) noexcept(std::is_nothrow_move_constructible_v<Handler>) {
    if constexpr (std::is_nothrow_move_constructible_v<Handler>) {
        return std::move(handler);
    } else {
        try {
            return std::move(handler);
        } catch (...) {
            give_up();
            throw;
        }
    }
}

/// A handler with its arguments, queued: immediate completions of composed operations, and results on their way to the
/// handler's own executor.
template <class Handler, class Values> struct completion_op : op {
    Handler handler;
    Values values;

    template <class H, class V> completion_op(H&& h, V&& v) : handler(std::forward<H>(h)), values(std::forward<V>(v)) {
        run = &completion_op::run_it;
        cancel = nullptr;
    }

    static void run_it(op* base, op_mode mode) {
        auto* self = static_cast<completion_op*>(base);
        Handler h(move_out(self->handler, [self] { deallocate_with(self->handler, self); }));
        if (mode == op_mode::abandon) {
            deallocate_with(h, self);
            return;
        }
        Values v(std::move(self->values));
        deallocate_with(h, self); // Before the call, so that the next operation can have the block (P0162R0 §4.4).
        std::apply(std::move(h), std::move(v));
    }
};

/// Queues the call of `handler` with `values` on its associated executor, else on `ex`. Never calls it here.
template <class Executor, class Handler, class Values>
void post_values(Executor const& ex, Handler&& handler, Values&& values) {
    using handler_type = std::decay_t<Handler>;
    using op_type = completion_op<handler_type, std::decay_t<Values>>;
    if constexpr (has_own_executor<handler_type>) {
        auto const target = get_associated_executor(handler, ex);
        execute_op(target,
                   *allocate_with<op_type>(handler, std::forward<Handler>(handler), std::forward<Values>(values)));
    } else {
        execute_op(ex, *allocate_with<op_type>(handler, std::forward<Handler>(handler), std::forward<Values>(values)));
    }
}

/// Calls `handler` with `values` where it wants to be called; the caller runs on `here`. Inline if that is allowed.
template <class Handler, class Values> void dispatch_values(Handler& handler, Values&& values) {
    if constexpr (has_own_executor<Handler>) {
        auto const target = get_associated_executor(handler);
        if (!runs_here(target)) {
            auto* o = allocate_with<completion_op<Handler, std::decay_t<Values>>>(handler, std::move(handler),
                                                                                  std::forward<Values>(values));
            dispatch_op(target, *o);
            return;
        }
    }
    std::apply(std::move(handler), std::forward<Values>(values));
}

/// A handler's immediate executor that is none runs functions inside the call, wherever that is.
template <class Executor> bool queues_functions(Executor const& e) noexcept {
    if constexpr (requires { static_cast<bool>(e); })
        return static_cast<bool>(e);
    else
        return !std::is_same_v<Executor, inline_executor>;
}

/// May a handler be called inside others? No deeper than the stack allows, and no longer than the budget of the item
/// that runs, of which each takes a unit. The outermost always may, and outside of items there is none that could wait.
inline bool may_be_inside(thread_state const& thread) noexcept {
    if (thread.immediate_depth == 0)
        return true;
    return thread.immediate_depth < fairness::inline_depth_most && ((!thread.frames && !thread.is_outside) || spend());
}

/// Ends an operation that completed at once, from inside its initiating function: queued, unless the handler has an
/// immediate executor and that runs here; and even then only where it may be inside others. A handler with an immediate
/// executor that runs elsewhere is queued there.
template <class Executor, class Handler, class Values>
void complete_immediately(Executor const& ex, Handler&& handler, Values&& values) {
    if constexpr (has_immediate_executor<std::decay_t<Handler>>) {
        auto const at = get_associated_immediate_executor(handler, ex);
        auto& thread = this_thread;
        using at_type = std::decay_t<decltype(at)>;
        loop* const l = loop_of(at);
        bool const here = l                   ? l->is_running_this()
                          : has_loop<at_type> ? false
                                              : runs_here(at) || std::is_same_v<at_type, inline_executor>;
        if (here && may_be_inside(thread)) {
            struct level {
                unsigned& depth;
                ~level() { --depth; }
            } const one_more{thread.immediate_depth};
            ++thread.immediate_depth;
            std::decay_t<Handler> h(std::forward<Handler>(handler));
            std::apply(std::move(h), std::forward<Values>(values));
            return;
        }
        if (!here && queues_functions(at)) {
            using op_type = completion_op<std::decay_t<Handler>, std::decay_t<Values>>;
            auto* o = allocate_with<op_type>(handler, std::forward<Handler>(handler), std::forward<Values>(values));
            execute_op(at, *o);
            return;
        }
    }
    post_values(ex, std::forward<Handler>(handler), std::forward<Values>(values));
}

/// Work on a handler's executor while its operation runs elsewhere (the executor's run() must not end).
template <class Executor> struct executor_work {
    template <class Handler> executor_work(Handler const& h, loop* operation) : executor(get_associated_executor(h)) {
        loop* const own = loop_of(executor);
        counted = (!always_loop<Executor> && !own) || own != operation; // Executors of users are taken for another one.
        if constexpr (tracks_work<Executor>)
            if (counted)
                executor.on_work_started();
    }
    executor_work(executor_work const&) = delete;
    executor_work(executor_work&& other) noexcept
        : executor(other.executor),
          counted(std::exchange(other.counted, false)) {}
    /// Takes over what was counted through an executor that does not last.
    template <class E> explicit executor_work(executor_work<E>&& other) noexcept : counted(other.counted) {
        if (std::exchange(other.counted, false))
            executor = other.executor;
    }
    ~executor_work() {
        if constexpr (tracks_work<Executor>)
            if (counted)
                executor.on_work_finished();
    }
    Executor executor;
    bool counted;
};

/// Work on the handler's own executor, if it has one. It may be kept longer than the handler, which may end the
/// coroutine that it belongs to.
template <class Handler, bool Own = has_own_executor<Handler>> struct handler_work {
    explicit handler_work(Handler const&, loop*) noexcept {}
};
template <class Handler> struct handler_work<Handler, true>
    : executor_work<typename lasting_executor<associated_executor_t<Handler>>::type> {
    using base = executor_work<typename lasting_executor<associated_executor_t<Handler>>::type>;
    using base::base;
    explicit handler_work(base&& other) noexcept : base(std::move(other)) {}
};

/// The same beside the handler, whose executor needs not last any longer: smaller for coroutines. To be made a
/// handler_work before the handler is called.
template <class Handler, bool Own = has_own_executor<Handler>> struct work_beside_handler : handler_work<Handler> {
    using handler_work<Handler>::handler_work;
};
template <class Handler> struct work_beside_handler<Handler, true> : executor_work<associated_executor_t<Handler>> {
    using executor_work<associated_executor_t<Handler>>::executor_work;
};

/// A primitive whose op needs memory beside its record, for a copy of what the initiation holds.
template <class Init>
concept needs_room = requires(Init const& i) { i.room(); };

template <class Init> struct room_of {
    static constexpr std::size_t room = 0;
};
template <needs_room Init> struct room_of<Init> {
    std::size_t room;
};

/// The op of a library primitive with the handler behind it, in one block from the handler's allocator.
template <class Init, class Handler> struct handler_op : Init::record {
    Handler handler;
    [[no_unique_address]] work_beside_handler<Handler> work;
    [[no_unique_address]] room_of<Init> more;

    template <class H> handler_op(H&& h, loop* home) : handler(std::forward<H>(h)), work(handler, home) {}

    template <class H> static handler_op* make(H&& h, Init const& init) {
        handler_op* o;
        if constexpr (needs_room<Init>) {
            auto const room = init.room();
            o = allocate_with_room<handler_op>(h, room, std::forward<H>(h), init.home());
            o->more.room = room;
            init.prepare(*o, room_behind(o));
        } else {
            o = allocate_with<handler_op>(h, std::forward<H>(h), init.home());
            init.prepare(*o);
        }
        o->run = &run_it;
        return o;
    }
    /// `h` is the handler that was moved out.
    void give_back(Handler const& h) noexcept {
        if constexpr (needs_room<Init>)
            deallocate_with_room(h, this, more.room);
        else
            deallocate_with(h, this);
    }

    static void run_it(op* base, op_mode mode) {
        auto* self = static_cast<handler_op*>(static_cast<typename Init::record*>(base));
        Handler h(move_out(self->handler, [self] {
            if constexpr (listens<Init, Handler>)
                stop_listening(get_associated_cancellation_slot(self->handler), *self);
            Init::drop(*self);
            self->give_back(self->handler);
        }));
        if constexpr (listens<Init, Handler>)
            stop_listening(get_associated_cancellation_slot(h), *self);
        if (mode == op_mode::abandon) {
            Init::drop(*self);
            self->give_back(h);
            return;
        }
        [[maybe_unused]] handler_work<Handler> kept(std::move(self->work)); // until the handler has run
        auto values = Init::take(*self);
        self->give_back(h);
        dispatch_values(h, std::move(values));
    }
};

/// What every library primitive derives its initiation from. A primitive Init has
///   signature   its completion signature
///   record      its op (derived from op, at most await_record::lendable bytes)
///   home()      the loop that completes it
///   ready()     optional: it can be tried now, and is likely to succeed. Only with attempt().
///   prepare(r)  fills the record (all but run); called once. The record may refer to the initiation
///   prepare(r, room), room()  the same for an initiation that goes before its op: what the record refers to is copied
///               into room() bytes behind it. Only for primitives that hold more than fits into the record.
///   attempt(r)  tries; true: done, the result is in r; false: nothing happened
///   submit(r)   hands the record over; it will be run exactly once, never from within this call
///   block(v)    optional: performs the operation in the calling thread; or block(), which returns the values
///   take(r)     static: the arguments of the completion, from the result in r
///   take_here(r)  instead, for those who still have the initiation: an await. A handler is then called by operator()
///   describe()  optional: what an await that throws says of itself; describe_failed() when it may take a while, since
///               it is asked for errors that are thrown only; or describe(r), which sees what has failed
///   drop(r)     static, with `drops = true`: the result will not be taken, and the record owns something
///   plain_result  optional type: take(r) does no more than read error and n of the result, and needs no drop
template <class Derived> struct primitive {
    using primitive_tag = void;
    static constexpr bool drops = false;

    template <class Handler> void operator()(Handler&& handler) const {
        auto const& self = static_cast<Derived const&>(*this);
        using op_type = handler_op<Derived, std::decay_t<Handler>>;
        auto* o = op_type::make(std::forward<Handler>(handler), self);
        if constexpr (has_immediate_executor<std::decay_t<Handler>> &&
                      requires(typename Derived::record& r) { self.attempt(r); }) {
            if (try_at_once(self, *o)) {
                std::decay_t<Handler> h(std::move(o->handler));
                [[maybe_unused]] handler_work<std::decay_t<Handler>> kept(std::move(o->work));
                auto values = Derived::take(*o);
                o->give_back(h);
                complete_immediately(loop_executor(self.home()), std::move(h), std::move(values));
                return;
            }
        }
        if constexpr (listens<Derived, std::decay_t<Handler>>)
            listen_or_drop(*o);
        self.submit(*o);
    }

    template <class Record> static void drop(Record&) noexcept {}

private:
    template <class Op> void listen_or_drop(Op& o) const {
        auto const& self = static_cast<Derived const&>(*this);
        try {
            listen(get_associated_cancellation_slot(o.handler), o, *self.home());
        } catch (...) { // no memory
            Derived::drop(o);
            auto h(std::move(o.handler));
            o.give_back(h);
            throw;
        }
    }
    template <class Record> static bool try_at_once(Derived const& self, Record& r) {
        section const s;
        return self.home()->mine() && self.ready() && self.attempt(r);
    }
};

template <class Init>
concept primitive_initiation = requires { typename Init::primitive_tag; };
template <class Init>
concept takes_here = requires(Init const& i, typename Init::record& r) { i.take_here(r); };

/// Operations that can be performed in the calling thread, in one of three forms: block_as<Values>() of adapters,
/// block() for values without a default constructor, block(values).
template <class I, class Values>
concept can_block = requires(I& i) { i.template block_as<Values>(); } || requires(I& i) {
    { i.block() } -> std::same_as<Values>;
} || requires(I& i, Values& v) { i.block(v); };

template <class Values, class I>
    requires can_block<I, Values>
Values perform_blocking(I& i) {
    if constexpr (requires { i.template block_as<Values>(); }) {
        return i.template block_as<Values>();
    } else if constexpr (requires {
                             { i.block() } -> std::same_as<Values>;
                         }) {
        return i.block();
    } else {
        Values v;
        i.block(v);
        return v;
    }
}

} // namespace detail
} // namespace fairlead
