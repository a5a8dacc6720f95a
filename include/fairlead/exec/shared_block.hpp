// An object in a block of the recycler that several owners share.
#pragma once

#include <fairlead/base/taken_from.hpp>
#include <fairlead/exec/recycler.hpp>

#include <atomic>
#include <new>
#include <utility>

namespace fairlead::impl::exec {

/// One of the owners, or none. T counts them in `references`, which begins with 1. A T that lies elsewhere than in a
/// block hears of its last owner's end in last_owner_has_gone().
template <class T> class shared_block {
public:
    constexpr shared_block() noexcept = default;
    static shared_block make() {
        shared_block b;
        b.shared_ = ::new (recycle_allocate(sizeof(T))) T;
        return b;
    }
    /// The owner that `t` begins with, where that lies in no block.
    static shared_block first_of(T& t) noexcept {
        shared_block b;
        b.shared_ = &t;
        return b;
    }
    shared_block(shared_block const& other) noexcept : shared_(other.shared_) {
        if (shared_)
            shared_->references.fetch_add(1, std::memory_order_relaxed);
    }
    shared_block(shared_block&& other) noexcept : shared_(base::taken_from(other.shared_)) {}
    shared_block& operator=(shared_block other) noexcept {
        shared_ = base::taken_from(other.shared_, shared_);
        return *this;
    }
    ~shared_block() {
        // Nobody can become another owner while there is one alone, so that one does not count down.
        if (shared_ && (shared_->references.load(std::memory_order_acquire) == 1 ||
                        shared_->references.fetch_sub(1, std::memory_order_acq_rel) == 1))
            end();
    }
    explicit operator bool() const noexcept { return shared_ != nullptr; }
    T* operator->() const noexcept { return shared_; }

private:
    void end() noexcept {
        if constexpr (requires { shared_->lies_elsewhere(); })
            if (shared_->lies_elsewhere())
                return shared_->last_owner_has_gone();
        shared_->~T();
        recycle_free(shared_);
    }

    T* shared_ = nullptr;
};

} // namespace fairlead::impl::exec
