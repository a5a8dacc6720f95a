// Stackless coroutines without the language's: a resume point in an int, and a switch in three macros.
//
//     struct session : fairlead::coroutine {
//         void operator()(error_code ec = {}, std::size_t n = 0) {
//             FAIRLEAD_CORO_REENTER (this) {
//                 while (!ec) {
//                     FAIRLEAD_CORO_YIELD socket->async_read_some(buffer(data), *this);
//                     FAIRLEAD_CORO_YIELD async_write(*socket, buffer(data, n), *this);
//                 }
//             }
//         }
//     };
//
// <fairlead/legacy/yield.hpp> gives the macros the names reenter, yield and fork; unyield.hpp takes them away again.
// Source: Asio, coroutine.hpp
#pragma once

namespace fairlead {

namespace impl::legacy {
class coroutine_run;
}

/// Where to go on. Copyable, so that handlers that carry one are.
class coroutine {
public:
    coroutine() noexcept = default;
    bool is_child() const noexcept { return at_ < 0; } ///< of a fork, until it yields
    bool is_parent() const noexcept { return !is_child(); }
    bool is_complete() const noexcept { return at_ == complete; }

private:
    friend class impl::legacy::coroutine_run;
    static constexpr int complete = -1;
    int at_ = 0;
};

namespace impl::legacy {

/// One run of a coroutine's body. The coroutine is complete when it ends without having yielded.
class coroutine_run {
public:
    explicit coroutine_run(coroutine& c) noexcept : at_(c.at_) {}
    explicit coroutine_run(coroutine* c) noexcept : at_(c->at_) {}
    coroutine_run(coroutine_run const&) = delete;
    coroutine_run& operator=(coroutine_run const&) = delete;
    ~coroutine_run() {
        if (!yielded_ && entered_)
            at_ = coroutine::complete;
    }

    bool enter() noexcept {
        if (entered_ || at_ == coroutine::complete)
            return false;
        entered_ = true;
        return true;
    }
    int at() const noexcept { return at_; }

    void yield_at(int n) noexcept {
        at_ = n;
        yielded_ = true;
        performed_ = false;
    }
    void end() noexcept { at_ = coroutine::complete; }
    bool has_ended() const noexcept { return at_ == coroutine::complete; }
    /// False the first time: then the statement is performed.
    bool has_performed() noexcept { return performed_ || !(performed_ = true); }

    void fork_at(int n) noexcept {
        at_ = -n; // Copies that are made now go on as the child.
        performed_ = false;
    }
    void stay(int n) noexcept { at_ = n; }

private:
    int& at_; // may have gone once it has yielded
    bool entered_ = false;
    bool yielded_ = false;
    bool performed_ = false;
};

} // namespace impl::legacy
} // namespace fairlead

/// The body of a coroutine `c`, a reference or a pointer to one: goes on at the last resume point, unless it has ended.
/// Once in a function.
#define FAIRLEAD_CORO_REENTER(c)                                                                                       \
    for (::fairlead::impl::legacy::coroutine_run fairlead_coro(c); fairlead_coro.enter();)                             \
        if (false) {                                                                                                   \
            goto fairlead_coro_leave;                                                                                  \
        fairlead_coro_leave:                                                                                           \
            break;                                                                                                     \
        } else                                                                                                         \
            switch (fairlead_coro.at())                                                                                \
            case 0:

#define FAIRLEAD_CORO_YIELD_AT(n)                                                                                      \
    for (fairlead_coro.yield_at(n);; fairlead_coro.end())                                                              \
        if (false) {                                                                                                   \
        case (n): break;                                                                                               \
        } else if (fairlead_coro.has_ended()) { /* the statement was a break */                                        \
            goto fairlead_coro_leave;                                                                                  \
        } else                                                                                                         \
            for (;;)                                                                                                   \
                if (fairlead_coro.has_performed())                                                                     \
                    goto fairlead_coro_leave;                                                                          \
                else

#define FAIRLEAD_CORO_FORK_AT(n)                                                                                       \
    for (fairlead_coro.fork_at(n);; fairlead_coro.stay(n))                                                             \
        if (false) {                                                                                                   \
        case -(n): break;                                                                                              \
        } else if (fairlead_coro.has_performed()) {                                                                    \
            break;                                                                                                     \
        } else

/// Performs the statement behind it and leaves the block; the next call goes on after the statement. `return` leaves
/// with a value, `break` ends the coroutine. Behind an `if` it wants braces around it, or compilers warn.
#define FAIRLEAD_CORO_YIELD FAIRLEAD_CORO_YIELD_AT(__LINE__)
/// Performs the statement, which usually copies the coroutine; the copy goes on after it, and so does the original.
#define FAIRLEAD_CORO_FORK FAIRLEAD_CORO_FORK_AT(__LINE__)
