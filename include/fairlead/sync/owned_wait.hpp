// Waits that end with something to own: a lock.
//
// An op that has been given the lock is queued, and perhaps sent to another executor, before somebody takes its result.
// If it is given up in between, the object gets the lock back: nobody else knows of it. If the object goes in between,
// the wait ends with operation_aborted. Therefore the object has a list of the ops whose result is still to be taken.
#pragma once

#include <fairlead/sync/waited_object.hpp>

#include <atomic>
#include <tuple>

namespace fairlead::impl::sync {

class owned_object;

struct owning_op : wait_op {
    enum class share : unsigned char {
        none,
        given, ///< in the list of the object
        taken, ///< whoever has taken the result owns it
    };
    owned_object* of;
    owning_op* next_given;
    owning_op* previous_given;
    int error; ///< with which the wait ends once it owns something
    std::atomic<share> has;
    bool is_to_own; ///< cancel() of the object lets it wait on
    owning_op() noexcept {}
};

class FAIRLEAD_EXPORT owned_object : public waited_object {
public:
    /// Those that wait complete with operation_aborted. Returns how many.
    FAIRLEAD_EXPORT std::size_t cancel() noexcept;

    /// The result of `o` is about to be taken.
    static void is_taken(owning_op& o) noexcept {
        if (o.has.load(std::memory_order_acquire) == owning_op::share::given)
            take_given(o);
    }
    /// Nobody will take the result.
    FAIRLEAD_EXPORT static void is_given_up(owning_op& o) noexcept;

protected:
    using waited_object::waited_object;
    ~owned_object() = default;
    /// In the destructor of the derived class: nobody waits for this any more, or has been given anything.
    FAIRLEAD_EXPORT void leave() noexcept;

    // ---- under the lock
    /// Ends a wait that stands in no list.
    FAIRLEAD_EXPORT void give(owning_op& o, op_queue& ready) noexcept;
    void give_to_first(op_queue& ready) noexcept {
        auto& first = static_cast<owning_op&>(front());
        domain().take(first);
        give(first, ready);
    }

private:
    FAIRLEAD_EXPORT static void take_given(owning_op& o) noexcept;
    static void leave_list(owning_op& o) noexcept;
    /// Takes back what `o` has been given, and gives it to the next.
    virtual void take_back(owning_op& o, op_queue& ready) noexcept = 0;

    owning_op* given_ = nullptr;
};

/// The base of the initiation of such a wait. Object has two functions: `try_wait(amount)`, which is true when there is
/// nothing to wait for, and `wait(o)`.
template <class Derived, class Object> struct owning_primitive : operation::primitive<Derived> {
    using record = owning_op;
    static constexpr bool drops = true;
    static constexpr bool is_tried_anywhere = true;

    Object* of;

    explicit owning_primitive(Object& o) noexcept : of(&o) {}
    static std::size_t amount() noexcept { return 0; } // Those that ask for more or less say so.
    loop* home() const noexcept { return &of->engine(); }
    void prepare(owning_op& o) const noexcept {
        o.cancel = nullptr;
        o.domain = &of->domain();
        o.list = nullptr;
        o.amount = static_cast<Derived const&>(*this).amount();
        o.of = of;
        o.error = 0;
        o.has.store(owning_op::share::none, std::memory_order_relaxed);
        o.is_to_own = false;
    }
    static bool ready() noexcept { return true; }
    bool attempt(owning_op& o) const noexcept {
        if (!of->try_wait(static_cast<Derived const&>(*this).amount()))
            return false;
        o.result = {0, 0, 0};
        o.of = of;
        o.has.store(owning_op::share::taken, std::memory_order_relaxed);
        return true;
    }
    bool attempt_unprepared(owning_op& o) const noexcept { return static_cast<Derived const&>(*this).attempt(o); }
    void submit(owning_op& o) const noexcept { of->wait(o); }
    static void drop(owning_op& o) noexcept { owned_object::is_given_up(o); }
};

/// One whose completion tells only whether the lock is owned.
template <class Derived, class Object> struct plain_owning_primitive : owning_primitive<Derived, Object> {
    using owning_primitive<Derived, Object>::owning_primitive;
    using signature = void(error_code);
    using plain_attempt = void;
    static std::tuple<error_code> take(owning_op& o) noexcept {
        owned_object::is_taken(o);
        return {operation::to_error_code(o.result.error)};
    }
};

} // namespace fairlead::impl::sync
