// Which loop performs the I/O of an object.
#pragma once

#include <fairlead/io/io_loop.hpp>

#include <utility>

namespace fairlead::io::impl {

/// Where the handlers of an I/O object run that name no executor of their own.
enum class handlers_run : bool {
    elsewhere, ///< on the object's executor, to which they are brought
    here,      ///< where their op completes: that loop is the one of the object's executor
};

/// An I/O object's hold on its loop, which then outlives its context. It knows whether the object's executor runs that
/// loop: the two do not change while an operation starts.
class io_loop_ref {
public:
    io_loop_ref() noexcept = default;
    explicit io_loop_ref(io_loop& l, handlers_run where = handlers_run::elsewhere) noexcept
        : loop_(&l),
          handlers_run_(where) {
        l.retain();
    }
    io_loop_ref(io_loop_ref const& other) noexcept : loop_(other.loop_), handlers_run_(other.handlers_run_) {
        if (loop_)
            loop_->retain();
    }
    io_loop_ref(io_loop_ref&& other) noexcept
        : loop_(std::exchange(other.loop_, nullptr)),
          handlers_run_(other.handlers_run_) {}
    io_loop_ref& operator=(io_loop_ref other) noexcept {
        std::swap(loop_, other.loop_);
        handlers_run_ = other.handlers_run_;
        return *this;
    }
    ~io_loop_ref() {
        if (loop_)
            loop_->release();
    }

    operator io_loop*() const noexcept { return loop_; }
    io_loop* operator->() const noexcept { return loop_; }
    io_loop& operator*() const noexcept { return *loop_; }

    bool runs_handlers() const noexcept { return handlers_run_ == handlers_run::here; }
    /// Asks the executor of the object. To be called again when that becomes one of another type.
    template <class Executor> void note_executor(Executor const& e) noexcept {
        handlers_run_ = fairlead::impl::exec::loop_of(e) ? handlers_run::here : handlers_run::elsewhere;
    }

private:
    io_loop* loop_ = nullptr;
    handlers_run handlers_run_ = handlers_run::elsewhere;
};

/// The loop of a context: an io_context's own, or one with a thread of its own. That one is started for the first I/O
/// object and ends with the context.
FAIRLEAD_EXPORT io_loop_ref io_loop_of_context(execution_context& c);

template <class Executor> io_loop_ref find_io_loop(Executor const& e) {
    if (loop* const l = fairlead::impl::exec::loop_of(e))
        return io_loop_ref(io_loop::of(*l), handlers_run::here);
    return io_loop_of_context(fairlead::impl::exec::context_of(e));
}
template <class Executor> io_loop_ref io_loop_for(Executor const& e) { return find_io_loop(e); }
template <> FAIRLEAD_EXPORT io_loop_ref io_loop_for(any_io_executor const& e); ///< compiled in the library

} // namespace fairlead::io::impl
