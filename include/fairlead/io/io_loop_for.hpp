// Which loop performs the I/O of an object.
#pragma once

#include <fairlead/io/io_loop.hpp>

#include <utility>

namespace fairlead::detail {

/// An I/O object's hold on its loop, which then outlives its context.
class io_loop_ref {
public:
    io_loop_ref() noexcept = default;
    explicit io_loop_ref(io_loop& l) noexcept : loop_(&l) { l.retain(); }
    io_loop_ref(io_loop_ref const& other) noexcept : loop_(other.loop_) {
        if (loop_)
            loop_->retain();
    }
    io_loop_ref(io_loop_ref&& other) noexcept : loop_(std::exchange(other.loop_, nullptr)) {}
    io_loop_ref& operator=(io_loop_ref other) noexcept {
        std::swap(loop_, other.loop_);
        return *this;
    }
    ~io_loop_ref() {
        if (loop_)
            loop_->release();
    }

    operator io_loop*() const noexcept { return loop_; }
    io_loop* operator->() const noexcept { return loop_; }
    io_loop& operator*() const noexcept { return *loop_; }

private:
    io_loop* loop_ = nullptr;
};

/// The loop of a context: an io_context's own, or one with a thread of its own. That one is started for the first I/O
/// object and ends with the context.
FAIRLEAD_EXPORT io_loop_ref io_loop_of_context(execution_context& c);

template <class Executor> io_loop_ref find_io_loop(Executor const& e) {
    if (loop* const l = loop_of(e))
        return io_loop_ref(io_loop::of(*l));
    return io_loop_of_context(context_of(e));
}
template <class Executor> io_loop_ref io_loop_for(Executor const& e) { return find_io_loop(e); }
template <> FAIRLEAD_EXPORT io_loop_ref io_loop_for(any_io_executor const& e); ///< compiled in the library

} // namespace fairlead::detail
