// Every state that a connection can come to, and every event in each: the machine beside the flags that it stands for.
#include <redis/session_machine.hpp>

#include <gtest/gtest.h>

#include <compare>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace fairlead::test {

using redis::impl::session_machine;

namespace {

using phase = session_machine::phase;
using admission = session_machine::admission;
using next = session_machine::next;
using change_of_work = session_machine::change_of_work;

/// The machine's state, as flags. Each event is written down anew here, with no look at the machine.
struct session_flags {
    phase now = phase::idle;
    bool closed = false;
    bool counted = false;
    bool flush_queued = false;
    bool writing = false;
    bool write_failed = false;
    bool asked = false;
    bool had_all = false;
    bool arriving = false;
    auto operator<=>(session_flags const&) const = default;

    bool runs() const { return now != phase::idle && now != phase::ending; }
};

/// One thing that can happen. Both functions return the answer, 0 where there is none.
struct session_event {
    char const* name;
    bool (*is_allowed)(session_flags const&);
    int (*to_flags)(session_flags&);
    int (*to_machine)(session_machine&);
};

bool always(session_flags const&) { return true; }
bool can_write(session_flags const& f) { return !f.writing && !f.write_failed; }

int count_flags(session_flags& f, bool has_pending) {
    bool const before = f.counted;
    f.counted = f.now == phase::idle && has_pending;
    if (before == f.counted)
        return int(change_of_work::none);
    return int(f.counted ? change_of_work::begins : change_of_work::ends);
}
int finish_write(session_flags& f, bool is_good) {
    f.writing = false;
    f.write_failed = !is_good;
    if (f.now == phase::ending)
        return int(next::finish);
    if (!is_good)
        return int(next::nothing);
    return int(f.now == phase::ready ? next::write : f.now == phase::greeted ? next::greet : next::nothing);
}

using flags = session_flags;
using machine = session_machine;

std::vector<session_event> const session_events = {
    {"begin", always,
     [](flags& f) {
         if (f.closed)
             return int(admission::closed);
         if (f.now != phase::idle)
             return int(admission::already_running);
         f.now = phase::connecting;
         return int(admission::begun);
     },
     [](machine& m) { return int(m.begin()); }},
    {"connected", [](flags const& f) { return f.now == phase::connecting; },
     [](flags& f) {
         f.now = phase::greeting;
         return 0;
     },
     [](machine& m) {
         m.connected();
         return 0;
     }},
    {"greeting_sent",
     [](flags const& f) { return (f.now == phase::greeting || f.now == phase::greeted) && can_write(f); },
     [](flags& f) {
         f.now = phase::greeting;
         return 0;
     },
     [](machine& m) {
         m.greeting_sent();
         return 0;
     }},
    {"answered", always,
     [](flags& f) {
         if (f.now == phase::greeting)
             f.now = phase::greeted;
         return 0;
     },
     [](machine& m) {
         m.answered();
         return 0;
     }},
    {"opened", [](flags const& f) { return f.now == phase::greeted; },
     [](flags& f) {
         f.now = phase::ready;
         f.asked = f.had_all = false;
         return 0;
     },
     [](machine& m) {
         m.opened();
         return 0;
     }},
    {"end", [](flags const& f) { return f.runs(); },
     [](flags& f) {
         f.now = phase::ending;
         return int(!f.writing);
     },
     [](machine& m) { return int(m.end()); }},
    {"over", [](flags const& f) { return f.now == phase::ending && !f.writing; },
     [](flags& f) {
         f.now = phase::idle;
         bool const failed = f.write_failed;
         f.write_failed = false;
         return int(failed);
     },
     [](machine& m) { return int(m.over()); }},
    {"wants_flush", always,
     [](flags& f) {
         if (f.flush_queued || f.writing)
             return 0;
         f.flush_queued = true;
         return 1;
     },
     [](machine& m) { return int(m.wants_flush()); }},
    {"flushed", always,
     [](flags& f) {
         f.flush_queued = false;
         return int(f.now == phase::ready && !f.writing);
     },
     [](machine& m) { return int(m.flushed()); }},
    {"write_waits", can_write,
     [](flags& f) {
         f.writing = true;
         return 0;
     },
     [](machine& m) {
         m.write_waits();
         return 0;
     }},
    {"write_failed", can_write,
     [](flags& f) {
         f.write_failed = true;
         return 0;
     },
     [](machine& m) {
         m.write_failed();
         return 0;
     }},
    {"wrote well", [](flags const& f) { return f.writing; }, [](flags& f) { return finish_write(f, true); },
     [](machine& m) { return int(m.wrote(true)); }},
    {"wrote with an error", [](flags const& f) { return f.writing; }, [](flags& f) { return finish_write(f, false); },
     [](machine& m) { return int(m.wrote(false)); }},
    {"heard", always,
     [](flags& f) {
         f.asked = f.had_all = false;
         return 0;
     },
     [](machine& m) {
         m.heard();
         return 0;
     }},
    {"asked what is under way", always,
     [](flags& f) {
         f.asked = true;
         f.had_all = false;
         return 0;
     },
     [](machine& m) {
         m.asked(false);
         return 0;
     }},
    {"asked what has arrived", always,
     [](flags& f) {
         f.asked = f.had_all = true;
         return 0;
     },
     [](machine& m) {
         m.asked(true);
         return 0;
     }},
    {"close", always,
     [](flags& f) {
         f.closed = true;
         return 0;
     },
     [](machine& m) {
         m.close();
         return 0;
     }},
    {"count some", always, [](flags& f) { return count_flags(f, true); },
     [](machine& m) { return int(m.count(true)); }},
    {"count none", always, [](flags& f) { return count_flags(f, false); },
     [](machine& m) { return int(m.count(false)); }},
    {"arrived", always,
     [](flags& f) {
         bool const is_first = !f.arriving;
         f.arriving = true;
         return int(is_first);
     },
     [](machine& m) { return int(m.arrived()); }},
    {"carried out all", always,
     [](flags& f) {
         f.arriving = false;
         return 0;
     },
     [](machine& m) { return int(m.carried_out(true)); }},
    {"carried out some", always,
     [](flags& f) {
         f.arriving = true;
         return 1;
     },
     [](machine& m) { return int(m.carried_out(false)); }},
};

session_event const& session_event_called(std::string_view name) {
    for (auto const& e : session_events)
        if (name == e.name)
            return e;
    throw std::out_of_range(std::string(name));
}

using session_path = std::vector<session_event const*>;

std::string described(session_path const& path) {
    std::string text;
    for (auto const* e : path)
        text.append(text.empty() ? "" : ", ").append(e->name);
    return text;
}

void walk_machine(session_machine& m, session_path const& path) {
    for (auto const* e : path)
        e->to_machine(m);
}

void expect_same_to_see(session_machine const& m, session_flags const& f) {
    EXPECT_EQ(m.now_in(), f.now);
    EXPECT_EQ(m.is_ready(), f.now == phase::ready);
    EXPECT_EQ(m.is_under_way(), f.runs());
    EXPECT_EQ(m.is_closed(), f.closed);
    EXPECT_EQ(m.is_writing(), f.writing);
    EXPECT_EQ(m.may_write(), !f.writing && !f.write_failed);
    EXPECT_EQ(m.may_go_on_greeting(), f.now == phase::greeted && !f.writing && !f.write_failed);
    EXPECT_EQ(m.has_asked(), f.asked);
    EXPECT_EQ(m.has_asked_what_arrived(), f.asked && f.had_all);
}

/// State that cannot be seen shows in the answers.
void expect_same_answers(session_machine& m, session_flags f) {
    for (auto const* const name : {"wants_flush", "arrived", "count some", "count none"}) {
        auto const& e = session_event_called(name);
        EXPECT_EQ(e.to_machine(m), e.to_flags(f)) << "asked afterwards: " << name;
    }
}

} // namespace

