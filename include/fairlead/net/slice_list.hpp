// Several buffers as the system takes them, while their operation has not started.
#pragma once

#include <fairlead/base/buffer.hpp>
#include <fairlead/base/taken_from.hpp>
#include <fairlead/exec/recycler.hpp>
#include <fairlead/io/driver.hpp>

#include <cstring>
#include <utility>

namespace fairlead::impl::net {

/// Up to eight lie inside, more in a block of the recycler. Drivers count in them how far they have come.
class slice_list {
public:
    template <class Buffers> explicit slice_list(Buffers const& buffers) {
        std::size_t most = 0;
        for (auto i = buffer_sequence_begin(buffers), end = buffer_sequence_end(buffers); i != end; ++i)
            ++most;
        if (most > inside)
            many_ = static_cast<io::slice*>(exec::recycle_allocate(most * sizeof(io::slice)));
        size_ = base::fill_slices(buffers, data(), most);
    }
    slice_list(slice_list&& other) noexcept : many_(base::taken_from(other.many_)), size_(other.size_) {
        if (!many_)
            std::memcpy(few_, other.few_, bytes());
    }
    slice_list& operator=(slice_list&&) = delete;
    ~slice_list() {
        if (many_)
            exec::recycle_free(many_);
    }

    io::slice* data() const noexcept { return many_ ? many_ : few_; }
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
        std::memcpy(extra, data(), bytes());
        return static_cast<io::slice*>(extra) + size_;
    }

private:
    static constexpr std::size_t inside = 8;
    io::slice* many_ = nullptr;
    std::size_t size_;
    mutable io::slice few_[inside];
};

} // namespace fairlead::impl::net
