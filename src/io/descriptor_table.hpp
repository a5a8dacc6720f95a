// The descriptors of one loop: a place for each, found by its handle. A place has tenants one after the other; the
// generation tells them apart.
//
// Places lie in chunks that never move, because ops and events refer to them. Those in use stand in a list, so that
// nobody has to visit the others. Those that wait for a pause to end stand at its front.
#pragma once

#include <fairlead/exec/context_memory.hpp>
#include <fairlead/exec/op.hpp>
#include <fairlead/exec/short_lock.hpp>
#include <fairlead/io/io_op.hpp>

#include <io/readiness.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace fairlead::io {

/// Whether calls of others on a descriptor wait. As with Asio they do until the first asynchronous operation. But a
/// descriptor is made so only when somebody asks for it.
enum class native_mode : std::uint8_t {
    not_asked_for, ///< it does not wait, and nobody has seen it
    blocking,
    non_blocking,
};

struct descriptor : readiness {
    /// See native_modes.
    std::atomic<native_mode> native{native_mode::not_asked_for};
    fairlead::impl::exec::short_lock lock; ///< while the loop is shared
    std::atomic<int> fd{-1};               ///< -1: the place is free
    std::atomic<std::uint32_t> generation{0};
    std::uint32_t index = 0;
    std::uint32_t next_place = handle::none; ///< in use or free; the table's
    std::uint32_t prev_place = handle::none;
    op_queue reads;
    op_queue writes;
    op_queue waits; ///< for readiness: they neither hold up transfers nor are held up

    op_queue& queue_of(kind k) noexcept {
        if (is_wait(k)) [[unlikely]]
            return waits;
        return is_write(k) ? writes : reads;
    }
    bool is_of(handle h) const noexcept { return generation.load(std::memory_order_relaxed) == h.generation; }
    bool is_open() const noexcept { return fd.load(std::memory_order_relaxed) >= 0; }
};
static_assert(sizeof(descriptor) <= 104, "each idle connection takes one");

class descriptor_table {
public:
    static constexpr std::size_t chunk_size = 256;
    static constexpr std::size_t chunks_most = 8192; // two million descriptors

    explicit descriptor_table(fairlead::impl::exec::context_memory* memory) noexcept : memory_(memory) {}
    descriptor_table(descriptor_table const&) = delete;
    descriptor_table& operator=(descriptor_table const&) = delete;
    /// Closes what is open.
    ~descriptor_table();

    descriptor& at(std::uint32_t index) noexcept {
        return chunks_[index / chunk_size].load(std::memory_order_acquire)[index % chunk_size];
    }
    /// Null: it has been closed.
    descriptor* find(handle h) noexcept {
        if (!h.is_open())
            return nullptr;
        descriptor& d = at(h.index);
        return d.is_of(h) ? &d : nullptr;
    }
    static handle handle_of(descriptor const& d) noexcept {
        return {d.index, d.generation.load(std::memory_order_relaxed)};
    }

    // ---- any thread

    /// Null: no memory. The caller still has to close it.
    descriptor* add(int fd, nature what) noexcept;
    /// Owns the descriptor from here on: it is closed when there is no memory.
    outcome keep(int fd, nature what, handle& h) noexcept;
    outcome keep_both(int const (&fds)[2], nature what, handle& a, handle& b) noexcept;
    /// Puts the handle of the accepted descriptor into the op.
    void keep_accepted(io_op& o, descriptor const& acceptor) noexcept;

    // ---- owner

    /// The place is free, and its handle leads nowhere. Returns the descriptor, which the caller closes.
    int remove(descriptor& d) noexcept;
    /// Puts it before all others that are in use, or behind them.
    void move(descriptor& d, bool to_front) noexcept;
    /// Calls f(d) for those in use, from the front on, for as long as it returns true. It may move `d` or remove it.
    template <class F> void for_each(F f) noexcept {
        for (auto i = first(); i != handle::none;) {
            descriptor& d = at(i);
            i = following(d);
            if (!f(d))
                break;
        }
    }

private:
    struct list {
        std::uint32_t first = handle::none;
        std::uint32_t last = handle::none;
    };
    bool make_chunk() noexcept;
    std::uint32_t take_place() noexcept;
    descriptor& occupy(std::uint32_t place, int fd, nature what) noexcept;
    void give_back(descriptor& d) noexcept;
    void link(descriptor& d, bool at_front) noexcept;
    void unlink(descriptor& d) noexcept;
    std::uint32_t first() noexcept;
    std::uint32_t following(descriptor const& d) noexcept;

    std::mutex mutex_;
    std::uint32_t free_ = handle::none;
    list in_use_;
    fairlead::impl::exec::context_allocator<descriptor> const memory_;
    std::size_t chunk_count_ = 0;
    std::atomic<descriptor*> chunks_[chunks_most]{};
};

} // namespace fairlead::io
