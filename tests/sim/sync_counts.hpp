// Permits, tokens and meeting points, beside their models.
#pragma once

#include <fairlead/io/io_context.hpp>
#include <fairlead/sync/barrier.hpp>
#include <fairlead/sync/latch.hpp>
#include <fairlead/sync/rate_limiter.hpp>
#include <fairlead/sync/semaphore.hpp>

#include <sim/sync_subject.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <type_traits>

namespace fairlead::test {

class semaphore_subject final : public sync_subject {
public:
    semaphore_subject(sim::world& w, ledger& l)
        : sync_subject(w, l, "semaphore"),
          permits_(w.choose("permits", 0, 4)),
          semaphore_(w.context(), permits_) {}

    void act() override {
        std::size_t const n = 1 + below(3);
        switch (below(6)) {
        case 0:
        case 1: {
            auto& w = new_wait(n);
            queue_.push_back(&w);
            let_go();
            semaphore_.async_acquire(n, handler(w, [](error_code) {}));
            break;
        }
        case 2: {
            bool const expected = queue_.empty() && permits_ >= n;
            check(semaphore_.try_acquire(n) == expected, "try_acquire() is wrong");
            permits_ -= expected ? n : 0;
            break;
        }
        case 3: release(n); break;
        case 4:
            if (auto* const w = any_wait()) {
                if (take_from(queue_, *w))
                    w->expected = outcome::is_aborted;
                let_go();
                w->signal.emit(cancellation_type::partial);
            }
            break;
        default:
            if (below(4) == 0)
                check(abort_all(queue_) == semaphore_.cancel(), "cancel() counts wrong");
        }
        check(semaphore_.permits() == permits_, "the permits are not those of the model");
    }
    void let_all_end() override { release(3); }

private:
    void release(std::size_t n) {
        permits_ += n;
        let_go();
        semaphore_.release(n);
    }
    void let_go() {
        for (; !queue_.empty() && queue_.front()->amount <= permits_; queue_.pop_front()) {
            permits_ -= queue_.front()->amount;
            queue_.front()->expected = outcome::succeeds;
        }
    }

    std::size_t permits_;
    semaphore semaphore_;
};

/// Latches and barriers: all go together.
template <class Object> class meeting_subject final : public sync_subject {
public:
    static constexpr bool is_latch = std::is_same_v<Object, latch>;

    meeting_subject(sim::world& w, ledger& l)
        : sync_subject(w, l, is_latch ? "latch" : "barrier"),
          context_(w.context()) {
        renew();
    }

    void act() override {
        switch (below(6)) {
        case 0:
        case 1: wait_for_others(); break;
        case 2: one_less(); break;
        case 3:
            if (auto* const w = any_wait()) {
                if (take_from(queue_, *w))
                    w->expected = outcome::is_aborted;
                w->signal.emit(cancellation_type::terminal);
            }
            break;
        case 4:
            if (below(3) == 0)
                check(abort_all(queue_) == object_->cancel(), "cancel() counts wrong");
            break;
        default:
            if (below(4) == 0)
                renew();
        }
    }
    void let_all_end() override { one_less(); }

private:
    void wait_for_others() {
        auto& w = new_wait();
        queue_.push_back(&w);
        let_go();
        if constexpr (is_latch)
            object_->async_wait(handler(w, [](error_code) {}));
        else
            object_->async_arrive_and_wait(handler(w, [](error_code) {}));
    }
    void one_less() {
        if (left_ == 0)
            return;
        --left_;
        let_go();
        if constexpr (is_latch)
            object_->count_down();
        else
            object_->arrive_and_drop();
    }
    void let_go() {
        if (is_latch ? left_ != 0 : queue_.size() < left_)
            return;
        for (wait* w : queue_)
            w->expected = outcome::succeeds;
        queue_.clear();
    }
    void renew() {
        abort_all(queue_);
        left_ = 1 + below(5);
        object_.emplace(context_, left_);
    }

    io_context& context_;
    std::optional<Object> object_;
    std::size_t left_ = 0; ///< to be counted, or expected
};

/// Held to its promise by the clock: nobody is passed, and no more tokens go out than have come.
class limiter_subject final : public sync_subject {
public:
    limiter_subject(sim::world& w, ledger& l)
        : sync_subject(w, l, "rate limiter"),
          clock_(w),
          began_(w.elapsed()),
          limiter_(w.context(), limit) {}

    void act() override {
        switch (below(5)) {
        case 0:
        case 1: {
            auto const n = 1 + below(limit.burst);
            auto& w = new_wait(n);
            w.expected = outcome::either; // Only the clock knows whether it is cancelled in time.
            queue_.push_back(&w);
            limiter_.async_acquire(n, handler(w, [this, &w](error_code ec) { has_ended(w, ec); }));
            break;
        }
        case 2: {
            auto const n = 1 + below(limit.burst);
            if (limiter_.try_acquire(n))
                gone_out(n, queue_.end());
            break;
        }
        case 3:
            if (auto* const w = any_wait()) {
                w->amount |= asked;
                w->signal.emit(cancellation_type::terminal);
            }
            break;
        default:
            if (below(4) == 0) {
                for (wait* w : queue_)
                    w->amount |= asked;
                limiter_.cancel();
            }
        }
    }
    void let_all_end() override {}

private:
    static constexpr rate_limit limit{.tokens = 3, .period = std::chrono::milliseconds(1), .burst = 4};
    static constexpr std::size_t asked = 1024;

    void has_ended(wait& w, error_code ec) {
        check(!ec || (w.amount & asked), "a wait is cancelled that nobody has asked to end");
        auto const at = std::find(queue_.begin(), queue_.end(), &w);
        if (!ec)
            gone_out(w.amount % asked, at);
        queue_.erase(at);
    }
    /// Those before `end` that nobody has asked to end have got theirs, too, although they have not run.
    void gone_out(std::size_t n, std::deque<wait*>::iterator end) {
        out_ += n;
        auto out = out_;
        for (auto at = queue_.begin(); at != end; ++at)
            out += (*at)->amount & asked ? 0 : (*at)->amount;
        auto const passed = static_cast<std::size_t>((clock_.elapsed() - began_) / std::chrono::nanoseconds(1));
        check(out <= limit.burst + passed * limit.tokens / 1'000'000, "more tokens have gone out than have come");
    }

    sim::world& clock_;
    std::chrono::nanoseconds const began_;
    rate_limiter limiter_;
    std::size_t out_ = 0;
};

} // namespace fairlead::test
