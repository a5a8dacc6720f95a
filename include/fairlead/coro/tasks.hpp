// The tasks of a context, and a text that shows what each is doing.
//
// A task is a chain of coroutines that co_spawn, a group or a scope has started. Nobody keeps a list of them until a
// program asks for one: until then a spawn costs one test more.
#pragma once

#include <fairlead/exec/await_record.hpp>

#include <concepts>
#include <coroutine>
#include <string>
#include <string_view>

namespace fairlead {

class execution_context;

/// From here on `c` has a list of the coroutines that are spawned on it, until it goes. With resume_on() a task moves
/// to the list of its new context.
/// Threads    any
/// Allocates  a node for each task, with its name and the place of its spawn. Without memory a task is not listed
FAIRLEAD_EXPORT void list_tasks(execution_context& c);

/// The listed tasks of `c` in the order of their spawns, those of a group below the one that awaits it. Each has a
/// number, its name if it has one, the place of its spawn, and its coroutines, the innermost first. A task that can be
/// asked to end also shows the primitive of the library that it awaits, such as a read or a wait.
///
/// A coroutine is shown as its function. Sources that are compiled with FAIRLEAD_AWAIT_PLACES=1 also note the line of
/// each co_await. The innermost coroutine is then shown with the operation that it awaits, whatever that is, and with
/// the time that it has waited.
/// Threads    one that runs a handler of `c`, while no other is inside its run(); any while none is
/// Allocates  the text, and the symbols of the program's file, which it reads
FAIRLEAD_EXPORT std::string dump(execution_context& c);

namespace impl::coro {

FAIRLEAD_EXPORT bool are_tasks_listed() noexcept;
FAIRLEAD_EXPORT void name_task(await_record const& chain, std::string_view name) noexcept;

class [[nodiscard("the task gets its name when this is awaited")]] name_awaiter {
public:
    explicit name_awaiter(std::string_view name) noexcept : name_(name) {}
    bool await_ready() const noexcept { return !are_tasks_listed(); }
    template <class Promise> bool await_suspend(std::coroutine_handle<Promise> h) const noexcept {
        name_task(*h.promise().link.record, name_);
        return false;
    }
    void await_resume() const noexcept {}

private:
    std::string_view name_;
};

} // namespace impl::coro

namespace this_coro {

/// `co_await this_coro::set_name("session 7");` gives the task that the coroutine is in a name, for dump(). The name is
/// copied. Nothing happens to a task that is not listed.
inline impl::coro::name_awaiter set_name(std::string_view name) noexcept { return impl::coro::name_awaiter(name); }

} // namespace this_coro
} // namespace fairlead
