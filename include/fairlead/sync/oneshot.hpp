// make_oneshot: a channel for a single message, which is sent without waiting.
#pragma once

#include <fairlead/sync/message_channel.hpp>

#include <utility>

namespace fairlead {

/// Sends one message. Destroyed without it: the receiver gets nothing.
/// Threads    one at a time
template <class T, class Executor = any_io_executor> class oneshot_sender {
public:
    using value_type = T;
    using executor_type = Executor;

    explicit oneshot_sender(channel_sender<T, Executor>&& s) noexcept : sender_(std::move(s)) {}
    oneshot_sender(oneshot_sender&&) noexcept = default;
    oneshot_sender& operator=(oneshot_sender&&) noexcept = default;

    executor_type get_executor() const noexcept { return sender_.get_executor(); }
    /// Nobody receives any more.
    bool is_closed() const noexcept { return sender_.is_closed(); }
    /// Sends the message. False: nobody receives any more, or one has been sent.
    template <class Value = T>
        requires std::is_constructible_v<T, Value>
    bool send(Value&& value) {
        if (!sender_.try_send(std::forward<Value>(value)))
            return false;
        sender_.close();
        return true;
    }

private:
    channel_sender<T, Executor> sender_;
};

/// The result of make_oneshot: `auto [sender, receiver] = make_oneshot<T>(context)`.
template <class T, class Executor = any_io_executor> using oneshot_pair =
    std::pair<oneshot_sender<T, Executor>, channel_receiver<T, Executor>>;

/// A channel for one message.
template <class T, execution::executor Executor> oneshot_pair<T, Executor> make_oneshot(Executor const& e) {
    auto ends = make_channel<T>(e, 1);
    return {oneshot_sender<T, Executor>(std::move(ends.first)), std::move(ends.second)};
}
/// The same channel with the default executor of a context.
template <class T, execution_context_type Context> oneshot_pair<T> make_oneshot(Context& c) {
    return make_oneshot<T>(any_io_executor(c.get_executor()));
}

} // namespace fairlead
