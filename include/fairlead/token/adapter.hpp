// The parts of tokens that are made of tokens: the operation under an adapter, and the adapter for several signatures.
// An adapted handler passes on the associations of the one inside it.
#pragma once

#include <fairlead/operation/associator.hpp>
#include <fairlead/operation/async_result.hpp>
#include <fairlead/operation/initiation_storage.hpp>
#include <fairlead/operation/pass_on.hpp>

#include <type_traits>
#include <utility>

namespace fairlead {
namespace impl::token {

/// The initiation under an adapter of handlers: wraps whatever handler arrives.
template <class Initiation, class Wrap> struct wrapped_initiation {
    static constexpr bool is_cancellable = operation::can_be_cancelled<Initiation>();
    static constexpr auto async_op_storage = operation::storage_for<Wrap>() > operation::storage_for<Initiation>()
                                                 ? operation::storage_for<Wrap>()
                                                 : operation::storage_for<Initiation>();
    static constexpr bool only_queues = operation::only_queues<Initiation>;

    Initiation initiation;
    [[no_unique_address]] Wrap wrap;
    template <class Handler> void operator()(Handler&& handler) {
        std::move(initiation)(wrap(std::decay_t<Handler>(std::forward<Handler>(handler))));
    }
    bool hears_requests() const noexcept
        requires requires { initiation.hears_requests(); }
    {
        return initiation.hears_requests();
    }
    auto get_executor() const noexcept
        requires operation::names_executor<Initiation>
    {
        return operation::executor_of(initiation);
    }
    template <class Values> Values block_as()
        requires requires { wrap.template block_as<Values>(initiation); }
    {
        return wrap.template block_as<Values>(initiation);
    }
    template <class Values> FAIRLEAD_ALWAYS_INLINE auto try_step_as()
        requires requires { wrap.template try_as<Values>(initiation); }
    {
        return wrap.template try_as<Values>(initiation);
    }
};

} // namespace impl::token

template <class Token, class First, class Second, class... More>
    requires impl::operation::token_adapter<Token>
class async_result<Token, First, Second, More...> {
    using adapter = impl::operation::adapter_of<Token>;
    template <class S> using inner_signature = typename adapter::template signature<S>;

public:
    template <class Initiation> static decltype(auto) initiate(Initiation&& initiation, Token token) {
        auto wrap = adapter::wrap(token);
        return impl::operation::initiate_several<inner_signature<First>, inner_signature<Second>,
                                                 inner_signature<More>...>(
            adapter::inner(token), impl::token::wrapped_initiation<std::decay_t<Initiation>, decltype(wrap)>{
                                       std::forward<Initiation>(initiation), std::move(wrap)});
    }
};

} // namespace fairlead
