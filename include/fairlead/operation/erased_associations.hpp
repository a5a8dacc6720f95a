// The associations of a handler of unknown type. Each type of handler has one table of functions; an allocator and an
// executor go through it.
#pragma once

#include <fairlead/base/allocator_traits.hpp>
#include <fairlead/exec/recycler.hpp>
#include <fairlead/operation/associated.hpp>

#include <cstddef>

namespace fairlead::impl::operation {

/// Any executor, or that of a handler which names none: then functions run at once, in the calling thread.
class erased_executor {
public:
    using takes_properties = void;
    erased_executor() noexcept = default;
    template <class E>
        requires(!std::same_as<E, erased_executor>)
    explicit erased_executor(E const& e) noexcept {
        if constexpr (std::same_as<E, inline_executor>)
            return;
        else if constexpr (!io_executor<E>)
            executor_ = any_io_executor(exec::any_executor_at_all(), e);
        else if (exec::always_loop<E> || std::derived_from<E, any_io_executor> || !exec::has_loop<E> ||
                 exec::loop_of(e))
            executor_ = e; // An awaiting coroutine without a loop names no executor either.
    }

    execution_context& context() const { return executor_.context(); }
    template <class F> void execute(F&& f) const {
        if (executor_)
            executor_.execute(std::forward<F>(f));
        else
            std::forward<F>(f)();
    }
    template <class F> void queue(F&& f) const {
        if (executor_)
            executor_.queue(std::forward<F>(f));
        else
            std::forward<F>(f)();
    }
    void dispatch_op(exec::op_function f) const {
        if (executor_)
            executor_.dispatch_op(std::move(f));
        else
            std::move(f)();
    }
    void on_work_started() const noexcept { executor_.on_work_started(); }
    void on_work_finished() const noexcept { executor_.on_work_finished(); }
    loop* native_loop() const noexcept { return executor_.native_loop(); }
    /// Whether a handler may be called where the caller is.
    bool running_in_this_thread() const noexcept { return !executor_ || executor_.running_in_this_thread(); }
    explicit operator bool() const noexcept { return static_cast<bool>(executor_); }
    any_io_executor const& get() const noexcept { return executor_; }
    /// The part of this that any_io_executor and its like keep: the executor inside, so that it compares equal to
    /// itself.
    any_io_executor const* plain() const noexcept { return executor_ ? &executor_ : nullptr; }
    std::type_info const& target_type() const noexcept { return executor_.target_type(); }
    template <class E> E const* target() const noexcept { return executor_.target<E>(); }
    friend bool operator==(erased_executor const&, erased_executor const&) noexcept = default;
    template <std::same_as<erased_executor> A, class E>
        requires(!std::same_as<E, erased_executor> && std::convertible_to<E const&, any_completion_executor>)
    friend bool operator==(A const& a, E const& b) {
        if constexpr (std::same_as<E, inline_executor>)
            return !a;
        else
            return a.get() == any_completion_executor(b);
    }

private:
    any_io_executor executor_;
};

} // namespace fairlead::impl::operation

namespace fairlead::impl {
template <> inline constexpr bool exec::always_loop<operation::erased_executor> = false;
} // namespace fairlead::impl

namespace fairlead::impl::operation {

struct association_functions {
    void* (*allocate)(void const* handler, std::size_t bytes);
    void (*deallocate)(void const* handler, void* block, std::size_t bytes) noexcept;
    erased_executor (*executor)(void const* handler) noexcept;
    erased_executor (*immediate_executor)(void const* handler) noexcept;
};

template <class Handler> struct association_table {
    static Handler const& in(void const* p) noexcept { return *static_cast<Handler const*>(p); }
    static void* allocate(void const* handler, std::size_t bytes) {
        auto allocator = handler_allocator_for<block_unit>(in(handler));
        return std::to_address(allocator.allocate(block_units(bytes)));
    }
    static void deallocate(void const* handler, void* block, std::size_t bytes) noexcept {
        auto allocator = handler_allocator_for<block_unit>(in(handler));
        allocator.deallocate(static_cast<block_unit*>(block), block_units(bytes));
    }
    static erased_executor executor(void const* handler) noexcept {
        if constexpr (has_own_executor<Handler>)
            return erased_executor(get_associated_executor(in(handler)));
        else
            return {};
    }
    static erased_executor immediate_executor(void const* handler) noexcept {
        if constexpr (has_immediate_executor<Handler>)
            return erased_executor(get_associated_immediate_executor(in(handler), inline_executor()));
        else
            return {};
    }
    static constexpr association_functions functions{&allocate, &deallocate, &executor, &immediate_executor};
};

/// Handlers that bring nothing along, as most do, share one table, which is compiled in the library.
template <class Handler>
concept brings_nothing = takes_from_recycler<Handler> && !has_own_executor<Handler> && !has_immediate_executor<Handler>;
struct no_associations {
    FAIRLEAD_EXPORT static void deallocate(void const* handler, void* block, std::size_t bytes) noexcept;
    FAIRLEAD_EXPORT static association_functions const functions;
};
template <brings_nothing Handler> struct association_table<Handler> : no_associations {};

/// The allocator of a handler of unknown type; without a handler the recycler.
template <class T> class erased_allocator {
public:
    using value_type = T;
    template <class U> struct rebind {
        using other = erased_allocator<U>;
    };
    erased_allocator(association_functions const* f, void const* handler) noexcept : functions_(f), handler_(handler) {}
    template <class U> erased_allocator(erased_allocator<U> const& other) noexcept
        : functions_(other.functions_),
          handler_(other.handler_) {}

    T* allocate(std::size_t n)
        requires(!std::is_void_v<T>)
    {
        static_assert(alignof(T) <= alignof(std::max_align_t), "over-aligned types need an allocator of their own");
        return static_cast<T*>(handler_ ? functions_->allocate(handler_, n * sizeof(T))
                                        : exec::recycle_allocate(n * sizeof(T)));
    }
    void deallocate(T* p, std::size_t n) noexcept
        requires(!std::is_void_v<T>)
    {
        if (handler_)
            functions_->deallocate(handler_, p, n * sizeof(T));
        else
            exec::recycle_free(p);
    }
    template <class U> bool operator==(erased_allocator<U> const& other) const noexcept {
        return handler_ == other.handler_;
    }

private:
    template <class U> friend class erased_allocator;
    association_functions const* functions_;
    void const* handler_;
};

} // namespace fairlead::impl::operation
