// prepend: more arguments for the handler, before those of the operation.
#pragma once

#include <fairlead/token/append.hpp>

namespace fairlead {

/// Token: the inner token's handler is given `values` before the operation's own arguments.
template <class Token, class... Values> struct prepend_t {
    template <class T, class... V>
        requires(!std::same_as<std::decay_t<T>, prepend_t> && sizeof...(V) == sizeof...(Values))
    constexpr explicit prepend_t(T&& t, V&&... v) : token(std::forward<T>(t)),
                                                    values(std::forward<V>(v)...) {}

    Token token;
    std::tuple<Values...> values;
};
/// prepend(token, values...)
template <class Token, class... Values> [[nodiscard]] constexpr prepend_t<std::decay_t<Token>, std::decay_t<Values>...>
prepend(Token&& token, Values&&... values) {
    return prepend_t<std::decay_t<Token>, std::decay_t<Values>...>(std::forward<Token>(token),
                                                                   std::forward<Values>(values)...);
}

namespace detail {

template <class Handler, class... Values> struct prepend_handler {
    Handler handler;
    std::tuple<Values...> values;
    template <class... Args> void operator()(Args&&... args) {
        std::apply([&](Values&... more) { std::move(handler)(std::move(more)..., std::forward<Args>(args)...); },
                   values);
    }
};

template <class... Added> struct wrap_prepend {
    std::tuple<Added...> values;
    template <class H> auto operator()(H h) { return prepend_handler<H, Added...>{std::move(h), std::move(values)}; }
    template <class Values> using inner =
        typename impl::token::part_of<sizeof...(Added), Values,
                                      std::make_index_sequence<std::tuple_size_v<Values> - sizeof...(Added)>>::type;
    template <class Values, class I> Values block_as(I& i)
        requires impl::operation::can_block<I, inner<Values>>
    {
        auto own = impl::operation::perform_blocking<inner<Values>>(i);
        return std::tuple_cat(std::move(values), std::move(own));
    }
};

} // namespace detail

template <class Token, class... Values> struct impl::operation::adapter_of<prepend_t<Token, Values...>>
    : impl::operation::adapter_of_handler {
    template <class S> using signature = typename impl::token::signature_plus<S, Values...>::prepended;
    static detail::wrap_prepend<Values...> wrap(prepend_t<Token, Values...>& t) { return {std::move(t.values)}; }
};

template <class Token, class... Values, class Signature> class async_result<prepend_t<Token, Values...>, Signature> {
public:
    template <class Initiation> static decltype(auto) initiate(Initiation&& initiation, prepend_t<Token, Values...> t) {
        return completion_token_transform<typename impl::token::signature_plus<Signature, Values...>::prepended>(
            std::move(t.token),
            impl::token::wrapped_initiation<std::decay_t<Initiation>, detail::wrap_prepend<Values...>>{
                std::forward<Initiation>(initiation), {std::move(t.values)}});
    }
};

template <template <class, class> class A, class H, class... V, class D>
struct associator<A, detail::prepend_handler<H, V...>, D>
    : impl::operation::pass_on<A, detail::prepend_handler<H, V...>, H, D> {};

} // namespace fairlead
