#include "immediate.hpp"

#include "cpu_time.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/immediate.hpp>
#include <fairlead/token/post.hpp>

#include <algorithm>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <tuple>

namespace demo {
namespace {

using namespace fairlead;
using socket_type = local::stream_protocol::socket;

struct work {
    socket_type& stream;
    std::string& text;
    std::uint64_t left;
    std::uint64_t found = 0;
};

// ---- the limit: a coroutine that asks nobody

struct bare_task {
    struct promise_type {
        bare_task get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};
struct bare_search {
    std::string& text;
    std::size_t at = 0;
    explicit bare_search(std::string& t) noexcept : text(t) {}
    bool await_ready() noexcept {
        at = text.find('\n');
        return at != std::string::npos;
    }
    void await_suspend(std::coroutine_handle<>) const { std::terminate(); } // It always stands there.
    std::size_t await_resume() const noexcept { return at + 1; }
};
bare_task search_bare(work& w) {
    while (w.left-- != 0) {
        asm volatile("" : : "r"(w.text.data()) : "memory"); // The text may have changed, as far as the compiler knows.
        bare_search search(w.text);
        w.found += co_await search != 0;
    }
}

// ---- the forms

void read_on(work& w) {
    if (w.left-- != 0)
        async_read_until(w.stream, dynamic_buffer(w.text), '\n', [&w](error_code ec, std::size_t) {
            w.found += !ec;
            read_on(w);
        });
}
void read_at_once(work& w) {
    if (w.left-- != 0)
        async_read_until(w.stream, dynamic_buffer(w.text), '\n',
                         bind_immediate_executor(w.stream.get_executor(), [&w](error_code ec, std::size_t) {
                             w.found += !ec;
                             read_at_once(w);
                         }));
}
awaitable<void> read_deferred(work& w) {
    while (w.left-- != 0)
        w.found += co_await async_read_until(w.stream, dynamic_buffer(w.text), '\n', deferred) != 0;
}
awaitable<void> read_awaited(work& w) {
    while (w.left-- != 0)
        w.found += co_await async_read_until(w.stream, dynamic_buffer(w.text), '\n') != 0;
}

/// A user's operation, which says whether it is complete before it is started.
struct find_line {
    socket_type& stream;
    std::string& text;

    auto get_executor() const noexcept { return stream.get_executor(); }
    std::optional<std::tuple<error_code, std::size_t>> try_step() const {
        auto const at = text.find('\n');
        if (at == std::string::npos)
            return std::nullopt;
        return std::tuple(error_code(), at + 1);
    }
    template <class Handler> void operator()(Handler&& handler) const {
        async_read_until(stream, dynamic_buffer(text), '\n', std::forward<Handler>(handler));
    }
};
template <class Token> auto async_find_line(socket_type& stream, std::string& text, Token&& token) {
    return async_initiate<Token, void(error_code, std::size_t)>(find_line{stream, text}, token);
}
awaitable<void> find_awaited(work& w) {
    while (w.left-- != 0)
        w.found += co_await async_find_line(w.stream, w.text, use_await) != 0;
}

} // namespace

bool show_immediate(std::uint64_t reads) {
    io_context ctx(1);
    socket_type a(ctx), b(ctx);
    connect_pair(a, b);
    std::string text = "Hello, world!\n";

    struct row {
        char const* name;
        void (*start)(io_context&, work&);
    };
    row const rows[] = {
        {"a bare await_ready", [](io_context&, work& w) { search_bare(w); }},
        {"callback", [](io_context&, work& w) { read_on(w); }},
        {"bind_immediate_executor", [](io_context& c, work& w) { post(c, [&w] { read_at_once(w); }); }},
        {"co_await, deferred", [](io_context& c, work& w) { co_spawn(c, read_deferred(w), detached); }},
        {"co_await", [](io_context& c, work& w) { co_spawn(c, read_awaited(w), detached); }},
        {"co_await, user's operation", [](io_context& c, work& w) { co_spawn(c, find_awaited(w), detached); }},
    };
    std::printf("\nasync_read_until of a line that is there, %llu times, fairness on, CPU per operation:\n",
                static_cast<unsigned long long>(reads));
    double bare = 0;
    bool right = true;
    for (row const& r : rows) {
        // The shortest of three: a few milliseconds are easily disturbed.
        double least = 0;
        for (int i = 0; i != 3; ++i) {
            work w{a, text, reads};
            double const before = cpu_seconds();
            r.start(ctx, w);
            ctx.run();
            ctx.restart();
            double const took = cpu_seconds() - before;
            least = i == 0 ? took : std::min(least, took);
            right = right && w.found == reads;
        }
        double const ns = least * 1e9 / static_cast<double>(reads);
        if (bare == 0)
            bare = ns;
        std::printf("  %-28s %6.1f ns   %.1f x a bare await_ready\n", r.name, ns, ns / bare);
    }
    return right;
}

} // namespace demo
