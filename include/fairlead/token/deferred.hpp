// Sequences of operations that have not started: op | deferred(f), deferred.values(...), deferred.when(b).
//
// Each step is an async_op, so the type of a whole sequence is that of its last step and says nothing of the others.
#pragma once

#include <fairlead/operation/async_operation.hpp>
#include <fairlead/token/adapters.hpp>

namespace fairlead {

/// Token: an operation started with it is followed by the operation that `function(results...)` returns. The initiating
/// function returns the sequence, an async_op with the signature of the second operation.
template <class Function> class deferred_function {
public:
    template <class F>
        requires std::constructible_from<Function, F>
    constexpr explicit deferred_function(std::in_place_t, F&& f) : function_(std::forward<F>(f)) {}

    template <class... Args>
        requires std::invocable<Function, Args...>
    decltype(auto) operator()(Args&&... args) && {
        return std::move(function_)(std::forward<Args>(args)...);
    }
    template <class... Args>
        requires std::invocable<Function, Args...> && std::copy_constructible<Function>
    decltype(auto) operator()(Args&&... args) const& {
        return Function(function_)(std::forward<Args>(args)...);
    }

private:
    template <class, class...> friend class async_result;
    Function function_;
};

namespace impl::token {

template <class Function, class... Args>
concept returns_operation = async_operation<std::invoke_result_t<Function, Args...>>;

} // namespace impl::token

/// Of the mistakes that there are the first is reported.
template <class Function, class R, class... Args>
struct impl::operation::token_check<deferred_function<Function>, R(Args...)> {
    static constexpr bool takes_results = std::invocable<Function, std::decay_t<Args>...>;
    static constexpr bool valid = impl::token::returns_operation<Function, std::decay_t<Args>...>;
    static_assert(takes_results,
                  "the function given to deferred() does not take the results of the operation before it");
    static_assert(!takes_results || valid, "the function given to deferred() must return a deferred operation");
};

namespace impl::token {

/// The signature of the operation that `Function` returns for the results of the one before.
template <class Function, class Signature> struct signature_after {
    using type = void(); // of a mistake that has been reported
};
template <class Function, class R, class... Args>
    requires returns_operation<Function, std::decay_t<Args>...>
struct signature_after<Function, R(Args...)> {
    using type = completion_signature_of_t<std::invoke_result_t<Function, std::decay_t<Args>...>>;
};

/// Handler of one step: starts the next one with the handler of the whole.
template <class Handler, class Function> struct sequence_handler {
    Handler handler;
    Function function;
    template <class... Args> void operator()(Args&&... args) {
        std::move(function)(std::forward<Args>(args)...)(std::move(handler));
    }
};

/// Token of a blocking sequence: performs the operation, with its results as a tuple, errors included.
struct block_values {};

template <class Head, class Function, class Signature> struct sequence_initiation {
    using head_values = operation::values_of<Signature>;
    using values = operation::values_of<typename signature_after<Function, Signature>::type>;
    static constexpr bool is_cancellable = operation::can_be_cancelled<Head>();

    Head head;
    Function function;

    template <class Handler> void operator()(Handler&& handler) {
        std::move(head)(
            sequence_handler<std::decay_t<Handler>, Function>{std::forward<Handler>(handler), std::move(function)});
    }
    auto get_executor() const noexcept
        requires operation::names_executor<Head>
    {
        return operation::executor_of(head);
    }
    values block()
        requires operation::can_block<Head, head_values>
    {
        auto results = operation::perform_blocking<head_values>(head);
        return std::apply([this](auto&... r) { return std::move(function)(std::move(r)...)(block_values()); }, results);
    }
};

template <class... Values> struct values_initiation {
    std::tuple<Values...> values;
    template <class Handler> void operator()(Handler&& handler) {
        std::decay_t<Handler> h(std::forward<Handler>(handler));
        operation::call_with_values(std::move(h), std::move(values));
    }
    std::tuple<Values...> block() { return std::move(values); }
};

/// An operation, or none.
template <class Signature> struct conditional_initiation {
    bool condition;
    async_op<Signature> op;
    template <class Handler> void operator()(Handler&& handler) {
        if (condition)
            std::move(op)(std::forward<Handler>(handler));
    }
};

} // namespace impl::token

/// deferred.when(b).then(op), without an operation for the other case. Started when b is false it does nothing: its
/// handler is destroyed without being called.
template <class Signature> class [[nodiscard]] deferred_branch {
public:
    deferred_branch(bool b, async_op<Signature>&& op) noexcept : condition_(b), op_(std::move(op)) {}

    /// The operation for the other case.
    template <class Op> async_op<Signature> otherwise(Op&& op) && {
        if constexpr (!async_operation<Op>)
            static_assert(async_operation<Op>, "otherwise() takes a deferred operation");
        else if constexpr (!std::is_same_v<completion_signature_of_t<Op>, Signature>)
            static_assert(std::is_same_v<completion_signature_of_t<Op>, Signature>,
                          "both operations of a conditional complete with the same signature");
        else
            return condition_ ? std::move(op_) : std::forward<Op>(op)(deferred);
    }
    template <class Token> decltype(auto) operator()(Token&& token) && {
        return completion_token_transform<Signature>(
            std::forward<Token>(token), impl::token::conditional_initiation<Signature>{condition_, std::move(op_)});
    }

private:
    bool condition_;
    async_op<Signature> op_;
};

/// deferred.when(b)
class deferred_conditional {
public:
    constexpr explicit deferred_conditional(bool b) noexcept : condition_(b) {}

