// consign: objects that live until the handler has run.
#pragma once

#include <fairlead/token/adapter.hpp>

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

namespace fairlead {

/// Token: `values` are kept with the handler of the inner token and destroyed after its call, or with the operation
/// when that never completes.
template <class Token, class... Values> struct consign_t {
    template <class T, class... V>
        requires(!std::same_as<std::decay_t<T>, consign_t> && sizeof...(V) == sizeof...(Values))
    constexpr explicit consign_t(T&& t, V&&... v) : token(std::forward<T>(t)),
                                                    values(std::forward<V>(v)...) {}

    Token token;
    std::tuple<Values...> values;
};
/// consign(token, values...)
template <class Token, class... Values> [[nodiscard]] constexpr consign_t<std::decay_t<Token>, std::decay_t<Values>...>
consign(Token&& token, Values&&... values) {
    return consign_t<std::decay_t<Token>, std::decay_t<Values>...>(std::forward<Token>(token),
                                                                   std::forward<Values>(values)...);
}

namespace detail {

template <class Handler, class... Values> struct consign_handler {
    Handler handler;
    std::tuple<Values...> values;
    template <class... Args> void operator()(Args&&... args) { std::move(handler)(std::forward<Args>(args)...); }
};

template <class... Kept> struct wrap_consign {
    std::tuple<Kept...> values;
    template <class H> auto operator()(H h) { return consign_handler<H, Kept...>{std::move(h), std::move(values)}; }
    template <class Values, class I> Values block_as(I& i)
        requires impl::operation::can_block<I, Values>
    {
        return impl::operation::perform_blocking<Values>(i);
    }
};

} // namespace detail

template <class Token, class... Values> struct impl::operation::adapter_of<consign_t<Token, Values...>>
    : impl::operation::adapter_of_handler {
    static detail::wrap_consign<Values...> wrap(consign_t<Token, Values...>& t) { return {std::move(t.values)}; }
};

template <class Token, class... Values, class Signature> class async_result<consign_t<Token, Values...>, Signature> {
public:
    template <class Initiation> static decltype(auto) initiate(Initiation&& initiation, consign_t<Token, Values...> t) {
        return completion_token_transform<Signature>(
            std::move(t.token),
            impl::token::wrapped_initiation<std::decay_t<Initiation>, detail::wrap_consign<Values...>>{
                std::forward<Initiation>(initiation), {std::move(t.values)}});
    }
};

template <template <class, class> class A, class H, class... V, class D>
struct associator<A, detail::consign_handler<H, V...>, D>
    : impl::operation::pass_on<A, detail::consign_handler<H, V...>, H, D> {};

} // namespace fairlead
