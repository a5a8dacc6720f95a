// use_promise: the operation is started, and its result is waited for later.
#pragma once

#include <fairlead/token/promise.hpp>

namespace fairlead {
namespace experimental {

/// Token: the initiating function starts the operation and returns a promise. The allocator serves the state that they
/// share, and the operation.
template <class Allocator = recycling_allocator<void>> class use_promise_t
    : public impl::operation::can_be_default<use_promise_t<Allocator>> {
public:
    using allocator_type = Allocator;

    constexpr use_promise_t() noexcept
        requires std::default_initializable<Allocator>
    = default;
    constexpr explicit use_promise_t(Allocator const& a) : allocator_(a) {}

    constexpr allocator_type get_allocator() const noexcept { return allocator_; }
    /// This token with another allocator.
    template <class Other> constexpr use_promise_t<Other> rebind(Other const& a) const {
        return use_promise_t<Other>(a);
    }

private:
    [[no_unique_address]] Allocator allocator_;
};
/// `auto p = timer.async_wait(use_promise); ... co_await p(use_await);`
inline constexpr use_promise_t<> use_promise{};

} // namespace experimental

template <class Allocator, class R, class... Args>
class async_result<experimental::use_promise_t<Allocator>, R(Args...)> {
public:
    template <class Initiation, class... InitArgs>
    static experimental::promise<void(std::decay_t<Args>...), any_io_executor, Allocator>
    initiate(Initiation&& initiation, experimental::use_promise_t<Allocator> token, InitArgs&&... args) {
        using state_type = impl::token::promise_state<std::tuple<std::decay_t<Args>...>>;
        using bytes = typename std::allocator_traits<Allocator>::template rebind_alloc<std::byte>;
        any_io_executor ex;
        if constexpr (impl::operation::names_executor<std::decay_t<Initiation>>)
            ex = any_io_executor(impl::operation::executor_of(initiation));
        bool hears = impl::operation::can_be_cancelled<std::decay_t<Initiation>>();
        if constexpr (requires { initiation.hears_requests(); })
            hears = hears && initiation.hears_requests();
        auto state = std::allocate_shared<state_type>(bytes(token.get_allocator()), std::move(ex));
        std::forward<Initiation>(initiation)(
            impl::token::promise_handler<Allocator, std::decay_t<Args>...>(state, token.get_allocator(), hears),
            std::forward<InitArgs>(args)...);
        return experimental::promise<void(std::decay_t<Args>...), any_io_executor, Allocator>(std::move(state));
    }
};

} // namespace fairlead
