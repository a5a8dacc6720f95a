// Awaiting a sender in a coroutine of this library: `co_await sender`.
//
// The operation state lies in the awaiter, which is the receiver. A sender that ends inside its start does not suspend
// the coroutine. A request to the coroutine stops the token of the receiver's environment. That is done in a turn of
// the coroutine's home: whoever asks holds a lock, and the callbacks of a stop may do anything.
#pragma once

#include <fairlead/coro/awaitable.hpp>
#include <fairlead/sender/sender_result.hpp>

#include <atomic>
#include <coroutine>

namespace fairlead::impl::sender {

/// The part that is the same for all senders.
class FAIRLEAD_EXPORT awaited_sender : private op {
public:
    awaited_sender(awaited_sender const&) = delete;
    awaited_sender& operator=(awaited_sender const&) = delete;

    waiting_environment<> environment() const noexcept {
        return {listens_ ? stop_.get_token() : inplace_stop_token(), *record_.executor};
    }
    /// By the receiver. Any thread. The coroutine may have ended when this returns.
    void sender_has_ended() noexcept;

protected:
    explicit awaited_sender(await_record& r) noexcept;
    ~awaited_sender() = default;

    /// False: the await does not begin, and suspends or not as `suspends` says.
    bool begins(bool& suspends);
    /// When the sender has been started. Whether the coroutine is suspended.
    bool suspends() noexcept;
    void rethrow_refusal() {
        if (record_.state == exec::await_state::failed)
            operation::throw_failed(record_);
    }

private:
    static void ask(void* storage, await_record& r, cancellation_type type) noexcept;
    static void request_stop(op* o, op_mode mode);
    /// The last use has ended. True: the chain goes on.
    bool goes_on() noexcept;
    void resume() noexcept;
    bool is_last_use() noexcept { return uses_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

    await_record& record_;
    inplace_stop_source stop_;
    std::atomic<unsigned> uses_{2}; ///< by the sender, by its start, and by a stop that is under way
    bool const listens_;
    bool is_asked_ = false; ///< under the lock of the requests
};

template <class Sender> class sender_awaiter final : public awaited_sender {
    using protocol = protocol_of<Sender>;
    using values = typename ends_of_sender<Sender>::values;
    using receiver = waiting_receiver<Sender, sender_awaiter>;

public:
    sender_awaiter(Sender&& s, exec::chain_link& link)
        : awaited_sender(*link.record),
          state_(protocol::connect(std::forward<Sender>(s), receiver{this})) {}
    sender_awaiter(sender_awaiter const&) = delete;
    sender_awaiter& operator=(sender_awaiter const&) = delete;

    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<>) {
        bool suspended = false;
        if (!begins(suspended))
            return suspended;
        protocol::start(state_);
        return suspends();
    }
    auto await_resume() {
        rethrow_refusal();
        result_.rethrow_failure();
        return operation::unwrap_rest(std::move(result_.values()));
    }

    sender_result<values>& result() noexcept { return result_; }

private:
    sender_result<values> result_;
    decltype(protocol::connect(std::declval<Sender>(), std::declval<receiver>())) state_;
};

} // namespace fairlead::impl::sender
