#include <io/descriptor_table.hpp>

#include <cerrno>
#include <memory>

#include <unistd.h>

namespace fairlead::io {

descriptor_table::~descriptor_table() {
    for_each([](descriptor& d) {
        ::close(d.fd.load(std::memory_order_relaxed));
        return true;
    });
    for (std::size_t c = 0; c != chunk_count_; ++c) {
        descriptor* const chunk = chunks_[c].load(std::memory_order_relaxed);
        std::destroy_n(chunk, chunk_size);
        memory_.deallocate(chunk, chunk_size);
    }
}

descriptor* descriptor_table::add(int fd, nature what) noexcept {
    std::lock_guard const only(mutex_);
    auto const place = take_place();
    return place == handle::none ? nullptr : &occupy(place, fd, what);
}
outcome descriptor_table::keep(int fd, nature what, handle& h) noexcept {
    descriptor const* const d = add(fd, what);
    if (!d) {
        ::close(fd);
        return {ENOMEM, 0};
    }
    h = handle_of(*d);
    return {0, 0};
}
outcome descriptor_table::keep_both(int const (&fds)[2], nature what, handle& a, handle& b) noexcept {
    {
        std::lock_guard const only(mutex_);
        auto const first = take_place();
        auto const second = first == handle::none ? first : take_place();
        if (second != handle::none) {
            a = handle_of(occupy(first, fds[0], what));
            b = handle_of(occupy(second, fds[1], what));
            return {0, 0};
        }
        if (first != handle::none)
            give_back(at(first));
    }
    ::close(fds[0]);
    ::close(fds[1]);
    return {ENOMEM, 0};
}
void descriptor_table::keep_accepted(io_op& o, descriptor const& acceptor) noexcept {
    handle h;
    auto const r = keep(static_cast<int>(o.result.n), {acceptor.is_stream(), acceptor.medium()}, h);
    o.result.error = r.error;
    o.result.n = r.error ? 0 : h.packed();
}

int descriptor_table::remove(descriptor& d) noexcept {
    int const fd = d.fd.exchange(-1, std::memory_order_relaxed);
    d.generation.fetch_add(1, std::memory_order_relaxed);
    std::lock_guard const only(mutex_);
    unlink(d);
    give_back(d);
    return fd;
}
void descriptor_table::move(descriptor& d, bool to_front) noexcept {
    std::lock_guard const only(mutex_);
    unlink(d);
    link(d, to_front);
}

bool descriptor_table::make_chunk() noexcept {
    if (chunk_count_ == chunks_most)
        return false;
    descriptor* chunk = nullptr;
    try {
        chunk = memory_.allocate(chunk_size);
    } catch (...) {
        return false;
    }
    std::uninitialized_default_construct_n(chunk, chunk_size);
    auto const first = static_cast<std::uint32_t>(chunk_count_ * chunk_size);
    for (std::uint32_t i = 0; i != chunk_size; ++i) {
        chunk[i].index = first + i;
        chunk[i].next_place = i + 1 == chunk_size ? handle::none : first + i + 1;
    }
    chunks_[chunk_count_++].store(chunk, std::memory_order_release);
    free_ = first;
    return true;
}
std::uint32_t descriptor_table::take_place() noexcept {
    if (free_ == handle::none && !make_chunk())
        return handle::none;
    auto const place = free_;
    free_ = at(place).next_place;
    return place;
}
descriptor& descriptor_table::occupy(std::uint32_t place, int fd, nature what) noexcept {
    descriptor& d = at(place);
    d.begin(what);
    d.native.store(native_mode::not_asked_for, std::memory_order_relaxed);
    d.fd.store(fd, std::memory_order_relaxed);
    link(d, false);
    return d;
}
void descriptor_table::give_back(descriptor& d) noexcept {
    d.next_place = free_;
    free_ = d.index;
}

void descriptor_table::link(descriptor& d, bool at_front) noexcept {
    d.prev_place = at_front ? handle::none : in_use_.last;
    d.next_place = at_front ? in_use_.first : handle::none;
    (d.prev_place == handle::none ? in_use_.first : at(d.prev_place).next_place) = d.index;
    (d.next_place == handle::none ? in_use_.last : at(d.next_place).prev_place) = d.index;
}
void descriptor_table::unlink(descriptor& d) noexcept {
    (d.prev_place == handle::none ? in_use_.first : at(d.prev_place).next_place) = d.next_place;
    (d.next_place == handle::none ? in_use_.last : at(d.next_place).prev_place) = d.prev_place;
}
std::uint32_t descriptor_table::first() noexcept {
    std::lock_guard const only(mutex_);
    return in_use_.first;
}
std::uint32_t descriptor_table::following(descriptor const& d) noexcept {
    std::lock_guard const only(mutex_);
    return d.next_place;
}

} // namespace fairlead::io
