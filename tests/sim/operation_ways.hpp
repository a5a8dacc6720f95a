// The ways in which core_operations_test.cpp starts an operation.
#pragma once

#include <fairlead/coro/when_any.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/scope/cancel_after.hpp>
#include <fairlead/scope/task_scope.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>

#include <sim/operation_flight.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace fairlead::test::script {

using namespace std::chrono_literals;

enum class way : std::uint8_t {
    handler,
    handler_with_limit,
    awaited,
    awaited_with_limit,
    beside_a_timer,
    as_a_task,
    in_a_limit,
};
inline constexpr std::uint32_t ways = 7;

/// Starts operations, each in one of these ways.
class starter {
public:
    ledger account;

protected:
    explicit starter(sim::world& w) : account(w), world_(w), host_(w.add_host("here")) {}
    ~starter() = default;

    std::uint32_t below(std::uint32_t n) { return world_.random().below(n); }
    std::chrono::microseconds time_below(std::uint32_t us) { return std::chrono::microseconds(below(us)); }
    io_context& context() { return host_.context(); }

    /// An operation that has not started.
    struct held_base {
        flight& of;
        explicit held_base(flight& f) : of(f) {}
        virtual ~held_base() = default;
        virtual void start(starter& s, way w) = 0;
        virtual std::unique_ptr<held_base> move() = 0;
    };
    template <class Signature> struct held final : held_base {
        async_op<Signature> op;
        held(flight& f, async_op<Signature>&& o) : held_base(f), op(std::move(o)) {}
        void start(starter& s, way w) override { s.start_as(w, this->of, std::move(op)); }
        std::unique_ptr<held_base> move() override { return std::make_unique<held>(this->of, std::move(op)); }
    };
    template <class Signature, std::size_t Storage>
    std::unique_ptr<held_base> hold(flight& f, async_op<Signature, Storage>&& op) {
        return std::make_unique<held<Signature>>(f, async_op<Signature>(std::move(op)));
    }

    auto handler_of(flight& f) {
        return once(account, [this, &f, a = alive(account)](auto&&... values) {
            (f.take(values), ...);
            completed(f);
        });
    }
    /// Its handler must not run inside `initiate`.
    template <class F> void start_with_handler(flight& f, F initiate) {
        f.is_started = f.is_starting = f.has_begun = true;
        initiate();
        f.is_starting = false;
    }

    virtual void completed(flight& f) = 0;

    sim::world& world_;
    sim::host& host_;

private:
    template <class Signature> void start_as(way w, flight& f, async_op<Signature> op) {
        constexpr bool hears_requests = !std::is_same_v<Signature, void()>;
        auto const d = time_below(3000);
        bool const is_limited = w == way::beside_a_timer || w == way::in_a_limit ||
                                (hears_requests && (w == way::handler_with_limit || w == way::awaited_with_limit));
        f.must_end |= is_limited;
        if (is_limited || w == way::as_a_task)
            f.limit = context().now() + d;
        if constexpr (hears_requests) {
            if (w == way::handler_with_limit)
                return start_with_handler(f, [&] {
                    std::move(op)(cancel_after(d, bind_cancellation_slot(f.signal->slot(), handler_of(f))));
                });
            if (w == way::awaited_with_limit)
                return spawn(f, await_with_limit(f, std::move(op), d, alive(account)));
        }
        switch (w) {
        case way::handler:
        case way::handler_with_limit:
            return start_with_handler(f, [&] {
                if constexpr (hears_requests)
                    std::move(op)(bind_cancellation_slot(f.signal->slot(), handler_of(f)));
                else
                    std::move(op)(handler_of(f));
            });
        case way::awaited:
        case way::awaited_with_limit: return spawn(f, await(f, std::move(op), alive(account)));
        case way::beside_a_timer: return spawn(f, await_beside_a_timer(f, std::move(op), d, alive(account)));
        case way::as_a_task: return spawn(f, await_as_a_task(f, std::move(op), d, alive(account)));
        case way::in_a_limit: return spawn(f, await_in_a_limit(f, std::move(op), d, alive(account)));
        }
    }
    void spawn(flight& f, awaitable<void> a) {
        f.is_started = f.is_coroutine = true;
        auto ended = once(account, [this, &f, mine = alive(account)](std::exception_ptr e) {
            if (!f.is_over) {
                account.check(static_cast<bool>(e), "a coroutine has ended before the operation that it awaits");
                f.take(e); // It was asked to end before the operation began.
                completed(f);
            }
        });
        co_spawn(context(), std::move(a), bind_cancellation_slot(f.signal->slot(), std::move(ended)));
    }

    template <class Values> void completed_with(flight& f, Values& values) {
        std::apply([&f](auto&... each) { (f.take(each), ...); }, values);
        completed(f);
    }
    template <class Signature> awaitable<void> await(flight& f, async_op<Signature> op, alive) {
        auto tupled = std::move(op)(as_tuple);
        f.has_begun = true;
        auto values = co_await std::move(tupled);
        completed_with(f, values);
    }
    template <class Signature>
    awaitable<void> await_with_limit(flight& f, async_op<Signature> op, std::chrono::microseconds d, alive) {
        auto limited = std::move(op)(cancel_after(d, as_tuple));
        f.has_begun = true;
        auto values = co_await std::move(limited);
        completed_with(f, values);
    }
    template <class Signature>
    awaitable<void> await_beside_a_timer(flight& f, async_op<Signature> op, std::chrono::microseconds d, alive) {
        steady_timer t(context(), d);
        auto wait = t.async_wait();
        auto tupled = std::move(op)(as_tuple);
        f.has_begun = true;
        if (d.count() % 2 == 0) {
            auto won = co_await when_any(std::move(wait), std::move(tupled));
            note(f, won.template get<1>());
        } else {
            auto won = co_await when_any(std::move(tupled), std::move(wait));
            note(f, won.template get<0>());
        }
    }
    template <class Outcome> void note(flight& f, Outcome& mine) {
        if (mine.has_value())
            return completed_with(f, mine.value());
        f.take(error_code(error::operation_aborted)); // It never began.
        completed(f);
    }
    template <class Signature>
    awaitable<void> await_as_a_task(flight& f, async_op<Signature> op, std::chrono::microseconds d, alive) {
        bool const cancels = d.count() % 2 != 0;
        auto body = [&](task_scope<>& s) -> awaitable<void> {
            auto task = s.spawn(&starter::await<Signature>, this, std::ref(f), std::move(op), alive(account));
            co_await std::move(task);
            if (!cancels)
                co_return;
            steady_timer t(context(), d);
            co_await t.async_wait();
            s.cancel();
        };
        auto scope = with_scope(std::move(body));
        co_await std::move(scope);
        if (!f.is_over) { // It was asked to end before the operation began, which is no failure of a task.
            f.take(error_code(error::operation_aborted));
            completed(f);
        }
    }
    template <class Signature>
    awaitable<void> await_in_a_limit(flight& f, async_op<Signature> op, std::chrono::microseconds d, alive) {
        auto limited = cancel_after(d, await(f, std::move(op), alive(account)));
        co_await std::move(limited);
    }
};

} // namespace fairlead::test::script
