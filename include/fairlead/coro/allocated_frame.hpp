// Frames of coroutines in memory of an allocator, which lies behind its frame.
#pragma once

#include <fairlead/base/config.hpp>
#include <fairlead/exec/loop.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

namespace fairlead::impl::coro {

template <class Allocator> class allocated_frame {
    /// Frames are aligned to 16 bytes, whatever the allocator thinks of single ones.
    struct alignas(16) unit {
        std::byte bytes[16];
    };
    using allocator = typename std::allocator_traits<Allocator>::template rebind_alloc<unit>;
    using traits = std::allocator_traits<allocator>;
    static_assert(alignof(allocator) <= alignof(unit));

    static constexpr std::size_t units(std::size_t bytes) noexcept { return (bytes + sizeof(unit) - 1) / sizeof(unit); }

public:
    static void* allocate(std::size_t bytes, Allocator const& a) {
        allocator from(a);
        unit* const frame = std::to_address(traits::allocate(from, units(bytes) + units(sizeof(allocator))));
        ::new (static_cast<void*>(frame + units(bytes))) allocator(std::move(from));
        if constexpr (!FAIRLEAD_COMPILER_CLANG)
            exec::this_thread.newest_frame = frame;
        return frame;
    }
    static void deallocate(void* p, std::size_t bytes) noexcept {
        unit* const frame = static_cast<unit*>(p);
        auto* const behind = std::launder(reinterpret_cast<allocator*>(frame + units(bytes)));
        allocator to(std::move(*behind));
        behind->~allocator();
        using pointer = typename traits::pointer;
        traits::deallocate(to, std::pointer_traits<pointer>::pointer_to(*frame),
                           units(bytes) + units(sizeof(allocator)));
    }
};

/// That which follows std::allocator_arg among the arguments of a coroutine.
template <class Allocator, class First, class... Rest>
Allocator allocator_among(First const&, [[maybe_unused]] Rest const&... rest) {
    static_assert(sizeof...(Rest) != 0, "a coroutine whose frame comes from an allocator has the parameters "
                                        "std::allocator_arg_t and, behind it, the allocator");
    if constexpr (std::is_same_v<First, std::allocator_arg_t>) {
        return [](auto const& allocator, auto const&...) { return Allocator(allocator); }(rest...);
    } else {
        return allocator_among<Allocator>(rest...);
    }
}

} // namespace fairlead::impl::coro