    /// The operation for the case that the condition holds.
    template <class Op> auto then(Op&& op) const {
        static_assert(async_operation<Op>, "then() takes a deferred operation");
        return deferred_branch<completion_signature_of_t<Op>>(condition_, std::forward<Op>(op)(deferred));
    }

private:
    bool condition_;
};

template <class Function>
constexpr deferred_function<std::decay_t<Function>> deferred_t::operator()(Function&& function) const {
    return deferred_function<std::decay_t<Function>>(std::in_place, std::forward<Function>(function));
}
template <class Signature, std::size_t Storage>
async_op<Signature, Storage> deferred_t::operator()(async_op<Signature, Storage>&& op) const noexcept {
    return std::move(op);
}
template <class Function>
constexpr deferred_function<Function> deferred_t::operator()(deferred_function<Function> function) const {
    return function;
}
template <class... Values> async_op<void(std::decay_t<Values>...)> deferred_t::values(Values&&... values) {
    return async_op<void(std::decay_t<Values>...)>(impl::token::values_initiation<std::decay_t<Values>...>{
        std::tuple<std::decay_t<Values>...>(std::forward<Values>(values)...)});
}
constexpr deferred_conditional deferred_t::when(bool b) noexcept { return deferred_conditional(b); }

/// An operation with several signatures that has not started: called with a token it starts.
template <class Initiation, class... Signatures>
class [[nodiscard("the operation starts only when it is called with a token")]] deferred_several {
public:
    template <class I>
        requires std::constructible_from<Initiation, I>
    explicit deferred_several(std::in_place_t, I&& initiation) : initiation_(std::forward<I>(initiation)) {}

    template <class Token> decltype(auto) operator()(Token&& token) && {
        return impl::operation::initiate_several<Signatures...>(std::forward<Token>(token), std::move(initiation_));
    }
    template <class Token>
        requires std::copy_constructible<Initiation>
    decltype(auto) operator()(Token&& token) const& {
        return impl::operation::initiate_several<Signatures...>(std::forward<Token>(token), Initiation(initiation_));
    }

private:
    Initiation initiation_;
};

template <class First, class Second, class... More> class async_result<deferred_t, First, Second, More...> {
public:
    template <class Initiation> static auto initiate(Initiation&& initiation, deferred_t) {
        return deferred_several<std::decay_t<Initiation>, First, Second, More...>(std::in_place,
                                                                                  std::forward<Initiation>(initiation));
    }
};

template <> class async_result<deferred_t> {
public:
    template <class Initiation> static auto initiate(Initiation&& initiation, deferred_t) {
        return deferred_several<std::decay_t<Initiation>>(std::in_place, std::forward<Initiation>(initiation));
    }
};

template <class Function, class Signature> class async_result<deferred_function<Function>, Signature> {
    using next_signature = typename impl::token::signature_after<Function, Signature>::type;

public:
    template <class Initiation>
    static async_op<next_signature> initiate(Initiation&& initiation, deferred_function<Function> token) {
        return async_op<next_signature>(impl::token::sequence_initiation<std::decay_t<Initiation>, Function, Signature>{
            std::forward<Initiation>(initiation), std::move(token.function_)});
    }
};

template <class Signature> class async_result<impl::token::block_values, Signature> {
public:
    template <class Initiation>
    static impl::operation::values_of<Signature> initiate(Initiation&& initiation, impl::token::block_values) {
        std::decay_t<Initiation> i(std::forward<Initiation>(initiation));
        if constexpr (impl::operation::can_block<decltype(i), impl::operation::values_of<Signature>>)
            return impl::operation::perform_blocking<impl::operation::values_of<Signature>>(i);
        else
            return impl::operation::wait_for<impl::operation::values_of<Signature>>(std::move(i));
    }
};

/// Starts `head` with the token `tail`: op | deferred(f) is the sequence of op and what f returns. Adaptors of
/// senders are no tokens, but can be called with an operation. They have an operator of their own.
template <class Signature, std::size_t Storage, class Tail>
    requires(!impl::operation::no_token<Tail, Signature> || !std::invocable<Tail, async_op<Signature, Storage>>)
decltype(auto) operator|(async_op<Signature, Storage> head, Tail&& tail) {
    return std::move(head)(std::forward<Tail>(tail));
}
template <impl::operation::brings_awaiter Op, class Tail>
    requires(!impl::operation::no_token<Tail, typename Op::signature> || !std::invocable<Tail, Op>)
decltype(auto) operator|(Op&& head, Tail&& tail) {
    return std::move(head)(std::forward<Tail>(tail));
}

template <template <class, class> class A, class H, class F, class D>
struct associator<A, impl::token::sequence_handler<H, F>, D>
    : impl::operation::pass_on<A, impl::token::sequence_handler<H, F>, H, D> {};

/// True for what deferred makes and returns.
template <class T> struct is_deferred : std::false_type {};
template <class Signature, std::size_t Storage> struct is_deferred<async_op<Signature, Storage>> : std::true_type {};
template <impl::operation::brings_awaiter Op> struct is_deferred<Op> : std::true_type {};
template <class Function> struct is_deferred<deferred_function<Function>> : std::true_type {};
template <class Signature> struct is_deferred<deferred_branch<Signature>> : std::true_type {};

} // namespace fairlead
