// Objects in one world, each beside its model. Something is done with them at random, from between the turns and from
// handlers. Sometimes the context ends.
#pragma once

#include <sim/ledger.hpp>
#include <sim/sync_subject.hpp>

#include <algorithm>
#include <memory>
#include <vector>

namespace fairlead::test {

template <class... Subjects> class sync_scene {
public:
    explicit sync_scene(sim::world& w) : account(w), world_(w) {
        (subjects_.push_back(std::make_unique<Subjects>(w, account)), ...);
        auto const acts = w.choose("acts", 1, 1'000);
        for (std::uint64_t i = 0; i != acts; ++i)
            w.at(std::chrono::microseconds(below(5'000)), [this] {
                if (!is_abandoned_)
                    subjects_[below(static_cast<std::uint32_t>(subjects_.size()))]->act();
            });
        if (w.choose("abandons", 0, 7) == 0)
            w.at(std::chrono::microseconds(below(5'000)), [this] {
                is_abandoned_ = true;
                account.end_everything();
                for (auto const& s : subjects_)
                    s->check_abandoned();
            });
    }
    /// Until nothing happens any more. Coroutines may wait for something that settle() has yet to do.
    void run() { world_.run_for(std::chrono::seconds(10)); }
    void settle() {
        for (int i = 0; i != 1'000 && !is_abandoned_ && !have_ended(); ++i) {
            for (auto const& s : subjects_)
                s->let_all_end();
            run();
        }
        account.settle();
        for (auto const& s : subjects_)
            if (!is_abandoned_)
                s->settle();
    }
    std::size_t waits() const {
        std::size_t n = 0;
        for (auto const& s : subjects_)
            n += s->count();
        return n;
    }

    ledger account;

private:
    std::uint32_t below(std::uint32_t n) { return world_.random().below(n); }
    bool have_ended() const {
        return std::all_of(subjects_.begin(), subjects_.end(), [](auto const& s) { return s->all_have_ended(); });
    }

    sim::world& world_;
    std::vector<std::unique_ptr<sync_subject>> subjects_;
    bool is_abandoned_ = false;
};

} // namespace fairlead::test
