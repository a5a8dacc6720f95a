#include <fairlead/sync/rate_limiter.hpp>

#include <fairlead/io/timer_op.hpp>

#include <memory>
#include <utility>

namespace fairlead::impl::sync {

/// The timer of a limiter, in a block that may outlive it: an op of it can be under way.
///
/// An op in a turn of the loop, `look`, sets the timer and takes it back: the loop cannot be had under the lock. It is
/// queued once at a time. All fields but the ops are under the lock of the domain.
struct limiter_core::alarm {
    struct look_op : op {
        alarm* of;
    };
    struct timer : io::timer_op {
        alarm* of;
    };

    alarm(limiter_core& l, std::shared_ptr<wait_domain>&& d) : domain(std::move(d)), limiter(&l) {
        look.of = timeout.of = this;
        look.run = &run_look;
        look.cancel = timeout.cancel = nullptr;
        timeout.run = &run_timeout;
        timeout.waits = &in_heap;
    }

    static void run_look(op* o, op_mode mode) {
        alarm& self = *static_cast<look_op*>(o)->of;
        if (mode == op_mode::complete)
            self.adjust();
        self.change([&self](op_queue& ready) noexcept {
            self.looks = std::exchange(self.must_look_again, false);
            if (self.looks)
                ready.push_back(self.look);
        });
    }
    static void run_timeout(op* o, op_mode mode) {
        auto& t = static_cast<timer&>(*o);
        alarm& self = *t.of;
        self.change([&](op_queue& ready) noexcept {
            self.is_set = false; // Before let_go() has it set anew.
            if (!self.limiter || mode == op_mode::abandon)
                return;
            if (t.result.error == ENOMEM)
                self.limiter->end_all(ENOMEM, ready);
            else
                self.limiter->let_go(ready);
        });
    }
    /// Sets the timer to the time at which the first that waits can go, or takes it back.
    void adjust() noexcept {
        auto& engine = domain->engine();
        engine.as_owner([&]() noexcept {
            bool is_to_be_set = false;
            domain->under_lock([&]() noexcept {
                must_look_again = false;
                bool const waits = limiter && !limiter->empty();
                auto const wanted = waits ? limiter->bucket_.filled_at_ns(limiter->front().amount) : 0;
                if (is_set && !(waits && timeout.deadline_ns == wanted) && engine.disarm(timeout))
                    is_set = false; // Else it has expired, and looks when it runs.
                is_to_be_set = waits && !is_set;
                if (is_to_be_set) {
                    is_set = true;
                    timeout.deadline_ns = wanted;
                    timeout.result = {0, 0, 0};
                }
            });
            if (is_to_be_set)
                engine.arm(timeout);
        });
    }
    /// Calls f(ready) under the lock, when one of the two ops has run. Afterwards the alarm may be gone.
    template <class F> void change(F f) noexcept {
        auto const kept = domain;
        bool is_last = false;
        kept->change([&](op_queue& ready) noexcept {
            f(ready);
            is_last = !limiter && !looks && !is_set;
        });
        if (is_last)
            delete this;
    }

    std::shared_ptr<wait_domain> const domain;
    limiter_core* limiter; ///< null: it has gone
    look_op look;
    timer timeout;
    op_queue in_heap;
    bool looks = false; ///< its op is queued or runs
    bool must_look_again = false;
    bool is_set = false; ///< the timer is in the heap, or queued
};

limiter_core::alarm* limiter_core::make_alarm(std::shared_ptr<wait_domain> d) { return new alarm(*this, std::move(d)); }

limiter_core::~limiter_core() {
    bool is_idle = false;
    domain().change([&](op_queue& ready) noexcept {
        domain().cancel_all(*this, ready);
        alarm_->limiter = nullptr;
        look_at_alarm(ready);
        is_idle = !alarm_->looks && !alarm_->is_set;
    });
    if (is_idle)
        delete alarm_;
}

bool limiter_core::take_now(std::size_t n) noexcept {
    if (!empty())
        return false;
    bucket_.fill(engine().now_ns());
    return bucket_.take(n);
}

std::size_t limiter_core::tokens() noexcept {
    return domain().look([this] {
        bucket_.fill(engine().now_ns());
        return bucket_.tokens();
    });
}

bool limiter_core::try_acquire(std::size_t n) noexcept {
    return domain().look([&] { return take_now(n); });
}

void limiter_core::wait(wait_op& o) noexcept {
    domain().change([&](op_queue& ready) {
        bool const is_too_many = o.amount > bucket_.burst();
        if (is_too_many || take_now(o.amount)) {
            o.result = {is_too_many ? EINVAL : 0, 0, 0};
            ready.push_back(o);
        } else {
            domain().append(*this, o);
            look_at_alarm(ready);
        }
    });
}

void limiter_core::let_go(op_queue& ready) noexcept {
    bucket_.fill(engine().now_ns());
    while (!empty() && bucket_.take(front().amount))
        domain().let_first_go(*this, ready);
    look_at_alarm(ready);
}

std::size_t limiter_core::cancel() noexcept {
    std::size_t n = 0;
    domain().change([&](op_queue& ready) noexcept {
        n = domain().cancel_all(*this, ready);
        look_at_alarm(ready);
    });
    return n;
}

void limiter_core::end_all(int error, op_queue& ready) noexcept {
    while (!empty()) {
        wait_op& o = front();
        domain().take(o);
        o.result = {error, 0, 0};
        ready.push_back(o);
    }
}

/// Under the lock: what the timer is to do may have changed.
void limiter_core::look_at_alarm(op_queue& ready) noexcept {
    if ((empty() && !alarm_->is_set) || engine().is_retired())
        return; // Nobody waits, or nothing will ever run.
    if (alarm_->looks) {
        alarm_->must_look_again = true;
    } else {
        alarm_->looks = true;
        ready.push_back(alarm_->look);
    }
}

} // namespace fairlead::impl::sync
