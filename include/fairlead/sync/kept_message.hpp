// The forms in which a channel keeps a message: by itself or in a block, and in a ring of them.
#pragma once

#include <fairlead/base/taken_from.hpp>
#include <fairlead/exec/recycler.hpp>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace fairlead::impl::sync {

/// A message that can be moved without an exception, and is not large.
template <class T> class plain_message {
public:
    template <class... Args>
    explicit plain_message(std::in_place_t, Args&&... args) noexcept(std::is_nothrow_constructible_v<T, Args...>)
        : value_(std::forward<Args>(args)...) {}
    T& operator*() noexcept { return value_; }

private:
    T value_;
};

/// Any other one, in a block of the recycler.
template <class T> class boxed_message {
public:
    template <class... Args> explicit boxed_message(std::in_place_t, Args&&... args) {
        static_assert(alignof(T) <= 16, "a message of a channel is aligned to 16 bytes at most");
        void* const block = exec::recycle_allocate(sizeof(T));
        try {
            value_ = ::new (block) T(std::forward<Args>(args)...);
        } catch (...) {
            exec::recycle_free(block);
            throw;
        }
    }
    boxed_message(boxed_message&& other) noexcept : value_(base::taken_from(other.value_)) {}
    boxed_message& operator=(boxed_message&& other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    ~boxed_message() {
        if (value_) {
            value_->~T();
            exec::recycle_free(value_);
        }
    }
    T& operator*() noexcept { return *value_; }

private:
    T* value_;
};

/// The most bytes of a message that lies in the record of the operation that receives it.
inline constexpr std::size_t plain_message_most = 64;
template <class T> using kept_message =
    std::conditional_t<sizeof(T) <= plain_message_most && alignof(T) <= 16 && std::is_nothrow_move_constructible_v<T>,
                       plain_message<T>, boxed_message<T>>;

/// Room for one message of a record, whose end says whether there is one.
template <class Kept> class message_place {
public:
    message_place() noexcept {} // nothing is written before there is a message
    void put(Kept&& k) noexcept { ::new (static_cast<void*>(bytes_)) Kept(std::move(k)); }
    template <class Make> void make(Make const& make) { ::new (static_cast<void*>(bytes_)) Kept(make()); }
    Kept& get() noexcept { return *std::launder(reinterpret_cast<Kept*>(bytes_)); }
    Kept take() noexcept {
        Kept k(std::move(get()));
        drop();
        return k;
    }
    void drop() noexcept { get().~Kept(); }

private:
    alignas(Kept) std::byte bytes_[sizeof(Kept)];
};

/// A queue that keeps its memory. It grows by the double.
template <class Kept> class message_ring {
public:
    message_ring() noexcept = default;
    message_ring(message_ring&& other) noexcept
        : places_(base::taken_from(other.places_)),
          mask_(std::exchange(other.mask_, no_places)),
          first_(base::taken_from(other.first_)),
          size_(base::taken_from(other.size_)) {}
    message_ring& operator=(message_ring&& other) noexcept {
        std::swap(places_, other.places_);
        std::swap(mask_, other.mask_);
        std::swap(first_, other.first_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~message_ring() {
        while (size_ != 0)
            pop_front();
        if (places_)
            exec::recycle_free(places_);
    }

    std::size_t size() const noexcept { return size_; }
    /// So many messages need no more memory.
    std::size_t places() const noexcept { return mask_ + 1; }
    Kept& front() noexcept { return places_[first_].get(); }
    /// Throws     std::bad_alloc    nothing has changed
    void push_back(Kept&& k) {
        next().put(std::move(k));
        ++size_;
    }
    /// As push_back(), of what make() returns.
    /// Throws     what make() throws; std::bad_alloc    nothing has changed
    template <class Make> void push_back_made(Make const& make) {
        next().make(make);
        ++size_;
    }
    /// As push_back_made(), where size() is less than places().
    template <class Make> void push_back_made_inside(Make const& make) {
        places_[(first_ + size_) & mask_].make(make);
        ++size_;
    }
    /// Moves the first message to `into`. There is one.
    template <class Place> FAIRLEAD_ALWAYS_INLINE void take_front(Place& into) noexcept {
        auto const first = first_;
        auto& p = places_[first];
        first_ = (first + 1) & mask_;
        --size_;
        into.put(std::move(p.get()));
        p.drop();
    }
    void pop_front() noexcept {
        places_[first_].drop();
        first_ = (first_ + 1) & mask_;
        --size_;
    }

private:
    using place = message_place<Kept>;
    place& next() {
        if (size_ == places()) [[unlikely]]
            grow();
        return places_[(first_ + size_) & mask_];
    }
    FAIRLEAD_NOINLINE void grow() {
        std::size_t const more = places_ ? 2 * places() : 4;
        auto* const places = static_cast<place*>(exec::recycle_allocate(more * sizeof(place)));
        for (std::size_t i = 0; i != size_; ++i) {
            ::new (static_cast<void*>(places + i)) place;
            places[i].put(places_[(first_ + i) & mask_].take());
        }
        for (std::size_t i = size_; i != more; ++i)
            ::new (static_cast<void*>(places + i)) place;
        if (places_)
            exec::recycle_free(places_);
        places_ = places;
        mask_ = more - 1;
        first_ = 0;
    }

    place* places_ = nullptr;
    static constexpr std::size_t no_places = static_cast<std::size_t>(-1);
    std::size_t mask_ = no_places; ///< one less than the places, whose number is a power of two
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};

} // namespace fairlead::impl::sync
