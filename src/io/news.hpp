// News of descriptors as items of the queue: several threads run a loop, and the one that comes to the item attends to
// the descriptor. The items are made when several threads first run the loop, those of a chunk when it first has news.
#pragma once

#include <fairlead/exec/context_memory.hpp>
#include <fairlead/exec/loop.hpp>

#include <io/descriptor_table.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace fairlead::io {

/// Events, and the generation of the descriptor that they are of.
struct tenant_events {
    std::uint32_t generation;
    std::uint32_t events;

    constexpr std::uint64_t packed() const noexcept { return std::uint64_t{generation} << 32 | events; }
    static constexpr tenant_events unpacked(std::uint64_t n) noexcept {
        return {static_cast<std::uint32_t>(n >> 32), static_cast<std::uint32_t>(n)};
    }
};

/// Of one descriptor.
struct news : op {
    void* reactor;
    descriptor* of;
    std::atomic<std::uint64_t> events{0}; ///< packed tenant_events; 0: the op is in no queue
};

/// Owner, but for heard().
class all_news {
public:
    explicit all_news(fairlead::impl::exec::context_memory* memory) noexcept : memory_(memory), table_memory_(memory) {}
    all_news(all_news const&) = delete;
    all_news& operator=(all_news const&) = delete;
    ~all_news() {
        if (!chunks_)
            return;
        for (std::size_t c = 0; c != chunk_count_; ++c)
            memory_.deallocate(chunks_[c], descriptor_table::chunk_size); // There is nothing to destroy.
        table_memory_.deallocate(chunks_, descriptor_table::chunks_most);
    }

    /// False: no memory.
    bool make_space() noexcept {
        if (!chunks_) {
            try {
                chunks_ = table_memory_.allocate(descriptor_table::chunks_most);
            } catch (...) {
                return false;
            }
            std::fill_n(chunks_, descriptor_table::chunks_most, nullptr);
        }
        return true;
    }
    /// Those of one descriptor, that `run` of `reactor` attends to. Null: no memory.
    news* of(descriptor& d, void* reactor, void (*run)(op*, op_mode)) noexcept {
        auto const c = d.index / descriptor_table::chunk_size;
        auto const i = d.index % descriptor_table::chunk_size;
        if (!chunks_[c] && !make_chunk(c, (&d) - i, reactor, run)) [[unlikely]]
            return nullptr;
        return chunks_[c] + i;
    }
    /// Adds events to it. True: it is in no queue, and has to be pushed.
    bool add(news& told, tenant_events fresh) noexcept {
        auto seen = told.events.load(std::memory_order_relaxed);
        for (;;) {
            // News of an earlier tenant are of no use any more.
            auto const before = tenant_events::unpacked(seen);
            auto const all = before.generation == fresh.generation ? before.events | fresh.events : fresh.events;
            if (told.events.compare_exchange_weak(seen, tenant_events{fresh.generation, all}.packed(),
                                                  std::memory_order_acq_rel))
                break;
        }
        if (seen != 0)
            return false;
        queued_.fetch_add(1, std::memory_order_relaxed);
        return true;
    }
    /// It has been attended to.
    void heard() noexcept { queued_.fetch_sub(1, std::memory_order_release); }
    bool are_queued() const noexcept { return queued_.load(std::memory_order_acquire) != 0; }

private:
    bool make_chunk(std::size_t c, descriptor* first, void* reactor, void (*run)(op*, op_mode)) noexcept {
        try {
            chunks_[c] = memory_.allocate(descriptor_table::chunk_size);
        } catch (...) {
            return false;
        }
        for (std::size_t i = 0; i != descriptor_table::chunk_size; ++i) {
            auto& each = *std::construct_at(chunks_[c] + i);
            each.reactor = reactor;
            each.of = first + i;
            each.run = run;
            each.cancel = loop::not_a_handler();
        }
        chunk_count_ = std::max(chunk_count_, c + 1);
        return true;
    }

    fairlead::impl::exec::context_allocator<news> const memory_;
    fairlead::impl::exec::context_allocator<news*> const table_memory_;
    news** chunks_ = nullptr;
    std::size_t chunk_count_ = 0; ///< beyond the last that is there
    std::atomic<std::size_t> queued_{0};
};

} // namespace fairlead::io
