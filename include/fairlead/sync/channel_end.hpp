// A handle on one side of a channel that its handles share. The last one on a side ends it.
#pragma once

#include <fairlead/base/taken_from.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace fairlead::impl::sync {

enum class side : unsigned char { sending, receiving };

/// The handles of a core on either side.
class counted_sides {
public:
    template <side S> std::atomic<std::size_t>& handles() noexcept {
        return S == side::sending ? senders_ : receivers_;
    }

private:
    std::atomic<std::size_t> senders_{0};
    std::atomic<std::size_t> receivers_{0};
};

/// Core has counted_sides for a base, and the functions senders_have_gone() and receivers_have_gone().
template <class Core, side S> class channel_end {
public:
    explicit channel_end(std::shared_ptr<Core> const& c) noexcept : core_(c) { enter(); }
    channel_end(channel_end const& other) noexcept : core_(other.core_) { enter(); }
    channel_end(channel_end&& other) noexcept = default;
    channel_end& operator=(channel_end other) noexcept {
        core_.swap(other.core_);
        return *this;
    }
    ~channel_end() {
        if (!core_ || core_->template handles<S>().fetch_sub(1, std::memory_order_acq_rel) != 1)
            return;
        if constexpr (S == side::sending)
            core_->senders_have_gone();
        else
            core_->receivers_have_gone();
    }

    Core* operator->() const noexcept { return core_.get(); }
    Core& operator*() const noexcept { return *core_; }
    std::shared_ptr<Core> const& shared() const noexcept { return core_; }

private:
    void enter() noexcept {
        if (core_)
            core_->template handles<S>().fetch_add(1, std::memory_order_relaxed);
    }

    std::shared_ptr<Core> core_;
};

} // namespace fairlead::impl::sync
