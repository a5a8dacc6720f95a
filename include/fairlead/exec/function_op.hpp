// Functions as ops, and ops as functions. A function that is given to execute() gets into a queue as an op; an op gets
// to executors of users as a function.
#pragma once

#include <fairlead/base/assert.hpp>
#include <fairlead/base/taken_from.hpp>
#include <fairlead/exec/loop.hpp>
#include <fairlead/exec/recycler.hpp>

#include <atomic>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace fairlead::impl::exec {

/// A function in a recycled block that is an op at the same time: what execute() queues.
template <class F> struct function_op : op {
    F function;

    template <class G> explicit function_op(G&& g) : function(std::forward<G>(g)) {
        run = &function_op::run_it;
        cancel = nullptr;
    }

    static function_op* make(auto&& f) {
        void* block = recycle_allocate(sizeof(function_op));
        try {
            return ::new (block) function_op(std::forward<decltype(f)>(f));
        } catch (...) {
            recycle_free(block);
            throw;
        }
    }

    static void run_it(op* base, op_mode mode) {
        auto* self = static_cast<function_op*>(base);
        F f(std::move(self->function));
        self->~function_op();
        recycle_free_sized(self, sizeof *self); // Before the call: the function's next operation takes the same block.
        if (mode == op_mode::complete)
            std::move(f)();
    }
};

/// An op that will be run or abandoned exactly once, as a function object for executors that users write. It is meant
/// to be moved; the copies that std::function makes share the op, and one of them is to be called.
class op_function {
public:
    explicit op_function(op& o) noexcept : word_(reinterpret_cast<std::uintptr_t>(&o)) {}
    op_function(op_function const& other) : word_(other.share()) {}
    op_function(op_function&& other) noexcept : word_(base::taken_from(other.word_)) {}
    op_function& operator=(op_function&&) = delete;
    ~op_function() {
        if (is_shared())
            shared_op::drop(shared());
        else if (word_)
            loop::abandon(*own());
    }
    op& release() noexcept {
        if (!is_shared()) [[likely]] {
            op& o = *own();
            word_ = 0;
            return o;
        }
        shared_op* const s = shared();
        op* const o = s->target.exchange(nullptr, std::memory_order_acq_rel);
        FAIRLEAD_ASSERT(o && "a copy of this function was called before");
        word_ = 0;
        shared_op::drop(s);
        return *o;
    }
    /// As an op for the queue of `l`. When this is run, a coroutine that is at home in an executor above that loop has
    /// arrived. Its own op in the queue would send it home again. That takes a block.
    op& release_for(loop const& l) {
        op& o = is_shared() ? *shared()->target.load(std::memory_order_acquire) : *own();
        if (o.run || await_record::of(o).home == &l) [[likely]]
            return release();
        return *function_op<op_function>::make(std::move(*this));
    }
    void operator()() { loop::run_outside(release()); }

private:
    struct shared_op {
        std::atomic<op*> target;
        std::atomic<unsigned> references;
        static void drop(shared_op* s) noexcept {
            if (s->references.fetch_sub(1, std::memory_order_acq_rel) != 1)
                return;
            if (op* const o = s->target.load(std::memory_order_acquire))
                loop::abandon(*o);
            delete s;
        }
    };
    static constexpr std::uintptr_t shared_mark = 1;
    bool is_shared() const noexcept { return (word_ & shared_mark) != 0; }
    op* own() const noexcept { return reinterpret_cast<op*>(word_); }
    shared_op* shared() const noexcept { return reinterpret_cast<shared_op*>(word_ & ~shared_mark); }
    std::uintptr_t share() const {
        if (word_ == 0)
            return 0;
        if (!is_shared())
            word_ = reinterpret_cast<std::uintptr_t>(new shared_op{own(), 1}) | shared_mark;
        shared()->references.fetch_add(1, std::memory_order_relaxed);
        return word_;
    }

    mutable std::uintptr_t word_; ///< 0, an op, or what copies share, marked; copying marks the original, too
};

} // namespace fairlead::impl::exec
