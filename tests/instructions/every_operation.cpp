// The cost of every operation in four usual ways to write it: in instructions, counted with callgrind, and in blocks of
// memory. Each operation is performed once, in a world where it succeeds. It has been performed once before, so that
// nothing is done for the first time. With a handler the way through the loop's queue counts.
//
//   every_operation count    two parts of each operation in each way: what comes before it, and the operation
//   every_operation blocks   of each: how many blocks it takes from the recycler, beside those of the coroutine
//   every_operation          their names; every_operation counted: of those that are counted
//
// The instructions of a look-up are those of two threads that wait for each other, and are not counted.
#include "even_clock.hpp"

#include <papers/every_operation.hpp>

#include <fairlead/net/cancel_after.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// Where callgrind is to count anew.
extern "C" FAIRLEAD_NOINLINE void end_of_part() noexcept { asm volatile(""); }

namespace {

using namespace fairlead;
using namespace fairlead::test::every_operation;

enum class wanted { names, count, blocks } what = wanted::names;
bool is_counted_only = false, is_second = false;
std::uint64_t blocks = 0;

/// Stands directly before an operation, and where its result has arrived.
void mark() noexcept {
    if (is_second && what == wanted::count)
        end_of_part();
}
void begin() noexcept {
    impl::exec::recycler_trim();
    blocks = this_thread_recycler_counters().fresh;
    mark();
}
void end() noexcept {
    mark();
    blocks = this_thread_recycler_counters().fresh - blocks;
}

struct handler {
    template <class... Args> void operator()(Args&&...) const noexcept { end(); }
};
void rethrow(std::exception_ptr e) {
    if (e)
        std::rethrow_exception(e);
}

template <class Op, class Token> awaitable<void> awaited(world& w, Token token) {
    begin();
    co_await Op::start(w, std::move(token));
    end();
}
template <class Op, class Token> void start(world& w, Token token) {
    if constexpr (std::is_same_v<Token, handler>)
        post(w.context, [&w, token] { // Outside of the loop nothing is immediate.
            begin();
            Op::start(w, token);
        });
    else
        co_spawn(w.context, awaited<Op>(w, std::move(token)), rethrow);
}

template <class Op> inline constexpr bool hears_requests =
    !std::is_same_v<Op, post_op> && !std::is_same_v<Op, defer_op> && !std::is_same_v<Op, dispatch_op> &&
    !std::is_same_v<Op, immediate_op>;

template <class Op, class Token> void perform(char const* way, Token const& token) {
    if (is_counted_only && std::string_view(Op::name).starts_with("resolver"))
        return;
    if (what != wanted::count)
        std::printf("%s, %s", Op::name, way);
    if (what != wanted::names)
        for (bool const second : {false, true}) {
            world w;
            Op::prepare(w);
            is_second = second;
            start<Op>(w, token);
            w.context.run();
        }
    if (what == wanted::blocks)
        std::printf("\t%d", static_cast<int>(blocks));
    if (what != wanted::count)
        std::printf("\n");
}

} // namespace

int main(int argc, char** argv) {
    std::string_view const first = argc > 1 ? argv[1] : "";
    what = first == "count" ? wanted::count : first == "blocks" ? wanted::blocks : wanted::names;
    is_counted_only = first.starts_with("count");
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        perform<Op>("awaited", use_await);
        perform<Op>("as_tuple", as_tuple(use_await));
        if constexpr (hears_requests<Op>)
            perform<Op>("cancel_after", cancel_after(std::chrono::hours(1)));
        perform<Op>("handler", handler());
    });
    return argc > 1 && what == wanted::names && !is_counted_only ? 2 : 0;
}
