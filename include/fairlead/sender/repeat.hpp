// repeat_until: an operation that is started again and again, as one sender.
//
// An algorithm that starts the next operation in the receiver of the last one makes a state and a call for each round.
// Here rounds that succeed at once are turns of a loop, with one state, as they are in a coroutine. They use up the
// budget of the item as any operation does, and then give way to others.
#pragma once

#include <fairlead/sender/connected_op.hpp>

#include <atomic>
#include <concepts>
#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>

namespace fairlead {
namespace impl::sender {

template <class Make> using repeated_op =
    std::decay_t<decltype(operation::as_async_op(std::declval<std::invoke_result_t<Make&>>()))>;

/// Whether the last round was it.
template <class Done, class... Values> bool is_last(Done& done, Values&&... values) {
    if constexpr (std::predicate<Done&, Values...>) {
        return done(std::forward<Values>(values)...);
    } else {
        static_assert(std::predicate<Done&>, "repeat_until: done takes the values of the operation, or nothing, and "
                                             "returns whether that was the last one");
        return done();
    }
}

/// The operation state.
template <class Make, class Done, class Receiver> class repeated final {
    struct each {
        using receiver_concept = execution::receiver_tag;
        repeated* of;
        template <class... Values> void set_value(Values&&... values) noexcept {
            of->has_ended(std::forward<Values>(values)...);
        }
        template <class Error> void set_error(Error&& e) noexcept {
            std::move(of->receiver_).set_error(std::forward<Error>(e));
        }
        void set_stopped() noexcept { std::move(of->receiver_).set_stopped(); }
        decltype(auto) get_env() const noexcept { return execution::get_env(of->receiver_); }
    };
    using round = connected_op<repeated_op<Make>, each>;

public:
    using operation_state_concept = execution::operation_state_tag;

    repeated(Make&& make, Done&& done, Receiver&& r)
        : make_(std::move(make)),
          done_(std::move(done)),
          receiver_(std::move(r)) {}
    repeated(repeated const&) = delete;
    repeated& operator=(repeated const&) = delete;
    ~repeated() { drop_round(); }

    void start() noexcept {
        try {
            ::new (static_cast<void*>(&round_)) round(operation::as_async_op(make_()), each{this});
            has_round_ = true;
        } catch (...) {
            return std::move(receiver_).set_error(std::current_exception());
        }
        round_.start();
    }

private:
    template <class... Values> void has_ended(Values&&... values) noexcept {
        try {
            bool was_last = is_last(done_, std::forward<Values>(values)...);
            if (!was_last && !round_.can_be_renewed()) [[unlikely]] {
                drop_round();
                return start();
            }
            auto const visit = [this, &was_last](auto... now) { was_last = is_last(done_, now...); };
            while (!was_last)
                if (!round_.renew(make_, visit))
                    return; // This may be gone.
        } catch (...) {
            return std::move(receiver_).set_error(std::current_exception());
        }
        std::move(receiver_).set_value();
    }
    void drop_round() noexcept {
        if (std::exchange(has_round_, false))
            round_.~round();
    }

    [[no_unique_address]] Make make_;
    [[no_unique_address]] Done done_;
    [[no_unique_address]] Receiver receiver_;
    bool has_round_ = false;
    union {
        round round_;
    };
};

/// Awaits it in a coroutine of another library.
template <class Make, class Done> class repeated_awaiter {
    struct receiver {
        using receiver_concept = execution::receiver_tag;
        repeated_awaiter* of;
        void set_value() noexcept { of->has_ended(); }
        template <class Error> void set_error(Error&& e) noexcept {
            of->failed_ = disposition_traits<std::decay_t<Error>>::to_exception_ptr(std::forward<Error>(e));
            of->has_ended();
        }
        void set_stopped() noexcept { set_error(error_code(error::operation_aborted)); }
    };

public:
    repeated_awaiter(Make&& make, Done&& done) : state_(std::move(make), std::move(done), receiver{this}) {}
    repeated_awaiter(repeated_awaiter const&) = delete;
    repeated_awaiter& operator=(repeated_awaiter const&) = delete;

    static bool await_ready() noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> h) noexcept {
        handle_ = h;
        state_.start();
        return !is_next_last_.exchange(true, std::memory_order_acq_rel);
    }
    void await_resume() const {
        if (failed_)
            std::rethrow_exception(failed_);
    }

private:
    void has_ended() noexcept {
        if (is_next_last_.exchange(true, std::memory_order_acq_rel))
            handle_.resume();
    }

    repeated<Make, Done, receiver> state_;
    std::coroutine_handle<> handle_;
    std::exception_ptr failed_;
    std::atomic<bool> is_next_last_{false}; ///< the start has returned, or the operation has ended
};

template <class Make, class Done> class repeat_sender {
public:
    using sender_concept = execution::sender_tag;

    repeat_sender(Make&& make, Done&& done) : make_(std::move(make)), done_(std::move(done)) {}

    template <class Receiver> repeated<Make, Done, Receiver> connect(Receiver r) && {
        return repeated<Make, Done, Receiver>(std::move(make_), std::move(done_), std::move(r));
    }
    /// For algorithms that connect a sender several times.
    template <class Receiver> repeated<Make, Done, Receiver> connect(Receiver r) const& {
        return repeat_sender(*this).connect(std::move(r));
    }
    template <class, class...> static consteval auto get_completion_signatures() {
        return typename foreign_signatures<repeat_sender>::type();
    }
    /// Coroutines of ours await it as any sender (sender/await_sender.hpp).
    repeated_awaiter<Make, Done> operator co_await() && { return {std::move(make_), std::move(done_)}; }

private:
    [[no_unique_address]] Make make_;
    [[no_unique_address]] Done done_;
};

/// The ends of the operation, but for its values.
template <class Set, class Value> struct without_values;
template <template <class...> class Set, class First, class... Rest, class Value>
struct without_values<Set<First, Rest...>, Value> {
    using type = Set<Value, Rest...>;
};
template <class Make, class Done> struct own_signatures<repeat_sender<Make, Done>> {
    using type =
        typename without_values<typename own_signatures<repeated_op<Make>>::type, execution::set_value_t()>::type;
};
template <class Make, class Done> struct foreign_signatures<repeat_sender<Make, Done>> {
    using type = typename without_values<typename foreign_signatures<typename repeated_op<Make>::signature>::type,
                                         stdexec::set_value_t()>::type;
};

} // namespace impl::sender

namespace execution {

/// A sender that starts what make() returns, again and again, until done(values...) or done() is true. It takes
/// operations of this library, each time one of the same type.
/// Completes  set_value(); set_error() and set_stopped() as an operation of a round has ended
/// Errors     std::exception_ptr  of make() and done()
/// Cancel     by the stop token of the receiver's environment; the operation that runs is asked to end
/// Immediate  rounds are, within the budget of the item; the stack does not grow with their number
/// Lifetime   make and done lie in the operation state
/// Threads    make() and done() are called where the operations complete, and make() at first in start()
/// Allocates  nothing but what the operations do
template <std::move_constructible Make, std::move_constructible Done>
    requires impl::operation::is_async_op<std::decay_t<std::invoke_result_t<Make&>>>
impl::sender::repeat_sender<Make, Done> repeat_until(Make make, Done done) {
    return {std::move(make), std::move(done)};
}

} // namespace execution
} // namespace fairlead
