// The operating system that P0162R0 and P0055R1 emulate: a queue of contexts and one persistent callback.
#pragma once

#include <cstddef>
#include <deque>

namespace os {

using OsResultType = int;
struct OsContext {};
using CallbackFnPtr = void (*)(OsResultType, OsContext*);
using ParamType = int;

struct state {
    CallbackFnPtr callback = nullptr;
    std::deque<std::pair<ParamType, OsContext*>> queue;
};
inline state& the_os() {
    static state s;
    return s;
}

inline void os_associate_completion_callback(CallbackFnPtr cb) { the_os().callback = cb; }
inline void os_xyz(ParamType p, OsContext* o) { the_os().queue.emplace_back(p, o); }
inline bool os_trigger_completion() {
    auto& s = the_os();
    if (s.queue.empty())
        return false;
    auto const [p, context] = s.queue.front();
    s.queue.pop_front();
    s.callback(p, context);
    return true;
}

} // namespace os
