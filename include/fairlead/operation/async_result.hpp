// How a caller's wish (the token) becomes a handler: what initiating functions are written with, and tokens.
//
// The customisation point is completion_token_transform<Signature>(token, invoker) (P0055R1). One overload makes a new
// token for every operation, one line makes a new operation for every token. The names async_result, async_completion
// and async_initiate (P0162R0, Asio) are offered over it and honoured by every operation of the library. None of this
// needs an executor or a loop. In initiate.hpp a handler becomes an op; in completion.hpp it is called.
#pragma once

#include <fairlead/base/config.hpp>
#include <fairlead/operation/initiation_traits.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace fairlead {

namespace impl::operation {

template <class Signature> struct signature_of;
template <class R, class... Args> struct signature_of<R(Args...)> {
    using values = std::tuple<std::decay_t<Args>...>;
    template <class F> static constexpr bool callable = std::invocable<F, Args...>;
};

template <class Signature> using values_of = typename signature_of<Signature>::values;

} // namespace impl::operation

/// void(A, B ...): what an operation completes with.
template <class S>
concept completion_signature = requires { typename impl::operation::values_of<S>; };

/// A movable function object that takes the arguments of the signature (of each, where there are several).
template <class H, class... Signatures>
concept completion_handler_for = std::move_constructible<std::decay_t<H>> &&
                                 (impl::operation::signature_of<Signatures>::template callable<std::decay_t<H>> && ...);

namespace impl::operation {

/// The error for a last argument that is no token. The functions that users' calls reach first ask, so that the
/// compiler shows that call and little else.
#define FAIRLEAD_NO_TOKEN                                                                                              \
    "the last argument is neither a completion token nor a function that takes the arguments of the completion "       \
    "signature (see \"Completes\" in the operation's documentation); for an error_code write redirect_error(ec), or "  \
    "await with as_tuple"

/// The error for a slot that nobody would listen to.
#define FAIRLEAD_NO_SLOT                                                                                               \
    "this operation cannot be ended early, so that it takes no handler with a cancellation slot; use the cancel() of " \
    "its object, where it has one"

/// The result of co_await of an operation (operation/async_op.hpp).
template <class Signature> struct awaited;

/// The result of a refused call: something to await, so that the compiler says no more.
template <class Awaited> struct refused_await {
    static bool await_ready() noexcept;
    static void await_suspend(auto) noexcept;
    static auto await_resume() -> typename Awaited::type;
};
template <class Signature> using refused_token = refused_await<awaited<Signature>>;

} // namespace impl::operation

namespace impl::operation {

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

} // namespace impl::operation

/// Makes a handler and a result of a token. The primary template takes the token itself as the handler (a callback).
/// Specialise it for a token of your own with either
///   - `template <class Initiation> static auto initiate(Initiation&&, Token, Args...)`, calling
///     `initiation(handler, args...)` when and if the operation is to start; or
///   - the form of P0162R0: `completion_handler_type` constructed from the token, `return_type`, a constructor from an
///     lvalue of the handler, and `get()`.
/// Operations with several signatures ask for all of them at once.
template <class Token, class... Signatures> class async_result : public impl::operation::token_as_handler<Token> {
public:
    using impl::operation::token_as_handler<Token>::token_as_handler;
};

namespace impl::operation {

struct any_initiation {
    template <class... T> void operator()(T&&...) const {}
};

/// A token that starts nothing: what it returns names the signature (operation/async_operation.hpp).
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

/// Primitives say for which handlers there would be nobody who listens to their slot (operation/initiate.hpp).
template <class Initiation, class Token>
concept refuses_slot_of = requires { requires Initiation::template refuses_slot_of<Token>; };

/// True when the tokens of this type neither allocate nor start anything by themselves.
template <class Token, class Initiation> inline constexpr bool nothrow_token = false;

} // namespace impl::operation

/// The customisation point: turns `token` into a handler, gives it to `invoker`, and returns what the token promises.
/// A user's token may overload it in its own namespace.
template <completion_signature Signature, class Token, class Invoker>
    requires(!std::same_as<std::decay_t<Invoker>, impl::operation::overload_probe>)
FAIRLEAD_ALWAYS_INLINE decltype(auto) completion_token_transform(Token&& token, Invoker&& invoker) noexcept(
    impl::operation::nothrow_token<std::decay_t<Token>, std::decay_t<Invoker>> &&
    std::is_nothrow_constructible_v<std::decay_t<Invoker>, Invoker>) {
    using result = async_result<std::decay_t<Token>, Signature>;
    if constexpr (!impl::operation::token_check<std::decay_t<Token>, Signature>::valid) {
        return impl::operation::refused_token<Signature>();
    } else if constexpr (impl::operation::no_token<Token, Signature>) {
        static_assert(!sizeof(std::decay_t<Token>), FAIRLEAD_NO_TOKEN);
        return impl::operation::refused_token<Signature>();
    } else if constexpr (impl::operation::refuses_slot_of<std::decay_t<Invoker>, std::decay_t<Token>>) {
        static_assert(!sizeof(std::decay_t<Token>), FAIRLEAD_NO_SLOT);
        return impl::operation::refused_token<Signature>();
    } else if constexpr (requires { result::initiate(std::forward<Invoker>(invoker), std::forward<Token>(token)); }) {
        return result::initiate(std::forward<Invoker>(invoker), std::forward<Token>(token));
    } else {
        typename result::completion_handler_type handler(std::forward<Token>(token));
        result r(handler);
        std::forward<Invoker>(invoker)(std::move(handler));
        return r.get();
    }
}

