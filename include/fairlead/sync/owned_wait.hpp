// Waits that end with something to own: a lock.
//
// An op that has been given the lock is queued, and runs later. If it is given up in between, the object gets the lock
// back: nobody else knows of it. If the object goes in between, the wait ends with operation_aborted. Therefore the
// object has a list of the ops that it has given something to and that have not run.
#pragma once

#include <fairlead/sync/waited_object.hpp>

#include <tuple>

namespace fairlead::impl::sync {

class owned_object;

struct owning_op : wait_op {
    enum class share : unsigned char {
        none,
        given, ///< in the list of the object; not run yet
        taken, ///< the completion owns it
    };
    owned_object* of;
    owning_op* next_given;
    owning_op* previous_given;
    int error; ///< with which the wait ends once it owns something
    share has;
    bool is_to_own; ///< cancel() of the object lets it wait on
    owning_op() noexcept {}
};

class owned_object : public waited_object {
public:
    /// Those that wait complete with operation_aborted. Returns how many.
    FAIRLEAD_EXPORT std::size_t cancel() noexcept;

    /// The op is being run.
    FAIRLEAD_EXPORT static void has_run(owning_op& o) noexcept;
    /// The op will not be run, or nobody takes its result.
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
    static void leave_list(owning_op& o) noexcept;
    /// Takes back what `o` has been given, and gives it to the next.
    virtual void take_back(owning_op& o, op_queue& ready) noexcept = 0;

    owning_op* given_ = nullptr;
};

/// The base of the initiation of such a wait. Object has the functions that wait_primitive asks for.
template <class Derived, class Object> struct owning_primitive : operation::primitive<Derived> {
    using record = owning_op;
    static constexpr bool drops = true;

    Object* of;

    explicit owning_primitive(Object& o) noexcept : of(&o) {}
    loop* home() const noexcept { return &of->engine(); }
    void prepare(owning_op& o) const noexcept {
        o.cancel = nullptr;
        o.domain = &of->domain();
        o.list = nullptr;
        o.of = of;
        o.error = 0;
        o.has = owning_op::share::none;
        o.is_to_own = false;
    }
    static bool ready() noexcept { return true; }
    bool attempt(owning_op& o) const noexcept {
        if (!of->try_wait(o))
            return false;
        o.result = {0, 0, 0};
        o.has = owning_op::share::taken;
        return true;
    }
    void submit(owning_op& o) const noexcept { of->wait(o); }
    static void completed(owning_op& o) noexcept { owned_object::has_run(o); }
    static void drop(owning_op& o) noexcept { owned_object::is_given_up(o); }
};

/// One whose completion tells only whether the lock is owned.
template <class Derived, class Object> struct plain_owning_primitive : owning_primitive<Derived, Object> {
    using owning_primitive<Derived, Object>::owning_primitive;
    using signature = void(error_code);
    using plain_result = void;
    static std::tuple<error_code> take(owning_op& o) noexcept { return {operation::to_error_code(o.result.error)}; }
};

} // namespace fairlead::impl::sync
