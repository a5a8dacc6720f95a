// as_single: several completion arguments as one.
#pragma once

#include <fairlead/token/tuple_adapter.hpp>

namespace fairlead {

/// Token: two or more completion arguments arrive as one tuple, errors included; none or one arrive as they are.
template <class Token> struct as_single_t : impl::operation::can_be_default<as_single_t<Token>> {
    constexpr as_single_t() = default;
    template <class T>
        requires(!std::same_as<std::decay_t<T>, as_single_t> && std::constructible_from<Token, T>)
    constexpr explicit as_single_t(T&& t) : token(std::forward<T>(t)) {}

    [[no_unique_address]] Token token;
};
/// as_single(token)
template <class Token> [[nodiscard]] constexpr as_single_t<std::decay_t<Token>> as_single(Token&& token) {
    return as_single_t<std::decay_t<Token>>(std::forward<Token>(token));
}

template <class Token, class Signature> class async_result<as_single_t<Token>, Signature> {
public:
    template <class Initiation> static decltype(auto) initiate(Initiation&& initiation, as_single_t<Token> t) {
        if constexpr (std::tuple_size_v<impl::operation::values_of<Signature>> < 2)
            return completion_token_transform<Signature>(std::move(t.token), std::forward<Initiation>(initiation));
        else
            return completion_token_transform<Signature>(as_tuple_t<Token>(std::move(t.token)),
                                                         std::forward<Initiation>(initiation));
    }
};

} // namespace fairlead
