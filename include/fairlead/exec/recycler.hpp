// Where coroutine frames and handler blocks come from when the user names no allocator.
//
// A strictly sequential chain of operations frees a block of some size and asks for the same size again at once. Each
// thread therefore keeps its freed blocks, by size; after warm-up a program allocates nothing. A block remembers which
// thread's cache it came from. Freed elsewhere, it goes home in a batch. Otherwise a post to another thread would
// allocate on one side for ever and hoard on the other.
#pragma once

#include <fairlead/base/assert.hpp>
#include <fairlead/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define FAIRLEAD_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FAIRLEAD_ASAN 1
#endif
#endif
#ifdef FAIRLEAD_ASAN
extern "C" void __asan_poison_memory_region(void const volatile*, std::size_t);
extern "C" void __asan_unpoison_memory_region(void const volatile*, std::size_t);
#endif

namespace fairlead {

/// Counts of the calling thread's cache so far.
struct recycler_counters {
    std::uint64_t fresh;  ///< blocks taken from global new
    std::uint64_t sent;   ///< blocks freed here that belong to another thread
    std::uint64_t cached; ///< blocks held at this moment
};

namespace impl::exec {

class recycler;

struct recycler_block {
    recycler* owner;          // null: goes back to global delete, if it is not kept as the last one freed
    std::uint32_t size_class; // 0: too large for all classes
    std::uint32_t unused;
    recycler_block* next; // only while the block is free: lies in the payload
};

class recycler {
public:
    static constexpr std::size_t header = 16;
    static constexpr std::size_t step = 32;
    /// The bytes that malloc(3) keeps beside each block. With them a block is whole steps, so that nothing is lost to
    /// rounding up.
    static constexpr std::size_t kept_by_malloc = 8;
    static constexpr std::size_t classes = 129; // up to 4096 bytes with all that
    /// The bytes of one size that a thread keeps. A second burst of a hundred thousand timers, or of posts that ran
    /// ahead of their loop, needs no malloc.
    static constexpr std::size_t cached_bytes_max = std::size_t{16} << 20;

    static constexpr bool is_full(std::size_t size_class, std::uint32_t blocks) noexcept {
        return blocks * size_class >= cached_bytes_max / step;
    }
    static constexpr std::size_t class_of(std::size_t bytes) noexcept {
        return (bytes + header + kept_by_malloc + step - 1) / step;
    }
    static constexpr std::size_t block_bytes(std::size_t size_class) noexcept {
        return size_class * step - kept_by_malloc;
    }
    static constexpr std::size_t payload_bytes(std::size_t size_class) noexcept {
        return block_bytes(size_class) - header;
    }

    recycler_block* free_[classes] = {};
    std::uint32_t count_[classes] = {};
};

/// Of threads that have no cache yet, or none any more: empty, and the owner of nothing, so that nobody asks for null.
extern FAIRLEAD_EXPORT recycler no_recycler;

/// The block that the thread freed last, one for each of the small classes, of whatever owner. A chain of operations
/// frees one before it asks for the next, so nearly every block comes from here and goes to here. A place has the
/// address of the payload: neither way needs the header.
///
/// A constant says whether a block is here, apart from its address. So compilers see that a block which has just been
/// put here can be taken.
struct last_freed_blocks {
    static constexpr std::size_t classes = 17; // of which 0 is for nothing
    enum class holds : std::uint32_t {
        nothing,
        block,
        closed ///< takes nothing: class 0, and threads that have no cache yet, or none any more
    };
    struct place {
        void* payload = nullptr; ///< of the last block that was here
        holds now = holds::closed;
    };
    place of_class[classes];

