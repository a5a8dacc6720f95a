#include <fairlead/exec/recycler.hpp>

#include <atomic>
#include <mutex>

namespace fairlead::detail {

constinit recycler no_recycler;
constinit thread_local FAIRLEAD_HOT_TLS recycler* this_thread_recycler = &no_recycler;

namespace {

/// A thread's cache with what other threads touch. Never freed: blocks refer to it for as long as they live. When its
/// thread ends it waits for the next new thread, which takes over its blocks too.
struct home final : recycler {
    std::atomic<recycler_block*> returned{nullptr};
    home* next_orphan = nullptr;

    // Blocks of one other owner on their way home.
    home* out_owner = nullptr;
    recycler_block* out_head = nullptr;
    recycler_block* out_tail = nullptr;
    unsigned out_count = 0;

    std::uint64_t fresh = 0;
    std::uint64_t sent = 0;
};

constexpr unsigned batch_max = 32;

std::mutex orphans_mutex;
home* orphans = nullptr;

constinit thread_local bool ended = false;

home* mine() noexcept {
    return this_thread_recycler == &no_recycler ? nullptr : static_cast<home*>(this_thread_recycler);
}

void push_home(home& owner, recycler_block* head, recycler_block* tail) noexcept {
    auto* old = owner.returned.load(std::memory_order_relaxed);
    do
        tail->next = old;
    while (!owner.returned.compare_exchange_weak(old, head, std::memory_order_release, std::memory_order_relaxed));
}

void flush(home& from) noexcept {
    if (!from.out_head)
        return;
    push_home(*from.out_owner, from.out_head, from.out_tail);
    from.out_head = from.out_tail = nullptr;
    from.out_count = 0;
}

void drop(recycler_block* block) noexcept {
#ifdef FAIRLEAD_ASAN
    __asan_unpoison_memory_region(block, block->size_class * recycler::step);
#endif
    ::operator delete(block);
}

/// Takes in what other threads sent back.
bool collect(home& to) noexcept {
    auto* block = to.returned.exchange(nullptr, std::memory_order_acquire);
    if (!block)
        return false;
    while (block) {
        auto* following = block->next;
        auto const c = block->size_class;
        if (to.count_[c] < recycler::cached_per_class_max) {
            block->next = to.free_[c];
            to.free_[c] = block;
            ++to.count_[c];
#ifdef FAIRLEAD_ASAN
            __asan_poison_memory_region(reinterpret_cast<std::byte*>(block) + sizeof(recycler_block),
                                        c * recycler::step - sizeof(recycler_block));
#endif
        } else {
            drop(block);
        }
        block = following;
    }
    return true;
}

/// Its destructor runs when the thread ends.
struct reaper {
    bool armed = false;
    ~reaper() {
        if (!armed)
            return;
        ended = true;
        home* h = mine();
        this_thread_recycler = &no_recycler;
        flush(*h);
        collect(*h);
        std::lock_guard lock(orphans_mutex);
        h->next_orphan = orphans;
        orphans = h;
    }
};
thread_local reaper this_thread_reaper;

home* make_mine() {
    home* h = nullptr;
    {
        std::lock_guard lock(orphans_mutex);
        if (orphans) {
            h = orphans;
            orphans = h->next_orphan;
        }
    }
    if (!h)
        h = new home;
    this_thread_reaper.armed = true;
    this_thread_recycler = h;
    return h;
}

} // namespace

void* recycler_allocate_slow(std::size_t bytes) {
    auto const size_class = recycler::class_of(bytes);
    bool const recycled = size_class < recycler::classes && !ended;
    home* h = nullptr;
    if (recycled) {
        h = mine();
        if (!h)
            h = make_mine();
        if ((h->free_[size_class] || collect(*h)) && h->free_[size_class])
            return recycle_allocate(bytes);
        ++h->fresh;
    }
    auto const size = recycled ? size_class * recycler::step : bytes + recycler::header;
    auto* block = static_cast<recycler_block*>(::operator new(size));
    block->owner = h;
    block->size_class = recycled ? static_cast<std::uint32_t>(size_class) : 0;
    return reinterpret_cast<std::byte*>(block) + recycler::header;
}

void* recycle_allocate_or_null(std::size_t bytes) noexcept {
    try {
        return recycle_allocate(bytes);
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
}

void recycler_free_slow(recycler_block* block) noexcept {
    auto* owner = static_cast<home*>(block->owner);
    if (!owner) {
        ::operator delete(block);
        return;
    }
    home* h = mine();
    if (owner == h) { // The cache is full.
        drop(block);
        return;
    }
    if (!h) {
        push_home(*owner, block, block);
        return;
    }
    ++h->sent;
    if (h->out_head && h->out_owner != owner)
        flush(*h);
    if (!h->out_head) {
        h->out_owner = owner;
        h->out_tail = block;
    }
    block->next = h->out_head;
    h->out_head = block;
    if (++h->out_count >= batch_max)
        flush(*h);
}

void recycler_flush() noexcept {
    if (home* h = mine())
        flush(*h);
}

void recycler_trim() noexcept {
    home* h = mine();
    if (!h)
        return;
    collect(*h);
    for (std::size_t c = 0; c != recycler::classes; ++c) {
        while (auto* const block = h->free_[c]) {
#ifdef FAIRLEAD_ASAN
            __asan_unpoison_memory_region(block, c * recycler::step);
#endif
            h->free_[c] = block->next;
            ::operator delete(block);
        }
        h->count_[c] = 0;
    }
}

recycler_counters recycler_count() noexcept {
    recycler_counters c{};
    if (home* h = mine()) {
        c.fresh = h->fresh;
        c.sent = h->sent;
        for (auto n : h->count_)
            c.cached += n;
    }
    return c;
}

} // namespace fairlead::detail
