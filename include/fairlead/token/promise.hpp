// promise: an operation that has been started already, and is waited for later, with any token.
//
// Operation, promise and whoever waits share a state. The operation may end in another thread than the one that waits.
#pragma once

#include <fairlead/exec/recycler.hpp>
#include <fairlead/exec/short_lock.hpp>
#include <fairlead/operation/async_op.hpp>
#include <fairlead/operation/compose.hpp>
#include <fairlead/operation/request_relay.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace fairlead {
namespace impl::token {

/// A handler that waits for a promise, behind one type for all handlers.
template <class Values> class promise_waiter {
public:
    promise_waiter(promise_waiter const&) = delete;
    promise_waiter& operator=(promise_waiter const&) = delete;
    /// Gives its memory back, and calls the handler.
    virtual void complete(Values&& v) = 0;
    /// Gives its memory back; the handler is never called.
    virtual void drop() noexcept = 0;

protected:
    promise_waiter() noexcept = default;
    ~promise_waiter() = default;
};

template <class Values> class promise_state {
public:
    using waiter = promise_waiter<Values>;

    explicit promise_state(any_io_executor e) noexcept : executor_(std::move(e)) {}
    promise_state(promise_state const&) = delete;
    promise_state& operator=(promise_state const&) = delete;
    ~promise_state() {
        if (waiter_)
            waiter_->drop();
    }

    any_io_executor const& executor() const noexcept { return executor_; }
    cancellation_slot slot() noexcept { return signal_.slot(); }
    void ask(cancellation_type type) { signal_.emit(type); }
    bool has_ended() const noexcept { return has_ended_.load(std::memory_order_acquire); }

    void end(Values&& v) {
        lock_.lock();
        waiter* const w = std::exchange(waiter_, nullptr);
        if (!w)
            values_.emplace(std::move(v));
        has_ended_.store(true, std::memory_order_release);
        lock_.unlock();
        if (w)
            w->complete(std::move(v));
    }
    /// The operation will never end.
    void drop() noexcept {
        lock_.lock();
        waiter* const w = std::exchange(waiter_, nullptr);
        is_dropped_ = true;
        lock_.unlock();
        if (w)
            w->drop();
    }
    enum class answer : unsigned char { kept, ended, dropped };
    /// Keeps `w` until the end. Otherwise the caller keeps it, and finds the values here if it has ended.
    answer wait(waiter& w) {
        lock_.lock();
        FAIRLEAD_ASSERT(!waiter_ && !was_waited_for_ && "a promise is waited for once");
        was_waited_for_ = true;
        auto const a = has_ended_.load(std::memory_order_relaxed) ? answer::ended
                       : is_dropped_                              ? answer::dropped
                                                                  : answer::kept;
        if (a == answer::kept)
            waiter_ = &w;
        lock_.unlock();
        return a;
    }
    Values take() { return *std::move(values_); }

private:
    any_io_executor executor_; ///< of the operation; empty: it runs anywhere
    cancellation_signal signal_;
    std::optional<Values> values_;
    waiter* waiter_ = nullptr;
    std::atomic<bool> has_ended_{false};
    bool is_dropped_ = false, was_waited_for_ = false;
    exec::short_lock lock_; ///< nobody calls anything under it
};

/// The waiter of a handler, in memory of its allocator.
template <class Values, class Handler> class promise_waiter_of final : public promise_waiter<Values> {
public:
    template <class H> promise_waiter_of(std::shared_ptr<promise_state<Values>> const& s, H&& handler)
        : state_(s),
          handler_(std::forward<H>(handler)),
          work_(handler_, nullptr) {
        relay_.listen(handler_, *this);
    }

    void begin() {
        using answer = typename promise_state<Values>::answer;
        switch (state_->wait(*this)) {
        case answer::kept: break;
        case answer::ended: finish(state_->take(), true); break;
        case answer::dropped: drop(); break;
        }
    }
    void complete(Values&& v) override { finish(std::move(v), false); }
    void drop() noexcept override {
        relay_.stop(handler_);
        Handler const h(std::move(handler_));
        operation::deallocate_with(h, this);
    }

private:
    friend operation::request_relay<promise_waiter_of>;
    void request(cancellation_type type) {
        auto const state = state_; // The waiter may end while it asks.
        state->ask(type);
    }
    void finish(Values&& v, bool in_start) {
        relay_.stop(handler_);
        any_io_executor const ex = state_->executor();
        [[maybe_unused]] operation::handler_work<Handler> const work(std::move(work_)); // until it has been called
        Values values(std::move(v));                                                    // They may lie in the state.
        Handler h(operation::move_out(handler_, [this] { operation::deallocate_with(handler_, this); }));
        operation::deallocate_with(h, this);
        if (!in_start)
            operation::dispatch_values(h, std::move(values));
        else if (ex)
            operation::complete_composed(true, ex, h, std::move(values));
        else
            operation::complete_composed(true, inline_executor(), h, std::move(values));
    }

    std::shared_ptr<promise_state<Values>> state_;
    Handler handler_;
    operation::handler_work<Handler> work_;
    operation::request_relay<promise_waiter_of> relay_;
};

template <class Values> struct promise_initiation {
    std::shared_ptr<promise_state<Values>> state;

    any_io_executor get_executor() const { return state->executor(); }
    template <class Handler> void operator()(Handler&& handler) {
        using waiter = promise_waiter_of<Values, std::decay_t<Handler>>;
        operation::allocate_with<waiter>(handler, state, std::forward<Handler>(handler))->begin();
    }
};

/// The handler of the operation itself.
template <class Allocator, class... Args> class promise_handler {
public:
    using allocator_type = Allocator;
    using cancellation_slot_type = cancellation_slot;
    using slot_is_known_when_started = std::true_type;
    using state_type = promise_state<std::tuple<Args...>>;

    promise_handler(std::shared_ptr<state_type> s, Allocator const& a, bool hears) noexcept
        : state_(std::move(s)),
          allocator_(a),
          hears_(hears) {}
    promise_handler(promise_handler&&) = default;
    promise_handler(promise_handler const&) = delete;
    promise_handler& operator=(promise_handler&&) = delete;
    ~promise_handler() {
        if (state_)
            state_->drop();
    }

    allocator_type get_allocator() const noexcept { return allocator_; }
    cancellation_slot_type get_cancellation_slot() const noexcept {
        return hears_ ? state_->slot() : cancellation_slot();
    }
    void operator()(Args... args) {
        auto const state = std::move(state_);
        state->end(std::tuple<Args...>(std::move(args)...));
    }

private:
    std::shared_ptr<state_type> state_;
    [[no_unique_address]] Allocator allocator_;
    bool hears_;
};

} // namespace impl::token