    FAIRLEAD_ALWAYS_INLINE void* take(std::size_t size_class) noexcept {
        place& at = of_class[size_class];
        if (at.now != holds::block) [[unlikely]]
            return nullptr;
        at.now = holds::nothing;
        return at.payload;
    }
    FAIRLEAD_ALWAYS_INLINE bool keep(void* p, std::size_t size_class) noexcept {
        place& at = of_class[size_class];
        if (at.now != holds::nothing) [[unlikely]]
            return false;
        at.payload = p;
        at.now = holds::block; // A take() that follows has no question left, and undoes this.
        return true;
    }
};
extern FAIRLEAD_EXPORT constinit thread_local FAIRLEAD_HOT_TLS last_freed_blocks this_thread_last_freed;
extern FAIRLEAD_EXPORT constinit thread_local FAIRLEAD_HOT_TLS recycler* this_thread_recycler;

FAIRLEAD_EXPORT void* recycler_allocate_slow(std::size_t bytes);
FAIRLEAD_EXPORT void recycler_free_slow(recycler_block* block) noexcept;
/// Sends home what this thread freed on behalf of others. Loops call it when they run out of work.
FAIRLEAD_EXPORT void recycler_flush() noexcept;
FAIRLEAD_EXPORT recycler_counters recycler_count() noexcept;
/// Gives the blocks that the calling thread holds back to global delete.
FAIRLEAD_EXPORT void recycler_trim() noexcept;

/// Blocks that are kept are poisoned behind what the cache itself needs.
inline void poison(recycler_block* block, std::size_t size_class) noexcept {
#ifdef FAIRLEAD_ASAN
    __asan_poison_memory_region(reinterpret_cast<std::byte*>(block) + sizeof(recycler_block),
                                recycler::block_bytes(size_class) - sizeof(recycler_block));
#else
    static_cast<void>(block), static_cast<void>(size_class);
#endif
}
inline void unpoison(recycler_block* block, std::size_t size_class) noexcept {
#ifdef FAIRLEAD_ASAN
    __asan_unpoison_memory_region(block, recycler::block_bytes(size_class));
#else
    static_cast<void>(block), static_cast<void>(size_class);
#endif
}

inline recycler_block* block_of(void* p) noexcept {
    return reinterpret_cast<recycler_block*>(static_cast<std::byte*>(p) - recycler::header);
}

FAIRLEAD_RARELY_CALLED inline void recycle_free_rarely(void* p) noexcept { recycler_free_slow(block_of(p)); }

FAIRLEAD_ALWAYS_INLINE void* recycle_allocate(std::size_t bytes) {
    auto const size_class = recycler::class_of(bytes);
    if (size_class < last_freed_blocks::classes) [[likely]] {
        if (void* const p = this_thread_last_freed.take(size_class)) [[likely]] {
            unpoison(block_of(p), size_class);
            return p;
        }
    }
    return recycler_allocate_slow(bytes);
}

FAIRLEAD_ALWAYS_INLINE void recycle_free_in_class(void* p, std::size_t size_class) noexcept {
    FAIRLEAD_ASSERT_SLOW(block_of(p)->size_class == size_class);
    if (size_class < last_freed_blocks::classes && this_thread_last_freed.keep(p, size_class)) [[likely]] {
        poison(block_of(p), size_class);
        return;
    }
    recycle_free_rarely(p);
}
inline void recycle_free(void* p) noexcept { recycle_free_in_class(p, block_of(p)->size_class); }
/// As recycle_free(), for callers that know how many bytes they asked for: the class is a constant.
FAIRLEAD_ALWAYS_INLINE void recycle_free_sized(void* p, std::size_t bytes) noexcept {
    if (auto const size_class = recycler::class_of(bytes); size_class < recycler::classes) [[likely]]
        recycle_free_in_class(p, size_class);
    else
        recycler_free_slow(block_of(p));
}

/// As recycle_allocate(), for callers that can do without: null when there is no memory.
FAIRLEAD_EXPORT void* recycle_allocate_or_null(std::size_t bytes) noexcept;
/// As recycle_allocate_or_null(), with the usual way inline.
FAIRLEAD_ALWAYS_INLINE void* recycle_take_or_null(std::size_t bytes) noexcept {
    auto const size_class = recycler::class_of(bytes);
    if (size_class < last_freed_blocks::classes) [[likely]] {
        if (void* const p = this_thread_last_freed.take(size_class)) [[likely]] {
            unpoison(block_of(p), size_class);
            return p;
        }
    }
    return recycle_allocate_or_null(bytes);
}

} // namespace impl::exec

/// Counters of the calling thread's cache.
inline recycler_counters this_thread_recycler_counters() noexcept { return impl::exec::recycler_count(); }

/// The default allocator of every operation: the calling thread's cache of freed blocks.
/// Threads: any; a block may be freed on another thread than the one that took it.
template <class T> class recycling_allocator {
public:
    using value_type = T;
    template <class U> struct rebind {
        using other = recycling_allocator<U>;
    };
    recycling_allocator() noexcept = default;
    template <class U> recycling_allocator(recycling_allocator<U> const&) noexcept {}

    T* allocate(std::size_t n) {
        static_assert(alignof(T) <= 16, "over-aligned types need an allocator of their own");
        return static_cast<T*>(impl::exec::recycle_allocate(n * sizeof(T)));
    }
    void deallocate(T* p, std::size_t n) noexcept { impl::exec::recycle_free_sized(p, n * sizeof(T)); }
    friend bool operator==(recycling_allocator const&, recycling_allocator const&) noexcept { return true; }
};

template <> class recycling_allocator<void> {
public:
    using value_type = void;
    template <class U> struct rebind {
        using other = recycling_allocator<U>;
    };
    recycling_allocator() noexcept = default;
    template <class U> recycling_allocator(recycling_allocator<U> const&) noexcept {}
    friend bool operator==(recycling_allocator const&, recycling_allocator const&) noexcept { return true; }
};

} // namespace fairlead
