// Handlers whose type an operation does not know: one table of functions for each type of handler, and none for each
// operation. For operations that were made before they met their handler.
#pragma once

#include <fairlead/base/taken_from.hpp>
#include <fairlead/operation/erased_associations.hpp>
#include <fairlead/operation/give_exception.hpp>
#include <fairlead/operation/initiate.hpp>

#include <cstddef>
#include <exception>
#include <utility>

namespace fairlead::impl::operation {

template <class... Args> struct erased_handler_functions {
    std::size_t size;
    association_functions const* associations;
    void (*move)(void* from, void* to) noexcept; ///< makes another one; the old one is still to be destroyed
    /// Moves the handler out of the block, gives the block back to the handler's allocator, invokes.
    void (*complete)(void* handler, void* block, std::size_t bytes, std::tuple<Args...>&& values);
    /// As complete, for callers that run where the handler wants to be run.
    void (*invoke)(void* handler, void* block, std::size_t bytes, std::tuple<Args...>&& values);
    void (*abandon)(void* handler, void* block, std::size_t bytes);
    loop* (*foreign_loop)(void* handler, loop* operation) noexcept;     ///< the handler's own loop if it is another
    cancellation_slot (*slot)(void* handler) noexcept;                  ///< null: it has none
    void (*take_exception)(void* handler, std::exception_ptr) noexcept; ///< null: it throws nothing
};

inline loop* no_foreign_loop(void*, loop*) noexcept { return nullptr; }

template <class Handler, class... Args> struct erased_handler_table {
    static Handler& in(void* p) noexcept { return *static_cast<Handler*>(p); }

    static void move(void* from, void* to) noexcept { ::new (to) Handler(std::move(in(from))); }
    static Handler take_out(void* handler, void* block, std::size_t bytes) {
        Handler h(std::move(in(handler)));
        in(handler).~Handler();
        association_table<Handler>::deallocate(std::addressof(h), block, bytes);
        return h;
    }
    static void complete(void* handler, void* block, std::size_t bytes, std::tuple<Args...>&& values) {
        Handler h(take_out(handler, block, bytes));
        dispatch_values(h, std::move(values));
    }
    static void invoke(void* handler, void* block, std::size_t bytes, std::tuple<Args...>&& values) {
        call_with_values(take_out(handler, block, bytes), std::move(values));
    }
    static void abandon(void* handler, void* block, std::size_t bytes) { take_out(handler, block, bytes); }
    static loop* foreign_loop(void* handler, loop* operation) noexcept {
        loop* l = exec::loop_of(get_associated_executor(in(handler)));
        return l == operation ? nullptr : l;
    }
    static constexpr auto foreign_loop_function() {
        if constexpr (has_own_executor<Handler>)
            return &foreign_loop;
        else
            return &no_foreign_loop;
    }
    static constexpr auto complete_function() {
        if constexpr (has_own_executor<Handler>)
            return &complete;
        else
            return &invoke;
    }
    static constexpr bool has_slot =
        std::is_same_v<associated_cancellation_slot_t<Handler, no_cancellation_slot>, cancellation_slot>;
    static cancellation_slot slot(void* handler) noexcept
        requires has_slot
    {
        return get_associated_cancellation_slot(in(handler));
    }
    static constexpr auto slot_function() {
        cancellation_slot (*f)(void*) noexcept = nullptr;
        if constexpr (has_slot)
            f = &slot;
        return f;
    }
    static constexpr auto take_exception_function() {
        void (*f)(void*, std::exception_ptr) noexcept = nullptr;
        if constexpr (can_take_exception<Handler>())
            f = [](void* handler, std::exception_ptr why) noexcept {
                give_exception(in(handler), [&] { std::rethrow_exception(std::move(why)); });
            };
        return f;
    }
    static constexpr erased_handler_functions<Args...> functions{sizeof(Handler),
                                                                 &association_table<Handler>::functions,
                                                                 &move,
                                                                 complete_function(),
                                                                 &invoke,
                                                                 &abandon,
                                                                 foreign_loop_function(),
                                                                 slot_function(),
                                                                 take_exception_function()};
};

/// A handler of unknown type, borrowed until it is moved.
template <class... Args> struct handler_ref {
    void* handler;
    erased_handler_functions<Args...> const* functions;

    bool throws_errors() const noexcept { return functions->take_exception; }
    void take_exception(std::exception_ptr why) const noexcept { functions->take_exception(handler, std::move(why)); }
};

/// As expect_slot_is_heard(), for a handler that only its table knows.
template <class Init, class... Args> void expect_erased_slot_is_heard([[maybe_unused]] handler_ref<Args...> h) {
    if constexpr (is_deaf<Init>)
        if (h.functions->slot && h.functions->slot(h.handler).is_connected())
            throw_not_cancellable();
}

/// The op of a primitive with an erased handler behind it, in one block.
template <class Init, class... Args> struct erased_op : Init::record {
    erased_handler_functions<Args...> const* functions;
    std::size_t bytes;
    loop* foreign;

    static constexpr std::size_t handler_offset() noexcept { return (sizeof(erased_op) + 15) / 16 * 16; }
    void* handler() noexcept { return reinterpret_cast<std::byte*>(this) + handler_offset(); }

    static void run_it(op* base, op_mode mode) {
        auto* self = static_cast<erased_op*>(static_cast<typename Init::record*>(base));
        auto* functions = self->functions;
        auto const bytes = self->bytes;
        auto* const handler = self->handler();
        loop* const foreign = self->foreign;
        if constexpr (cancellable_record<typename Init::record>)
            if (functions->slot)
                stop_listening(functions->slot(handler), *self);
        if (mode == op_mode::complete)
            op_has_completed<Init>(*self);
        if (mode == op_mode::abandon) {
            Init::drop(*self);
            self->~erased_op();
            functions->abandon(handler, self, bytes);
        } else {
            auto values = Init::take(*self);
            auto const described = handler_ref<Args...>{handler, functions};
            tell_failure<Init>(described, *self, values);
            self->~erased_op();
            functions->complete(handler, self, bytes, std::move(values));
        }
        if (foreign)
            foreign->work_finished();
    }
};

/// A handler in a block of its own, from its own allocator; or none. It is given to a generic initiation when its
/// async_op is called with a token, and is the inside of any_completion_handler.
template <class... Args> class boxed_handler {
public:
    boxed_handler() noexcept : functions_(nullptr), block_(nullptr) {}
    explicit boxed_handler(handler_ref<Args...> h) : functions_(h.functions) {
        block_ = functions_->associations->allocate(h.handler, functions_->size);
        functions_->move(h.handler, block_);
    }
    boxed_handler(boxed_handler&& other) noexcept
        : functions_(other.functions_),
          block_(base::taken_from(other.block_)) {}
    boxed_handler& operator=(boxed_handler&&) = delete;
    ~boxed_handler() {
        if (block_)
            functions_->abandon(block_, block_, functions_->size);
    }
    /// Gives the block back, then calls. The caller runs on the handler's executor.
    void operator()(Args... args) {
        auto const h = release();
        h.functions->invoke(h.handler, h.handler, h.functions->size, std::tuple<Args...>(std::move(args)...));
    }
    /// The block becomes the caller's, with the handler in it.
    handler_ref<Args...> release() noexcept { return {base::taken_from(block_), functions_}; }

    using cancellation_slot_type = cancellation_slot;
    using slot_is_known_when_started = std::true_type;
    cancellation_slot_type get_cancellation_slot() const noexcept {
        return block_ && functions_->slot ? functions_->slot(block_) : cancellation_slot();
    }

    bool throws_errors() const noexcept { return block_ && functions_->take_exception; }
    void take_exception(std::exception_ptr why) noexcept { functions_->take_exception(block_, std::move(why)); }

    bool empty() const noexcept { return !block_; }
    void swap(boxed_handler& other) noexcept {
        functions_ = base::taken_from(other.functions_, functions_);
        block_ = base::taken_from(other.block_, block_);
    }
    erased_allocator<void> allocator() const noexcept { return {block_ ? functions_->associations : nullptr, block_}; }
    /// Null when there is no handler, or one that names none.
    erased_executor executor() const noexcept {
        return block_ ? functions_->associations->executor(block_) : erased_executor();
    }
    erased_executor immediate_executor() const noexcept {
        return block_ ? functions_->associations->immediate_executor(block_) : erased_executor();
    }

private:
    erased_handler_functions<Args...> const* functions_;
    void* block_;
};

/// The associations of a type that knows them at run time only, as `h.executor()` and so on.
template <class Handler, class Default> struct erased_executor_of {
    using type = erased_executor;
    static type get(Handler const& h) noexcept { return h.executor(); }
    static type get(Handler const& h, Default const& d) noexcept {
        auto own = h.executor();
        return own.get() ? own : type(d);
    }
};
template <class Handler, class Default> struct erased_immediate_executor_of {
    using type = erased_executor;
    static type get(Handler const& h) noexcept { return h.immediate_executor(); }
    static type get(Handler const& h, Default const&) noexcept { return h.immediate_executor(); }
};
template <class Handler, class Default> struct erased_allocator_of {
    using type = erased_allocator<void>;
    static type get(Handler const& h) noexcept { return h.allocator(); }
    static type get(Handler const& h, Default const&) noexcept { return h.allocator(); }
};

} // namespace fairlead::impl::operation

template <class... Args, class D>
struct fairlead::associator<fairlead::associated_executor, fairlead::impl::operation::boxed_handler<Args...>, D>
    : fairlead::impl::operation::erased_executor_of<fairlead::impl::operation::boxed_handler<Args...>, D> {};
template <class... Args, class D> struct fairlead::associator<fairlead::associated_immediate_executor,
                                                              fairlead::impl::operation::boxed_handler<Args...>, D>
    : fairlead::impl::operation::erased_immediate_executor_of<fairlead::impl::operation::boxed_handler<Args...>, D> {};
template <class... Args, class D>
struct fairlead::associator<fairlead::associated_allocator, fairlead::impl::operation::boxed_handler<Args...>, D>
    : fairlead::impl::operation::erased_allocator_of<fairlead::impl::operation::boxed_handler<Args...>, D> {};
