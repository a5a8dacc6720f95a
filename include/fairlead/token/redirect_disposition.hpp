// redirect_disposition: as redirect_error, for every kind of disposition.
#pragma once

#include <fairlead/base/disposition_traits.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/deferred.hpp>

#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

namespace fairlead {
namespace detail {

/// An exception_ptr takes every disposition, any other variable its own kind alone.
template <class Value, class Disposition> inline constexpr bool goes_into =
    std::is_same_v<Value, Disposition> || (std::is_same_v<Disposition, std::exception_ptr> && disposition<Value>);

template <class Value, class Disposition> void assign_disposition(Disposition& target, Value&& value) noexcept {
    if constexpr (std::is_same_v<std::decay_t<Value>, Disposition>)
        target = std::forward<Value>(value);
    else
        target = disposition_traits<std::decay_t<Value>>::to_exception_ptr(std::forward<Value>(value));
}

template <class Disposition, class S> struct without_disposition {
    using type = S;
};
template <class Disposition, class R, class First, class... Args>
    requires goes_into<std::decay_t<First>, Disposition>
struct without_disposition<Disposition, R(First, Args...)> {
    using type = R(Args...);
};

template <class Handler, class Disposition> struct disposition_handler {
    Handler handler;
    Disposition* target;

    template <class First, class... Args>
        requires goes_into<std::decay_t<First>, Disposition>
    void operator()(First&& first, Args&&... args) {
        assign_disposition(*target, std::forward<First>(first));
        std::move(handler)(std::forward<Args>(args)...);
    }
    template <class... Args> void operator()(Args&&... args) { std::move(handler)(std::forward<Args>(args)...); }
};

/// `All`: what the operation completes with, for block; void: it cannot be known.
template <class Disposition, class All> struct wrap_disposition {
    Disposition* target;
    template <class H> auto operator()(H h) const { return disposition_handler<H, Disposition>{std::move(h), target}; }
    template <class Values, class I> Values block_as(I& i) const
        requires(!std::is_void_v<All>) && impl::operation::can_block<I, All>
    {
        return split<Values>(impl::operation::perform_blocking<All>(i));
    }

private:
    template <class Values, class Everything> Values split(Everything all) const {
        if constexpr (std::is_same_v<Values, Everything>)
            return all;
        else
            return std::apply(
                [this](auto& first, auto&... rest) {
                    assign_disposition(*target, std::move(first));
                    return Values(std::move(rest)...);
                },
                all);
    }
};

} // namespace detail

/// The result of redirect_disposition(token, d).
template <class Token, disposition Disposition> struct redirect_disposition_t {
    Token token;
    Disposition& target;
};
/// redirect_disposition(d): as a bare token it adapts the default token; called with a token, that one.
template <disposition Disposition> class partial_redirect_disposition {
public:
    constexpr explicit partial_redirect_disposition(Disposition& d) noexcept : target_(&d) {}
    template <class Token> constexpr auto operator()(Token&& token) const {
        return redirect_disposition_t<std::decay_t<Token>, Disposition>{std::forward<Token>(token), *target_};
    }

private:
    Disposition* target_;
};

/// Token: the first argument of the completion goes into `d` if it is a disposition of that type, the others to
/// `token`. A std::exception_ptr takes dispositions of all types, as the exceptions that they stand for.
template <class Token, disposition Disposition>
[[nodiscard]] constexpr auto redirect_disposition(Token&& token, Disposition& d) {
    return redirect_disposition_t<std::decay_t<Token>, Disposition>{std::forward<Token>(token), d};
}
/// Around the default token.
template <disposition Disposition> [[nodiscard]] constexpr auto redirect_disposition(Disposition& d) noexcept {
    return partial_redirect_disposition<Disposition>(d);
}

template <class Token, class Disposition> struct impl::operation::adapter_of<redirect_disposition_t<Token, Disposition>>
    : impl::operation::adapter_of_handler {
    template <class S> using signature = typename detail::without_disposition<Disposition, S>::type;
    static detail::wrap_disposition<Disposition, void>
    wrap(redirect_disposition_t<Token, Disposition> const& t) noexcept {
        return {&t.target};
    }
};

template <class Token, class Disposition, class Signature>
class async_result<redirect_disposition_t<Token, Disposition>, Signature> {
    using inner_signature = typename detail::without_disposition<Disposition, Signature>::type;

public:
    template <class Initiation>
    static decltype(auto) initiate(Initiation&& initiation, redirect_disposition_t<Token, Disposition> t) {
        using wrap = detail::wrap_disposition<Disposition, impl::operation::values_of<Signature>>;
        return completion_token_transform<inner_signature>(
            std::move(t.token), impl::token::wrapped_initiation<std::decay_t<Initiation>, wrap>{
                                    std::forward<Initiation>(initiation), wrap{&t.target}});
    }
};

template <class Disposition, class... Signatures>
class async_result<partial_redirect_disposition<Disposition>, Signatures...> {
public:
    template <class Initiation>
    static decltype(auto) initiate(Initiation&& initiation, partial_redirect_disposition<Disposition> t) {
        if constexpr (sizeof...(Signatures) == 1)
            return completion_token_transform<Signatures...>(t(use_await), std::forward<Initiation>(initiation));
        else
            return impl::operation::initiate_several<Signatures...>(t(deferred), std::forward<Initiation>(initiation));
    }
};

template <template <class, class> class A, class H, class Disposition, class D>
struct associator<A, detail::disposition_handler<H, Disposition>, D>
    : impl::operation::pass_on<A, detail::disposition_handler<H, Disposition>, H, D> {};

} // namespace fairlead
