// Memory for copies of arguments that are made before an operation has a handler (P0162R0, row A10). The token that will
// become the handler names the allocator.
#pragma once

#include <fairlead/operation/associated.hpp>
#include <fairlead/operation/async_result.hpp>

#include <new>
#include <type_traits>
#include <utility>

namespace fairlead::impl::operation {

/// Stands for a token where there is none, as in a synchronous operation.
struct no_token_at_all {};

/// The token that names the allocator. In an adapter it is the inner one.
template <class Token> auto const& allocator_source(Token const& t) noexcept {
    constexpr bool names_none = takes_from_recycler<std::decay_t<Token>>;
    if constexpr (names_none && token_adapter<Token>)
        return allocator_source(adapter_of<Token>::inner(const_cast<Token&>(t))); // a reference: nothing is moved
    else if constexpr (names_none && requires { t.token; })                       // of a limit, or of a stop token
        return allocator_source(t.token);
    else
        return t;
}

/// Before the bytes of such a copy. The allocator lies behind them: who gives them back does not know its type.
struct alignas(16) copied_head {
    void (*give_back)(copied_head*, std::size_t units) noexcept;
    std::size_t units; ///< of the allocator, with this
};

template <class Allocator> void give_copied_back(copied_head* h, std::size_t units) noexcept {
    auto* const first = reinterpret_cast<block_unit*>(h);
    auto& kept = *std::launder(reinterpret_cast<Allocator*>(first + units - block_units(sizeof(Allocator))));
    Allocator a(std::move(kept));
    kept.~Allocator();
    using pointer = typename std::allocator_traits<Allocator>::pointer;
    a.deallocate(std::pointer_traits<pointer>::pointer_to(*first), units);
}

/// From the allocator of the handler that `t` becomes.
template <class Token> void* allocate_copied(Token const& t, std::size_t bytes) {
    auto const& source = allocator_source(t);
    using source_type = std::decay_t<decltype(source)>;
    if constexpr (takes_from_recycler<source_type>) {
        auto* const h = ::new (exec::recycle_allocate(sizeof(copied_head) + bytes)) copied_head;
        h->give_back = [](copied_head* head, std::size_t) noexcept { exec::recycle_free(head); };
        return h + 1;
    } else {
        auto a = handler_allocator_for<block_unit>(source);
        using allocator = decltype(a);
        static_assert(alignof(allocator) <= alignof(block_unit));
        auto const behind = block_units(sizeof(allocator));
        auto const units = block_units(sizeof(copied_head) + bytes) + behind;
        auto* const first = std::to_address(a.allocate(units));
        ::new (static_cast<void*>(first + units - behind)) allocator(a);
        return ::new (static_cast<void*>(first)) copied_head{&give_copied_back<allocator>, units} + 1;
    }
}
/// Null when there is no memory.
template <class Token> void* allocate_copied_or_null(Token const& t, std::size_t bytes) noexcept {
    try {
        return allocate_copied(t, bytes);
    } catch (...) {
        return nullptr;
    }
}
inline void free_copied(void* bytes) noexcept {
    auto* const h = static_cast<copied_head*>(bytes) - 1;
    h->give_back(h, h->units);
}

} // namespace fairlead::impl::operation
