// Waits for an object, beside a model of the object that says how each of them has to end.
//
// The model decides when the object does, under its lock. A wait that is let go has its outcome from then on, although
// its handler runs later.
#pragma once

#include <fairlead/operation/cancellation_signal.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>

#include <sim/ledger.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace fairlead::test {

class sync_subject {
public:
    enum class outcome : unsigned char { waits, succeeds, is_aborted, is_closed, either };
    struct wait {
        std::size_t amount = 0;
        outcome expected = outcome::waits;
        bool has_ended = false;
        bool is_asked = true; ///< by its signal; false: nobody can ask it to end
        cancellation_signal signal;
    };

    sync_subject(sim::world& w, ledger& l, std::string name) : account(l), world_(w), name_(std::move(name)) {}
    sync_subject(sync_subject const&) = delete;
    sync_subject& operator=(sync_subject const&) = delete;
    virtual ~sync_subject() = default;

    /// Does something with the object, and the like with the model.
    virtual void act() = 0;
    /// Lets as many waits end as can.
    virtual void let_all_end() = 0;
    /// After the context has been abandoned: no wait and no handler is left.
    virtual void check_abandoned() {}

    /// After everything has ended.
    virtual void settle() {
        for (auto const& w : waits_)
            check(w->has_ended,
                  w->expected == outcome::waits ? "a wait has not ended" : "a wait that could end has not");
    }
    bool all_have_ended() const {
        return std::all_of(waits_.begin(), waits_.end(), [](auto const& w) { return w->has_ended; });
    }
    std::size_t count() const noexcept { return waits_.size(); }

protected:
    std::uint32_t below(std::uint32_t n) { return world_.random().below(n); }
    void check(bool good, std::string const& otherwise) { account.check(good, name_ + ": " + otherwise); }

    wait& new_wait(std::size_t amount = 0) {
        waits_.push_back(std::make_unique<wait>());
        waits_.back()->amount = amount;
        return *waits_.back();
    }
    /// The handler of `w`. `then()` is called after it has succeeded, with what comes behind the error.
    template <class F> auto handler(wait& w, F then) {
        return bind_cancellation_slot(w.signal.slot(), once(account, [this, &w, then](error_code ec, auto&&... rest) {
                                          this->end(w, ec, [&] { then(ec, std::forward<decltype(rest)>(rest)...); });
                                      }));
    }
    /// `w` has ended. Calls then() in between.
    template <class Then> void end(wait& w, error_code const& ec, Then then) {
        w.has_ended = true;
        check(w.expected != outcome::waits, "a wait ends that has to go on");
        check(!ec || w.expected != outcome::succeeds, "a wait that has succeeded ends otherwise");
        check(ec || w.expected != outcome::is_aborted, "a wait succeeds that was cancelled");
        check(ec || w.expected != outcome::is_closed, "a send succeeds that nobody can receive");
        auto const why =
            w.expected == outcome::is_closed ? error_code(error::channel_closed) : error_code(error::operation_aborted);
        check(!ec || ec == why, "a wait ends with a strange error");
        then();
        if (below(4) == 0 && ++inside_ < 50)
            act();
    }
    template <class F> void for_each_wait(F f) {
        for (auto const& w : waits_)
            f(*w);
    }
    /// A wait that somebody may ask to end, ended or not; null: none was found.
    wait* any_wait() {
        if (waits_.empty())
            return nullptr;
        auto const last = std::min<std::size_t>(waits_.size(), 6);
        auto& w = *waits_[waits_.size() - 1 - below(static_cast<std::uint32_t>(last))];
        return w.is_asked ? &w : nullptr;
    }
    static bool take_from(std::deque<wait*>& queue, wait& w) {
        auto const at = std::find(queue.begin(), queue.end(), &w);
        if (at == queue.end())
            return false;
        queue.erase(at);
        return true;
    }
    static std::size_t abort_all(std::deque<wait*>& queue) {
        auto const n = queue.size();
        for (wait* w : queue)
            w->expected = outcome::is_aborted;
        queue.clear();
        return n;
    }
    /// As the destructor of a lock does: what was given and has not run is given no more.
    void abort_given() {
        for (auto const& w : waits_)
            if (!w->has_ended)
                w->expected = outcome::is_aborted;
    }

    ledger& account;
    std::deque<wait*> queue_; ///< of the model, in the order of the calls

private:
    sim::world& world_;
    std::string name_;
    std::vector<std::unique_ptr<wait>> waits_;
    int inside_ = 0;
};

} // namespace fairlead::test
