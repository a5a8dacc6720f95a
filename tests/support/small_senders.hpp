// Small senders to the text of the standard, which know nothing of this library but the protocol.
#pragma once

#include <fairlead/coro/awaitable.hpp>
#include <fairlead/sender/protocol.hpp>

#include <functional>
#include <optional>
#include <system_error>
#include <tuple>
#include <type_traits>
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

/// Its value is what `f` says of the environment of its receiver.
template <class F> struct asks_environment {
    using sender_concept = execution::sender_tag;
    using completion_signatures = execution::completion_signatures<execution::set_value_t(bool)>;

    template <class Receiver> struct state {
        using operation_state_concept = execution::operation_state_tag;
        Receiver receiver;
        F f;
        void start() noexcept {
            bool const is = f(execution::get_env(receiver));
            std::move(receiver).set_value(is);
        }
    };
    F f;
    template <class Receiver> state<Receiver> connect(Receiver r) const { return {std::move(r), f}; }
};
template <class F> asks_environment(F) -> asks_environment<F>;
/// Whether both queries for a scheduler are answered with `wanted`.
template <class Scheduler> auto asks_for_schedulers(Scheduler wanted) {
    return asks_environment{[wanted](auto const& env) {
        if constexpr (requires { execution::get_scheduler(env), execution::get_start_scheduler(env); })
            return execution::get_scheduler(env) == wanted && execution::get_start_scheduler(env) == wanted;
        else
            return false;
    }};
}

/// As a task of another library: before it ends it goes back to the scheduler on which it was started. No stop can keep
/// it from that. Its value says whether it was told of one.
struct returning_task {
    using sender_concept = execution::sender_tag;
    using completion_signatures = execution::completion_signatures<execution::set_value_t(bool)>;

    template <class Receiver> class state {
        struct back {
            using receiver_concept = execution::receiver_tag;
            state* of;
            void set_value() noexcept { std::move(of->receiver_).set_value(true); }
        };
        static auto schedule(Receiver const& r) {
            if constexpr (requires { execution::get_start_scheduler(execution::get_env(r)); })
                return execution::schedule(execution::get_start_scheduler(execution::get_env(r)));
            else
                return just<>();
        }
        using schedule_sender = decltype(schedule(std::declval<Receiver const&>()));
        static_assert(execution::sender_to<schedule_sender, back>);

    public:
        using operation_state_concept = execution::operation_state_tag;
        explicit state(Receiver r)
            : receiver_(std::move(r)),
              back_(execution::connect(schedule(receiver_), back{this})) {}
        state(state&&) = delete;
        void start() noexcept {
            if constexpr (std::is_same_v<schedule_sender, just<>>)
                std::move(receiver_).set_value(false);
            else
                execution::start(back_);
        }

    private:
        Receiver receiver_;
        execution::connect_result_t<schedule_sender, back> back_;
    };
    template <class Receiver> state<Receiver> connect(Receiver r) const { return state<Receiver>(std::move(r)); }
};

/// As some of another library, it names no sender_concept. A header for that library says what it is.
class unnamed_sender {
public:
    explicit unnamed_sender(int n) noexcept : value_(n) {}
    template <class Receiver> auto connect_it(Receiver r) && { return just<int>(int(value_)).connect(std::move(r)); }

private:
    int value_;
};

} // namespace fairlead::test

template <> inline constexpr bool fairlead::impl::coro::is_foreign_sender<fairlead::test::unnamed_sender> = true;

namespace fairlead::impl::sender {

template <class> struct protocol_of;
template <> struct protocol_of<test::unnamed_sender> {
    using receiver_tag = execution::receiver_tag;
    template <class Env> using signatures = execution::completion_signatures<execution::set_value_t(int)>;
    template <class Receiver> static auto connect(test::unnamed_sender&& s, Receiver r) {
        return std::move(s).connect_it(std::move(r));
    }
    template <class State> static void start(State& o) noexcept { o.start(); }
};

} // namespace fairlead::impl::sender
