#include <fairlead/sync/wait_list.hpp>

namespace fairlead::impl::sync {
namespace {

/// Keeps the domain for as long as the context lives.
class domain_of_context final : public execution_context::service {
public:
    explicit domain_of_context(execution_context& c)
        : execution_context::service(c),
          domain(std::make_shared<wait_domain>(c)) {}

    std::shared_ptr<wait_domain> const domain;

private:
    void shutdown() override {}
};

} // namespace

/// Of two threads that make the service one has to give its own up: only the domain that is found is the loop's.
std::shared_ptr<wait_domain> domain_of(execution_context& c) {
    auto const& domain = use_service<domain_of_context>(c).domain;
    domain->enter_loop();
    return domain;
}

/// A thread that finds the loop without an owner takes its place: a program may prepare something before run() without
/// sharing the lock.
void wait_domain::with_lock(void (*f)(void*) noexcept, void* arg) noexcept {
    bool is_done = false;
    auto const as_owner = [&]() noexcept { is_done = lock_.try_as_owner(*engine_, [&]() noexcept { f(arg); }); };
    if (!lock_.is_shared())
        engine_->at_once(as_owner);
    if (is_done)
        return;
    lock_.lock();
    f(arg);
    lock_.unlock();
}

void wait_domain::append(wait_list& l, wait_op& o) noexcept {
    if (l.empty()) {
        l.previous_ = nullptr;
        l.next_ = first_;
        if (first_)
            first_->previous_ = &l;
        first_ = &l;
    }
    o.list = &l;
    ++l.size_;
    l.ops_.push_back(o);
}

void wait_domain::take(wait_op& o) noexcept {
    wait_list& l = *o.list;
    op_queue::unlink(o);
    --l.size_;
    o.list = nullptr;
    if (!l.empty())
        return;
    (l.previous_ ? l.previous_->next_ : first_) = l.next_;
    if (l.next_)
        l.next_->previous_ = l.previous_;
}

void wait_domain::end_wait(wait_op& o, int error, op_queue& ready) noexcept {
    take(o);
    o.result = {error, 0, 0};
    ready.push_back(o);
}

wait_op& wait_domain::release_first(wait_list& l) noexcept {
    wait_op& o = l.front();
    take(o);
    o.result = {0, 0, 0};
    return o;
}

std::size_t wait_domain::end_all(wait_list& l, int error, op_queue& ready) noexcept {
    std::size_t n = 0;
    for (; !l.empty(); ++n)
        end_wait(l.front(), error, ready);
    return n;
}

void wait_domain::cancel(wait_op& o) noexcept {
    change([&](op_queue& ready) {
        wait_list* const l = o.list;
        if (!l)
            return; // It has completed, or is about to be.
        end_wait(o, l->error_of_cancelled_, ready);
        l->let_go(ready); // The next may need less.
    });
}

void wait_domain::take_pending(op_queue& to) noexcept {
    look([&] {
        while (first_) {
            wait_op& o = first_->front();
            take(o);
            to.push_back(o);
        }
        return true;
    });
}

} // namespace fairlead::impl::sync
