// Where a coroutine awaits something, and since when, for dump() (coro/tasks.hpp).
//
// A program that is compiled with FAIRLEAD_AWAIT_PLACES=1 notes it at each co_await. Without that an await does nothing
// for it. Either way the memory is there, so that sources with and without it go together.
#pragma once

#include <fairlead/exec/await_record.hpp>

#if defined(FAIRLEAD_AWAIT_PLACES) && FAIRLEAD_AWAIT_PLACES

#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/exec/loop.hpp>

#include <bit>
#include <source_location>

/// The last parameter of an await_transform().
#define FAIRLEAD_AWAIT_PLACE , std::source_location const where = std::source_location::current()
/// The note of it.
#define FAIRLEAD_NOTE_AWAIT_PLACE(link) ::fairlead::impl::coro::note_await_place(link, where)
/// For one that calls another.
#define FAIRLEAD_NOTE_AWAIT_PLACE_AT_END(link)                                                                         \
    ::fairlead::impl::base::at_scope_end const notes([this, where] { FAIRLEAD_NOTE_AWAIT_PLACE(link); })

namespace fairlead::impl::coro {

inline void note_await_place(exec::chain_link& link, std::source_location where) noexcept {
    static_assert(sizeof(where) == sizeof(link.place), "a place of the source is expected to be a pointer");
    link.place = std::bit_cast<void const*>(where);
    link.record->awaits_since_ns = exec::this_thread.current ? exec::this_thread.current->clock_ns() : 0;
}

} // namespace fairlead::impl::coro

#else

/// None.
#define FAIRLEAD_AWAIT_PLACE
/// Nothing is noted.
#define FAIRLEAD_NOTE_AWAIT_PLACE(link) static_cast<void>(0)
/// Nothing is noted.
#define FAIRLEAD_NOTE_AWAIT_PLACE_AT_END(link) static_cast<void>(0)

#endif
