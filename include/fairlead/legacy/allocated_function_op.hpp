// Functions as ops in memory that a program chooses.
#pragma once

#include <fairlead/base/allocator_traits.hpp>
#include <fairlead/exec/function_op.hpp>

#include <new>
#include <utility>

namespace fairlead::impl::legacy {

/// As function_op, in a block of an allocator.
template <class F, class Allocator> struct allocated_function_op : op {
    using allocator_type = typename std::allocator_traits<Allocator>::template rebind_alloc<allocated_function_op>;
    F function;
    [[no_unique_address]] allocator_type allocator;

    template <class G> allocated_function_op(G&& g, allocator_type const& a)
        : function(std::forward<G>(g)),
          allocator(a) {
        run = &allocated_function_op::run_it;
        cancel = nullptr;
    }

    static allocated_function_op* make(auto&& f, Allocator const& a) {
        allocator_type of_this(a);
        auto* const block = std::to_address(of_this.allocate(1));
        try {
            return ::new (static_cast<void*>(block)) allocated_function_op(std::forward<decltype(f)>(f), of_this);
        } catch (...) {
            free(of_this, block);
            throw;
        }
    }

    static void run_it(op* base, op_mode mode) {
        auto* self = static_cast<allocated_function_op*>(base);
        F f(std::move(self->function));
        allocator_type a(self->allocator);
        self->~allocated_function_op();
        free(a, self); // Before the call, as function_op does.
        if (mode == op_mode::complete)
            std::move(f)();
    }

private:
    static void free(allocator_type& a, allocated_function_op* block) noexcept {
        using pointer = typename std::allocator_traits<allocator_type>::pointer;
        a.deallocate(std::pointer_traits<pointer>::pointer_to(*block), 1);
    }
};

} // namespace fairlead::impl::legacy
