// Several buffers as the system takes them, while their operation has not started.
#pragma once

#include <fairlead/base/assert.hpp>
#include <fairlead/base/buffer.hpp>
#include <fairlead/base/taken_from.hpp>
#include <fairlead/io/driver.hpp>
#include <fairlead/operation/copied_arguments.hpp>

#include <cstring>
#include <utility>

namespace fairlead::impl::net {

/// Up to eight lie inside. More stay where the caller has them, until the token says where their copies go
/// (operation/copied_arguments.hpp). Drivers count in them how far they have come.
class slice_list {
public:
    template <class Buffers> explicit slice_list(Buffers const& buffers) noexcept {
        std::size_t most = 0;
        for (auto i = buffer_sequence_begin(buffers), end = buffer_sequence_end(buffers); i != end; ++i)
            ++most;
        if (most <= inside) [[likely]] {
            size_ = base::fill_slices(buffers, few_, most);
            return;
        }
        size_ = most;
        callers_list const list{&buffers, [](void const* from, io::slice* to, std::size_t n) noexcept {
                                    return base::fill_slices(*static_cast<Buffers const*>(from), to, n);
                                }};
        std::memcpy(static_cast<void*>(few_), &list, sizeof list);
    }
    slice_list(slice_list&& other) noexcept : many_(base::taken_from(other.many_)), size_(other.size_) {
        if (!many_)
            std::memcpy(few_, other.few_, size_ <= inside ? bytes() : sizeof(callers_list));
    }
    slice_list& operator=(slice_list&&) = delete;
    ~slice_list() {
        if (many_)
            exec::recycle_free(many_);
    }

    /// Before the list outlives the call.
    FAIRLEAD_ALWAYS_INLINE void settle(operation::copies_at_once) const {
        if (is_callers()) [[unlikely]]
            copy_now();
    }
    FAIRLEAD_ALWAYS_INLINE void settle(operation::copies_without_exception) const noexcept {
        if (is_callers()) [[unlikely]]
            copy_without_exception();
    }
    static void settle(operation::copies_from_handler) noexcept {}
    bool lacks_memory() const noexcept { return size_ == lacking; }

    io::slice* data() const noexcept {
        FAIRLEAD_ASSERT_SLOW(!is_callers());
        return many_ ? many_ : few_;
    }
    std::size_t size() const noexcept { return size_; }
    std::size_t bytes() const noexcept { return size_ * sizeof(io::slice); }
    /// Lets `o` move the buffers, which lie in `all`: here, or where copy_to() has put them.
    void set(io::io_op& o, void* all) const noexcept {
        o.data = all;
        o.size = size_;
        o.slices = true;
    }
    /// Into memory that lasts as long as the operation. Returns what comes behind.
    void* copy_to(void* extra) const noexcept {
        if (is_callers()) [[unlikely]]
            fill(static_cast<io::slice*>(extra));
        else
            std::memcpy(extra, data(), bytes());
        return static_cast<io::slice*>(extra) + size_;
    }

private:
    static constexpr std::size_t inside = 8;
    static constexpr std::size_t lacking = std::size_t(-1);
    /// Lies in the place of the first few.
    struct callers_list {
        void const* buffers;
        std::size_t (*fill)(void const*, io::slice*, std::size_t) noexcept;
    };

    bool is_callers() const noexcept { return size_ > inside && !many_ && size_ != lacking; }
    void fill(io::slice* to) const noexcept {
        callers_list list;
        std::memcpy(&list, few_, sizeof list);
        size_ = list.fill(list.buffers, to, size_);
    }
    FAIRLEAD_NOINLINE void copy_now() const { take(exec::recycle_allocate(bytes())); }
    FAIRLEAD_NOINLINE void copy_without_exception() const noexcept { take(exec::recycle_allocate_or_null(bytes())); }
    void take(void* block) const noexcept {
        if (block)
            fill(many_ = static_cast<io::slice*>(block));
        else
            size_ = lacking;
    }

    mutable io::slice* many_ = nullptr;
    mutable std::size_t size_; ///< no more than that of a list that is the caller's
    mutable io::slice few_[inside];
};

/// The members of a primitive with a list of buffers that say where it lies.
template <class Derived> struct with_slices {
    template <class Way> void settle(Way way) const noexcept(!std::is_same_v<Way, operation::copies_at_once>) {
        static_cast<Derived const&>(*this).slices.settle(way);
    }
    bool lacks_memory() const noexcept { return static_cast<Derived const&>(*this).slices.lacks_memory(); }
};

} // namespace fairlead::impl::net
