// make_watch: a value that changes, and receivers that get the newest one.
#pragma once

#include <fairlead/sync/broadcast_end.hpp>

namespace fairlead {

template <class T, class Executor = any_io_executor> class watch_receiver;
template <class T, class Executor = any_io_executor> class watch_sender;
/// The result of make_watch: `auto [sender, receiver] = make_watch<T>(context, value)`.
template <class T, class Executor = any_io_executor> using watch_pair =
    std::pair<watch_sender<T, Executor>, watch_receiver<T, Executor>>;

/// Receives the value that there is, and then the newest one whenever it has not had it:
/// `while (auto v = co_await receiver.next()) use(*v);`. Values in between are passed over. next() gives a
/// std::optional<T>.
/// Threads    one at a time
template <class T, class Executor> class watch_receiver : public impl::sync::receiving_end<T, Executor, T> {
public:
    /// The newest value. next() still gives it.
    T get() const { return this->newest(); }

private:
    friend class watch_sender<T, Executor>;
    using impl::sync::receiving_end<T, Executor, T>::receiving_end;
};

/// Sets the value. When the last of the copies has gone, receivers get the newest value, and then nothing.
/// Threads    any
template <class T, class Executor> class watch_sender : public impl::sync::sending_end<T, Executor> {
public:
    watch_sender(Executor const& e, T value) : impl::sync::sending_end<T, Executor>(e, 1) {
        this->send(std::move(value));
    }

    /// One more receiver, which begins with the newest value.
    watch_receiver<T, Executor> subscribe() const {
        return watch_receiver<T, Executor>(this->get_executor(), this->shared(), 1);
    }
    /// The newest value.
    T get() const { return this->newest(); }
};

/// A value that changes, and its first receiver.
template <class T, execution::executor Executor>
watch_pair<T, Executor> make_watch(Executor const& e, std::type_identity_t<T> value) {
    watch_sender<T, Executor> s(e, std::move(value));
    auto r = s.subscribe();
    return {std::move(s), std::move(r)};
}
/// The same watch with the default executor of a context.
template <class T, execution_context_type Context> watch_pair<T> make_watch(Context& c, std::type_identity_t<T> value) {
    return make_watch<T>(any_io_executor(c.get_executor()), std::move(value));
}

} // namespace fairlead
