// Channels with Asio's interface: messages with one of several signatures, sent and received by any number of
// operations.
#pragma once

#include <fairlead/base/owned.hpp>
#include <fairlead/sync/channel_core.hpp>
#include <fairlead/sync/channel_message.hpp>
#include <fairlead/sync/channel_traits.hpp>

#include <cstddef>
#include <deque>
#include <type_traits>
#include <utility>

namespace fairlead {
namespace impl::sync {

/// async_send() for each signature of a channel, which has start_send().
template <class Channel, class Executor, class... Signatures> class send_functions;
template <class Channel, class Executor> class send_functions<Channel, Executor> {
    struct nobody; // There is something for the using declaration below to name.

public:
    void async_send(nobody&) = delete;
};
template <class Channel, class Executor, class R, class... Args, class... Signatures>
class send_functions<Channel, Executor, R(Args...), Signatures...>
    : public send_functions<Channel, Executor, Signatures...> {
public:
    using send_functions<Channel, Executor, Signatures...>::async_send;

    /// Sends a message: to a receive that waits, else to the buffer. Waits while that is full.
    /// Completes  (error_code ec)
    /// Errors     error::channel_closed     nothing more is sent
    ///            error::channel_cancelled  the wait was cancelled; the message was not sent
    ///            error::no_memory          for the buffer; the message was not sent
    /// Cancel     terminal, partial, total
    /// Immediate  when a receive waits or the buffer has room
    /// Lifetime   *this outlives the call; the message is kept
    /// Threads    any
    /// Allocates  nothing awaited, for a message of at most 32 bytes; a block for a larger one
    template <class Token = default_completion_token_t<Executor>>
        requires completion_token_for<Token, void(error_code)>
    decltype(auto) async_send(Args... args, Token&& token = Token()) noexcept(noexcept(
        std::declval<Channel&>().template start_send<R(Args...)>(std::declval<Token>(), std::declval<Args>()...))) {
        return static_cast<Channel&>(*this).template start_send<R(Args...)>(std::forward<Token>(token),
                                                                            std::forward<Args>(args)...);
    }
};

/// Finds the signature whose message can be made of some arguments. With several of them the call is ambiguous.
template <class Given, class... Signatures> struct message_made_of;
template <class... Given, class... Signatures> struct message_made_of<std::tuple<Given...>, Signatures...> {
    template <class Signature> static constexpr bool from =
        std::is_constructible_v<operation::values_of<Signature>, Given...>;
    static constexpr std::size_t count = (std::size_t{from<Signatures>} + ... + 0);
    template <class First, class... Rest> static auto find() {
        if constexpr (from<First>)
            return std::type_identity<First>();
        else
            return find<Rest...>();
    }
    static auto signature() { return find<Signatures...>(); }
};

/// The container of the traits, or, in place of the usual std::deque, a ring.
template <class Kept, class Container> struct buffer_of {
    using type = Container;
};
template <class Kept> struct buffer_of<Kept, std::deque<Kept>> {
    using type = message_ring<Kept>;
};

/// The core of a channel that owns it alone.
template <class Kept, class Buffer> struct core_of_channel final : channel_core<Kept, Buffer> {
    using channel_core<Kept, Buffer>::channel_core;
};

/// The common part of basic_channel and basic_concurrent_channel.
template <class Executor, class Traits, class... Signatures> class channel_of
    : public send_functions<channel_of<Executor, Traits, Signatures...>, Executor, Signatures...> {
public:
    using executor_type = Executor;
    using traits_type = typename Traits::template rebind<Signatures...>::other;

    /// `capacity` messages may lie in the channel. With 0 a send waits until its message is received.
    channel_of(Executor const& e, std::size_t capacity = 0)
        : executor_(e),
          core_(new core(e, capacity, operation::result_of(error::channel_cancelled))) {}
    template <execution_context_type Context> channel_of(Context& c, std::size_t capacity = 0)
        : channel_of(Executor(c.get_executor()), capacity) {}
    /// Operations that wait go along. The source can then only be destroyed or assigned to.
    channel_of(channel_of&&) noexcept = default;
    /// As the move, from one with another executor.
    template <class Other>
        requires(!std::is_same_v<Other, Executor> && std::is_convertible_v<Other, Executor>)
    channel_of(channel_of<Other, Traits, Signatures...>&& other)
        : executor_(other.executor_),
          core_(std::move(other.core_)) {}
    channel_of& operator=(channel_of&&) noexcept = default;

    executor_type get_executor() const noexcept { return executor_; }
    std::size_t capacity() const noexcept { return core_->capacity(); }
    bool is_open() const noexcept { return core_->is_open(); }
    /// A receive would not wait.
    bool ready() const noexcept { return core_->is_ready(); }
    /// All operations that wait complete with channel_cancelled, all messages go, and the channel is open again.
    void reset() { core_->reset(); }
    /// Nothing more can be sent. Messages in the channel, and those that wait to be sent, can still be received. A
    /// receive that finds nothing completes with channel_closed.
    void close() { core_->close(); }
    /// All operations that wait complete with channel_cancelled.
    void cancel() { core_->cancel(); }

    /// Sends the message that the arguments make. False: it would have to wait, or the channel is closed. The arguments
    /// are then left alone.
    template <class... Given>
        requires(message_made_of<std::tuple<Given...>, Signatures...>::count == 1)
    bool try_send(Given&&... args) {
        return send_now(false, std::forward<Given>(args)...);
    }
    /// As try_send(). The handler of a receive that waits is called within this call, if it may run here.
    template <class... Given>
        requires(message_made_of<std::tuple<Given...>, Signatures...>::count == 1)
    bool try_send_via_dispatch(Given&&... args) {
        return send_now(true, std::forward<Given>(args)...);
    }
    /// Sends copies of the message that the arguments make, until one would have to wait. Returns how many were sent.
    template <class... Given>
        requires(message_made_of<std::tuple<Given...>, Signatures...>::count == 1)
    std::size_t try_send_n(std::size_t count, Given&&... args) {
        return send_several(false, count, std::forward<Given>(args)...);
    }
    /// As try_send_n(), with calls of try_send_via_dispatch().
    template <class... Given>
        requires(message_made_of<std::tuple<Given...>, Signatures...>::count == 1)
    std::size_t try_send_n_via_dispatch(std::size_t count, Given&&... args) {
        return send_several(true, count, std::forward<Given>(args)...);
    }

    /// Calls `handler` with a message, within this call. False: there is none.
    template <class Handler> bool try_receive(Handler&& handler) {
        message_place<kept> place;
        if (!core_->try_receive(place))
            return false;
        operation::call_with_values(std::forward<Handler>(handler), form::values(place.take()));
        return true;
    }

    /// Receives a message.
    /// Completes  with the signature of a message, or with that of the traits
    /// Errors     error::channel_closed     the channel is closed, and there is no message
    ///            error::channel_cancelled  the wait was cancelled; nothing was received
    /// Cancel     terminal, partial, total
    /// Immediate  when there is a message, or the channel is closed
    /// Lifetime   *this outlives the call
    /// Threads    any
    /// Allocates  nothing awaited
    template <class Token = default_completion_token_t<Executor>>
    decltype(auto) async_receive(Token&& token = Token()) noexcept(noexcept(form::initiate(
        std::declval<channel_of const&>(), std::declval<Token>(), std::declval<receive_from<core, form>>()))) {
        return form::initiate(*this, std::forward<Token>(token), receive_from<core, form>(*core_));
    }

    /// For initiate_on().
    bool runs_handlers() const noexcept { return core_->runs_handlers(); }

private:
    template <class, class, class...> friend class channel_of;
    template <class, class, class...> friend class send_functions;
    using form = traits_form<traits_type, Signatures...>;
    using kept = typename form::kept;
    using buffer = typename buffer_of<kept, typename traits_type::template container<kept>::type>::type;
    using core = core_of_channel<kept, buffer>;

    /// Makes a message of the arguments, of the only signature that it can have.
    template <class... Given> static kept make(Given&&... args) {
        using made_of = message_made_of<std::tuple<Given...>, Signatures...>;
        return form::template make<kept, typename decltype(made_of::signature())::type>(std::forward<Given>(args)...);
    }
    /// Whether a message may be made that is not sent: its arguments stay as they are, and nothing fails.
    template <class... Given> static constexpr bool is_made_unseen =
        std::is_trivially_copy_constructible_v<kept> && std::is_trivially_destructible_v<kept> &&
        (std::is_trivially_copy_constructible_v<std::remove_cvref_t<Given>> && ...) &&
        std::is_nothrow_constructible_v<kept, std::in_place_t, Given...>;
    /// Such a message is made first, and lies in registers. Under the lock its arguments lie in memory, written in
    /// several pieces; a copy in one piece waits for all these writes.
    template <class... Given> bool send_now(bool via_dispatch, Given&&... args) {
        if constexpr (is_made_unseen<Given...>)
            return core_->try_send([m = make(std::forward<Given>(args)...)]() noexcept { return m; }, via_dispatch);
        else
            return core_->try_send([&] { return make(std::forward<Given>(args)...); }, via_dispatch);
    }
    template <class... Given> std::size_t send_several(bool via_dispatch, std::size_t count, Given&&... args) {
        base::maybe<kept> first; // not made before something can be sent
        auto const copy = [&] {
            if (!first)
                first.emplace(make(std::forward<Given>(args)...));
            return kept(std::in_place, std::as_const(**first));
        };
        std::size_t n = 0;
        while (n != count && core_->try_send(copy, via_dispatch))
            ++n;
        return n;
    }
    template <class Signature, class Token, class... Args> decltype(auto)
    start_send(Token&& token,
               Args&&... args) noexcept(noexcept(form::template make<kept, Signature>(std::declval<Args>()...)) &&
                                        operation::nothrow_token<std::decay_t<Token>, send_to<core>>) {
        return operation::initiate_on<void(error_code)>(
            *this, std::forward<Token>(token),
            send_to<core>(*core_, form::template make<kept, Signature>(std::forward<Args>(args)...)));
    }

    Executor executor_;
    base::owned<core> core_;
};

} // namespace impl::sync

namespace experimental {

/// A channel for messages with the given signatures. Any number of operations may send and receive at the same time.
/// Messages are received in the order in which they were sent, and operations that wait go on in their order.
/// Destroyed: waits complete with channel_cancelled, and messages go.
/// Threads    any, unlike Asio's
/// Source     Asio, experimental::basic_channel
template <class Executor, class Traits, class... Signatures> class basic_channel
    : public impl::sync::channel_of<Executor, Traits, Signatures...> {
public:
    using impl::sync::channel_of<Executor, Traits, Signatures...>::channel_of;
    template <class Other> struct rebind_executor {
        using other = basic_channel<Other, Traits, Signatures...>;
    };
};

/// As basic_channel, under the name that programs with threads use.
/// Source     Asio, experimental::basic_concurrent_channel
template <class Executor, class Traits, class... Signatures> class basic_concurrent_channel
    : public impl::sync::channel_of<Executor, Traits, Signatures...> {
public:
    using impl::sync::channel_of<Executor, Traits, Signatures...>::channel_of;
    template <class Other> struct rebind_executor {
        using other = basic_concurrent_channel<Other, Traits, Signatures...>;
    };
};

} // namespace experimental
} // namespace fairlead
