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

/// A thread that is alone inside run() has the lock for itself. Before run() a program takes a lock.
void wait_domain::with_lock(void (*f)(void*) noexcept, void* arg) noexcept {
    bool is_alone = false;
    {
        exec::section const s;
        is_alone = engine_->is_running_this() && engine_->plainly_mine(s);
    }
    lock_.lock(is_alone);
    f(arg);
    lock_.unlock();
}

void wait_domain::run_ends() noexcept { lock_.give_up_bias(); }

void wait_domain::get_to_know(wait_list& l) noexcept {
    l.is_known_ = true;
    l.previous_ = nullptr;
    l.next_ = first_;
    if (first_)
        first_->previous_ = &l;
    first_ = &l;
}

void wait_domain::forget_known(wait_list& l) noexcept {
    under_lock([this, &l]() noexcept {
        (l.previous_ ? l.previous_->next_ : first_) = l.next_;
        if (l.next_)
            l.next_->previous_ = l.previous_;
    });
}

void wait_domain::end_wait(wait_op& o, int error, op_queue& ready) noexcept {
    take(o);
    o.result = {error, 0, 0};
    ready.push_back(o);
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
        for (wait_list* l = first_; l; l = l->next_)
            while (!l->empty()) {
                wait_op& o = l->front();
                take(o);
                to.push_back(o);
            }
        return true;
    });
}

} // namespace fairlead::impl::sync
