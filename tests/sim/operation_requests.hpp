// The requests to the operations of core_operations_test.cpp.
#pragma once

#include <sim/operation_results.hpp>

namespace fairlead::test::script {

class requests : public results {
protected:
    using results::results;
    ~requests() = default;

    /// One that is under way, if a few looks find any.
    flight& some_flight() {
        flight* f = one_of(flights_).get();
        for (int looks = 0; looks != 4 && (f->is_over || !f->is_started); ++looks)
            f = one_of(flights_).get();
        return *f;
    }
    cancellation_type some_type() {
        constexpr cancellation_type types[] = {cancellation_type::terminal, cancellation_type::partial,
                                               cancellation_type::total, cancellation_type::all,
                                               cancellation_type::terminal | cancellation_type::partial};
        return types[below(5)];
    }
    void ask() {
        auto& f = some_flight();
        if (below(16) == 0) { // Another signal in its place: the operation hears nothing any more.
            f.is_deaf |= f.is_started;
            f.signal.emplace();
            return;
        }
        ask(f, some_type());
    }
    /// Its peer lets it complete, and it is asked to end at about the same time.
    void race() {
        auto& f = some_flight();
        auto const type = some_type();
        auto const after = world_.elapsed() + time_below(600);
        world_.at(after, [this, &f, type] {
            if (!is_destroyed_)
                ask(f, type);
        });
        let_its_peer_act(f);
    }
    static void ask(flight& f, cancellation_type type) {
        auto heard = cancellation_type::all;
        if (f.is_coroutine || f.kind == kind::spawns)
            heard = cancellation_type::terminal;
        else if (f.kind == kind::calls)
            heard = cancellation_type::none;
        else if (f.ignores_total)
            heard = cancellation_type::terminal | cancellation_type::partial;
        if (f.is_started && !f.is_deaf && (type & heard) != cancellation_type::none) {
            f.is_asked = true;
            f.must_end = true;
        }
        f.signal->emit(type);
    }
};

} // namespace fairlead::test::script
