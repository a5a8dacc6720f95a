// The result of a sender, for those who wait for it: the receiver that keeps it, and what is known of it before.
#pragma once

#include <fairlead/base/error.hpp>
#include <fairlead/exec/executor.hpp>
#include <fairlead/sender/protocol.hpp>
#include <fairlead/sender/scheduler.hpp>

#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace fairlead::impl::sender {

/// How the senders of a library are told from others, and connected. This is for those of the protocol here; the one
/// for stdexec is in sender/stdexec.hpp.
template <class Sender> struct protocol_of {
    using receiver_tag = execution::receiver_tag;
    template <class Env> using signatures = execution::completion_signatures_of_t<Sender, Env>;
    template <class Receiver> static auto connect(Sender&& s, Receiver r) {
        return execution::connect(std::forward<Sender>(s), std::move(r));
    }
    template <class State> static void start(State& o) noexcept { o.start(); }
};

enum class channel { value, error, stopped };
template <class Tag> inline constexpr channel channel_of = channel::stopped;
template <> inline constexpr channel channel_of<execution::set_value_t> = channel::value;
template <> inline constexpr channel channel_of<execution::set_error_t> = channel::error;
template <> inline constexpr channel channel_of<stdexec::set_value_t> = channel::value;
template <> inline constexpr channel channel_of<stdexec::set_error_t> = channel::error;

struct no_value {};
struct several_values {};

template <class Signature> struct end_of;
template <class Tag, class... Args> struct end_of<Tag(Args...)> {
    using values = std::tuple<std::decay_t<Args>...>;
    static constexpr bool is_value = channel_of<Tag> == channel::value;
    static constexpr bool is_other_error =
        channel_of<Tag> == channel::error && !(std::is_same_v<error_code, std::decay_t<Args>> && ...);
};
/// The one list of values among the ends.
template <class Found, class... Signatures> struct values_among {
    using type = Found;
};
template <class Found, class First, class... Rest> struct values_among<Found, First, Rest...> {
    using next = std::conditional_t<
        !end_of<First>::is_value || std::is_same_v<Found, typename end_of<First>::values>, Found,
        std::conditional_t<std::is_same_v<Found, no_value>, typename end_of<First>::values, several_values>>;
    using type = typename values_among<next, Rest...>::type;
};
template <class Set> struct ends_in;
template <template <class...> class Set, class... Signatures> struct ends_in<Set<Signatures...>> {
    using found = typename values_among<no_value, Signatures...>::type;
    static_assert(!std::is_same_v<found, several_values>,
                  "this sender has several kinds of values: let into_variant, or an algorithm, make one of them");
    using values = std::conditional_t<std::is_same_v<found, no_value> || std::is_same_v<found, several_values>,
                                      std::tuple<>, found>;
    /// Whether it has errors that are no error_code.
    static constexpr bool has_other_errors = (end_of<Signatures>::is_other_error || ...);
};

/// The environment of whoever waits for a sender.
template <class Allocator = recycling_allocator<std::byte>> class waiting_environment {
public:
    waiting_environment(inplace_stop_token t, any_io_executor const& e, Allocator a = {}) noexcept
        : stop_(t),
          executor_(&e),
          allocator_(std::move(a)) {}

    inplace_stop_token query(execution::get_stop_token_t) const noexcept { return stop_; }
    any_io_executor query(execution::get_scheduler_t) const noexcept { return *executor_; }
    any_io_executor query(execution::get_start_scheduler_t) const noexcept { return *executor_; }
    Allocator query(execution::get_allocator_t) const noexcept { return allocator_; }
    inplace_stop_token query(stdexec::get_stop_token_t const&) const noexcept { return stop_; }
    any_io_executor query(stdexec::get_scheduler_t const&) const noexcept { return *executor_; }
    any_io_executor query(stdexec::get_start_scheduler_t const&) const noexcept { return *executor_; }
    Allocator query(stdexec::get_allocator_t const&) const noexcept { return allocator_; }

private:
    inplace_stop_token stop_;
    any_io_executor const* executor_;
    [[no_unique_address]] Allocator allocator_;
};

template <class Sender> using ends_of_sender =
    ends_in<typename protocol_of<Sender>::template signatures<waiting_environment<>>>;

/// How a sender has ended. An error that is neither an error_code nor an exception becomes an exception.
template <class Values> class sender_result {
public:
    template <class... Args> void set_values(Args&&... args) noexcept {
        try {
            end_.template emplace<1>(std::forward<Args>(args)...);
        } catch (...) {
            end_.template emplace<3>(std::current_exception());
        }
    }
    template <class Error> void set_error(Error&& e) noexcept {
        if constexpr (std::is_same_v<std::decay_t<Error>, error_code>)
            end_.template emplace<2>(e);
        else if constexpr (std::is_same_v<std::decay_t<Error>, std::exception_ptr>)
            end_.template emplace<3>(std::forward<Error>(e));
        else if constexpr (std::is_same_v<std::decay_t<Error>, std::error_code>)
            end_.template emplace<3>(std::make_exception_ptr(std::system_error(e)));
        else
            end_.template emplace<3>(std::make_exception_ptr(std::forward<Error>(e)));
    }
    bool has_values() const noexcept { return end_.index() == 1; }
    Values& values() noexcept { return *std::get_if<1>(&end_); }
    /// As an error_code, of results without values and without exceptions.
    error_code code() const noexcept {
        auto const* const ec = std::get_if<2>(&end_);
        return ec ? *ec : error_code(error::operation_aborted);
    }
    /// As an exception, of results without values.
    std::exception_ptr exception() noexcept {
        if (auto* const e = std::get_if<3>(&end_))
            return std::move(*e);
        return std::make_exception_ptr(system_error(code(), "sender"));
    }
    void rethrow_failure() {
        if (auto* const e = std::get_if<3>(&end_))
            std::rethrow_exception(std::move(*e));
        if (!has_values())
            base::throw_error_now(code(), "co_await of a sender");
    }

private:
    std::variant<std::monostate, Values, error_code, std::exception_ptr> end_; ///< the first: it was stopped
};

/// Gives what it gets to its owner, which may be gone when that returns.
template <class Sender, class Owner, class Environment = waiting_environment<>> struct waiting_receiver {
    using receiver_concept = typename protocol_of<Sender>::receiver_tag;

    Owner* owner;

    template <class... Args> void set_value(Args&&... args) noexcept {
        owner->result().set_values(std::forward<Args>(args)...);
        owner->sender_has_ended();
    }
    template <class Error> void set_error(Error&& e) noexcept {
        owner->result().set_error(std::forward<Error>(e));
        owner->sender_has_ended();
    }
    void set_stopped() noexcept { owner->sender_has_ended(); }
    Environment get_env() const noexcept { return owner->environment(); }
};

} // namespace fairlead::impl::sender
