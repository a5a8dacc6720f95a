// Parking and starting threads: with sim/seeds.cpp the only system calls outside the room io.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>

namespace fairlead::impl::exec::park {

/// Sleeps while `word` is `seen`, at most `timeout_ns` (negative: no limit). May return for no reason.
void wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::int64_t timeout_ns) noexcept;
void wake_one(std::atomic<std::uint32_t>& word) noexcept;
void wake_all(std::atomic<std::uint32_t>& word) noexcept;

/// Every running thread of the process passes a memory barrier before this returns. False: the system cannot.
bool barrier_in_all_threads() noexcept;
/// Asks the system for such barriers. That is quick before the process has a second thread. Later it takes some
/// milliseconds, in which this waits.
bool can_have_barriers() noexcept;
/// They have been asked for, or it has been in vain.
bool are_barriers_prepared() noexcept;
/// The process may have had no second thread yet.
bool is_single_threaded() noexcept;

/// The time, where no driver tells it. Tests put a clock of their own in the place of the system's.
std::int64_t now_ns() noexcept;
extern std::atomic<std::int64_t (*)() noexcept> clock;

void pause() noexcept;
/// Lets another thread have the processor.
void give_way() noexcept;

using thread = std::thread;
/// Throws system_error when there can be no further thread.
thread start_thread(std::function<void()> f);
std::size_t processors() noexcept;

} // namespace fairlead::impl::exec::park