namespace impl::operation {

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

} // namespace impl::operation

/// The last argument of an operation with this signature (each of them).
template <class T, class... Signatures>
concept completion_token_for = (impl::operation::is_token_for<T, Signatures>() && ...);

namespace impl::operation {

/// An initiation with the arguments that its caller passed, as one function of the handler. Like every initiation it is
/// called at most once and gives its members away, also as an lvalue, since tokens of users call it.
template <class Initiation, class Call> struct bound_initiation {
    static constexpr bool is_cancellable = can_be_cancelled<Initiation>();
    static constexpr bool only_queues = operation::only_queues<Initiation>;

    Initiation initiation;
    Call call; ///< holds the arguments, without a std::tuple: most programs that include this need none

    template <class Handler> void operator()(Handler&& handler) { call(initiation, std::forward<Handler>(handler)); }
    auto get_executor() const noexcept
        requires names_executor<Initiation>
    {
        return executor_of(initiation);
    }
};

template <class Initiation, class... Args> auto bind_initiation(Initiation&& initiation, Args&&... args) {
    if constexpr (sizeof...(Args) == 0) {
        return std::decay_t<Initiation>(std::forward<Initiation>(initiation));
    } else {
        auto call = [... a = std::decay_t<Args>(std::forward<Args>(args))]<class Handler>(
                        auto& i, Handler&& h) mutable { std::move(i)(std::forward<Handler>(h), std::move(a)...); };
        return bound_initiation<std::decay_t<Initiation>, decltype(call)>{std::forward<Initiation>(initiation),
                                                                          std::move(call)};
    }
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

/// An adapter of tokens for any signature, for operations with several. It has `signature<S>` of the inner token and
/// `wrap(adapter)` of the handler. The inner token is found by `inner(adapter)`. Specialised beside each adapter.
template <class Token> struct adapter_of;
template <class Token>
concept token_adapter = requires(Token& t) {
    adapter_of<Token>::wrap(t);
    adapter_of<Token>::inner(t);
};

/// The common case of adapters: the signature stays, and the token inside is called `token`.
struct adapter_of_handler {
    template <class S> using signature = S;
    template <class Token> static auto&& inner(Token& t) noexcept {
        if constexpr (requires { t.get(); })
            return std::move(t.get());
        else
            return std::move(t.token);
    }
};

} // namespace impl::operation

/// Starts `initiation(handler, args...)` with what `token` becomes. The signature may be named, as in Asio.
///
/// An initiation that takes no `args` may also have, and is then asked for:
///   - `get_executor()`: where the operation completes when its handler names no executor;
///   - `std::optional<std::tuple<Args...>> try_step()`: the result, if it is there. A coroutine that awaits it goes on
///     without suspending. It is asked for within the budget of its turn only (exec/budget.hpp). So a
///     coroutine that has to give way never holds a result, and no loop of such operations starves others;
///   - `void block(std::tuple<Args...>&)`: performs the operation in the calling thread, when the token says block.
/// Completes  when `initiation` calls its handler, once, with what `Signature` says
/// Errors     those of `initiation`
/// Cancel     through the slot that is associated with the handler, as far as `initiation` listens to it
/// Immediate  awaited, when `try_step()` has a result
/// Lifetime   `initiation` and `args` are copied or moved; with a lazy token they live until the operation starts
/// Threads    those of `initiation`
/// Allocates  nothing itself with a callback; an awaited or deferred initiation above 40 bytes takes a block. With a
///            limit, a slot or a stop token one above 64 bytes does
/// Source     Asio, async_initiate
template <class Token, completion_signature Signature, class Initiation, class... Args>
decltype(auto) async_initiate(Initiation&& initiation, std::type_identity_t<Token>& token, Args&&... args) {
    return completion_token_transform<Signature>(
        std::forward<Token>(token),
        impl::operation::bind_initiation(std::forward<Initiation>(initiation), std::forward<Args>(args)...));
}
/// The same function, for an operation that completes with one of several signatures. It cannot be awaited: which type
/// would it be? as_tuple and redirect_error, binders, append, prepend and consign adapt each of the signatures.
template <class Token, completion_signature First, completion_signature Second, completion_signature... More,
          class Initiation, class... Args>
decltype(auto) async_initiate(Initiation&& initiation, std::type_identity_t<Token>& token, Args&&... args) {
    return impl::operation::initiate_several<First, Second, More...>(
        std::forward<Token>(token),
        impl::operation::bind_initiation(std::forward<Initiation>(initiation), std::forward<Args>(args)...));
}

/// The same function, with the signatures alone; the token is taken as it is passed.
template <completion_signature Signature, completion_signature... More, class Initiation, class Token, class... Args>
decltype(auto) async_initiate(Initiation&& initiation, Token&& token, Args&&... args) {
    return async_initiate<Token, Signature, More...>(std::forward<Initiation>(initiation), token,
                                                     std::forward<Args>(args)...);
}

/// The same function, for an operation that completes with whatever it likes. Only handlers, detached and deferred take
/// it.
template <class Token, class Initiation, class... Args>
    requires(!completion_signature<Token>)
decltype(auto) async_initiate(Initiation&& initiation, std::type_identity_t<Token>& token, Args&&... args) {
    return impl::operation::initiate_several<>(
        std::forward<Token>(token),
        impl::operation::bind_initiation(std::forward<Initiation>(initiation), std::forward<Args>(args)...));
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

} // namespace fairlead
