// make_channel: a channel for messages of one type, as a handle to send with and one to receive with.
#pragma once

#include <fairlead/base/in_one_piece.hpp>
#include <fairlead/operation/direct_op.hpp>
#include <fairlead/sync/channel_core.hpp>
#include <fairlead/sync/channel_end.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

namespace fairlead {

template <class T, class Executor = any_io_executor> class channel_sender;
template <class T, class Executor = any_io_executor> class channel_receiver;
/// The result of make_channel: `auto [sender, receiver] = make_channel<T>(context, capacity)`.
template <class T, class Executor = any_io_executor> using channel_pair =
    std::pair<channel_sender<T, Executor>, channel_receiver<T, Executor>>;

namespace impl::sync {

template <class T, class Executor> class shared_channel final : public channel_core<kept_message<T>>,
                                                                public counted_sides {
public:
    shared_channel(Executor const& e, std::size_t capacity)
        : channel_core<kept_message<T>>(e, capacity, static_cast<int>(error::operation_aborted)),
          executor_(e) {}
    Executor const& executor() const noexcept { return executor_; }
    void senders_have_gone() noexcept { this->close(); }
    void receivers_have_gone() noexcept { this->close_and_drop(); }

private:
    Executor executor_;
};

/// Where an await receives its message.
template <class T> struct next_place : message_place<kept_message<T>> {
    std::optional<T> result() {
        std::optional<T> m(std::move(*this->get()));
        this->drop();
        return m;
    }
};
template <class T>
    requires base::optional_is_a_vector<T>
struct next_place<T> {
    base::optional_in_one_piece<T> optional;
    void put(kept_message<T>&& k) noexcept { optional.put(*k); }
    FAIRLEAD_ALWAYS_INLINE std::optional<T> result() { return optional.get(); }
};

/// A receive that ends without an error when there is nothing more to receive.
template <class T> struct next_form {
    using signature = void(error_code, std::optional<T>);
    using values_type = std::tuple<error_code, std::optional<T>>;
    using place = next_place<T>;
    static std::optional<T> value(kept_message<T>& k) { return std::optional<T>(std::move(*k)); }
    static values_type values(kept_message<T>&& k) { return {error_code(), std::optional<T>(std::move(*k))}; }
    static values_type values(int error) {
        if (error == operation::result_of(error::channel_closed))
            return {};
        return {operation::to_error_code(error), std::nullopt};
    }
};

struct channel_access;

} // namespace impl::sync

/// Sends messages. When the last of the copies has gone, receivers get what is in the channel, and then nothing.
/// Threads    any
template <class T, class Executor> class channel_sender {
public:
    using value_type = T;
    using executor_type = Executor;

    executor_type get_executor() const noexcept { return core_->executor(); }
    /// Nobody receives any more, or it was closed.
    bool is_closed() const noexcept { return !core_->is_open(); }

    /// Sends a message made of `value`. False: it would have to wait, or nobody receives. `value` is then left alone.
    template <class Value = T>
        requires std::is_constructible_v<T, Value>
    bool try_send(Value&& value) {
        return core_->try_send([&]() noexcept(std::is_nothrow_constructible_v<kept, std::in_place_t, Value>) {
            return kept(std::in_place, std::forward<Value>(value));
        });
    }
    /// Sends a message: to a receive that waits, else to the buffer. Waits while that is full.
    /// Completes  (error_code ec)
    /// Errors     error::channel_closed     nobody receives any more
    ///            error::operation_aborted  the wait was cancelled; the message was not sent
    ///            error::no_memory          for the buffer; the message was not sent
    /// Cancel     terminal, partial, total
    /// Immediate  when a receive waits or the buffer has room
    /// Lifetime   a copy of *this outlives the call; the message is kept
    /// Threads    any
    /// Allocates  nothing awaited, for a message of at most 32 bytes; a block for a larger one
    template <class Token = default_completion_token_t<Executor>>
    decltype(auto) async_send(T value, Token&& token = Token()) noexcept(
        std::is_nothrow_constructible_v<kept, std::in_place_t, T> &&
        impl::operation::nothrow_token<std::decay_t<Token>, impl::sync::send_to<core>>) {
        return impl::operation::initiate_on<void(error_code)>(
            *this, std::forward<Token>(token),
            impl::sync::send_to<core>(*core_, kept(std::in_place, std::move(value))));
    }
    /// async_send() with the default token. Awaited in a coroutine, a message for which there is room is sent without a
    /// call.
    decltype(auto) send(T value) noexcept(
        std::is_nothrow_constructible_v<kept, std::in_place_t, T> &&
        impl::operation::nothrow_token<default_completion_token_t<Executor>, impl::sync::send_to<core>>) {
        return impl::operation::initiate_directly(
            *this, impl::sync::send_to<core>(*core_, kept(std::in_place, std::move(value))));
    }

    /// Nothing more is sent, as if all copies had gone.
    void close() noexcept { core_->close(); }

    /// For initiate_on().
    bool runs_handlers() const noexcept { return core_->runs_handlers(); }

private:
    friend struct impl::sync::channel_access;
    using core = impl::sync::shared_channel<T, Executor>;
    using kept = typename core::kept;
    explicit channel_sender(std::shared_ptr<core> const& c) : core_(c) {}

    impl::sync::channel_end<core, impl::sync::side::sending> core_;
};

/// Receives messages: `while (auto m = co_await receiver.next()) use(*m);`. Each message is received once, by one of
/// the copies. When the last of them has gone, sends fail with channel_closed, and messages in the channel go.
/// Threads    any
template <class T, class Executor> class channel_receiver {
public:
    using value_type = T;
    using executor_type = Executor;

    executor_type get_executor() const noexcept { return core_->executor(); }
    /// A receive would not wait.
    bool ready() const noexcept { return core_->is_ready(); }

    /// A message that is there.
    std::optional<T> try_next() {
        impl::sync::message_place<kept> place;
        if (!core_->try_receive(place))
            return std::nullopt;
        return std::optional<T>(std::move(*place.take()));
    }
    /// Receives the next message. None: the last sender has gone, and all messages have been received.
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
    friend struct impl::sync::channel_access;
    using core = impl::sync::shared_channel<T, Executor>;
    using kept = typename core::kept;
    explicit channel_receiver(std::shared_ptr<core> const& c) : core_(c) {}

    impl::sync::channel_end<core, impl::sync::side::receiving> core_;
};

namespace impl::sync {

struct channel_access {
    template <class T, class Executor> static channel_pair<T, Executor> make(Executor const& e, std::size_t capacity) {
        auto const c = std::make_shared<shared_channel<T, Executor>>(e, capacity);
        return {channel_sender<T, Executor>(c), channel_receiver<T, Executor>(c)};
    }
};

} // namespace impl::sync

/// A channel whose buffer has room for `capacity` messages. With 0 a send waits until its message is received.
template <class T, execution::executor Executor>
channel_pair<T, Executor> make_channel(Executor const& e, std::size_t capacity = 0) {
    return impl::sync::channel_access::make<T, Executor>(e, capacity);
}
/// The same channel with the default executor of a context.
template <class T, execution_context_type Context> channel_pair<T> make_channel(Context& c, std::size_t capacity = 0) {
    return impl::sync::channel_access::make<T, any_io_executor>(c.get_executor(), capacity);
}

} // namespace fairlead
