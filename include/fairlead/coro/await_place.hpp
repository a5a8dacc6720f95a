// Where a coroutine awaits something, what, and since when, for dump() (coro/tasks.hpp).
//
// A program that is compiled with FAIRLEAD_AWAIT_PLACES=1 notes the place at each co_await, and the rest when it
// suspends. Without that an await does nothing for it. Either way links and records have the memory for it, so that
// sources with and without it go together.
#pragma once

#include <fairlead/exec/await_record.hpp>

#if defined(FAIRLEAD_AWAIT_PLACES) && FAIRLEAD_AWAIT_PLACES

#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/exec/loop.hpp>

#include <bit>
#include <coroutine>
#include <source_location>

/// The last parameter of an await_transform().
#define FAIRLEAD_AWAIT_PLACE , std::source_location const where = std::source_location::current()
/// The note of it.
#define FAIRLEAD_NOTE_AWAIT_PLACE(link) ::fairlead::impl::coro::note_await_place(link, where)
/// For one that calls another.
#define FAIRLEAD_NOTE_AWAIT_PLACE_AT_END(link)                                                                         \
    ::fairlead::impl::base::at_scope_end const notes([this, where] { FAIRLEAD_NOTE_AWAIT_PLACE(link); })

/// The awaiter that an await_transform() returns.
#define FAIRLEAD_NOTED_AWAITER(...) ::fairlead::impl::coro::noted_awaiter<__VA_ARGS__>

namespace fairlead::impl::coro {

inline void note_await_place(exec::chain_link& link, std::source_location where) noexcept {
    static_assert(sizeof(where) == sizeof(link.place), "a place of the source is expected to be a pointer");
    link.place = std::bit_cast<void const*>(where);
    link.record->note = nullptr;
}

/// An awaiter, or a reference to one, with what dump() tells of its wait.
template <class Awaiter> class noted_awaiter {
public:
    template <class... Args> explicit noted_awaiter(Args&&... args) : awaiter_(std::forward<Args>(args)...) {}

    decltype(auto) await_ready() { return awaiter_.await_ready(); }
    template <class Promise> decltype(auto) await_suspend(std::coroutine_handle<Promise> h) {
        record_ = h.promise().link.record;
        note_.since_ns = exec::this_thread.current ? exec::this_thread.current->clock_ns() : 0;
        if constexpr (requires { awaiter_.names_operation(); })
            note_.what = awaiter_.names_operation();
        else
            note_.what = nullptr;
        record_->note = &note_;
        try {
            return awaiter_.await_suspend(h);
        } catch (...) {
            record_->note = nullptr;
            throw;
        }
    }
    decltype(auto) await_resume() {
        if (record_)
            record_->note = nullptr;
        return std::forward<Awaiter>(awaiter_).await_resume();
    }

private:
    Awaiter awaiter_;
    await_record* record_ = nullptr; ///< once it has waited
    exec::await_note note_;
};

} // namespace fairlead::impl::coro

#else

/// None.
#define FAIRLEAD_AWAIT_PLACE
/// Nothing is noted.
#define FAIRLEAD_NOTE_AWAIT_PLACE(link) static_cast<void>(0)
/// Nothing is noted.
#define FAIRLEAD_NOTE_AWAIT_PLACE_AT_END(link) static_cast<void>(0)
/// As it is.
#define FAIRLEAD_NOTED_AWAITER(...) __VA_ARGS__

#endif
