// The rows of read_until.cpp for Boost.Cobalt, whose operations may say for themselves whether they are ready. It has
// nothing that keeps a coroutine from going on for ever.
//
//   cobalt_read_until ready|use_op N
//     ready   an operation written for Cobalt: ready() searches the buffer
//     use_op  Asio's async_read_until with Cobalt's token
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/cobalt/op.hpp>
#include <boost/cobalt/run.hpp>
#include <boost/cobalt/task.hpp>
#include <boost/cobalt/this_coro.hpp>

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

namespace asio = boost::asio;
namespace cobalt = boost::cobalt;
using socket_type = asio::local::stream_protocol::socket;

struct find_line final : cobalt::op<boost::system::error_code, std::size_t> {
    socket_type& stream;
    std::string& text;
    find_line(socket_type& s, std::string& t) : stream(s), text(t) {}

    void ready(cobalt::handler<boost::system::error_code, std::size_t> done) override {
        auto const at = text.find("\r\n");
        if (at != std::string::npos)
            done(boost::system::error_code{}, at + 2);
    }
    void initiate(cobalt::completion_handler<boost::system::error_code, std::size_t> done) override {
        asio::async_read_until(stream, asio::dynamic_buffer(text), "\r\n", std::move(done));
    }
};

cobalt::task<void> read(bool is_ready, long n) {
    auto const executor = co_await cobalt::this_coro::executor;
    socket_type a(executor), b(executor);
    asio::local::connect_pair(a, b);
    std::string text = "Hello, world!\r\n";
    if (is_ready) {
        for (; n != 0; --n)
            co_await find_line(a, text);
    } else {
        for (; n != 0; --n)
            co_await asio::async_read_until(a, asio::dynamic_buffer(text), "\r\n", cobalt::use_op);
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    cobalt::run(read(std::strcmp(argv[1], "ready") == 0, std::atol(argv[2])));
}
