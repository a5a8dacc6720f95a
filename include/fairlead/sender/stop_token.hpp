// Stop tokens of C++26: their concept, a token that is never stopped, and a stop state that lies where its user puts
// it.
#pragma once

#include <fairlead/exec/short_lock.hpp>

#include <atomic>
#include <concepts>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace fairlead {
namespace impl::sender {

template <class Token, class Callback> struct stop_callback_of {};
template <class Token, class Callback>
    requires requires { typename Token::template callback_type<Callback>; }
struct stop_callback_of<Token, Callback> {
    using type = typename Token::template callback_type<Callback>;
};
template <class Callback> struct stop_callback_of<std::stop_token, Callback> { // It has no such member before C++26.
    using type = std::stop_callback<Callback>;
};
struct any_callback {
    void operator()() const noexcept {}
};

} // namespace impl::sender

/// The callback of a stop token, whatever its kind.
template <class Token, class Callback> using stop_callback_for_t =
    typename impl::sender::stop_callback_of<Token, Callback>::type;

/// The tokens by which an operation is asked to end.
/// Source     C++26, [stoptoken.concepts]
template <class Token>
concept stoppable_token = requires(Token const t) {
    typename stop_callback_for_t<Token, impl::sender::any_callback>;
    { t.stop_requested() } noexcept -> std::convertible_to<bool>;
    { t.stop_possible() } noexcept -> std::convertible_to<bool>;
} && std::is_nothrow_copy_constructible_v<Token> && std::copyable<Token> && std::equality_comparable<Token>;

/// Those whose type says that no stop is ever requested.
template <class Token>
concept unstoppable_token = stoppable_token<Token> && requires { requires !Token::stop_possible(); };

/// No stop is ever requested.
struct never_stop_token {
    struct no_callback {
        template <class Callback> explicit no_callback(never_stop_token, Callback&&) noexcept {}
    };
    template <class Callback> using callback_type = no_callback;

    static constexpr bool stop_requested() noexcept { return false; }
    static constexpr bool stop_possible() noexcept { return false; }
    bool operator==(never_stop_token const&) const noexcept = default;
};

class inplace_stop_source;
class inplace_stop_token;
template <class Callback> class inplace_stop_callback;

namespace impl::sender {

/// A callback in the list of its source.
class FAIRLEAD_EXPORT listed_callback {
public:
    listed_callback(listed_callback const&) = delete;
    listed_callback& operator=(listed_callback const&) = delete;

protected:
    explicit listed_callback(void (*call)(listed_callback&) noexcept) noexcept : call_(call) {}
    ~listed_callback() = default;

    /// Calls it at once if a stop has been requested. `s` may be null.
    void listen(inplace_stop_source const* s) noexcept;
    /// Waits for the callback if another thread is in it.
    void stop_listening() noexcept;

private:
    friend class fairlead::inplace_stop_source;

    void (*call_)(listed_callback&) noexcept;
    inplace_stop_source const* source_ = nullptr;
    listed_callback* next_ = nullptr;
    listed_callback* previous_ = nullptr;
    bool is_listed_ = false;
    bool* has_gone_ = nullptr; ///< while it is called: whether it has been destroyed inside
    exec::short_lock called_;  ///< held while it is called
};

} // namespace impl::sender

/// Refers to an inplace_stop_source, which outlives it.
class inplace_stop_token {
public:
    template <class Callback> using callback_type = inplace_stop_callback<Callback>;

    inplace_stop_token() noexcept = default;
    bool stop_requested() const noexcept;
    bool stop_possible() const noexcept { return source_ != nullptr; }
    void swap(inplace_stop_token& other) noexcept { std::swap(source_, other.source_); }
    bool operator==(inplace_stop_token const&) const noexcept = default;

private:
    friend class inplace_stop_source;
    template <class Callback> friend class inplace_stop_callback;
    explicit inplace_stop_token(inplace_stop_source const* s) noexcept : source_(s) {}

    inplace_stop_source const* source_ = nullptr;
};

/// A stop state in the object itself.
/// Lifetime   it outlives its tokens and callbacks
/// Threads    any; callbacks run in the thread that requests the stop. One that is destroyed by another thread is
///            waited for
/// Allocates  nothing
/// Source     C++26, [stopsource.inplace]
class FAIRLEAD_EXPORT inplace_stop_source {
public:
    inplace_stop_source() noexcept = default;
    inplace_stop_source(inplace_stop_source const&) = delete;
    inplace_stop_source& operator=(inplace_stop_source const&) = delete;

    inplace_stop_token get_token() const noexcept { return inplace_stop_token(this); }
    static constexpr bool stop_possible() noexcept { return true; }
    bool stop_requested() const noexcept { return is_stopped_.load(std::memory_order_acquire); }
    /// False: it was requested before.
    bool request_stop() noexcept;

private:
    friend class impl::sender::listed_callback;

    mutable impl::exec::short_lock lock_;
    std::atomic<bool> is_stopped_{false};
    mutable impl::sender::listed_callback* first_ = nullptr;
    mutable impl::sender::listed_callback* called_ = nullptr; ///< right now, by `caller_`
    void const* caller_ = nullptr;
};

inline bool inplace_stop_token::stop_requested() const noexcept { return source_ && source_->stop_requested(); }

/// Calls `callback` when a stop is requested, or at once if it has been.
template <class Callback> class inplace_stop_callback : private impl::sender::listed_callback {
public:
    using callback_type = Callback;

    template <class C>
        requires std::constructible_from<Callback, C>
    explicit inplace_stop_callback(inplace_stop_token t,
                                   C&& callback) noexcept(std::is_nothrow_constructible_v<Callback, C>)
        : listed_callback([](listed_callback& c) noexcept {
              std::forward<Callback>(static_cast<inplace_stop_callback&>(c).callback_)();
          }),
          callback_(std::forward<C>(callback)) {
        listen(t.source_);
    }
    ~inplace_stop_callback() { stop_listening(); }

private:
    Callback callback_;
};
template <class Callback> inplace_stop_callback(inplace_stop_token, Callback) -> inplace_stop_callback<Callback>;

} // namespace fairlead