TEST(RedisSessionStates, EachStateAnswersEachEventAsItsFlagsDo) {
    std::map<session_flags, session_path> reached = {{session_flags(), {}}};
    std::vector<session_flags> to_visit = {session_flags()};
    std::set<phase> phases;
    std::size_t steps = 0;
    while (!to_visit.empty()) {
        auto const from = to_visit.back();
        to_visit.pop_back();
        phases.insert(from.now);
        for (auto const& e : session_events) {
            if (!e.is_allowed(from))
                continue;
            ++steps;
            auto path = reached.at(from);
            session_machine m;
            walk_machine(m, path);
            auto to = from;
            EXPECT_EQ(e.to_machine(m), e.to_flags(to)) << e.name;
            expect_same_to_see(m, to);
            expect_same_answers(m, to);
            path.push_back(&e);
            if (testing::Test::HasFailure())
                FAIL() << "after " << described(path);
            if (reached.try_emplace(to, path).second)
                to_visit.push_back(to);
        }
    }
    EXPECT_EQ(phases.size(), 6U);
    EXPECT_EQ(reached.size(), 864U)
        << "all there can be: 6 phases, 3 of writing, 3 questions, and 4 that are or are not";
    EXPECT_EQ(steps, 13'440U);
}

TEST(RedisSessionStates, WhatAStateRulesOutIsABug) {
    session_machine m;
    EXPECT_DEATH(m.connected(), "phase_ == from") << "it is idle";
    EXPECT_DEATH(m.greeting_sent(), "phase_ == phase::greeting");
    EXPECT_DEATH(m.opened(), "phase_ == from");
    EXPECT_DEATH(static_cast<void>(m.end()), "is_under_way");
    EXPECT_DEATH(static_cast<void>(m.over()), "phase_ == from");
    EXPECT_DEATH(static_cast<void>(m.wrote(true)), "writing::under_way");
    m.begin();
    m.connected();
    EXPECT_DEATH(m.opened(), "phase_ == from") << "the replies have not come";
    m.write_waits();
    EXPECT_DEATH(m.write_waits(), "may_write") << "one is under way";
    EXPECT_DEATH(m.greeting_sent(), "may_write");
    m.end();
    EXPECT_DEATH(static_cast<void>(m.over()), "writing::under_way");
}

} // namespace fairlead::test
