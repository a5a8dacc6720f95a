// Where the lasting parts of a context lie: its loop or its queues, its services, and what these keep. Of itself in
// global memory; a program's allocator can say otherwise. Operations take theirs elsewhere (exec/recycler.hpp).
#pragma once

#include <fairlead/base/allocator_traits.hpp>
#include <fairlead/base/config.hpp>
#include <fairlead/base/copy_bytes.hpp>
#include <fairlead/base/taken_from.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace fairlead {

class execution_context;

namespace impl::exec {

struct block_shape {
    std::size_t bytes, alignment;
};

/// Memory that is not the global one. Threads: as many as use the context, if its allocator can.
class FAIRLEAD_EXPORT context_memory {
public:
    context_memory(context_memory const&) = delete;
    context_memory& operator=(context_memory const&) = delete;
    virtual ~context_memory();
    virtual void* take(block_shape shape) = 0;
    virtual void give_back(void* p, block_shape shape) noexcept = 0;

protected:
    context_memory() noexcept = default;

private:
    friend class context_memory_ref;
    /// Destroys this, and gives its own block back.
    virtual void destroy() noexcept = 0;
    std::atomic<std::size_t> references_{1};
};

/// Shared, because an I/O object that outlives its context keeps the loop. Null: global new and delete.
class context_memory_ref {
public:
    constexpr context_memory_ref() noexcept = default;
    /// Takes over the reference that a context_memory is made with.
    explicit context_memory_ref(context_memory* made) noexcept : memory_(made) {}
    context_memory_ref(context_memory_ref const& other) noexcept : memory_(other.memory_) {
        if (memory_)
            memory_->references_.fetch_add(1, std::memory_order_relaxed);
    }
    context_memory_ref(context_memory_ref&& other) noexcept : memory_(impl::base::taken_from(other.memory_)) {}
    context_memory_ref& operator=(context_memory_ref other) noexcept {
        memory_ = impl::base::taken_from(other.memory_, memory_);
        return *this;
    }
    ~context_memory_ref() {
        if (memory_ && memory_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            memory_->destroy();
    }
    context_memory* get() const noexcept { return memory_; }

private:
    context_memory* memory_ = nullptr;
};

FAIRLEAD_EXPORT void* take_memory(context_memory* from, block_shape shape);
FAIRLEAD_EXPORT void give_memory_back(context_memory* to, void* p, block_shape shape) noexcept;

/// Takes whole units from an allocator. It need not know over-aligned types: blocks of theirs are cut from larger ones,
/// and say behind their end where those begin.
template <class Allocator> class memory_of_allocator final : public context_memory {
public:
    explicit memory_of_allocator(Allocator const& a) noexcept : allocator_(a) {}
    static context_memory_ref make(Allocator const& a) {
        own_allocator of_this(a);
        auto* const place = std::to_address(own_traits::allocate(of_this, 1));
        return context_memory_ref(::new (static_cast<void*>(place)) memory_of_allocator(a));
    }

    void* take(block_shape shape) override {
        rebound a(allocator_);
        unit* const base = std::allocator_traits<rebound>::allocate(a, units(shape));
        if (shape.alignment <= alignof(unit))
            return base;
        void* p = base;
        p = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(p) + shape.alignment - 1) &
                                    ~(shape.alignment - 1));
        base::copy_bytes(static_cast<std::byte*>(p) + shape.bytes, &base, sizeof base);
        return p;
    }
    void give_back(void* p, block_shape shape) noexcept override {
        rebound a(allocator_);
        unit* base = static_cast<unit*>(p);
        if (shape.alignment > alignof(unit))
            base::copy_bytes(&base, static_cast<std::byte*>(p) + shape.bytes, sizeof base);
        std::allocator_traits<rebound>::deallocate(a, base, units(shape));
    }

private:
    struct alignas(std::max_align_t) unit {
        std::byte bytes[alignof(std::max_align_t)];
    };
    using rebound = typename std::allocator_traits<Allocator>::template rebind_alloc<unit>;
    using own_allocator = typename std::allocator_traits<Allocator>::template rebind_alloc<memory_of_allocator>;
    using own_traits = std::allocator_traits<own_allocator>;

    void destroy() noexcept override {
        own_allocator of_this(allocator_);
        auto const block = std::pointer_traits<typename own_traits::pointer>::pointer_to(*this);
        this->~memory_of_allocator();
        own_traits::deallocate(of_this, block, 1);
    }

    static std::size_t units(block_shape shape) noexcept {
        auto const more = shape.alignment <= alignof(unit) ? 0 : shape.alignment + sizeof(unit*);
        return (shape.bytes + more + sizeof(unit) - 1) / sizeof(unit);
    }
    Allocator allocator_;
};

template <class Allocator> context_memory_ref memory_from(Allocator const& a) {
    return memory_of_allocator<Allocator>::make(a);
}

/// The base of parts that their last holder deletes. `new (memory) part` puts one into a context's memory. `delete`
/// gives it back there, even when the context has gone.
struct FAIRLEAD_EXPORT in_context_memory {
    static void* operator new(std::size_t bytes, context_memory_ref const& from);
    static void operator delete(void* p) noexcept;
    static void operator delete(void* p, context_memory_ref const&) noexcept { in_context_memory::operator delete(p); }
};

/// The type of execution_context::allocator.
template <class T> class context_allocator {
public:
    using value_type = T;
    template <class U> struct rebind {
        using other = context_allocator<U>;
    };

    explicit context_allocator(execution_context& c) noexcept;
    explicit context_allocator(context_memory* m) noexcept : memory_(m) {}
    template <class U> context_allocator(context_allocator<U> const& other) noexcept : memory_(other.memory_) {}

    T* allocate(std::size_t n) const {
        static_assert(!std::is_void_v<T>, "an allocator of void is there to be rebound");
        if (n > static_cast<std::size_t>(-1) / 2 / sizeof(T))
            throw std::bad_array_new_length();
        return static_cast<T*>(take_memory(memory_, {n * sizeof(T), alignof(T)}));
    }
    void deallocate(T* p, std::size_t n) const noexcept {
        if (p)
            give_memory_back(memory_, p, {n * sizeof(T), alignof(T)});
    }
    friend bool operator==(context_allocator const& a, context_allocator const& b) noexcept {
        return a.memory_ == b.memory_;
    }

private:
    template <class> friend class context_allocator;
    context_memory* memory_;
};

} // namespace impl::exec
} // namespace fairlead
