// append: more arguments for the handler, after those of the operation.
#pragma once

#include <fairlead/token/adapter.hpp>

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

namespace fairlead {

/// Token: the inner token's handler is given `values` after the operation's own arguments.
template <class Token, class... Values> struct append_t {
    template <class T, class... V>
        requires(!std::same_as<std::decay_t<T>, append_t> && sizeof...(V) == sizeof...(Values))
    constexpr explicit append_t(T&& t, V&&... v) : token(std::forward<T>(t)),
                                                   values(std::forward<V>(v)...) {}

    Token token;
    std::tuple<Values...> values;
};
/// append(token, values...)
template <class Token, class... Values> [[nodiscard]] constexpr append_t<std::decay_t<Token>, std::decay_t<Values>...>
append(Token&& token, Values&&... values) {
    return append_t<std::decay_t<Token>, std::decay_t<Values>...>(std::forward<Token>(token),
                                                                  std::forward<Values>(values)...);
}

namespace impl::token {

/// The first n elements of a tuple, as a type.
template <std::size_t Skip, class Tuple, class Indices> struct part_of;
template <std::size_t Skip, class Tuple, std::size_t... I> struct part_of<Skip, Tuple, std::index_sequence<I...>> {
    using type = std::tuple<std::tuple_element_t<Skip + I, Tuple>...>;
};

template <class Handler, class... Values> struct append_handler {
    Handler handler;
    std::tuple<Values...> values;
    template <class... Args> void operator()(Args&&... args) {
        std::apply([&](Values&... more) { std::move(handler)(std::forward<Args>(args)..., std::move(more)...); },
                   values);
    }
};

template <class... Added> struct wrap_append {
    std::tuple<Added...> values;
    template <class H> auto operator()(H h) { return append_handler<H, Added...>{std::move(h), std::move(values)}; }
    template <class Values> using inner =
        typename part_of<0, Values, std::make_index_sequence<std::tuple_size_v<Values> - sizeof...(Added)>>::type;
    template <class Values, class I> Values block_as(I& i)
        requires operation::can_block<I, inner<Values>>
    {
        return std::tuple_cat(operation::perform_blocking<inner<Values>>(i), std::move(values));
    }
};

template <class S, class... Added> struct signature_plus;
template <class R, class... Args, class... Added> struct signature_plus<R(Args...), Added...> {
    using appended = R(Args..., Added...);
    using prepended = R(Added..., Args...);
};

} // namespace impl::token

template <class Token, class... Values> struct impl::operation::adapter_of<append_t<Token, Values...>>
    : impl::operation::adapter_of_handler {
    template <class S> using signature = typename impl::token::signature_plus<S, Values...>::appended;
    static impl::token::wrap_append<Values...> wrap(append_t<Token, Values...>& t) { return {std::move(t.values)}; }
};

template <class Token, class... Values, class Signature> class async_result<append_t<Token, Values...>, Signature> {
public:
    template <class Initiation> static decltype(auto) initiate(Initiation&& initiation, append_t<Token, Values...> t) {
        return completion_token_transform<typename impl::token::signature_plus<Signature, Values...>::appended>(
            std::move(t.token),
            impl::token::wrapped_initiation<std::decay_t<Initiation>, impl::token::wrap_append<Values...>>{
                std::forward<Initiation>(initiation), {std::move(t.values)}});
    }
};

template <template <class, class> class A, class H, class... V, class D>
struct associator<A, impl::token::append_handler<H, V...>, D>
    : impl::operation::pass_on<A, impl::token::append_handler<H, V...>, H, D> {};

} // namespace fairlead
