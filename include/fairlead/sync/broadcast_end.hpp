// The common part of the handles of a broadcast and of a watch.
#pragma once

#include <fairlead/sync/broadcast_core.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace fairlead::impl::sync {

/// The values with which a receive completes. Received is made of a message and the number of those that were lost
/// before it.
template <class T, class Received> struct received_form {
    using signature = void(error_code, std::optional<Received>);
    using values_type = std::tuple<error_code, std::optional<Received>>;
    static values_type values(T const& value, std::size_t lost) {
        if constexpr (std::is_same_v<Received, T>)
            return {error_code(), std::optional<T>(value)};
        else
            return {error_code(), Received{value, lost}};
    }
    static values_type values(int error) {
        if (error == operation::result_of(error::channel_closed))
            return {};
        return {operation::to_error_code(error), std::nullopt};
    }
};

template <class T, class Executor, class Received> class receiving_end {
public:
    using value_type = T;
    using executor_type = Executor;

    /// The copy has what this one has still to receive.
    receiving_end(receiving_end const& other)
        : executor_(other.executor_),
          core_(other.core_),
          position_(new receiver_position(core_->copy_of(*other.position_))) {}
    receiving_end(receiving_end&&) noexcept = default;
    receiving_end& operator=(receiving_end other) noexcept {
        executor_ = std::move(other.executor_);
        core_ = std::move(other.core_);
        position_.swap(other.position_);
        return *this;
    }

    executor_type get_executor() const noexcept { return executor_; }
    /// Receives what comes next. None: the last sender has gone, and there is nothing more to receive.
    /// Completes  (error_code ec, std::optional<...> received)
    /// Errors     error::operation_aborted  the wait was cancelled; nothing was received
    /// Cancel     terminal, partial, total
    /// Immediate  when there is something to receive, or nothing will come
    /// Lifetime   *this outlives the call; it may be moved
    /// Threads    one receive at a time
    /// Allocates  nothing awaited, but what a copy of T takes
    template <class Token = default_completion_token_t<Executor>>
    decltype(auto) async_next(Token&& token = Token()) noexcept(
        operation::nothrow_token<std::decay_t<Token>, receive_next<T, received_form<T, Received>>>) {
        using form = received_form<T, Received>;
        return operation::initiate_on<typename form::signature>(*this, std::forward<Token>(token),
                                                                receive_next<T, form>(*core_, *position_));
    }
    /// async_next() with the default token.
    decltype(auto) next() noexcept(noexcept(this->async_next())) { return async_next(); }

    /// For initiate_on().
    bool runs_handlers() const noexcept { return core_->runs_handlers(); }

protected:
    using core = broadcast_core<T>;
    receiving_end(Executor const& e, std::shared_ptr<core> const& c, std::uint64_t before)
        : executor_(e),
          core_(c),
          position_(new receiver_position(c->begin(before))) {}
    T newest() const { return *core_->newest(); }

private:
    Executor executor_;
    channel_end<core, side::receiving> core_;
    std::unique_ptr<receiver_position> position_; ///< where it stays when this is moved
};

template <class T, class Executor> class sending_end {
public:
    using value_type = T;
    using executor_type = Executor;

    executor_type get_executor() const noexcept { return executor_; }
    /// How many receivers there are.
    std::size_t receivers() const noexcept {
        return core_->template handles<side::receiving>().load(std::memory_order_relaxed);
    }
    /// Sends a message made of `value` to all receivers, without waiting.
    /// Throws     std::bad_alloc, and what T throws; nothing was sent
    template <class Value = T>
        requires std::is_constructible_v<T, Value>
    void send(Value&& value) {
        core_->send(std::make_shared<T const>(std::forward<Value>(value)));
    }

protected:
    using core = broadcast_core<T>;
    sending_end(Executor const& e, std::size_t capacity) : executor_(e), core_(std::make_shared<core>(e, capacity)) {}
    std::shared_ptr<core> const& shared() const noexcept { return core_.shared(); }
    T newest() const { return *core_->newest(); }

private:
    Executor executor_;
    channel_end<core, side::sending> core_;
};

} // namespace fairlead::impl::sync
