// detached: nobody waits for the operation.
#pragma once

#include <fairlead/operation/async_result.hpp>
#include <fairlead/operation/default_token.hpp>

#include <type_traits>
#include <utility>

namespace fairlead {

/// Token: start the operation and forget it. The exception of a coroutine is given to the hook of the process
/// (coro/detached_exception_hook.hpp).
struct detached_t : impl::operation::can_be_default<detached_t> {
    constexpr detached_t() noexcept = default;
};
/// `co_spawn(ctx, f(), detached)`
inline constexpr detached_t detached{};

namespace impl::token {

struct detached_handler {
    /// Asked for by co_spawn, which tells what it drops.
    using detachment_type = std::true_type;

    constexpr detached_handler() noexcept = default;
    constexpr explicit detached_handler(detached_t) noexcept {}
    template <class... Args> void operator()(Args&&...) const noexcept {}
};

} // namespace impl::token

template <class First, class Second, class... More> class async_result<detached_t, First, Second, More...>
    : public async_result<detached_t, First> {
public:
    using async_result<detached_t, First>::async_result;
};
template <class Signature> class async_result<detached_t, Signature> {
public:
    using completion_handler_type = impl::token::detached_handler;
    using return_type = void;
    explicit async_result(completion_handler_type&) noexcept {}
    void get() const noexcept {}

    template <class Initiation, class... Args>
    static void initiate(Initiation&& initiation, detached_t, Args&&... args) {
        std::forward<Initiation>(initiation)(impl::token::detached_handler{}, std::forward<Args>(args)...);
    }
};

template <> class async_result<detached_t> : public async_result<detached_t, void()> {
public:
    using async_result<detached_t, void()>::async_result;
};

} // namespace fairlead
