#include <fairlead/exec/recycler.hpp>

#include <atomic>
#include <mutex>

namespace fairlead::impl::exec {

constinit recycler no_recycler;
constinit thread_local FAIRLEAD_HOT_TLS last_freed_blocks this_thread_last_freed;
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
    if (block->size_class != 0) // Those that are too large for all classes are never kept, nor poisoned.
        unpoison(block, block->size_class);
    ::operator delete(block);
}

void open_last_freed() noexcept {
    for (std::size_t c = 1; c != last_freed_blocks::classes; ++c)
        this_thread_last_freed.of_class[c] = {nullptr, last_freed_blocks::holds::nothing};
}
/// The blocks here go to where they would have gone otherwise.
void empty_last_freed(last_freed_blocks::holds leave) noexcept {
    for (std::size_t c = 1; c != last_freed_blocks::classes; ++c) {
        if (void* const p = this_thread_last_freed.take(c))
            recycler_free_slow(block_of(p));
        this_thread_last_freed.of_class[c] = {nullptr, leave};
    }
}

void keep_or_drop(home& h, recycler_block* block) noexcept {
    auto const c = block->size_class;
    if (recycler::is_full(c, h.count_[c])) {
        drop(block);
        return;
    }
    block->next = h.free_[c];
    h.free_[c] = block;
    ++h.count_[c];
    poison(block, c);
}
recycler_block* take_kept(home& h, std::size_t c) noexcept {
    recycler_block* const block = h.free_[c];
    unpoison(block, c);
    h.free_[c] = block->next;
    --h.count_[c];
    return block;
}

/// Takes in what other threads sent back.
bool collect(home& to) noexcept {
    auto* block = to.returned.exchange(nullptr, std::memory_order_acquire);
    if (!block)
        return false;
    while (block) {
        auto* following = block->next;
        keep_or_drop(to, block);
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
        empty_last_freed(last_freed_blocks::holds::closed);
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
    open_last_freed();
    return h;
}

} // namespace

void* recycler_allocate_slow(std::size_t bytes) {
    auto const size_class = recycler::class_of(bytes);
    bool const has_class = size_class < recycler::classes;
    home* h = nullptr;
    if (has_class && !ended) {
        h = mine();
        if (!h)
            h = make_mine();
        if ((h->free_[size_class] || collect(*h)) && h->free_[size_class])
            return reinterpret_cast<std::byte*>(take_kept(*h, size_class)) + recycler::header;
        ++h->fresh;
    }
    auto const size = has_class ? recycler::block_bytes(size_class) : bytes + recycler::header;
    auto* block = static_cast<recycler_block*>(::operator new(size));
    block->owner = h;
    block->size_class = has_class ? static_cast<std::uint32_t>(size_class) : 0;
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
        drop(block);
        return;
    }
    home* h = mine();
    if (owner == h) {
        keep_or_drop(*h, block);
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
    empty_last_freed(last_freed_blocks::holds::nothing);
    collect(*h);
    for (std::size_t c = 0; c != recycler::classes; ++c)
        while (h->free_[c])
            ::operator delete(take_kept(*h, c));
}

recycler_counters recycler_count() noexcept {
    recycler_counters c{};
    if (home* h = mine()) {
        c.fresh = h->fresh;
        c.sent = h->sent;
        for (auto n : h->count_)
            c.cached += n;
        for (auto const& place : this_thread_last_freed.of_class)
            c.cached += place.now == last_freed_blocks::holds::block ? 1 : 0;
    }
    return c;
}

} // namespace fairlead::impl::exec
