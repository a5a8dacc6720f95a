// An algorithm for senders, to the text of the standard and without a trampoline: it repeats an operation. When one
// ends it makes and starts the next in the same call.
#pragma once

#include <fairlead/sender/protocol.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

namespace fairlead::test {

/// Converts to what `f` returns, which then need not be moved.
template <class F> struct made_by {
    F f;
    operator decltype(std::declval<F&>()())() { return f(); }
};
template <class F> made_by(F) -> made_by<F>;

/// The stack that is used between two places of the same thread.
class stack_gauge {
public:
    void look() noexcept {
        auto const here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        lowest_ = std::min(lowest_, here);
        highest_ = std::max(highest_, here);
    }
    std::uintptr_t bytes() const noexcept { return highest_ - lowest_; }

private:
    std::uintptr_t lowest_ = std::numeric_limits<std::uintptr_t>::max();
    std::uintptr_t highest_ = 0;
};

/// How deep the repetitions of this thread are nested, and were at the most.
struct repeat_depth {
    int now = 0;
    int most = 0;
};
inline thread_local repeat_depth this_thread_repeats;

/// Repeats what `make()` returns until `is_done()` says so; then it ends with no value. Other ends are passed on.
template <class Make, class Done> struct repeat_sender {
    using sender_concept = execution::sender_tag;
    using completion_signatures =
        execution::completion_signatures<execution::set_value_t(), execution::set_error_t(std::error_code),
                                         execution::set_error_t(std::exception_ptr), execution::set_stopped_t()>;

    template <class Receiver> class state {
    public:
        using operation_state_concept = execution::operation_state_tag;
        state(Make m, Done d, Receiver r) : make_(std::move(m)), is_done_(std::move(d)), receiver_(std::move(r)) {}
        state(state&&) = delete;

        void start() noexcept { again(); }

    private:
        struct each {
            using receiver_concept = execution::receiver_tag;
            state* of;
            template <class... Values> void set_value(Values&&...) noexcept { of->again(); }
            template <class Error> void set_error(Error&& e) noexcept {
                std::move(of->receiver_).set_error(std::forward<Error>(e));
            }
            void set_stopped() noexcept { std::move(of->receiver_).set_stopped(); }
            auto get_env() const noexcept { return execution::get_env(of->receiver_); }
        };
        struct level {
            level() noexcept {
                auto& depth = this_thread_repeats;
                depth.most = std::max(depth.most, ++depth.now);
            }
            level(level const&) = delete;
            level& operator=(level const&) = delete;
            ~level() { --this_thread_repeats.now; }
        };
        void again() noexcept {
            level const one_more;
            if (is_done_())
                return std::move(receiver_).set_value();
            inner_.emplace(made_by{[this] { return execution::connect(make_(), each{this}); }});
            inner_->start();
        }

        Make make_;
        Done is_done_;
        Receiver receiver_;
        std::optional<execution::connect_result_t<decltype(std::declval<Make&>()()), each>> inner_;
    };

    Make make;
    Done is_done;

    template <class Receiver> state<Receiver> connect(Receiver r) && {
        return state<Receiver>(std::move(make), std::move(is_done), std::move(r));
    }
};
template <class Make, class Done> repeat_sender(Make, Done) -> repeat_sender<Make, Done>;

/// A receiver that counts the ends of each kind.
struct counting_ends {
    using receiver_concept = execution::receiver_tag;
    struct counts {
        int values = 0, errors = 0, stops = 0;
    };
    counts* ends;
    template <class... Values> void set_value(Values&&...) noexcept { ++ends->values; }
    template <class Error> void set_error(Error&&) noexcept { ++ends->errors; }
    void set_stopped() noexcept { ++ends->stops; }
};

} // namespace fairlead::test
