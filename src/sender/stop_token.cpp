#include <fairlead/sender/stop_token.hpp>

#include <fairlead/exec/loop.hpp>

namespace fairlead {

bool inplace_stop_source::request_stop() noexcept {
    lock_.lock();
    if (is_stopped_.load(std::memory_order_relaxed)) {
        lock_.unlock();
        return false;
    }
    caller_ = loop::self();
    is_stopped_.store(true, std::memory_order_release);
    while (auto* const c = first_) {
        first_ = c->next_;
        if (first_)
            first_->previous_ = nullptr;
        c->is_listed_ = false;
        called_ = c;
        bool gone = false;
        c->has_gone_ = &gone;
        c->called_.lock();
        lock_.unlock();
        c->call_(*c);
        if (!gone)
            c->called_.unlock(); // It may be gone now.
        lock_.lock();
        called_ = nullptr;
    }
    lock_.unlock();
    return true;
}

namespace impl::sender {

void listed_callback::listen(inplace_stop_source const* s) noexcept {
    if (!s)
        return;
    s->lock_.lock();
    if (s->is_stopped_.load(std::memory_order_relaxed)) {
        s->lock_.unlock();
        call_(*this);
        return;
    }
    source_ = s;
    is_listed_ = true;
    next_ = s->first_;
    if (next_)
        next_->previous_ = this;
    s->first_ = this;
    s->lock_.unlock();
}

void listed_callback::stop_listening() noexcept {
    auto const* const s = source_;
    if (!s)
        return;
    s->lock_.lock();
    if (is_listed_) {
        (previous_ ? previous_->next_ : s->first_) = next_;
        if (next_)
            next_->previous_ = previous_;
        s->lock_.unlock();
        return;
    }
    bool const is_called = s->called_ == this;
    bool const inside = is_called && s->caller_ == loop::self();
    if (inside)
        *has_gone_ = true;
    s->lock_.unlock();
    if (is_called && !inside) {
        called_.lock();
        called_.unlock();
    }
}

} // namespace impl::sender
} // namespace fairlead
