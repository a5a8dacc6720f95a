// make_oneshot: a channel for a single message, which is sent without waiting.
#pragma once

#include <fairlead/base/taken_from.hpp>
#include <fairlead/sync/message_channel.hpp>
#include <fairlead/sync/oneshot_core.hpp>

#include <optional>
#include <utility>

namespace fairlead {

template <class T, class Executor = any_io_executor> class oneshot_sender;
template <class T, class Executor = any_io_executor> class oneshot_receiver;
/// The result of make_oneshot: `auto [sender, receiver] = make_oneshot<T>(context)`.
template <class T, class Executor = any_io_executor> using oneshot_pair =
    std::pair<oneshot_sender<T, Executor>, oneshot_receiver<T, Executor>>;

namespace impl::sync {
struct oneshot_access;
} // namespace impl::sync

/// Sends one message. Destroyed without it: the receiver gets nothing.
/// Threads    one at a time
template <class T, class Executor> class oneshot_sender {
public:
    using value_type = T;
    using executor_type = Executor;

    oneshot_sender(oneshot_sender&& other) noexcept : core_(impl::base::taken_from(other.core_)) {}
    oneshot_sender& operator=(oneshot_sender&& other) noexcept {
        oneshot_sender taken(std::move(other));
        std::swap(core_, taken.core_);
        return *this;
    }
    ~oneshot_sender() {
        if (core_)
            core_->sender_leaves();
    }

    executor_type get_executor() const noexcept { return core_->executor(); }
    /// Nobody receives any more, or the message has been sent.
    bool is_closed() const noexcept { return core_->is_closed(); }
    /// Sends the message. False: nobody receives any more, or one has been sent. `value` is then left alone.
    template <class Value = T>
        requires std::is_constructible_v<T, Value>
    bool send(Value&& value) {
        return core_->send([&] { return typename core::kept(std::in_place, std::forward<Value>(value)); });
    }

private:
    friend struct impl::sync::oneshot_access;
    using core = impl::sync::oneshot_core<T, Executor>;
    explicit oneshot_sender(core* c) noexcept : core_(c) {}

    core* core_;
};

/// Receives the message: `if (auto m = co_await receiver.next()) use(*m);`. One of the copies receives it. When the
/// last of them has gone, nothing can be sent, and a message that was sent goes.
/// Threads    any
template <class T, class Executor> class oneshot_receiver {
public:
    using value_type = T;
    using executor_type = Executor;

    oneshot_receiver(oneshot_receiver const& other) noexcept : core_(other.core_) {
        if (core_)
            core_->receiver_enters();
    }
    oneshot_receiver(oneshot_receiver&& other) noexcept : core_(impl::base::taken_from(other.core_)) {}
    oneshot_receiver& operator=(oneshot_receiver other) noexcept {
        std::swap(core_, other.core_);
        return *this;
    }
    ~oneshot_receiver() {
        if (core_)
            core_->receiver_leaves();
    }

    executor_type get_executor() const noexcept { return core_->executor(); }
    /// A receive would not wait.
    bool ready() const noexcept { return core_->is_ready(); }

    /// The message, if it is there.
    std::optional<T> try_next() {
        impl::sync::message_place<typename core::kept> place;
        if (!core_->try_receive(place))
            return std::nullopt;
        return std::optional<T>(std::move(*place.take()));
    }
    /// Receives the message. None: the sender has gone without it, or it has been received.
    /// Completes  (error_code ec, std::optional<T> message)
    /// Errors     error::operation_aborted  the wait was cancelled; nothing was received
    /// Cancel     terminal, partial, total
    /// Immediate  when there is a message, or none will come
    /// Lifetime   a copy of *this outlives the call
    /// Threads    any
    /// Allocates  nothing awaited
    template <class Token = default_completion_token_t<Executor>>
    decltype(auto) async_next(Token&& token = Token()) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::sync::receive_from<core, impl::sync::next_form<T>>>) {
        using form = impl::sync::next_form<T>;
        return impl::operation::initiate_on<typename form::signature>(*this, std::forward<Token>(token),
                                                                      impl::sync::receive_from<core, form>(*core_));
    }
    /// async_next() with the default token. Awaited in a coroutine, a message that is there is taken without a call.
    decltype(auto)
    next() noexcept(impl::operation::nothrow_token<default_completion_token_t<Executor>,
                                                   impl::sync::receive_from<core, impl::sync::next_form<T>>>) {
        return impl::operation::initiate_directly(*this,
                                                  impl::sync::receive_from<core, impl::sync::next_form<T>>(*core_));
    }

    /// For initiate_on().
    bool runs_handlers() const noexcept { return core_->runs_handlers(); }

private:
    friend struct impl::sync::oneshot_access;
    using core = impl::sync::oneshot_core<T, Executor>;
    explicit oneshot_receiver(core* c) noexcept : core_(c) {}

    core* core_;
};

namespace impl::sync {

struct oneshot_access {
    template <class T, class Executor> static oneshot_pair<T, Executor> make(Executor const& e) {
        auto* const c = new oneshot_core<T, Executor>(e); // its handles'
        return {oneshot_sender<T, Executor>(c), oneshot_receiver<T, Executor>(c)};
    }
};

} // namespace impl::sync

/// A channel for one message.
template <class T, execution::executor Executor> oneshot_pair<T, Executor> make_oneshot(Executor const& e) {
    return impl::sync::oneshot_access::make<T, Executor>(e);
}
/// The same channel with the default executor of a context.
template <class T, execution_context_type Context> oneshot_pair<T> make_oneshot(Context& c) {
    return impl::sync::oneshot_access::make<T, any_io_executor>(c.get_executor());
}

} // namespace fairlead
