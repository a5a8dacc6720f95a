// The table of functions by which any_io_executor uses an executor of erased type.
#pragma once

#include <fairlead/exec/executor_concept.hpp>
#include <fairlead/exec/function_op.hpp>
#include <fairlead/exec/property_hook.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <new>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace fairlead {

class any_io_executor;
class loop_executor;

namespace impl::exec {

[[noreturn]] FAIRLEAD_EXPORT void throw_no_context();

/// Executors that a loop* can stand for, and those that begin with one.
template <class E> inline constexpr bool is_loop_pointer = std::derived_from<E, loop_executor>;
template <class E> inline constexpr bool begins_with_loop = is_loop_pointer<E>;

struct executor_functions {
    bool native;   ///< the storage holds a loop*, and nothing else
    bool has_loop; ///< the storage begins with a loop*
    void (*copy)(void const* from, void* to);
    void (*destroy)(void*) noexcept;
    bool (*equal)(void const*, void const*) noexcept;
    void (*execute)(void const*, op_function);
    std::type_info const& (*type)() noexcept;
    execution_context& (*context)(void const*);
    void (*work)(void const*, int change) noexcept;
    bool (*runs_here)(void const*) noexcept;
    void const* (*target)(void const*) noexcept;
    void (*queue)(void const*, op_function);
    bool of_the_library;              ///< its execute() never runs a function inside the call
    property_table const* properties; ///< null: it knows none
};

/// An executor that does not fit, in one counted block that all copies share.
template <class E> class boxed_executor {
public:
    explicit boxed_executor(E const& e) : shared_(new shared(e)) {}
    boxed_executor(boxed_executor const& other) noexcept : shared_(other.shared_) {
        shared_->references.fetch_add(1, std::memory_order_relaxed);
    }
    boxed_executor& operator=(boxed_executor const&) = delete;
    ~boxed_executor() {
        if (shared_->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete shared_;
    }
    E const& get() const noexcept { return shared_->executor; }

private:
    struct shared {
        explicit shared(E const& e) : executor(e) {}
        E executor;
        std::atomic<std::size_t> references{1};
    };
    shared* shared_;
};

template <class E> inline constexpr bool fits_any_io_executor = sizeof(E) <= 24 && alignof(E) <= 8;

template <class E> struct executor_table {
    using stored = std::conditional_t<fits_any_io_executor<E>, E, boxed_executor<E>>;
    static stored const& as_stored(void const* p) noexcept { return *static_cast<stored const*>(p); }
    static E const& in(void const* p) noexcept {
        if constexpr (fits_any_io_executor<E>)
            return as_stored(p);
        else
            return as_stored(p).get();
    }
    static void const* target(void const* p) noexcept { return &in(p); }
    static void copy(void const* from, void* to) { ::new (to) stored(as_stored(from)); }
    static void destroy(void* p) noexcept { static_cast<stored*>(p)->~stored(); }
    static bool equal(void const* a, void const* b) noexcept { return in(a) == in(b); }
    static void execute(void const* p, op_function f) { execute_on(in(p), std::move(f)); }
    static std::type_info const& type() noexcept { return typeid(E); }
    static execution_context& context(void const* p) {
        if constexpr (io_executor<E>)
            return context_of(in(p));
        else
            throw_no_context();
    }
    static void work(void const* p, int change) noexcept {
        if constexpr (tracks_work<E>) {
            if (change > 0)
                in(p).on_work_started();
            else
                in(p).on_work_finished();
        }
    }
    static bool runs_here(void const* p) noexcept {
        if constexpr (requires(E const& e) { e.running_in_this_thread(); })
            return in(p).running_in_this_thread();
        else
            return false;
    }
    static void queue(void const* p, op_function f) { queue_function(in(p), std::move(f)); }
    static constexpr bool is_of_the_library = requires { typename E::takes_properties; };
    static constexpr executor_functions functions{is_loop_pointer<E>,
                                                  (begins_with_loop<E> && fits_any_io_executor<E>),
                                                  &copy,
                                                  &destroy,
                                                  &equal,
                                                  &execute,
                                                  &type,
                                                  &context,
                                                  &work,
                                                  &runs_here,
                                                  &target,
                                                  &queue,
                                                  is_of_the_library,
                                                  property_hook<E>::functions};
};

/// The table of an executor, wherever it is compiled.
template <class E> struct executor_table_of {
    static constexpr executor_functions const* functions = &executor_table<E>::functions;
};

} // namespace impl::exec
} // namespace fairlead
