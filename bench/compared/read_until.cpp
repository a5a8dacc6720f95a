// The table of the essay on immediate completions: async_read_until on a buffer in which the delimiter always stands.
// So every operation is complete when it is started. Nothing is consumed, and the stream is never read from. One source
// for Fairlead (through the headers of fairlead::asio_compat) and for Asio. Fairness is on, where there is any.
//
//   read_until ROW N
//     ROW  callback, native_callback (the socket has io_context's own executor type), immediate
//          (bind_immediate_executor), coroutine, deferred (awaited), or own. The last is an awaited operation that is
//          written here and says whether it is ready, as Cobalt's can; Fairlead alone has such. They look for "\r\n",
//          as the essay does; character_coroutine and character_callback for one character
#include <asio.hpp>

#if defined(FAIRLEAD_VERSION_MAJOR) || ASIO_VERSION >= 102700
#define HAS_IMMEDIATE_EXECUTOR
#define HAS_AWAITABLE_DEFERRED
#endif

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace {

using socket_type = asio::local::stream_protocol::socket;
using native_socket = socket_type::rebind_executor<asio::io_context::executor_type>::other;

/// The delimiter.
struct line_end {
    static constexpr char delimiter[] = "\r\n";
};
struct character {
    static constexpr char delimiter = '\n';
};

template <class Socket, class Wanted = line_end> struct reader {
    Socket& stream;
    std::string& text;
    long left;

    void next() {
        if (left-- != 0)
            asio::async_read_until(stream, asio::dynamic_buffer(text), Wanted::delimiter,
                                   [this](auto, std::size_t) { next(); });
    }
};

#ifdef HAS_IMMEDIATE_EXECUTOR
/// A handler may run before its operation's start returns. It then leaves it to the caller's loop to go on, as Asio
/// puts no bound to how deep one may stand in the other.
struct immediate_reader {
    using Wanted = line_end;
    socket_type& stream;
    std::string& text;
    long left;
    bool starting = false;
    bool done = false;

    void next() {
        do {
            if (left-- == 0)
                return;
            starting = true;
            done = false;
            asio::async_read_until(stream, asio::dynamic_buffer(text), Wanted::delimiter,
                                   asio::bind_immediate_executor(stream.get_executor(), [this](auto, std::size_t) {
                                       done = true;
                                       if (!starting)
                                           next();
                                   }));
            starting = false;
        } while (done);
    }
};
#endif

template <class Wanted> asio::awaitable<void> read_awaited(socket_type& stream, std::string& text, long n) {
    for (long i = 0; i != n; ++i)
        co_await asio::async_read_until(stream, asio::dynamic_buffer(text), Wanted::delimiter, asio::use_awaitable);
}

#ifdef HAS_AWAITABLE_DEFERRED
template <class Wanted> asio::awaitable<void> read_deferred(socket_type& stream, std::string& text, long n) {
    for (long i = 0; i != n; ++i)
        co_await asio::async_read_until(stream, asio::dynamic_buffer(text), Wanted::delimiter, asio::deferred);
}
#endif

#ifdef FAIRLEAD_VERSION_MAJOR
struct find_line {
    using Wanted = line_end;
    socket_type& stream;
    std::string& text;

    auto get_executor() const noexcept { return stream.get_executor(); }
    std::optional<std::tuple<asio::error_code, std::size_t>> try_step() const {
        auto const at = text.find(Wanted::delimiter);
        if (at == std::string::npos)
            return std::nullopt;
        return std::tuple(asio::error_code(), at + 2);
    }
    template <class Handler> void operator()(Handler&& handler) const {
        asio::async_read_until(stream, asio::dynamic_buffer(text), Wanted::delimiter, std::forward<Handler>(handler));
    }
};
template <class Token> auto async_find_line(socket_type& stream, std::string& text, Token&& token) {
    return asio::async_initiate<Token, void(asio::error_code, std::size_t)>(find_line{stream, text}, token);
}
asio::awaitable<void> find_awaited(socket_type& stream, std::string& text, long n) {
    for (long i = 0; i != n; ++i)
        co_await async_find_line(stream, text, asio::use_awaitable);
}
#endif

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    long const n = std::atol(argv[2]);
    asio::io_context context(1);
    socket_type a(context), b(context);
    asio::local::connect_pair(a, b);
    native_socket native_a(context), native_b(context);
    asio::local::connect_pair(native_a, native_b);
    std::string text = "Hello, world!\r\n";
    reader<socket_type> callbacks{a, text, n};
    reader<socket_type, character> character_callbacks{a, text, n};
    reader<native_socket> native_callbacks{native_a, text, n};
#ifdef HAS_IMMEDIATE_EXECUTOR
    immediate_reader immediate{a, text, n};
#endif
    if (std::strcmp(argv[1], "coroutine") == 0) {
        asio::co_spawn(context, read_awaited<line_end>(a, text, n), asio::detached);
    } else if (std::strcmp(argv[1], "character_coroutine") == 0) {
        asio::co_spawn(context, read_awaited<character>(a, text, n), asio::detached);
    } else if (std::strcmp(argv[1], "character_callback") == 0) {
        character_callbacks.next();
    } else if (std::strcmp(argv[1], "deferred") == 0) {
#ifdef HAS_AWAITABLE_DEFERRED
        asio::co_spawn(context, read_deferred<line_end>(a, text, n), asio::detached);
#else
        return 77; // this Asio cannot await them
#endif
    } else if (std::strcmp(argv[1], "own") == 0) {
#ifdef FAIRLEAD_VERSION_MAJOR
        asio::co_spawn(context, find_awaited(a, text, n), asio::detached);
#else
        return 77;
#endif
    } else if (std::strcmp(argv[1], "callback") == 0) {
        callbacks.next();
    } else if (std::strcmp(argv[1], "native_callback") == 0) {
        native_callbacks.next();
    } else if (std::strcmp(argv[1], "immediate") == 0) {
#ifdef HAS_IMMEDIATE_EXECUTOR
        asio::post(context, [&] { immediate.next(); }); // Outside of the loop nothing is immediate.
#else
        return 77; // this Asio has none
#endif
    } else {
        return 2;
    }
    context.run();
}
