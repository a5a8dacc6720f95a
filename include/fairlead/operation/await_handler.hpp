// The handler through which a generic operation, one that users or algorithms compose, resumes a coroutine.
//
// Its associated allocator is the await record of that coroutine's chain. The operation's own memory lies there, and
// the operation knows nothing of it.
#pragma once

#include <fairlead/base/error.hpp>
#include <fairlead/base/taken_from.hpp>
#include <fairlead/exec/await_record.hpp>
#include <fairlead/exec/executor.hpp>
#include <fairlead/exec/recycler.hpp>

#include <new>
#include <tuple>
#include <utility>

namespace fairlead::impl::operation {

/// Only the thread that runs the coroutine may lend its bytes: an operation that allocates on two threads at once must
/// overflow.
inline bool lends_here(await_record const& r) noexcept {
    if (!r.home)
        return true;
    auto const* const f = exec::this_thread.frames;
    exec::section const s;
    return f && f->runs == r.home && f->runs->mine(s);
}
/// Memory for what does not fit into the bytes.
FAIRLEAD_EXPORT void* allocate_beside(await_record& r, std::size_t bytes);
FAIRLEAD_EXPORT void deallocate_beside(await_record& r, void* p, std::size_t bytes) noexcept;
inline void* lend_bytes(await_record& r, std::size_t bytes) {
    exec::section const s;
    if (lends_here(r) && !r.lent && bytes <= await_record::lendable) {
        r.lent = true;
        return r.bytes;
    }
    ++exec::this_thread.record_overflows;
    return allocate_beside(r, bytes);
}
inline void take_back_bytes(await_record& r, void* p, std::size_t bytes) noexcept {
    if (p != r.bytes)
        return deallocate_beside(r, p, bytes);
    r.lent = false;
    if (r.end == exec::chain_end::awaits_bytes) [[unlikely]]
        r.hooks->abandon(&r);
}

/// The lendable bytes of one await record as an allocator; a second live block lies beside it and is counted.
template <class T> class record_allocator {
public:
    using value_type = T;
    template <class U> struct rebind {
        using other = record_allocator<U>;
    };
    explicit record_allocator(await_record* r) noexcept : record_(r) {}
    template <class U> record_allocator(record_allocator<U> const& other) noexcept : record_(other.record_) {}

    T* allocate(std::size_t n)
        requires(!std::is_void_v<T>)
    {
        return static_cast<T*>(lend_bytes(*record_, n * sizeof(T)));
    }
    void deallocate(T* p, std::size_t n) noexcept
        requires(!std::is_void_v<T>)
    {
        take_back_bytes(*record_, p, n * sizeof(T));
    }
    template <class U> friend bool operator==(record_allocator const& a, record_allocator<U> const& b) noexcept {
        return a.record_ == b.record_;
    }

    await_record* record_;
};

/// Results lie behind the place of an op, so that a finished coroutine can still be queued through its own record.
inline constexpr std::size_t result_offset = sizeof(op);
inline constexpr std::size_t result_most = await_record::lendable - result_offset;

template <class Values> inline constexpr bool result_fits = sizeof(Values) <= result_most && alignof(Values) <= 16;

template <class Values> void store_result(await_record& r, Values&& v) {
    FAIRLEAD_ASSERT(!r.lent && "an operation kept memory of its handler's allocator past its completion");
    using type = std::decay_t<Values>;
    void* place = r.bytes + result_offset;
    if constexpr (result_fits<type>)
        ::new (place) type(std::forward<Values>(v));
    else
        ::new (place) type*(::new (allocate_beside(r, sizeof(type))) type(std::forward<Values>(v)));
}

/// An error code was just written as two words: copied as one of 16 bytes, it would wait for both to reach the cache.
template <class Values> Values move_by_words(Values& v) { return Values(std::move(v)); }
template <class... Rest> std::tuple<error_code, Rest...> move_by_words(std::tuple<error_code, Rest...>& v) {
    error_code const& first = std::get<0>(v);
    error_code const ec(first.value(), first.category());
    if constexpr (sizeof...(Rest) == 1)
        return std::tuple<error_code, Rest...>(ec, std::get<1>(std::move(v)));
    else
        return std::apply([&ec](error_code&, Rest&... rest) { return std::tuple(ec, std::move(rest)...); }, v);
}
template <class Values> Values take_result(await_record& r) {
    void* place = r.bytes + result_offset;
    if constexpr (result_fits<Values>) {
        auto* p = std::launder(static_cast<Values*>(place));
        Values v(move_by_words(*p));
        p->~Values();
        return v;
    } else {
        auto* p = *std::launder(static_cast<Values**>(place));
        Values v(move_by_words(*p));
        p->~Values();
        deallocate_beside(r, p, sizeof(Values));
        return v;
    }
}

/// As spend_slow() and spend(), for a chain. A coroutine of another library that awaits outside any loop has no budget
/// to keep.
inline bool spend_more_for(await_record const& r) noexcept { return !r.home || exec::spend_slow(); }
inline bool spend_for(await_record const& r) noexcept {
    if (exec::this_thread.item.take()) [[likely]]
        return true;
    return spend_more_for(r);
}

/// Ends the await of `r`, whose result is stored. Called by the operation, in whatever thread it ends.
FAIRLEAD_EXPORT void finish_await(await_record& r);
/// The operation will never complete: the root of the await chain is destroyed from its loop.
FAIRLEAD_EXPORT void drop_await(await_record& r) noexcept;
/// Puts an exception where the result of the await would be. The coroutine that awaits goes on next in this thread.
FAIRLEAD_EXPORT void await_has_failed(await_record& r, std::exception_ptr why);
/// Throws that in the coroutine.
[[noreturn]] FAIRLEAD_EXPORT void throw_failed(await_record& r);

/// Where an awaiting coroutine runs. A coroutine of another library that awaits outside any loop has none: inline then.
class await_executor {
public:
    explicit await_executor(resumer* home) noexcept : home_(home) {}
    execution_context& context() const {
        if (!home_)
            throw bad_executor();
        loop* const l = home_->as_loop();
        return l ? l->context() : home_->as_executor()->context();
    }
    template <class F> void execute(F&& f) const {
        if constexpr (std::same_as<std::decay_t<F>, exec::op_function>) {
            if (loop* const l = home_ ? home_->as_loop() : nullptr)
                l->post(f.release_for(*l));
            else if (home_)
                home_->resume_soon(f.release());
            else
                std::forward<F>(f)();
        } else {
            if (home_)
                home_->resume_soon(*exec::function_op<std::decay_t<F>>::make(std::forward<F>(f)));
            else
                std::forward<F>(f)();
        }
    }
    bool running_in_this_thread() const noexcept {
        auto const* const f = exec::this_thread.frames;
        return (f && f->runs == home_) || !home_ || home_->runs_here();
    }
    void on_work_started() const noexcept {
        if (home_)
            home_->count_work(+1);
    }
    void on_work_finished() const noexcept {
        if (home_)
            home_->count_work(-1);
    }
    loop* native_loop() const noexcept {
        auto const* const f = exec::this_thread.frames;
        if (f && f->runs == home_)
            return f->runs;
        return home_ ? home_->as_loop() : nullptr;
    }
    /// As it lives on when the coroutine has ended.
    operator any_io_executor() const {
        if (!home_)
            return {};
        loop* const l = home_->as_loop();
        return l ? any_io_executor(exec::any_executor_at_all(), loop_executor(l)) : *home_->as_executor();
    }
    friend bool operator==(await_executor, await_executor) noexcept = default;

private:
    resumer* home_;
};

} // namespace fairlead::impl::operation

namespace fairlead::impl {
template <> inline constexpr bool exec::always_loop<operation::await_executor> = false;
template <> struct exec::lasting_executor<operation::await_executor> {
    using type = any_io_executor;
};
} // namespace fairlead::impl

namespace fairlead::impl::operation {

template <class... Args> class await_handler {
public:
    using allocator_type = record_allocator<void>;
    using executor_type = await_executor;

    explicit await_handler(await_record* r) noexcept : record_(r) {}
    await_handler(await_handler&& other) noexcept : record_(base::taken_from(other.record_)) {}
    await_handler& operator=(await_handler&&) = delete;
    ~await_handler() {
        if (record_)
            drop_await(*record_);
    }

    allocator_type get_allocator() const noexcept { return allocator_type(record_); }
    executor_type get_executor() const noexcept { return executor_type(record_->home); }

    void operator()(Args... args) {
        auto& r = *base::taken_from(record_);
        store_result(r, std::tuple<std::decay_t<Args>...>(std::move(args)...));
        finish_await(r);
    }

private:
    await_record* record_;
};

} // namespace fairlead::impl::operation
