// use_coro: the initiating function returns an experimental::coro that performs the operation.
#pragma once

#include <fairlead/coro/coro.hpp>

#include <concepts>
#include <memory>
#include <utility>

namespace fairlead {
namespace experimental {

/// Token: the initiating function returns a coro, which performs the operation when it is resumed. The allocator serves
/// its frame.
template <class Allocator = std::allocator<void>> class use_coro_t
    : public impl::operation::can_be_default<use_coro_t<Allocator>> {
public:
    using allocator_type = Allocator;

    constexpr use_coro_t() noexcept
        requires std::default_initializable<Allocator>
    = default;
    constexpr explicit use_coro_t(Allocator const& a) : allocator_(a) {}

    constexpr allocator_type get_allocator() const noexcept { return allocator_; }
    /// This token with another allocator.
    template <class Other> constexpr use_coro_t<Other> rebind(Other const& a) const { return use_coro_t<Other>(a); }

private:
    [[no_unique_address]] Allocator allocator_;
};
/// `co_await timer.async_wait(use_coro)` in a coro.
inline constexpr use_coro_t<> use_coro{};

} // namespace experimental

namespace impl::coro {

template <class Signature> inline constexpr bool is_noexcept_operation = true;
template <class R, disposition First, class... Rest> inline constexpr bool is_noexcept_operation<R(First, Rest...)> =
    false;

template <class Signature, class Allocator> using coro_of_operation =
    experimental::coro<std::conditional_t<is_noexcept_operation<Signature>, void() noexcept, void()>,
                       operation::awaited_t<Signature>, any_io_executor, Allocator>;

template <class Signature, class Allocator> coro_of_operation<Signature, Allocator>
perform(any_io_executor, std::allocator_arg_t, Allocator, async_op<Signature> op) {
    co_return co_await std::move(op);
}

} // namespace impl::coro

template <class Allocator, class Signature> class async_result<experimental::use_coro_t<Allocator>, Signature> {
public:
    template <class Initiation, class... InitArgs> static impl::coro::coro_of_operation<Signature, Allocator>
    initiate(Initiation&& initiation, experimental::use_coro_t<Allocator> token, InitArgs&&... args) {
        any_io_executor ex;
        if constexpr (impl::operation::names_executor<std::decay_t<Initiation>>)
            ex = any_io_executor(impl::operation::executor_of(initiation));
        return impl::coro::perform<Signature>(
            std::move(ex), std::allocator_arg, token.get_allocator(),
            async_op<Signature>(async_result<use_await_t, Signature>::initiate(
                std::forward<Initiation>(initiation), use_await, std::forward<InitArgs>(args)...)));
    }
};

} // namespace fairlead
