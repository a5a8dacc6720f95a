// The list of the tasks of the process, of those contexts that want one.
#pragma once

#include <fairlead/coro/spawn_root.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace fairlead::impl::coro {

class task_list {
public:
    struct task {
        std::uint64_t number; ///< in the order of the spawns
        execution_context const* context;
        std::string name;
        int depth;                        ///< of the stack of the spawn
        std::array<void*, 32> spawned_by; ///< the innermost first
    };

    /// Does any context want one?
    static bool is_in_use() noexcept { return contexts_.load(std::memory_order_relaxed) != 0; }
    static task_list& of_process() noexcept;

    void begin(execution_context const& c);
    void end(execution_context const& c) noexcept;
    /// False: its context has no list, or there is no memory.
    bool add(await_record const& r) noexcept;
    void remove(await_record const& r) noexcept;
    void has_moved(await_record const& r) noexcept;
    void name(await_record const& r, std::string_view name) noexcept;
    std::string text(execution_context const& c);

private:
    static constinit std::atomic<unsigned> contexts_;

    std::mutex mutex_;
    std::uint64_t last_number_ = 0;
    std::set<execution_context const*> listed_;
    std::map<await_record const*, task> tasks_;
};

} // namespace fairlead::impl::coro
