// A signal of the process that shows what the tasks of a context are doing.
#pragma once

#include <fairlead/base/config.hpp>

#include <functional>
#include <memory>
#include <string>

namespace fairlead {

class io_context;

/// Lists the tasks of a context (coro/tasks.hpp). While it lives, it writes dump() of them at each signal, with one
/// line before it.
/// Throws     system_error: `number` is no signal that a signal_set takes
/// Lifetime   the context outlives this. run() does not return for lack of work while it lives
/// Threads    made and destroyed where signal sets are. Only one thread is inside run() of the context
/// Allocates  as list_tasks() and dump(), and what the waits of a signal_set do
class dump_on_signal {
public:
    /// `write` is called with the text, by a handler of `c`. Without one the text goes to standard error.
    FAIRLEAD_EXPORT dump_on_signal(io_context& c, int number, std::function<void(std::string const&)> write = {});
    FAIRLEAD_EXPORT ~dump_on_signal();
    dump_on_signal(dump_on_signal const&) = delete;
    dump_on_signal& operator=(dump_on_signal const&) = delete;

private:
    class waiting;
    std::shared_ptr<waiting> waiting_; ///< with the handler of its wait
};

} // namespace fairlead
