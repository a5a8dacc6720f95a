// A thread waits for one operation that it has started, and runs the loops that nobody else runs meanwhile.
//
// While the object exists, each loop that the thread hands something to is noted in it. A noted loop without a thread
// inside run() is driven: otherwise the operation might never go on. One that another thread runs is left to it.
#pragma once

#include <fairlead/base/config.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>

namespace fairlead {

class loop;

namespace impl::exec {

class FAIRLEAD_EXPORT blocking_wait {
public:
    blocking_wait() noexcept;
    blocking_wait(blocking_wait const&) = delete;
    blocking_wait& operator=(blocking_wait const&) = delete;
    ~blocking_wait();

    /// The operation has ended, with its result stored or without a call. Any thread, once; the last that it does here.
    void finish() noexcept;
    /// Returns after finish(). Throws what the handlers that it ran threw, the first of them, only then.
    void wait();

    bool is_over() const noexcept { return phase_.load(std::memory_order_seq_cst) != pending; }
    /// Until the thread begins to wait: what it starts is the operation itself.
    bool is_starting() const noexcept { return !driven_.load(std::memory_order_relaxed); }
    /// The calling thread has handed something to `l`.
    void note(loop& l) noexcept;

private:
    enum phase : std::uint32_t { pending, finishing, finished };
    bool drive_loops();

    static constexpr std::size_t loops_most = 8; ///< More are not driven, only waited for.
    loop* loops_[loops_most];
    std::size_t count_ = 0;
    std::atomic<loop*> driven_{nullptr}; ///< may be asleep in there: finish() wakes it
    std::atomic<std::uint32_t> phase_{pending};
    std::exception_ptr thrown_;
    blocking_wait* outer_;
};

} // namespace impl::exec
} // namespace fairlead
