// The record of one pending operation. Everything else moves these.
//
// A chain of coroutines or a handler's block owns the op. The op is in exactly one of three places: with its caller, in
// a driver, or in a run queue. It leaves the library exactly once: `run` is called with op_mode::complete, or, when the
// context is destroyed first, with op_mode::abandon.
#pragma once

#include <fairlead/base/assert.hpp>
#include <fairlead/base/config.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fairlead {

/// The task of an op's run function.
enum class op_mode : unsigned char {
    complete, ///< Deliver the result: invoke the handler once, or resume the coroutine.
    abandon,  ///< The context is going away: give up the handler and its memory, invoke nothing.
};

/// The result that a driver reports. It becomes the arguments of a completion signature.
struct op_result {
    int error;      ///< 0, an errno value, or a negative one: operation/tried.hpp.
    unsigned flags; ///< Private to the operation.
    std::size_t n;  ///< Bytes moved, or whatever else the operation counts; valid also when error is set.
};

/// A place in a list: op_queue's, or whoever's the op is at the time.
struct op_link {
    op_link* next;
    op_link* prev;
};

/// The record of a pending operation. It is with its caller, in a driver, or in a run queue, and completes exactly once
/// or is abandoned exactly once.
struct op : op_link {
    using run_function = void (*)(op*, op_mode);

    /// Called when the op is done or given up. Null means: resume the coroutine whose await record holds this op. The
    /// loop does that itself, which saves one indirect call for each await.
    run_function run;
    op_result result;
    /// The ticket by which it can be asked to end early, a number that no other op ever has; null while nobody can ask.
    void* cancel;

    // No default initialisers: g++ would zero every field at every await site, only to overwrite it.
    op() noexcept {}
};
static_assert(sizeof(op) == 48, "the size of op is part of the ABI");

namespace impl::exec {

/// Another thread may take the ticket away while the owner of the loop looks for it.
inline std::atomic_ref<void*> ticket_of(op& o) noexcept { return std::atomic_ref<void*>(o.cancel); }
inline bool has_ticket(op& o, void* ticket) noexcept { return ticket_of(o).load(std::memory_order_relaxed) == ticket; }

/// A bit that no ticket has.
inline constexpr std::uintptr_t asked_mark = std::uintptr_t(1) << 63;
/// Asks an op without a message. It has a ticket, and cannot go meanwhile; one thread at a time asks it.
inline void mark_asked(op& o) noexcept {
    auto const marked = reinterpret_cast<std::uintptr_t>(ticket_of(o).load(std::memory_order_relaxed)) | asked_mark;
    ticket_of(o).store(reinterpret_cast<void*>(marked), std::memory_order_relaxed);
}
inline bool is_marked_asked(op& o) noexcept {
    return (reinterpret_cast<std::uintptr_t>(ticket_of(o).load(std::memory_order_relaxed)) & asked_mark) != 0;
}

} // namespace impl::exec

/// FIFO of ops, doubly linked so that an op can leave from wherever it stands.
class op_queue {
public:
    op_queue() noexcept { reset(); }
    op_queue(op_queue const&) = delete;
    op_queue& operator=(op_queue const&) = delete;
    ~op_queue() { FAIRLEAD_ASSERT(empty()); }

    bool empty() const noexcept { return head_.next == &head_; }
    op* front() noexcept { return static_cast<op*>(head_.next); }

    void push_back(op& o) noexcept {
        auto* const last = head_.prev;
        o.next = &head_;
        last->next = &o; // Between the two, so that they are not packed into a vector register to be stored as one.
        o.prev = last;
        head_.prev = &o;
    }
    void push_front(op& o) noexcept {
        o.prev = &head_;
        o.next = head_.next;
        head_.next->prev = &o;
        head_.next = &o;
    }
    op* pop_front() noexcept {
        auto* o = static_cast<op*>(head_.next);
        head_.next = o->next;
        o->next->prev = &head_;
        return o;
    }
    op* pop_back() noexcept {
        auto* o = static_cast<op*>(head_.prev);
        unlink(*o);
        return o;
    }
    /// Appends all of `other` and leaves it empty.
    void splice_back(op_queue& other) noexcept {
        if (other.empty())
            return;
        other.head_.next->prev = head_.prev;
        other.head_.prev->next = &head_;
        head_.prev->next = other.head_.next;
        head_.prev = other.head_.prev;
        other.reset();
    }
    /// Takes `o` out of whichever queue holds it.
    static void unlink(op_link& o) noexcept {
        o.prev->next = o.next;
        o.next->prev = o.prev;
    }

    /// How many there are, but it counts no further than `most`.
    unsigned count_up_to(unsigned most) const noexcept {
        unsigned n = 0;
        for (op_link const* l = head_.next; l != &head_ && n != most; l = l->next)
            ++n;
        return n;
    }
    /// Calls f(op&) for each op in order; f may unlink the op it is given.
    template <class F> void for_each(F f) {
        for (op_link* l = head_.next; l != &head_;) {
            auto* following = l->next;
            f(static_cast<op&>(*l));
            l = following;
        }
    }

private:
    void reset() noexcept { head_.next = head_.prev = &head_; }
    op_link head_;
};

} // namespace fairlead
