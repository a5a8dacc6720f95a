// A typed command on its way: the command, the space for its result, and whoever waits for it.
#pragma once

#include <fairlead/exec/recycler.hpp>
#include <fairlead/operation/associated.hpp>
#include <fairlead/operation/pass_on.hpp>
#include <fairlead/redis/command.hpp>
#include <fairlead/redis/connection.hpp>

#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace fairlead::redis::impl {

/// Names the command that has failed, and what the server said of it.
FAIRLEAD_EXPORT std::string described(exec_op const& o, std::string_view refusal);

/// The command and the space for its result.
template <class Command> struct call_state {
    Command command;
    typename Command::response_type response;

    explicit call_state(Command&& c) : command(std::move(c)), response(command.response()) {}
    std::string describe(exec_op const& o) const {
        if constexpr (requires { response.refusal(); })
            return described(o, response.refusal());
        else
            return describe_failed(o);
    }
};

template <class T> struct discard_recycled {
    void operator()(T* p) const noexcept {
        p->~T();
        fairlead::impl::exec::recycle_free_sized(p, sizeof(T));
    }
};
/// A state in a block that goes round.
template <class T> std::unique_ptr<T, discard_recycled<T>> make_recycled(T&& from) {
    static_assert(std::is_nothrow_move_constructible_v<T> && alignof(T) <= 16);
    void* const block = fairlead::impl::exec::recycle_allocate(sizeof(T));
    return std::unique_ptr<T, discard_recycled<T>>(::new (block) T(std::move(from)));
}

/// Of a call with a handler. The state lies in a block, for the handler may be moved until it is called.
template <class Command, class Handler> struct call_handler {
    std::unique_ptr<call_state<Command>, discard_recycled<call_state<Command>>> state;
    Handler handler;

    void operator()(error_code ec, std::size_t) {
        auto value = std::move(state->response).value();
        state.reset(); // Memory is free before the handler is called.
        std::move(handler)(ec, std::move(value));
    }
    Handler& get() noexcept { return handler; }
    std::string describe(exec_op const& o) const { return state->describe(o); }
};

/// As execute, for a command that it keeps.
template <class Command> struct typed_call : fairlead::impl::operation::primitive<typed_call<Command>> {
    using signature = void(error_code, typename Command::result_type);
    using record = exec_op;
    static constexpr std::size_t async_op_storage = (sizeof(call_state<Command>) + 2 * sizeof(void*) + 15) / 16 * 16;

    connection_core* connection;
    limit_by_token limit;
    call_state<Command> mutable state; // an await looks at it through the initiation, which is const there

    typed_call(connection_core& c, Command&& command) : connection(&c), state(std::move(command)) {}
    loop* home() const noexcept { return loop_of(*connection); }
    void prepare(record& o) const noexcept {
        auto const to = state.response.refer();
        o.begin(connection, &state.command.req());
        o.object = to.object;
        o.deliver = to.deliver;
        limit.put_into(o);
    }
    template <class Duration> void limit_to(Duration d, cancellation_type type) noexcept { limit.at_most(d, type); }
    void submit(record& o) const noexcept { start(*o.connection, o); }
    std::tuple<error_code, typename Command::result_type> take_here(record& o) const {
        return {o.error(), std::move(state.response).value()};
    }
    std::string describe(record const& o) const { return state.describe(o); }

    template <class Handler> void operator()(Handler&& handler) const {
        auto kept = make_recycled(std::move(state));
        auto const& r = kept->command.req();
        auto const to = kept->response.refer();
        execute call(*connection, r, to);
        call.limit = limit;
        call(call_handler<Command, std::decay_t<Handler>>{std::move(kept), std::forward<Handler>(handler)});
    }
};

} // namespace fairlead::redis::impl

template <template <class, class> class A, class C, class H, class D>
struct fairlead::associator<A, fairlead::redis::impl::call_handler<C, H>, D>
    : fairlead::impl::operation::pass_on<A, fairlead::redis::impl::call_handler<C, H>, H, D> {};
