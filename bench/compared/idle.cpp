// The memory of a connection that waits: sockets are there, registered and reading into 64 bytes each, and nothing
// comes. One source for Fairlead (through the headers of fairlead::asio_compat) and for Asio. Counted is what the
// process itself keeps, from descriptors that are open already to reads that are pending.
//
//   idle ROW N
//     ROW  callback or coroutine; native_callback or native_coroutine: the same, but the sockets have io_context's own
//          executor type, and so has Asio's awaitable
//     N    connections, a UNIX pair each; fewer where the system does not allow as many descriptors, which is then said
#include "own_memory.hpp"

#include <asio.hpp>

#ifdef FAIRLEAD_VERSION_MAJOR
#include "../frame_bytes.hpp"
#endif

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace {

using protocol = asio::local::stream_protocol;
using socket_type = protocol::socket;
using native_socket = socket_type::rebind_executor<asio::io_context::executor_type>::other;
using message = std::array<char, 64>;

template <class Socket> struct session {
    Socket socket;
    message data;
    session(asio::io_context& c, int fd) : socket(c, protocol(), fd), data{} {}
};

/// Of Fairlead's awaitable the executor is no part.
template <class Socket> using awaitable_of = asio::awaitable<void, typename Socket::executor_type>;
template <class Socket> awaitable_of<Socket> wait_for_data(Socket socket) {
    constexpr asio::use_awaitable_t<typename Socket::executor_type> use_awaitable;
    message data;
    co_await socket.async_read_some(asio::buffer(data), use_awaitable);
}

#ifdef FAIRLEAD_VERSION_MAJOR
template <class Socket> FAIRLEAD_NOINLINE seen_frame wait_and_be_seen(Socket socket) {
    message data;
    co_await socket.async_read_some(asio::buffer(data), asio::use_awaitable);
}

/// The block of what co_spawn keeps beside a coroutine.
struct root_block {
    std::size_t& bytes;
    explicit root_block(std::size_t& b) noexcept : bytes(b) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<asio::impl::coro::awaitable_promise<void>> h) noexcept {
        using asio::impl::exec::recycler;
        auto* const root = static_cast<asio::impl::coro::spawn_root*>(h.promise().link.record);
        bytes = asio::impl::exec::block_of(root)->size_class * recycler::step;
        return false;
    }
    void await_resume() const noexcept {}
};
asio::awaitable<void> look_at_root(std::size_t& bytes) {
    root_block look(bytes);
    co_await look;
}

template <class Socket> void list_parts(asio::io_context& context, bool with_coroutines) {
    using asio::impl::exec::recycler;
    std::printf("socket %zu bytes, message %zu; blocks have a header of %zu bytes and are rounded up to %zu\n",
                sizeof(Socket), sizeof(message), recycler::header, recycler::step);
    if (!with_coroutines)
        return;
    auto const frame = frame_bytes([&] { return wait_and_be_seen(Socket(context)); });
    std::size_t root = 0;
    asio::co_spawn(context, look_at_root(root), asio::detached);
    context.run();
    context.restart();
    using promise = asio::impl::coro::awaitable_promise<void>;
    std::printf("frame %zu bytes, of it promise %zu\n", frame, sizeof(promise));
    std::printf("co_spawn's own part: a block of %zu bytes, of it await record %zu, of it lent to operations %zu\n",
                root, sizeof(asio::await_record), asio::await_record::lendable);
}
#else
template <class Socket> void list_parts(asio::io_context&, bool) {}
#endif

template <class Socket> void run(bool with_coroutines, open_sockets const& open) {
    asio::io_context context(1);
    list_parts<Socket>(context, with_coroutines);
    auto const before = own_bytes();
    for (int fd : open.fds)
        if (with_coroutines) {
            asio::co_spawn(context, wait_for_data(Socket(context, protocol(), fd)), asio::detached);
        } else {
            auto* one = new session<Socket>(context, fd);
            one->socket.async_read_some(asio::buffer(one->data), [one](auto, std::size_t) { delete one; });
        }
    context.poll();
    print_each(before, open);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    std::string_view const row = argv[1];
    bool const with_coroutines = row.ends_with("coroutine");
    auto const open = open_pairs(std::atoi(argv[2]));
    if (row.starts_with("native_"))
        run<native_socket>(with_coroutines, open);
    else
        run<socket_type>(with_coroutines, open);
}
