// Small senders to the text of the standard, which know nothing of this library but the protocol.
#pragma once

#include <fairlead/sender/protocol.hpp>

#include <functional>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

namespace fairlead::test {

/// Ends inside its start, with values.
template <class... Values> struct just {
    using sender_concept = execution::sender_tag;
    using completion_signatures = execution::completion_signatures<execution::set_value_t(Values...)>;

    template <class Receiver> struct state {
        using operation_state_concept = execution::operation_state_tag;
        std::tuple<Values...> values;
        Receiver receiver;
        void start() noexcept {
            std::apply([this](auto&... v) { std::move(receiver).set_value(std::move(v)...); }, values);
        }
    };
    std::tuple<Values...> values;

    explicit just(Values... v) : values(std::move(v)...) {}
    template <class Receiver> state<Receiver> connect(Receiver r) && { return {std::move(values), std::move(r)}; }
};

/// Ends when the test says so, and as the test says. It hears a stop of its receiver.
class held_sender {
public:
    /// In the hands of the test.
    struct handle {
        std::function<void(int)> value;
        std::function<void(std::error_code)> error;
        std::function<void(std::exception_ptr)> exception;
        std::function<void()> stopped;
        std::function<void()> when_asked; ///< by the receiver's token
        int starts = 0;
    };
    using sender_concept = execution::sender_tag;
    using completion_signatures =
        execution::completion_signatures<execution::set_value_t(int), execution::set_error_t(std::error_code),
                                         execution::set_error_t(std::exception_ptr), execution::set_stopped_t()>;

    explicit held_sender(handle& h) noexcept : handle_(&h) {}

    template <class Receiver> class state {
    public:
        using operation_state_concept = execution::operation_state_tag;
        state(handle& h, Receiver r) : handle_(h), receiver_(std::move(r)) {}
        state(state&&) = delete;

        void start() noexcept {
            ++handle_.starts;
            handle_.value = [this](int n) {
                callback_.reset();
                std::move(receiver_).set_value(n);
            };
            handle_.error = [this](std::error_code ec) {
                callback_.reset();
                std::move(receiver_).set_error(ec);
            };
            handle_.exception = [this](std::exception_ptr e) {
                callback_.reset();
                std::move(receiver_).set_error(std::move(e));
            };
            handle_.stopped = [this] {
                callback_.reset();
                std::move(receiver_).set_stopped();
            };
            callback_.emplace(execution::get_stop_token(execution::get_env(receiver_)), asked{&handle_});
        }

    private:
        struct asked {
            handle* of;
            void operator()() const noexcept {
                if (of->when_asked)
                    of->when_asked();
            }
        };
        using token = execution::stop_token_of_t<execution::env_of_t<Receiver>>;

        handle& handle_;
        Receiver receiver_;
        std::optional<stop_callback_for_t<token, asked>> callback_;
    };
    template <class Receiver> state<Receiver> connect(Receiver r) const { return {*handle_, std::move(r)}; }

private:
    handle* handle_;
};

} // namespace fairlead::test
