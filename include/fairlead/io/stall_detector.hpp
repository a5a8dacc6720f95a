// A thread that notices when a handler or a coroutine keeps a loop for too long, and says which one.
//
// While nobody has a detector, it costs nothing. With one, each handler runs as before. Several times within the limit
// the detector looks whether a thread of the loop is inside a handler. It asks such a thread by a signal where it is.
// A thread that is twice at the same place, and the limit apart, is asked for its stack.
#pragma once

#include <fairlead/base/config.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace fairlead {

class io_context;

/// A handler or a coroutine that had not given way when it was looked at.
struct stall {
    std::string running;             ///< the function that the loop has called, or the coroutine that it has resumed
    std::chrono::nanoseconds lasted; ///< since it was seen for the first time: not the time before
    long thread;                     ///< its number, as gettid() says
    /// One line for each call, the innermost first: the function and, for addr2line, the place in its file.
    std::string stack;
};

/// "<running> has kept a loop for 120 ms", and the stack below.
FAIRLEAD_EXPORT std::string to_string(stall const& s);

/// The limit of a detector, and where its reports go.
struct stall_options {
    std::chrono::nanoseconds limit = std::chrono::milliseconds(100); ///< one millisecond at least
    /// Called by the detector's thread, within half a limit after the limit. Called again for the same handler whenever
    /// twice as much time has passed. It must not throw, nor destroy the detector. Without one, to_string() goes to
    /// standard error.
    std::function<void(stall const&)> report = {};
    /// By which a thread is asked. 0: SIGRTMAX - 1. The program uses it for nothing else and blocks it in no thread
    /// inside run(). Calls that the system interrupts may return EINTR while a handler is looked at.
    int signal = 0;
};

/// Watches the threads inside run() of one context. It does not see handlers of a run() that another handler calls. Nor
/// does it see strands and pools whose threads run no loop.
///
/// Throws     system_error. invalid_argument: a limit below a millisecond, or no number of a signal. already_open: the
///            context has a detector. operation_not_supported: a simulated context
/// Lifetime   any: the context may go first, and the detector while a handler is stuck
/// Threads    any. A thread inside run() is watched from its next look at the queue on. In the child of a fork nothing
///            is watched
/// Allocates  the detector and its reports; in the threads that it watches nothing, unless more than eight are in run()
class stall_detector {
public:
    FAIRLEAD_EXPORT explicit stall_detector(io_context& watched, stall_options options = {});
    /// Waits for a report that is being made. Afterwards the action of the signal is what it was before. Only if a
    /// thread has still to take a signal, that action stays as it is: the signal must not end the process.
    FAIRLEAD_EXPORT ~stall_detector();
    stall_detector(stall_detector const&) = delete;
    stall_detector& operator=(stall_detector const&) = delete;

private:
    class watcher;
    std::unique_ptr<watcher> watcher_;
};

} // namespace fairlead
