#include <fairlead/coro/tasks.hpp>

#include <fairlead/exec/execution_context.hpp>
#include <fairlead/exec/executor.hpp>
#include <fairlead/exec/function_names.hpp>

#include <coro/task_list.hpp>
#include <coro/tree_text.hpp>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include <execinfo.h>

namespace fairlead {
namespace impl::coro {
namespace {

/// Ends the list of a context when that goes.
class listing final : public execution_context::service {
public:
    explicit listing(execution_context& c) : service(c) { task_list::of_process().begin(c); }
    ~listing() override { task_list::of_process().end(context()); }

private:
    void shutdown() override {}
};

/// Null: the executor is of none, or says so by an exception.
execution_context const* context_of(await_record const& r) noexcept {
    try {
        return &r.executor->context();
    } catch (...) {
        return nullptr;
    }
}

/// Of a name without its template arguments: is it ours or the standard library's? The demangler does not know all
/// lambdas.
bool is_of_library(std::string_view name) noexcept {
    return name.find("fairlead::") != name.npos || name.find("std::") != name.npos ||
           (name.starts_with("_Z") && name.find("N8fairlead") != name.npos);
}

/// The innermost caller that does not belong to the library, in the same item, as "in f  program+0x1234". Callers
/// without a symbol are passed over: clang gives none to its part of an await_suspend(). If nothing has a symbol, the
/// places of all callers are given.
std::string place_of_spawn(task_list::task const& t, exec::function_names& names) {
    bool has_left = false; // the walk itself, around which sanitizers put a function of theirs
    std::string nameless;
    for (int i = 0; i < t.depth; ++i) {
        auto const* const call = static_cast<char const*>(t.spawned_by[static_cast<std::size_t>(i)]) - 1;
        auto const place = exec::function_names::place_of(call);
        auto const function = names.of(call);
        auto const name = std::string_view(function).substr(0, function.find('<'));
        if (name.find("fairlead::loop::") != name.npos || name.find("fairlead::io_loop::") != name.npos)
            break;
        has_left |= is_of_library(name);
        if (function == place)
            nameless += ' ' + place;
        else if (has_left && !is_of_library(name))
            return "in " + function + "  " + place;
    }
    return has_left ? "by the library" : "from" + nameless;
}

} // namespace

constinit std::atomic<unsigned> task_list::contexts_{0};

task_list& task_list::of_process() noexcept {
    alignas(task_list) static std::byte place[sizeof(task_list)];
    static auto* const list = ::new (place) task_list; // Never destroyed: tasks may outlive main().
    return *list;
}

void task_list::begin(execution_context const& c) {
    std::lock_guard const lock(mutex_);
    listed_.insert(&c);
    contexts_.store(static_cast<unsigned>(listed_.size()), std::memory_order_relaxed);
}

void task_list::end(execution_context const& c) noexcept {
    std::lock_guard const lock(mutex_);
    listed_.erase(&c);
    for (auto& [record, t] : tasks_)
        if (t.context == &c)
            t.context = nullptr; // Another context may come to lie there.
    contexts_.store(static_cast<unsigned>(listed_.size()), std::memory_order_relaxed);
}

bool task_list::add(await_record const& r) noexcept {
    auto const* const context = context_of(r);
    std::lock_guard const lock(mutex_);
    if (!listed_.contains(context))
        return false;
    try {
        auto& t = tasks_[&r];
        t.number = ++last_number_;
        t.context = context;
        t.depth = ::backtrace(t.spawned_by.data(), static_cast<int>(t.spawned_by.size()));
        return true;
    } catch (std::bad_alloc const&) {
        return false;
    }
}

void task_list::remove(await_record const& r) noexcept {
    std::lock_guard const lock(mutex_);
    tasks_.erase(&r);
}

void task_list::has_moved(await_record const& r) noexcept {
    std::lock_guard const lock(mutex_);
    if (auto const found = tasks_.find(&r); found != tasks_.end())
        found->second.context = context_of(r);
}

void task_list::name(await_record const& r, std::string_view name) noexcept {
    std::lock_guard const lock(mutex_);
    auto const found = tasks_.find(&r);
    if (found == tasks_.end())
        return;
    try {
        found->second.name = name;
    } catch (std::bad_alloc const&) {
        // It keeps the name that it has.
    }
}

std::string task_list::text(execution_context const& c) {
    std::lock_guard const lock(mutex_);
    exec::function_names names;
    std::vector<std::pair<std::uint64_t, await_record const*>> all;
    for (auto const& [record, t] : tasks_)
        if (t.context == &c)
            all.emplace_back(t.number, record);
    std::ranges::sort(all);
    auto const heading = [&](await_record const& r) {
        auto const found = tasks_.find(&r);
        if (found == tasks_.end())
            return std::string("an operation, or a task that was spawned before");
        auto const& t = found->second;
        return "task " + std::to_string(t.number) + (t.name.empty() ? "" : " \"" + t.name + '"') + ", spawned " +
               place_of_spawn(t, names);
    };
    std::string text = std::to_string(all.size()) + " tasks\n";
    for (auto const& [number, record] : all)
        if (!is_below_another(*record))
            write_tree(text, *record, names, heading);
    return text;
}

bool are_tasks_listed() noexcept { return task_list::is_in_use(); }
void name_task(await_record const& chain, std::string_view name) noexcept { task_list::of_process().name(chain, name); }

} // namespace impl::coro

void list_tasks(execution_context& c) {
    void* one[1];
    ::backtrace(one, 1); // The first call loads the unwinder, for which a spawn has no memory to spare.
    use_service<impl::coro::listing>(c);
}

std::string dump(execution_context& c) { return impl::coro::task_list::of_process().text(c); }

} // namespace fairlead
