// The table of the essay on immediate completions: async_read_until on a buffer in which the delimiter always stands,
// so that every operation is complete when it is started. Nothing is consumed, and the stream is never read from. One
// source for Fairlead (through the headers of fairlead::asio_compat) and for Asio. Fairness is on, where there is any.
//
//   read_until ROW N
//     ROW  callback, immediate (bind_immediate_executor) or coroutine
#include <asio.hpp>

#if defined(FAIRLEAD_VERSION_MAJOR) || ASIO_VERSION >= 102700
#define HAS_IMMEDIATE_EXECUTOR
#endif

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using socket_type = asio::local::stream_protocol::socket;

struct reader {
    socket_type& stream;
    std::string& text;
    long left;

    void next() {
        if (left-- != 0)
            asio::async_read_until(stream, asio::dynamic_buffer(text), '\n', [this](auto, std::size_t) { next(); });
    }
};

#ifdef HAS_IMMEDIATE_EXECUTOR
/// A handler may run before its operation's start returns: it then leaves it to the caller's loop to go on, as Asio
/// puts no bound to how deep one may stand in the other.
struct immediate_reader {
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
            asio::async_read_until(stream, asio::dynamic_buffer(text), '\n',
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

asio::awaitable<void> read_awaited(socket_type& stream, std::string& text, long n) {
    for (long i = 0; i != n; ++i)
        co_await asio::async_read_until(stream, asio::dynamic_buffer(text), '\n', asio::use_awaitable);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    long const n = std::atol(argv[2]);
    asio::io_context context(1);
    socket_type a(context), b(context);
    asio::local::connect_pair(a, b);
    std::string text = "Hello, world!\n";
    reader callbacks{a, text, n};
#ifdef HAS_IMMEDIATE_EXECUTOR
    immediate_reader immediate{a, text, n};
#endif
    if (std::strcmp(argv[1], "coroutine") == 0) {
        asio::co_spawn(context, read_awaited(a, text, n), asio::detached);
    } else if (std::strcmp(argv[1], "callback") == 0) {
        callbacks.next();
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
