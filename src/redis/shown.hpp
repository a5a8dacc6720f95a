// Values that one thread at a time writes, the one that runs a connection, and any thread may read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace fairlead::redis::impl {

/// A reader sees everything that the writer did before.
template <class T> class shown {
public:
    explicit shown(T v) noexcept : value_(v) {}
    operator T() const noexcept { return value_.load(std::memory_order_acquire); }
    shown& operator=(T v) noexcept {
        value_.store(v, std::memory_order_release);
        return *this;
    }

private:
    std::atomic<T> value_;
};

/// A count by itself: it says nothing about others. Writing is a load and a store, no atomic read-modify-write.
class shown_count {
public:
    operator std::uint64_t() const noexcept { return n_.load(std::memory_order_relaxed); }
    shown_count& operator++() noexcept { return *this += 1; }
    shown_count& operator+=(std::uint64_t n) noexcept {
        n_.store(n_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
        return *this;
    }

private:
    std::atomic<std::uint64_t> n_{0};
};

/// A text that seldom changes.
class shown_text {
public:
    std::string get() const {
        std::lock_guard const lock(mutex_);
        return text_;
    }
    void set(std::string text) noexcept {
        std::lock_guard const lock(mutex_);
        text_.swap(text);
    }
    void clear() noexcept { set({}); }

private:
    std::mutex mutable mutex_;
    std::string text_;
};

/// Requests that have a caller, and how many of all that other threads started have arrived. Both are in one word, so
/// that a reader never finds a request in neither place or in both.
class pending_count {
public:
    void add_one() noexcept { add(to_add_); }
    void remove_one() noexcept { add(0 - one); }
    std::size_t pending() const noexcept { return static_cast<std::uint32_t>(word()); }

    /// Another thread's request has arrived; take() adds it, unless it has ended already.
    template <class F> void arrive(F take) noexcept {
        auto const before = word();
        to_add_ = one + arrived;
        take();
        to_add_ = one;
        if (word() == before)
            add(arrived);
    }
    /// With those that are on their way: `started` counts what other threads have started. Any thread.
    std::size_t pending_with(std::atomic<std::uint32_t> const& started) const noexcept {
        for (auto seen = word_.load(std::memory_order_acquire);;) {
            auto const on_their_way = started.load(std::memory_order_acquire) - static_cast<std::uint32_t>(seen >> 32);
            auto const again = word_.load(std::memory_order_acquire);
            if (again == seen)
                return static_cast<std::uint32_t>(seen) + std::size_t{on_their_way};
            seen = again;
        }
    }

private:
    static constexpr std::uint64_t one = 1;
    static constexpr std::uint64_t arrived = std::uint64_t{1} << 32;

    std::uint64_t word() const noexcept { return word_.load(std::memory_order_relaxed); }
    void add(std::uint64_t n) noexcept { word_.store(word() + n, std::memory_order_release); }

    std::atomic<std::uint64_t> word_{0};
    std::uint64_t to_add_ = one;
};

} // namespace fairlead::redis::impl
