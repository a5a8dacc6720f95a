// Handlers whose type an operation does not know: one table of functions for each type of handler, and none for each
// operation. For operations that were made before they met their handler.
#pragma once

#include <fairlead/token/initiate.hpp>

#include <cstddef>

namespace fairlead::detail {

template <class... Args> struct erased_handler_functions {
    std::size_t size;
    void* (*allocate)(void* handler, std::size_t bytes);
    void (*move)(void* from, void* to) noexcept; ///< makes another one; the old one is still to be destroyed
    /// Moves the handler out of the block, gives the block back to the handler's allocator, invokes.
    void (*complete)(void* handler, void* block, std::size_t bytes, std::tuple<Args...>&& values);
    void (*abandon)(void* handler, void* block, std::size_t bytes);
    loop* (*foreign_loop)(void* handler, loop* operation) noexcept; ///< the handler's own loop if it is another
};

template <class Handler, class... Args> struct erased_handler_table {
    static Handler& in(void* p) noexcept { return *static_cast<Handler*>(p); }

    static void* allocate(void* handler, std::size_t bytes) {
        auto allocator = handler_allocator_for<std::max_align_t>(in(handler));
        return std::to_address(allocator.allocate(units(bytes)));
    }
    static void move(void* from, void* to) noexcept { ::new (to) Handler(std::move(in(from))); }
    static void give_back(Handler const& h, void* block, std::size_t bytes) noexcept {
        auto allocator = handler_allocator_for<std::max_align_t>(h);
        allocator.deallocate(static_cast<std::max_align_t*>(block), units(bytes));
    }
    static void complete(void* handler, void* block, std::size_t bytes, std::tuple<Args...>&& values) {
        Handler h(std::move(in(handler)));
        in(handler).~Handler();
        give_back(h, block, bytes);
        dispatch_values(h, std::move(values));
    }
    static void abandon(void* handler, void* block, std::size_t bytes) {
        Handler h(std::move(in(handler)));
        in(handler).~Handler();
        give_back(h, block, bytes);
    }
    static loop* foreign_loop(void* handler, loop* operation) noexcept {
        if constexpr (has_own_executor<Handler>) {
            loop* l = loop_of(get_associated_executor(in(handler)));
            return l == operation ? nullptr : l;
        } else {
            return nullptr;
        }
    }
    static constexpr std::size_t units(std::size_t bytes) noexcept {
        return (bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
    }
    static constexpr erased_handler_functions<Args...> functions{sizeof(Handler), &allocate, &move,
                                                                 &complete,       &abandon,  &foreign_loop};
};

/// A handler of unknown type, borrowed until it is moved.
template <class... Args> struct handler_ref {
    void* handler;
    erased_handler_functions<Args...> const* functions;
};

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
        if (mode == op_mode::abandon) {
            Init::drop(*self);
            self->~erased_op();
            functions->abandon(handler, self, bytes);
        } else {
            auto values = Init::take(*self);
            self->~erased_op();
            functions->complete(handler, self, bytes, std::move(values));
        }
        if (foreign)
            foreign->work_finished();
    }
};

/// A handler that lives in a block of its own: what a generic initiation is given when its async_op is called with a
/// token.
template <class... Args> class boxed_handler {
public:
    explicit boxed_handler(handler_ref<Args...> h) : functions_(h.functions) {
        bytes_ = h.functions->size;
        block_ = functions_->allocate(h.handler, bytes_);
        functions_->move(h.handler, block_);
    }
    boxed_handler(boxed_handler&& other) noexcept
        : functions_(other.functions_),
          block_(std::exchange(other.block_, nullptr)),
          bytes_(other.bytes_) {}
    boxed_handler& operator=(boxed_handler&&) = delete;
    ~boxed_handler() {
        if (block_)
            functions_->abandon(block_, block_, bytes_);
    }
    void operator()(Args... args) {
        void* block = std::exchange(block_, nullptr);
        functions_->complete(block, block, bytes_, std::tuple<Args...>(std::move(args)...));
    }

private:
    erased_handler_functions<Args...> const* functions_;
    void* block_;
    std::size_t bytes_;
};

} // namespace fairlead::detail
