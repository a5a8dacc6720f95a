// Tokens made of tokens: as_tuple, redirect_error, bind_executor, bind_allocator.
#pragma once

#include <fairlead/operation/async_op.hpp>
#include <fairlead/token/adapter.hpp>
#include <fairlead/token/detached.hpp>
#include <fairlead/token/tuple_adapter.hpp>

namespace fairlead {

namespace impl::token {

template <class Handler> struct redirect_handler {
    Handler handler;
    error_code* target;
    template <class... Args> void operator()(error_code const& ec, Args&&... args) {
        *target = ec;
        std::move(handler)(std::forward<Args>(args)...);
    }
    template <class... Args>
        requires(sizeof...(Args) == 0 ||
                 !std::same_as<std::decay_t<std::tuple_element_t<0, std::tuple<Args..., void*>>>, error_code>)
    void operator()(Args&&... args) {
        std::move(handler)(std::forward<Args>(args)...);
    }
};

template <class S> struct without_error;
template <class R, class... Args> struct without_error<R(Args...)> {
    using type = R(Args...);
};
template <class R, class... Args> struct without_error<R(error_code, Args...)> {
    using type = R(Args...);
};
template <class R, class... Args> struct without_error<R(error_code const&, Args...)> {
    using type = R(Args...);
};

template <class Values> struct with_error;
template <class... Rest> struct with_error<std::tuple<Rest...>> {
    using type = std::tuple<error_code, Rest...>;
};
template <class Values> Values without_first(typename with_error<Values>::type&& all, error_code& first) {
    first = std::get<0>(all);
    return std::apply([](error_code&, auto&... rest) { return Values(std::move(rest)...); }, all);
}
struct wrap_redirect {
    error_code* target;
    template <class H> auto operator()(H h) const { return redirect_handler<H>{std::move(h), target}; }
    template <class Values, class I> Values block_as(I& i) const
        requires operation::can_block<I, typename with_error<Values>::type>
    {
        return without_first<Values>(operation::perform_blocking<typename with_error<Values>::type>(i), *target);
    }
    template <class Values, class I> FAIRLEAD_ALWAYS_INLINE base::maybe<Values> try_as(I& i) const
        requires operation::can_try<I, typename with_error<Values>::type>
    {
        if (auto all = operation::tried<typename with_error<Values>::type>(i))
            return without_first<Values>(std::move(*all), *target);
        return {};
    }
};

/// A primitive whose error goes to `target`. An await has the initiation at hand when it takes the result; a handler
/// takes along where the error goes.
template <class Init> struct redirected_primitive : Init {
    using signature = typename without_error<typename Init::signature>::type;
    using values = operation::values_of<signature>;

    error_code* target;

    redirected_primitive(Init&& i, error_code* t) : Init(std::move(i)), target(t) {}

    template <class Handler> void operator()(Handler&& handler) const {
        static_cast<Init const&>(*this)(wrap_redirect{target}(std::decay_t<Handler>(std::forward<Handler>(handler))));
    }
    values take_here(typename Init::record& o) const { return without_first<values>(Init::take(o), *target); }
    template <class Values> Values block_as() const
        requires std::same_as<Values, values> && operation::can_block<Init const, typename with_error<values>::type>
    {
        return wrap_redirect{target}.template block_as<values>(static_cast<Init const&>(*this));
    }
};
/// Those whose awaits look at a result: an await of no values has none to take.
template <class Init>
concept redirectable =
    operation::primitive_initiation<Init> && !operation::takes_here<Init> &&
    std::same_as<
        operation::values_of<typename Init::signature>,
        typename with_error<operation::values_of<typename without_error<typename Init::signature>::type>>::type> &&
    (std::tuple_size_v<operation::values_of<typename Init::signature>> > 1);

} // namespace impl::token

/// The type of as_tuple.
struct as_tuple_maker {
    template <class Token> constexpr auto operator()(Token&& token) const {
        return as_tuple_t<std::decay_t<Token>>{std::forward<Token>(token)};
    }
    constexpr auto operator()() const { return as_tuple_t<use_await_t>{}; }
};
/// as_tuple, as_tuple(token): as a bare token it adapts the default token.
inline constexpr as_tuple_maker as_tuple{};

template <class Signature> class async_result<as_tuple_maker, Signature>
    : public async_result<as_tuple_t<use_await_t>, Signature> {
    using base = async_result<as_tuple_t<use_await_t>, Signature>;

public:
    template <class Initiation> static decltype(auto) initiate(Initiation&& initiation, as_tuple_maker) {
        return base::initiate(std::forward<Initiation>(initiation), as_tuple_t<use_await_t>{});
    }
};

/// Token: the error goes into `ec`, the remaining arguments to the token inside.
template <class Token> struct redirect_error_t {
    Token token;
    error_code& ec;
};
/// Makes a redirect_error_t. `ec` outlives the operation.
template <class Token> auto redirect_error(Token&& token, error_code& ec) {
    return redirect_error_t<std::decay_t<Token>>{std::forward<Token>(token), ec};
}
/// redirect_error(ec): as a bare token it adapts the default token; called with a token, that one.
class partial_redirect_error {
public:
    explicit partial_redirect_error(error_code& ec) noexcept : ec_(&ec) {}
    template <class Token> redirect_error_t<std::decay_t<Token>> operator()(Token&& token) const {
        return redirect_error(std::forward<Token>(token), *ec_);
    }

private:
    error_code* ec_;
};
inline partial_redirect_error redirect_error(error_code& ec) noexcept { return partial_redirect_error(ec); }

template <class Token> struct impl::operation::adapter_of<redirect_error_t<Token>>
    : impl::operation::adapter_of_handler {
    template <class S> using signature = typename impl::token::without_error<S>::type;
    static impl::token::wrap_redirect wrap(redirect_error_t<Token> const& t) noexcept { return {&t.ec}; }
};

template <class Token, class Signature> class async_result<redirect_error_t<Token>, Signature> {
    using inner_signature = typename impl::token::without_error<Signature>::type;

public:
    template <class Initiation> static decltype(auto) initiate(Initiation&& initiation, redirect_error_t<Token> t) {
        using init = std::decay_t<Initiation>;
        if constexpr (impl::token::redirectable<init>)
            return completion_token_transform<inner_signature>(
                std::move(t.token),
                impl::token::redirected_primitive<init>(init(std::forward<Initiation>(initiation)), &t.ec));
        else
            return completion_token_transform<inner_signature>(
                std::move(t.token), impl::token::wrapped_initiation<init, impl::token::wrap_redirect>{
                                        std::forward<Initiation>(initiation), impl::token::wrap_redirect{&t.ec}});
    }
};

template <class Signature> class async_result<partial_redirect_error, Signature> {
public:
    template <class Initiation> static decltype(auto) initiate(Initiation&& initiation, partial_redirect_error t) {
        return async_result<redirect_error_t<use_await_t>, Signature>::initiate(std::forward<Initiation>(initiation),
                                                                                t(use_await));
    }
};

// ---- binders: a handler or token with one association of its own

namespace impl::token {

/// The types that std::unary_function and its like gave a function. Binders pass them on.
template <class T> struct result_of_target {};
template <class T>
    requires requires { typename T::result_type; }
struct result_of_target<T> {
    using result_type = typename T::result_type;
};
template <class T> struct argument_of_target {};
template <class T>
    requires requires { typename T::argument_type; }
struct argument_of_target<T> {
    using argument_type = typename T::argument_type;
};
template <class T>
    requires requires {
        typename T::first_argument_type;
        typename T::second_argument_type;
    }
struct argument_of_target<T> {
    using first_argument_type = typename T::first_argument_type;
    using second_argument_type = typename T::second_argument_type;
};
template <class T> struct function_types : result_of_target<T>, argument_of_target<T> {};
template <class R> struct function_types<R (*)()> {
    using result_type = R;
};
template <class R, class A> struct function_types<R (*)(A)> {
    using result_type = R;
    using argument_type = A;
};
template <class R, class A, class B> struct function_types<R (*)(A, B)> {
    using result_type = R;
    using first_argument_type = A;
    using second_argument_type = B;
};

/// The handler or token inside a binder.
template <class T> class bound_target : public function_types<T> {
public:
    using target_type = T;
    template <class U> explicit bound_target(std::in_place_t, U&& t) : target_(std::forward<U>(t)) {}
    T& get() & noexcept { return target_; }
    T&& get() && noexcept { return std::move(target_); }
    T const& get() const& noexcept { return target_; }
    template <class... Args>
        requires std::invocable<T&, Args...>
    decltype(auto) operator()(Args&&... args) & {
        return target_(std::forward<Args>(args)...);
    }
    template <class... Args>
        requires std::invocable<T, Args...>
    decltype(auto) operator()(Args&&... args) && {
        return std::move(target_)(std::forward<Args>(args)...);
    }

private:
    T target_;
};

} // namespace impl::token

/// The result of bind_executor.
template <class T, class Executor> class executor_binder : public impl::token::bound_target<T> {
public:
    using executor_type = Executor;
    template <class U> executor_binder(Executor const& e, U&& t)
        : impl::token::bound_target<T>(std::in_place, std::forward<U>(t)),
          executor_(e) {}
    executor_type get_executor() const noexcept { return executor_; }

private:
    Executor executor_;
};
/// The result of bind_allocator.
template <class T, class Allocator> class allocator_binder : public impl::token::bound_target<T> {
public:
    using allocator_type = Allocator;
    template <class U> allocator_binder(Allocator const& a, U&& t)
        : impl::token::bound_target<T>(std::in_place, std::forward<U>(t)),
          allocator_(a) {}
    allocator_type get_allocator() const noexcept { return allocator_; }

private:
    Allocator allocator_;
};
/// The result of bind_immediate_executor.
template <class T, class Executor> class immediate_executor_binder : public impl::token::bound_target<T> {
public:
    using immediate_executor_type = Executor;
    template <class U> immediate_executor_binder(Executor const& e, U&& t)
        : impl::token::bound_target<T>(std::in_place, std::forward<U>(t)),
          executor_(e) {}
    immediate_executor_type get_immediate_executor() const noexcept { return executor_; }

private:
    Executor executor_;
};

namespace impl::token {

/// A binder that has no token yet: stands for the default token, or binds the one that it is called with.
template <template <class, class> class Binder, class Value> class partial_binder {
public:
    explicit partial_binder(Value const& v) : value_(v) {}
    template <class T> Binder<std::decay_t<T>, Value> operator()(T&& t) const {
        return Binder<std::decay_t<T>, Value>(value_, std::forward<T>(t));
    }

private:
    Value value_;
};

} // namespace impl::token

/// The result of bind_executor(e): it stands for the default token, or binds the one that it is called with.
template <class Executor> using partial_executor_binder = impl::token::partial_binder<executor_binder, Executor>;
/// The result of bind_allocator(a).
template <class Allocator> using partial_allocator_binder = impl::token::partial_binder<allocator_binder, Allocator>;
/// The result of bind_immediate_executor(e).
template <class Executor> using partial_immediate_executor_binder =
    impl::token::partial_binder<immediate_executor_binder, Executor>;

template <template <class, class> class Binder, class Value, class Signature>
class async_result<impl::token::partial_binder<Binder, Value>, Signature> {
public:
    template <class Initiation>
    static decltype(auto) initiate(Initiation&& initiation, impl::token::partial_binder<Binder, Value> b) {
        return completion_token_transform<Signature>(b(use_await), std::forward<Initiation>(initiation));
    }
};

/// The handler runs on `e` when its operation completes at once: inside the initiating function if `e` runs there, at
/// most 16 deep. Beyond that, and in all other cases, it is queued. Without a handler or token it binds the default
/// one.
template <execution::executor Executor, class T> auto bind_immediate_executor(Executor const& e, T&& t) {
    return immediate_executor_binder<std::decay_t<T>, Executor>(e, std::forward<T>(t));
}
template <execution::executor Executor> auto bind_immediate_executor(Executor const& e) {
    return partial_immediate_executor_binder<Executor>(e);
}

/// The handler runs on `e`, an executor or a context. Works with handlers and with tokens; without either it binds the
/// default token.
template <execution::executor Executor, class T> auto bind_executor(Executor const& e, T&& t) {
    return executor_binder<std::decay_t<T>, Executor>(e, std::forward<T>(t));
}
template <execution_context_type Context, class T> auto bind_executor(Context& c, T&& t) {
    return executor_binder<std::decay_t<T>, typename Context::executor_type>(c.get_executor(), std::forward<T>(t));
}
template <execution::executor Executor> auto bind_executor(Executor const& e) {
    return partial_executor_binder<Executor>(e);
}
template <execution_context_type Context> auto bind_executor(Context& c) {
    return partial_executor_binder<typename Context::executor_type>(c.get_executor());
}
template <class Where, class... Token>
    requires(!execution::executor<std::decay_t<Where>> && !execution_context_type<std::decay_t<Where>>)
FAIRLEAD_REFUSED("the first argument of bind_executor is an executor or a context: write "
                 "bind_executor(x.get_executor(), token)")
impl::token::detached_handler bind_executor(Where&&, Token&&...) {
    return {};
}

/// The memory of the operation is `a`'s. Works with handlers and with tokens; without either it binds the default
/// token.
template <class Allocator, class T> auto bind_allocator(Allocator const& a, T&& t) {
    return allocator_binder<std::decay_t<T>, Allocator>(a, std::forward<T>(t));
}
template <class Allocator> auto bind_allocator(Allocator const& a) { return partial_allocator_binder<Allocator>(a); }

namespace impl::token {

template <class Executor> struct wrap_executor {
    Executor executor;
    template <class H> auto operator()(H h) const { return executor_binder<H, Executor>(executor, std::move(h)); }
    template <class Values, class I> Values block_as(I& i) const
        requires operation::can_block<I, Values>
    {
        return operation::perform_blocking<Values>(i);
    }
};
template <class Allocator> struct wrap_allocator {
    Allocator allocator;
    template <class H> auto operator()(H h) const { return allocator_binder<H, Allocator>(allocator, std::move(h)); }
    template <class Values, class I> Values block_as(I& i) const
        requires operation::can_block<I, Values>
    {
        return operation::perform_blocking<Values>(i);
    }
};

template <class Executor> struct wrap_immediate_executor {
    Executor executor;
    template <class H> auto operator()(H h) const {
        return immediate_executor_binder<H, Executor>(executor, std::move(h));
    }
};

} // namespace impl::token

template <class T, class Executor> struct impl::operation::adapter_of<executor_binder<T, Executor>>
    : impl::operation::adapter_of_handler {
    static impl::token::wrap_executor<Executor> wrap(executor_binder<T, Executor> const& b) {
        return {b.get_executor()};
    }
};
template <class T, class Allocator> struct impl::operation::adapter_of<allocator_binder<T, Allocator>>
    : impl::operation::adapter_of_handler {
    static impl::token::wrap_allocator<Allocator> wrap(allocator_binder<T, Allocator> const& b) {
        return {b.get_allocator()};
    }
};
template <class T, class Executor> struct impl::operation::adapter_of<immediate_executor_binder<T, Executor>>
    : impl::operation::adapter_of_handler {
    static impl::token::wrap_immediate_executor<Executor> wrap(immediate_executor_binder<T, Executor> const& b) {
        return {b.get_immediate_executor()};
    }
};

/// A bound handler stays a handler; a bound token binds the handler that the token makes.
template <class T, class Executor, class Signature> class async_result<executor_binder<T, Executor>, Signature> {
public:
    template <class Initiation>
    static decltype(auto) initiate(Initiation&& initiation, executor_binder<T, Executor> b) {
        using init = std::decay_t<Initiation>;
        return completion_token_transform<Signature>(
            std::move(b.get()),
            impl::token::wrapped_initiation<init, impl::token::wrap_executor<Executor>>{
                std::forward<Initiation>(initiation), impl::token::wrap_executor<Executor>{b.get_executor()}});
    }
};
template <class T, class Allocator, class Signature> class async_result<allocator_binder<T, Allocator>, Signature> {
public:
    template <class Initiation>
    static decltype(auto) initiate(Initiation&& initiation, allocator_binder<T, Allocator> b) {
        using init = std::decay_t<Initiation>;
        return completion_token_transform<Signature>(
            std::move(b.get()),
            impl::token::wrapped_initiation<init, impl::token::wrap_allocator<Allocator>>{
                std::forward<Initiation>(initiation), impl::token::wrap_allocator<Allocator>{b.get_allocator()}});
    }
};

template <class T, class Executor, class Signature>
class async_result<immediate_executor_binder<T, Executor>, Signature> {
public:
    /// An executor of a pointer stays in a register so; copies of an any_io_executor cost more than the start.
    template <class Initiation>
        requires std::is_trivially_copyable_v<Executor>
    static decltype(auto) initiate(Initiation&& initiation, immediate_executor_binder<T, Executor> b) {
        return start(std::forward<Initiation>(initiation), std::move(b));
    }
    template <class Initiation, class Binder>
        requires(!std::is_trivially_copyable_v<Executor>)
    static decltype(auto) initiate(Initiation&& initiation, Binder&& b) {
        return start(std::forward<Initiation>(initiation), std::forward<Binder>(b));
    }

private:
    template <class Initiation, class Binder> static decltype(auto) start(Initiation&& initiation, Binder&& b) {
        using init = std::decay_t<Initiation>;
        return completion_token_transform<Signature>(
            std::forward<Binder>(b).get(),
            impl::token::wrapped_initiation<init, impl::token::wrap_immediate_executor<Executor>>{
                std::forward<Initiation>(initiation),
                impl::token::wrap_immediate_executor<Executor>{b.get_immediate_executor()}});
    }
};

// ---- adapters pass on what the handler inside them brings along

template <template <class, class> class A, class H, class D> struct associator<A, impl::token::redirect_handler<H>, D>
    : impl::operation::pass_on<A, impl::token::redirect_handler<H>, H, D> {};
template <template <class, class> class A, class T, class E, class D> struct associator<A, executor_binder<T, E>, D>
    : impl::operation::pass_on<A, executor_binder<T, E>, T, D> {};
template <template <class, class> class A, class T, class E, class D>
struct associator<A, immediate_executor_binder<T, E>, D>
    : impl::operation::pass_on<A, immediate_executor_binder<T, E>, T, D> {};
template <template <class, class> class A, class T, class L, class D> struct associator<A, allocator_binder<T, L>, D>
    : impl::operation::pass_on<A, allocator_binder<T, L>, T, D> {};

} // namespace fairlead
