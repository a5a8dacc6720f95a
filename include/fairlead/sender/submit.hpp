// async_submit: a sender as an operation, which any token may be given to.
#pragma once

#include <fairlead/coro/spawn_root.hpp>
#include <fairlead/exec/work_guard.hpp>
#include <fairlead/operation/request_relay.hpp>
#include <fairlead/sender/sender_result.hpp>

#include <atomic>
#include <tuple>
#include <type_traits>
#include <utility>

namespace fairlead {
namespace impl::sender {

/// The arguments of a handler: how it ended, and the values, or default ones.
template <class Disposition, class Values> struct submitted_values;
template <class Disposition, class... Values> struct submitted_values<Disposition, std::tuple<Values...>> {
    using type = std::tuple<Disposition, typename coro::spawn_value<Values>::type...>;
    using signature = void(Disposition, typename coro::spawn_value<Values>::type...);
};
template <class Sender> struct submitted_ends {
    using ends = ends_of_sender<Sender>;
    using result = sender_result<typename ends::values>;
    using disposition = std::conditional_t<ends::has_other_errors, std::exception_ptr, error_code>;
    using values = typename submitted_values<disposition, typename ends::values>::type;
    using signature = typename submitted_values<disposition, typename ends::values>::signature;

    static values take(result& r) {
        if (r.has_values())
            return std::apply([](auto&... v) { return values(disposition(), std::move(v)...); }, r.values());
        values failed{};
        if constexpr (ends::has_other_errors)
            std::get<0>(failed) = r.exception();
        else
            std::get<0>(failed) = r.code();
        return failed;
    }
};

/// A started sender with its handler, in one block of the handler's allocator. When it has ended, it goes to the
/// handler's executor as an op. The handler is thus never called inside the sender, which would let no exception out.
template <class Sender, class Executor, class Handler> class submitted_sender final : op {
    using protocol = protocol_of<Sender>;
    using ends = submitted_ends<Sender>;
    using allocator = decltype(operation::handler_allocator_for<std::byte>(std::declval<Handler const&>()));
    using environment_type = waiting_environment<allocator>;
    using receiver = waiting_receiver<Sender, submitted_sender, environment_type>;

public:
    template <class H> submitted_sender(H&& h, Executor const& e, Sender&& s)
        : handler_(std::forward<H>(h)),
          work_(handler_, exec::loop_of(e)),
          executor_(e),
          guard_(e),
          any_executor_(e),
          state_(protocol::connect(std::move(s), receiver{this})) {
        run = &run_it;
        cancel = nullptr;
    }
    submitted_sender(submitted_sender const&) = delete;
    submitted_sender& operator=(submitted_sender const&) = delete;
    ~submitted_sender() = default;

    void start() {
        requests_.listen(handler_, *this);
        protocol::start(state_);
        if (!is_last_use())
            return;
        if constexpr (operation::has_immediate_executor<Handler>) {
            Executor const e = executor_;
            [[maybe_unused]] auto const kept = std::move(guard_);
            auto values = ends::take(result_);
            Handler h = take_handler();
            operation::complete_immediately(e, std::move(h), std::move(values));
        } else {
            go_to_handler();
        }
    }

    typename ends::result& result() noexcept { return result_; }
    environment_type environment() const noexcept {
        return {stop_.get_token(), any_executor_, operation::handler_allocator_for<std::byte>(handler_)};
    }
    void sender_has_ended() noexcept {
        requests_.stop(handler_); // Nobody asks from here on.
        if (is_last_use())
            go_to_handler();
    }
    /// Of the handler's slot.
    void request(cancellation_type type) {
        if (!(type & cancellation_type::terminal))
            return;
        uses_.fetch_add(1, std::memory_order_relaxed); // The sender may end in there.
        stop_.request_stop();
        if (is_last_use())
            go_to_handler();
    }

private:
    bool is_last_use() noexcept { return uses_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
    void go_to_handler() noexcept {
        if constexpr (operation::has_own_executor<Handler>)
            schedule_op(get_associated_executor(handler_, executor_), *this);
        else
            schedule_op(Executor(executor_), *this); // Not the one in here, which may go.
    }
    Handler take_handler() noexcept(std::is_nothrow_move_constructible_v<Handler>) {
        Handler h(operation::move_out(handler_, [this] { operation::deallocate_with(handler_, this); }));
        operation::deallocate_with(h, this);
        return h;
    }
    static void run_it(op* o, op_mode mode) {
        auto& self = static_cast<submitted_sender&>(*o);
        if (mode == op_mode::abandon) {
            static_cast<void>(self.take_handler());
            return;
        }
        [[maybe_unused]] operation::handler_work<Handler> kept(std::move(self.work_)); // until the handler has run
        [[maybe_unused]] auto const kept_here = std::move(self.guard_);
        auto values = ends::take(self.result_);
        Handler h = self.take_handler();
        operation::call_with_values(std::move(h), std::move(values));
    }

    Handler handler_;
    [[no_unique_address]] operation::work_beside_handler<Handler> work_;
    Executor executor_;
    executor_work_guard<Executor> guard_;
    any_io_executor any_executor_;
    inplace_stop_source stop_;
    operation::request_relay<submitted_sender> requests_;
    std::atomic<unsigned> uses_{2}; ///< by the sender, by its start, and by requests
    typename ends::result result_;
    decltype(protocol::connect(std::declval<Sender>(), std::declval<receiver>())) state_;
};

template <class Sender>
concept names_sender_concept =
    requires { typename std::decay_t<Sender>::sender_concept; } || coro::is_foreign_sender<std::decay_t<Sender>>;

template <class Executor, class Sender> struct submit_initiation {
    Executor executor;
    Sender sender;

    static std::string describe() { return "async_submit"; }
    Executor get_executor() const noexcept { return executor; }
    template <class Handler> void operator()(Handler&& handler) && {
        using submitted = submitted_sender<Sender, Executor, std::decay_t<Handler>>;
        operation::allocate_with<submitted>(handler, std::forward<Handler>(handler), executor, std::move(sender))
            ->start();
    }
};

} // namespace impl::sender

/// Starts a sender of C++26, as an operation of `ex`. In a coroutine `co_await sender` does so without a block.
/// Completes  (error_code ec, V... values) for a sender whose errors are error codes, otherwise (std::exception_ptr e,
///            V... values). A V without a default constructor becomes a std::optional
/// Errors     operation_aborted  the sender was stopped
/// Cancel     terminal: it stops the token of the sender's environment
/// Immediate  the sender is started in this call, and may end in there; the handler is queued, on its own executor or
///            else on `ex`
/// Lifetime   the sender is moved, or copied
/// Threads    any
/// Allocates  one block from the handler's allocator, which the sender's environment has, too; awaited without a token
///            of its own, one of the recycler
template <io_executor Executor, impl::sender::names_sender_concept Sender, class Token = use_await_t>
decltype(auto) async_submit(Executor const& ex, Sender&& sender, Token&& token = {}) {
    return completion_token_transform<typename impl::sender::submitted_ends<std::decay_t<Sender>>::signature>(
        std::forward<Token>(token),
        impl::sender::submit_initiation<Executor, std::decay_t<Sender>>{ex, std::forward<Sender>(sender)});
}
template <execution_context_type Context, impl::sender::names_sender_concept Sender, class Token = use_await_t>
decltype(auto) async_submit(Context& c, Sender&& sender, Token&& token = {}) {
    return async_submit(c.get_executor(), std::forward<Sender>(sender), std::forward<Token>(token));
}

} // namespace fairlead
