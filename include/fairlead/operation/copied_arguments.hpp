// Where copies of arguments lie that are made before an operation has a handler (P0162R0 §2.2, P0055R1).
//
// Most tokens take them as they are made: in the recycler's memory, which is that of a handler without an allocator of
// its own. Two kinds of token take another way, which the type says. So nobody else pays for it.
// - A handler with an allocator of its own starts the operation while the arguments of the call live. Nothing is copied
// until the operation takes its memory from that allocator.
// - An operation that is awaited or deferred is made without an exception. Without memory for the copies it fails when
// it is started.
#pragma once

#include <fairlead/base/allocator_traits.hpp>
#include <fairlead/operation/associated.hpp>
#include <fairlead/operation/async_result.hpp>
#include <fairlead/operation/await_handler.hpp>
#include <fairlead/operation/default_token.hpp>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace fairlead {

template <class Executor> struct use_awaitable_t;
struct deferred_t;

namespace impl::operation {

/// The common way: copies are made at once, and an exception says that there is no memory.
struct copies_at_once {};
/// They are made at once, and say themselves that there was no memory.
struct copies_without_exception {};
/// They are made when the handler is there.
struct copies_from_handler {};

template <class Token> inline constexpr bool is_kept_token = false;
template <> inline constexpr bool is_kept_token<use_await_t> = true;
template <class Executor> inline constexpr bool is_kept_token<use_awaitable_t<Executor>> = true;
template <> inline constexpr bool is_kept_token<deferred_t> = true;

/// The token or handler in an adapter, a limit or a binder.
template <class Token> struct token_inside {
    using type = void;
};
template <class Token>
    requires token_adapter<Token>
struct token_inside<Token> {
    using type = std::decay_t<decltype(adapter_of<Token>::inner(std::declval<Token&>()))>;
};
template <class Token>
    requires(!token_adapter<Token> && requires(Token& t) { t.token; })
struct token_inside<Token> {
    using type = std::decay_t<decltype(std::declval<Token&>().token)>;
};
/// A handler with memory of its own, behind any number of adapters. Users' tokens are none: they may start the
/// operation later.
template <class Token, class Signature> consteval bool is_handler_with_memory(bool names_memory = false) {
    using inside = typename token_inside<Token>::type;
    names_memory = names_memory || !takes_from_recycler<Token>;
    if constexpr (std::is_void_v<inside>)
        return names_memory && requires { typename async_result<Token, Signature>::takes_the_token_as_handler; } &&
               !own_overload::present<Token, Signature>;
    else
        return is_handler_with_memory<inside, Signature>(names_memory);
}
template <class Token, class Signature> consteval auto find_way_of_copies() {
    if constexpr (is_kept_token<Token>)
        return copies_without_exception();
    else if constexpr (is_handler_with_memory<Token, Signature>())
        return copies_from_handler();
    else
        return copies_at_once();
}
template <class Token, class Signature> using copies_of =
    decltype(find_way_of_copies<std::decay_t<Token>, Signature>());

/// For an initiation with copies to make, before it is given to the token.
template <class Token, class Signature, class Init> FAIRLEAD_ALWAYS_INLINE void settle_copies(Init& i) {
    if constexpr (requires { i.settle(copies_at_once()); })
        i.settle(copies_of<Token, Signature>());
}
/// For one that is performed in the calling thread.
template <class Init> FAIRLEAD_ALWAYS_INLINE void settle_to_perform(Init const& i) {
    if constexpr (requires { i.settle(copies_at_once()); })
        i.settle(copies_at_once());
}
template <class Init> inline constexpr bool nothrow_performed =
    !requires(Init const& i) { i.settle(copies_at_once()); };

/// Handlers whose memory is the recycler's anyway: those without an allocator, and coroutines, whose record lends no
/// more than one block.
template <class Handler> inline constexpr bool keeps_copies =
    takes_from_recycler<Handler> || std::is_same_v<handler_allocator<Handler>, record_allocator<void>>;

/// Bytes of the recycler.
struct library_memory {
    static void* allocate(std::size_t bytes) { return exec::recycle_allocate(bytes); }
    static void give_back(void* p, std::size_t) noexcept { exec::recycle_free(p); }
};
/// Bytes of a handler's allocator. It may need the handler: they go back before that goes.
template <class Allocator> struct handler_memory {
    [[no_unique_address]] Allocator allocator;

    void* allocate(std::size_t bytes) { return std::to_address(allocator.allocate(block_units(bytes))); }
    void give_back(void* p, std::size_t bytes) noexcept {
        using pointer = typename std::allocator_traits<Allocator>::pointer;
        allocator.deallocate(std::pointer_traits<pointer>::pointer_to(*static_cast<block_unit*>(p)),
                             block_units(bytes));
    }
};
template <class Handler> auto memory_of(Handler const& h) noexcept {
    auto a = handler_allocator_for<block_unit>(h);
    return handler_memory<decltype(a)>{std::move(a)};
}

} // namespace impl::operation
} // namespace fairlead
