// Asking one operation to end early: a signal, and the slot through which the operation hears of it.
//
// The caller owns a signal and gives its slot to an operation (bind_cancellation_slot). The operation installs a
// handler in the slot and takes it out again before it completes. A request while no handler is installed is
// forgotten.
#pragma once

#include <fairlead/base/taken_from.hpp>
#include <fairlead/exec/cancellation_type.hpp>
#include <fairlead/exec/loop.hpp>

#include <atomic>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace fairlead {

class cancellation_slot;

namespace impl::operation {

struct slot_handler_functions {
    void (*call)(void* handler, cancellation_type type);
    void (*destroy)(void* handler) noexcept;
};
template <class Handler> inline constexpr slot_handler_functions slot_handler_table{
    [](void* p, cancellation_type type) { (*static_cast<Handler*>(p))(type); },
    [](void* p) noexcept { static_cast<Handler*>(p)->~Handler(); }};

/// Where the handler of a signal lives: a block of the recycler that the signal keeps for the next one.
struct alignas(16) slot_block {
    slot_handler_functions const* installed; ///< null: there is no handler now
    std::size_t capacity;
    void* place() noexcept { return this + 1; }
};

struct slot_access;
class wrapped_slot_handler; // operation/wrapped_slot_handler.hpp

} // namespace impl::operation

/// Emits requests to whoever has installed a handler in its slot.
/// Threads    any thread may emit, also while the operation is completing; creating and destroying is for one thread
///            that nobody else gets in the way of
/// Lifetime   an operation that is still pending when its signal goes cannot be cancelled any more, and goes on. Its
///            completion and the signal's end are not in two threads at the same time
/// Allocates  a block of the recycler for the handler in the slot, which it keeps for the next one
class cancellation_signal {
public:
    constexpr cancellation_signal() noexcept = default;
    cancellation_signal(cancellation_signal const&) = delete;
    cancellation_signal& operator=(cancellation_signal const&) = delete;
    ~cancellation_signal() {
        if (block_)
            release();
    }

    /// Calls the handler in the slot, if there is one. It may clear or fill the slot, and destroy the signal. Do not
    /// emit inside the initiating function of the operation that is meant. A handler of your own must not wait for a
    /// thread that may be at the same signal.
    /// Throws     what the handler throws; those of the library throw nothing
    void emit(cancellation_type type) {
        use const mine(*this);
        if (block_ && block_->installed)
            block_->installed->call(block_->place(), type);
    }
    cancellation_slot slot() noexcept;

private:
    friend class cancellation_slot;
    friend class impl::operation::wrapped_slot_handler;
    friend struct impl::operation::slot_access;

    /// The calling thread at this signal. Others wait meanwhile; the thread itself may come again, from a handler.
    class use {
    public:
        FAIRLEAD_EXPORT explicit use(cancellation_signal& s) noexcept;
        use(use const&) = delete;
        use& operator=(use const&) = delete;
        ~use() {
            if (gone_)
                return;
            signal_.uses_ = outer_;
            if (outermost_)
                signal_.holder_.store(nullptr, std::memory_order_release);
        }

    private:
        friend class cancellation_signal;
        cancellation_signal& signal_;
        bool outermost_;
        bool gone_ = false; ///< the signal was destroyed by the handler
        use* outer_;
    };

    /// False: the thread has it already.
    bool lock() noexcept {
        void const* free = nullptr;
        if (holder_.compare_exchange_strong(free, loop::self(), std::memory_order_acquire, std::memory_order_relaxed))
            [[likely]]
            return true;
        if (free == loop::self())
            return false;
        wait_for_lock();
        return true;
    }
    void wait_for_lock() noexcept;
    FAIRLEAD_EXPORT void release() noexcept;
    FAIRLEAD_EXPORT void make_space(std::size_t bytes);
    void remove() noexcept {
        if (!block_)
            return;
        if (auto const* const f = impl::base::taken_from(block_->installed))
            f->destroy(block_->place());
    }

    impl::operation::slot_block* block_ = nullptr;
    std::atomic<void const*> holder_{nullptr}; ///< the thread that uses it now
    use* uses_ = nullptr;                      ///< the innermost use of that thread
};

/// A signal as an operation sees it; a pointer. Default-constructed it belongs to no signal.
class cancellation_slot {
public:
    constexpr cancellation_slot() noexcept = default;

    /// Installs a handler, `void(cancellation_type)`, in place of the one before. Returns it.
    /// Throws     bad_alloc, what the constructor throws: the slot is then empty
    template <class Handler, class... Args> Handler& emplace(Args&&... args) {
        static_assert(alignof(Handler) <= 16, "over-aligned handlers do not fit into a signal");
        FAIRLEAD_ASSERT(signal_ && "this slot belongs to no signal: ask is_connected() first");
        cancellation_signal::use const mine(*signal_);
        signal_->remove();
        if (!signal_->block_ || signal_->block_->capacity < sizeof(Handler))
            signal_->make_space(sizeof(Handler));
        auto* const h = ::new (signal_->block_->place()) Handler(std::forward<Args>(args)...);
        signal_->block_->installed = &impl::operation::slot_handler_table<Handler>;
        return *h;
    }
    template <class Handler> std::decay_t<Handler>& assign(Handler&& handler) {
        return emplace<std::decay_t<Handler>>(std::forward<Handler>(handler));
    }
    /// Destroys the handler, if there is one.
    void clear() {
        if (!signal_)
            return;
        cancellation_signal::use const mine(*signal_);
        signal_->remove();
    }
    constexpr bool is_connected() const noexcept { return signal_ != nullptr; }
    bool has_handler() const noexcept {
        if (!signal_)
            return false;
        cancellation_signal::use const mine(*signal_);
        return signal_->block_ && signal_->block_->installed;
    }

    friend constexpr bool operator==(cancellation_slot const&, cancellation_slot const&) noexcept = default;

private:
    friend class cancellation_signal;
    friend class impl::operation::wrapped_slot_handler;
    friend struct impl::operation::slot_access;
    constexpr explicit cancellation_slot(cancellation_signal* s) noexcept : signal_(s) {}
    cancellation_signal* signal_ = nullptr;
};

inline cancellation_slot cancellation_signal::slot() noexcept { return cancellation_slot(this); }

namespace impl::operation {

struct slot_access {
    /// Clears the slot if `still_ours()`, asked while no other thread is at the signal.
    template <class F> static void clear_if(cancellation_slot s, F still_ours) noexcept {
        if (!s.signal_)
            return;
        cancellation_signal::use const mine(*s.signal_);
        if (still_ours())
            s.signal_->remove();
    }
};

} // namespace impl::operation
} // namespace fairlead
