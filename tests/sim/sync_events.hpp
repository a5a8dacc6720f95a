// Events, and what is done once, beside their models.
#pragma once

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/scope/async_once.hpp>
#include <fairlead/sync/event.hpp>

#include <sim/sync_subject.hpp>

#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>

namespace fairlead::test {

class event_subject final : public sync_subject {
public:
    event_subject(sim::world& w, ledger& l) : sync_subject(w, l, "event"), context_(w.context()) { renew(); }

    void act() override {
        switch (below(8)) {
        case 0:
        case 1:
        case 2: {
            auto& w = new_wait();
            queue_.push_back(&w);
            let_go();
            event_->async_wait(handler(w, [](error_code) {}));
            break;
        }
        case 3:
            if (below(3) == 0)
                set();
            break;
        case 4:
            is_set_ = false;
            event_->reset();
            break;
        case 5:
            if (auto* const w = any_wait()) {
                if (take_from(queue_, *w))
                    w->expected = outcome::is_aborted;
                w->signal.emit(cancellation_type::total);
            }
            break;
        case 6:
            if (below(4) == 0)
                check(abort_all(queue_) == event_->cancel(), "cancel() counts wrong");
            break;
        default:
            if (below(6) == 0)
                renew();
        }
        check(event_->is_set() == is_set_, "it is set or it is not");
    }
    void let_all_end() override { set(); }

private:
    void set() {
        is_set_ = true;
        let_go();
        event_->set();
    }
    void let_go() {
        if (!is_set_)
            return;
        for (wait* w : queue_)
            w->expected = outcome::succeeds;
        queue_.clear();
    }
    void renew() {
        abort_all(queue_);
        is_set_ = below(2) == 0;
        event_.emplace(context_, is_set_);
    }

    io_context& context_;
    std::optional<event> event_;
    bool is_set_ = false;
};

/// Held to its promise: one call at a time runs its function, one succeeds, and none returns before that.
class once_subject final : public sync_subject {
public:
    once_subject(sim::world& w, ledger& l) : sync_subject(w, l, "async_once"), context_(w.context()) { renew(); }

    void act() override {
        switch (below(6)) {
        case 0:
        case 1: call(); break;
        case 2:
        case 3:
            if (auto* const w = any_wait()) {
                w->amount |= asked;
                w->signal.emit(cancellation_type::terminal);
            }
            break;
        case 4:
            if (below(4) == 0) {
                for_each_wait([](wait& w) { w.amount |= asked; });
                once_->cancel();
            }
            break;
        default:
            if (open_ == 0)
                renew();
        }
        check(once_->is_done() == (successes_ == 1), "it is done or it is not");
    }
    void let_all_end() override {}

private:
    static constexpr std::size_t asked = 1, has_failed = 2;

    struct running {
        once_subject& of;
        explicit running(once_subject& s) : of(s) { of.check(++of.running_ == 1, "two functions run at a time"); }
        running(running const&) = delete;
        ~running() { --of.running_; }
    };
    awaitable<void> work(wait& w, alive) {
        running const mine(*this);
        check(successes_ == 0, "a function is called although another one has succeeded");
        steady_timer t(context_, std::chrono::microseconds(below(300)));
        if (below(4) != 0)
            co_await t.async_wait();
        if (below(4) != 0) {
            w.amount |= has_failed;
            throw std::runtime_error("a failure");
        }
        ++successes_;
    }
    awaitable<void> one(wait& w, alive a) {
        auto f = [this, &w, a] { return work(w, a); };
        auto done = once_->call(std::move(f));
        co_await std::move(done);
    }
    void call() {
        auto& w = new_wait();
        w.expected = outcome::either;
        ++open_;
        co_spawn(context_, one(w, alive(account)),
                 bind_cancellation_slot(w.signal.slot(), once(account, [this, &w](std::exception_ptr e) {
                                            w.has_ended = true;
                                            --open_;
                                            check(e || (once_->is_done() && successes_ == 1),
                                                  "a call returns before it is done");
                                            check(!e || w.amount != 0, "a call throws what is not its own");
                                        })));
    }
    void renew() {
        successes_ = 0;
        once_.emplace(context_);
    }

    io_context& context_;
    std::optional<async_once> once_;
    int running_ = 0, successes_ = 0;
    std::size_t open_ = 0;
};

} // namespace fairlead::test
