// Locks, beside their models.
#pragma once

#include <fairlead/io/io_context.hpp>
#include <fairlead/sync/condition_variable.hpp>
#include <fairlead/sync/mutex.hpp>
#include <fairlead/sync/shared_mutex.hpp>

#include <sim/sync_subject.hpp>

#include <algorithm>
#include <deque>
#include <optional>

namespace fairlead::test {

/// A mutex and a condition variable. `held_` counts the owners that have run: there is at most one.
class mutex_subject final : public sync_subject {
public:
    mutex_subject(sim::world& w, ledger& l) : sync_subject(w, l, "mutex"), context_(w.context()) { renew(); }

    void act() override {
        switch (below(10)) {
        case 0:
        case 1: lock(); break;
        case 2: {
            bool const expected = !is_locked_;
            check(mutex_->try_lock() == expected, "try_lock() is wrong");
            if (expected)
                is_locked_ = true, ++held_;
            break;
        }
        case 3:
            if (held_ != 0)
                unlock();
            break;
        case 4:
        case 5:
            if (held_ != 0)
                wait_for_change();
            break;
        case 6: notify(below(2) == 0 ? 1 : notified_.size()); break;
        case 7:
            if (auto* const w = any_wait())
                cancel(*w);
            break;
        case 8: cancel_all(); break;
        default:
            if (below(6) == 0)
                renew();
        }
    }
    void let_all_end() override {
        notify(notified_.size());
        if (held_ != 0)
            unlock();
    }
    void check_abandoned() override {
        check(mutex_->is_locked() == (held_ != 0), "a mutex that was given to nobody is locked");
    }

private:
    void lock() {
        auto& w = new_wait();
        queue_.push_back(&w);
        let_go();
        if (below(2) == 0)
            mutex_->async_lock(handler(w, [this](error_code ec) { has_locked(!ec); }));
        else
            mutex_->async_guard(handler(w, [this](error_code ec, mutex_guard g) {
                check(g.owns_lock() == !ec, "a guard does not know its mutex");
                g.release();
                has_locked(!ec);
            }));
    }
    void has_locked(bool owns) {
        if (owns)
            check(++held_ == 1, "there are two owners");
    }
    void unlock() {
        --held_;
        is_locked_ = false;
        let_go();
        mutex_->unlock();
    }
    void wait_for_change() {
        --held_;
        is_locked_ = false;
        auto& w = new_wait();
        w.amount = 1; // It is one for a notification.
        notified_.push_back(&w);
        let_go();
        changed_->async_wait(*mutex_, handler(w, [this, &w](error_code ec) {
            if (!ec || w.amount == 2)
                has_locked(true);
        }));
    }
    void notify(std::size_t n) {
        for (std::size_t i = 0; i != n && !notified_.empty(); ++i)
            lock_again(*notified_.front());
        if (n == 1)
            changed_->notify_one();
        else
            changed_->notify_all();
    }
    /// It ends in its turn for the mutex, also if it was cancelled.
    void lock_again(wait& w) {
        take_from(notified_, w);
        queue_.push_back(&w);
        let_go();
    }
    void cancel(wait& w) {
        if (w.amount == 0 && take_from(queue_, w)) {
            w.expected = outcome::is_aborted;
        } else if (std::find(notified_.begin(), notified_.end(), &w) != notified_.end()) {
            w.amount = 2; // cancelled, and to have the mutex
            lock_again(w);
        }
        w.signal.emit(cancellation_type::total);
    }
    void cancel_all() {
        auto const waiting = queue_;
        std::size_t n = 0;
        for (wait* w : waiting)
            if (w->amount == 0) {
                take_from(queue_, *w);
                w->expected = outcome::is_aborted;
                ++n;
            }
        check(mutex_->cancel() == n, "cancel() of a mutex counts wrong");
        n = notified_.size();
        while (!notified_.empty()) {
            notified_.front()->amount = 2;
            lock_again(*notified_.front());
        }
        check(changed_->cancel() == n, "cancel() of a condition variable counts wrong");
    }
    void let_go() {
        if (is_locked_ || queue_.empty())
            return;
        is_locked_ = true;
        queue_.front()->expected = queue_.front()->amount == 2 ? outcome::is_aborted : outcome::succeeds;
        queue_.pop_front();
    }
    void renew() {
        for (wait* w : notified_)
            w->amount = 0;
        notified_.clear();
        queue_.clear();
        abort_given();
        for_each_wait([](wait& w) { w.amount = w.amount == 2 && !w.has_ended ? 0 : w.amount; });
        held_ = 0;
        is_locked_ = false;
        changed_.reset();
        mutex_.emplace(context_);
        changed_.emplace(context_);
    }

