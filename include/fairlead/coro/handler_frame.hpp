// Coroutine frames from the allocator of a handler: memory of an operation that happens to be a coroutine.
#pragma once

#include <fairlead/exec/recycler.hpp>
#include <fairlead/token/associated.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace fairlead::detail {

/// Lies behind the frame, whose type does not know whose memory it is.
struct frame_tail {
    void (*release)(void* frame, std::size_t frame_size) noexcept;
};

template <class Allocator> struct frame_tail_of : frame_tail {
    struct alignas(16) unit {
        std::byte bytes[16];
    };
    using allocator_type = typename std::allocator_traits<Allocator>::template rebind_alloc<unit>;
    using traits = std::allocator_traits<allocator_type>;

    static constexpr std::size_t units(std::size_t bytes) noexcept { return (bytes + sizeof(unit) - 1) / sizeof(unit); }
    static constexpr std::size_t units_with_tail(std::size_t frame_size) noexcept {
        return units(frame_size) + units(sizeof(frame_tail_of));
    }
    static frame_tail_of* behind(void* frame, std::size_t frame_size) noexcept {
        return reinterpret_cast<frame_tail_of*>(static_cast<unit*>(frame) + units(frame_size));
    }

    explicit frame_tail_of(allocator_type&& a) noexcept
        : frame_tail{&frame_tail_of::release_it},
          allocator(std::move(a)) {}

    static void* allocate(std::size_t frame_size, allocator_type a) {
        void* const frame = std::to_address(traits::allocate(a, units_with_tail(frame_size)));
        ::new (behind(frame, frame_size)) frame_tail_of(std::move(a));
        return frame;
    }
    static void release_it(void* frame, std::size_t frame_size) noexcept {
        auto* const tail = behind(frame, frame_size);
        allocator_type a(std::move(tail->allocator));
        tail->~frame_tail_of();
        using pointer = typename traits::pointer;
        traits::deallocate(a, std::pointer_traits<pointer>::pointer_to(*static_cast<unit*>(frame)),
                           units_with_tail(frame_size));
    }

    [[no_unique_address]] allocator_type allocator;
};

/// For promises of coroutines that have the handler as their last parameter.
struct handler_frame_memory {
    template <class First, class Handler> static void* operator new(std::size_t size, First&, Handler& handler) {
        auto const a = get_associated_allocator(handler, recycling_allocator<void>());
        using tail = frame_tail_of<std::remove_const_t<decltype(a)>>;
        return tail::allocate(size, typename tail::allocator_type(a));
    }
    static void operator delete(void* frame, std::size_t size) noexcept {
        using tail = frame_tail_of<recycling_allocator<void>>; // any would do: all lie in the same place
        static_cast<frame_tail*>(tail::behind(frame, size))->release(frame, size);
    }
};

} // namespace fairlead::detail
