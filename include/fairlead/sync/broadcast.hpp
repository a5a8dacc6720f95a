// make_broadcast: a channel whose messages go to each of its receivers.
#pragma once

#include <fairlead/sync/broadcast_end.hpp>

namespace fairlead {

template <class T, class Executor = any_io_executor> class broadcast_receiver;
template <class T, class Executor = any_io_executor> class broadcast_sender;
/// The result of make_broadcast: `auto [sender, receiver] = make_broadcast<T>(context, capacity)`.
template <class T, class Executor = any_io_executor> using broadcast_pair =
    std::pair<broadcast_sender<T, Executor>, broadcast_receiver<T, Executor>>;

/// A message of a broadcast.
template <class T> struct broadcast_message {
    T value;
    std::size_t lost; ///< messages before this one that the receiver was too slow for
};

/// Receives all messages that were sent since it was made: `while (auto m = co_await receiver.next()) use(m->value);`.
/// A copy goes on where its original is. next() gives a std::optional<broadcast_message<T>>.
/// Threads    one at a time
template <class T, class Executor> class broadcast_receiver
    : public impl::sync::receiving_end<T, Executor, broadcast_message<T>> {
private:
    friend class broadcast_sender<T, Executor>;
    using impl::sync::receiving_end<T, Executor, broadcast_message<T>>::receiving_end;
};

/// Sends messages to all receivers. When the last of the copies has gone, receivers get what is in the channel, and
/// then nothing.
/// Threads    any
template <class T, class Executor> class broadcast_sender : public impl::sync::sending_end<T, Executor> {
    using base = impl::sync::sending_end<T, Executor>;

public:
    /// The channel keeps the last `capacity` messages, at least one, for receivers that are slow.
    broadcast_sender(Executor const& e, std::size_t capacity) : base(e, capacity == 0 ? 1 : capacity) {}

    /// A receiver of the messages that are sent from now on.
    broadcast_receiver<T, Executor> subscribe() const {
        return broadcast_receiver<T, Executor>(this->get_executor(), this->shared(), 0);
    }
};

/// A broadcast that keeps the last `capacity` messages, and its first receiver.
template <class T, execution::executor Executor>
broadcast_pair<T, Executor> make_broadcast(Executor const& e, std::size_t capacity) {
    broadcast_sender<T, Executor> s(e, capacity);
    auto r = s.subscribe();
    return {std::move(s), std::move(r)};
}
/// The same broadcast with the default executor of a context.
template <class T, execution_context_type Context> broadcast_pair<T> make_broadcast(Context& c, std::size_t capacity) {
    return make_broadcast<T>(any_io_executor(c.get_executor()), capacity);
}

} // namespace fairlead