    io_context& context_;
    std::optional<mutex> mutex_;
    std::optional<condition_variable> changed_;
    std::deque<wait*> notified_;
    std::size_t held_ = 0;
    bool is_locked_ = false;
};

class shared_mutex_subject final : public sync_subject {
public:
    shared_mutex_subject(sim::world& w, ledger& l) : sync_subject(w, l, "shared mutex"), context_(w.context()) {
        renew();
    }

    void act() override {
        switch (below(8)) {
        case 0:
        case 1:
        case 2: lock(below(3) == 0 ? exclusive : shared); break;
        case 3: {
            std::size_t const kind = below(2);
            bool const expected = queue_.empty() && can_have(kind);
            check((kind == exclusive ? mutex_->try_lock() : mutex_->try_lock_shared()) == expected, "try_ is wrong");
            if (expected)
                ++has_[kind], ++held_[kind];
            break;
        }
        case 4:
        case 5: let_all_end(); break;
        case 6:
            if (auto* const w = any_wait()) {
                if (take_from(queue_, *w))
                    w->expected = outcome::is_aborted;
                let_go();
                w->signal.emit(cancellation_type::terminal);
            }
            break;
        default:
            if (below(4) == 0) {
                auto const n = abort_all(queue_);
                check(mutex_->cancel() == n, "cancel() counts wrong");
            } else if (below(4) == 0) {
                renew();
            }
        }
    }
    void let_all_end() override {
        for (std::size_t kind : {exclusive, shared})
            if (held_[kind] != 0) {
                --held_[kind];
                --has_[kind];
                let_go();
                if (kind == exclusive)
                    mutex_->unlock();
                else
                    mutex_->unlock_shared();
                return;
            }
    }
    void check_abandoned() override {
        for (; held_[shared] != 0; --held_[shared])
            mutex_->unlock_shared();
        check(mutex_->try_lock() == (held_[exclusive] == 0), "a shared mutex that was given to nobody is locked");
    }

private:
    static constexpr std::size_t exclusive = 0, shared = 1;

    bool can_have(std::size_t kind) const { return has_[exclusive] == 0 && (kind == shared || has_[shared] == 0); }
    void lock(std::size_t kind) {
        auto& w = new_wait(kind);
        queue_.push_back(&w);
        let_go();
        auto h = handler(w, [this, kind](error_code ec) {
            if (ec)
                return;
            ++held_[kind];
            check(held_[exclusive] == 0 || (held_[exclusive] == 1 && held_[shared] == 0), "a writer is not alone");
        });
        if (kind == exclusive)
            mutex_->async_lock(std::move(h));
        else
            mutex_->async_lock_shared(std::move(h));
    }
    void let_go() {
        for (; !queue_.empty() && can_have(queue_.front()->amount); queue_.pop_front()) {
            ++has_[queue_.front()->amount];
            queue_.front()->expected = outcome::succeeds;
        }
    }
    void renew() {
        queue_.clear();
        abort_given();
        for (std::size_t kind : {exclusive, shared})
            has_[kind] = held_[kind] = 0;
        mutex_.emplace(context_);
    }

    io_context& context_;
    std::optional<shared_mutex> mutex_;
    std::size_t has_[2] = {};  ///< by what has been decided
    std::size_t held_[2] = {}; ///< by what has run
};

} // namespace fairlead::test