namespace experimental {

/// The result of an initiating function with `use_promise`: the operation runs. The promise is an operation itself: it
/// is called once with a token, `p(token)`, and then completes as the operation does. Destroyed, it asks the operation
/// to end.
/// The other parameters are for Asio's programs and change nothing.
template <class Signature = void(), class Executor = any_io_executor, class Allocator = recycling_allocator<void>>
class promise;
template <class... Args, class Executor, class Allocator>
class [[nodiscard("the operation is asked to end when its promise goes")]] promise<void(Args...), Executor, Allocator> {
    using values = std::tuple<Args...>;

public:
    promise(promise&&) noexcept = default;
    promise(promise const&) = delete;
    promise& operator=(promise&&) = delete;
    ~promise() { cancel(); }

    /// Asks the operation to end.
    void cancel(cancellation_type type = cancellation_type::all) {
        if (state_ && !state_->has_ended())
            state_->ask(type);
    }
    /// Whether the operation has ended.
    bool completed() const noexcept { return state_ && state_->has_ended(); }

    /// Waits for the end of the operation, once.
    /// Completes  as the operation
    /// Errors     those of the operation
    /// Cancel     the operation is asked
    /// Immediate  if it has ended: no handler runs inside this call, a coroutine goes on
    /// Lifetime   the promise may go meanwhile; the operation is then asked to end
    /// Threads    any; the operation may end in another one
    /// Allocates  one block from the handler's allocator, by default the recycler
    /// Source     Asio, experimental::promise
    template <completion_token_for<void(Args...)> Token = use_await_t> decltype(auto) operator()(Token&& token = {}) {
        FAIRLEAD_ASSERT(state_ && "this promise was moved from");
        return completion_token_transform<void(Args...)>(std::forward<Token>(token),
                                                         impl::token::promise_initiation<values>{state_});
    }

private:
    template <class, class...> friend class fairlead::async_result;
    explicit promise(std::shared_ptr<impl::token::promise_state<values>> s) noexcept : state_(std::move(s)) {}

    std::shared_ptr<impl::token::promise_state<values>> state_;
};

/// Whether T is a promise.
template <class T> struct is_promise : std::false_type {};
template <class... T> struct is_promise<promise<T...>> : std::true_type {};
/// The same as a value: is_promise<T>::value.
template <class T> inline constexpr bool is_promise_v = is_promise<T>::value;

} // namespace experimental
} // namespace fairlead
