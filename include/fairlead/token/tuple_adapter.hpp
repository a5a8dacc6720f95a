// The completion arguments as one tuple: what as_tuple (token/adapters.hpp) and as_single are made of.
#pragma once

#include <fairlead/operation/default_token.hpp>
#include <fairlead/operation/tried.hpp>
#include <fairlead/token/adapter.hpp>

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

namespace fairlead {

namespace impl::operation {
template <class Init, class Adapt>
struct adapted_primitive; // operation/initiate.hpp, which every primitive is written with
} // namespace impl::operation

namespace impl::token {

struct tuple_adapt {
    template <class S> struct signature_for;
    template <class R, class... Args> struct signature_for<R(Args...)> {
        using type = R(std::tuple<std::decay_t<Args>...>);
    };
    template <class S> using signature = typename signature_for<S>::type;
    template <class Values> static auto values(Values&& v) {
        return std::tuple<std::decay_t<Values>>(std::forward<Values>(v));
    }
};

/// A handler that packs its arguments.
template <class Handler> struct tuple_handler {
    Handler handler;
    template <class... Args> void operator()(Args&&... args) {
        std::move(handler)(std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...));
    }
};

struct wrap_tuple {
    template <class H> auto operator()(H h) const { return tuple_handler<H>{std::move(h)}; }
    template <class Values, class I> Values block_as(I& i) const
        requires operation::can_block<I, std::tuple_element_t<0, Values>>
    {
        return Values(operation::perform_blocking<std::tuple_element_t<0, Values>>(i));
    }
    template <class Values, class I> FAIRLEAD_ALWAYS_INLINE base::maybe<Values> try_as(I& i) const
        requires operation::can_try<I, std::tuple_element_t<0, Values>>
    {
        if (auto all = operation::tried<std::tuple_element_t<0, Values>>(i))
            return Values(std::move(*all));
        return {};
    }
};

} // namespace impl::token

/// Token: the completion arguments arrive as one tuple, errors included, nothing is thrown.
template <class Token> struct as_tuple_t : impl::operation::can_be_default<as_tuple_t<Token>> {
    constexpr as_tuple_t() = default;
    template <class T>
        requires(!std::same_as<std::decay_t<T>, as_tuple_t> && std::constructible_from<Token, T>)
    constexpr explicit as_tuple_t(T&& t) : token(std::forward<T>(t)) {}

    [[no_unique_address]] Token token;
};
template <class Token> struct impl::operation::adapter_of<as_tuple_t<Token>> : impl::operation::adapter_of_handler {
    template <class S> using signature = impl::token::tuple_adapt::signature<S>;
    static impl::token::wrap_tuple wrap(as_tuple_t<Token> const&) noexcept { return {}; }
};

template <class Token, class Signature> class async_result<as_tuple_t<Token>, Signature> {
    using inner_signature = impl::token::tuple_adapt::signature<Signature>;

public:
    template <class Initiation> static decltype(auto) initiate(Initiation&& initiation, as_tuple_t<Token> t) {
        using init = std::decay_t<Initiation>;
        if constexpr (impl::operation::primitive_initiation<init> && !impl::operation::takes_here<init>)
            return completion_token_transform<inner_signature>(
                std::move(t.token), impl::operation::adapted_primitive<init, impl::token::tuple_adapt>(
                                        init(std::forward<Initiation>(initiation)), impl::token::tuple_adapt{}));
        else
            return completion_token_transform<inner_signature>(
                std::move(t.token), impl::token::wrapped_initiation<init, impl::token::wrap_tuple>{
                                        std::forward<Initiation>(initiation), impl::token::wrap_tuple{}});
    }
};
template <template <class, class> class A, class H, class D> struct associator<A, impl::token::tuple_handler<H>, D>
    : impl::operation::pass_on<A, impl::token::tuple_handler<H>, H, D> {};

} // namespace fairlead
