// The echo server of Asio's tutorials, with callbacks: compiled, never run. One source for Fairlead and for Asio.
#ifdef WHOLE
#include <asio.hpp>
#elif defined OWN_HEADERS
#include <fairlead/base/buffer.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/stream/write.hpp>
#else
#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>
#endif

#include <cstdlib>
#include <memory>
#include <utility>

using asio::ip::tcp;

class session : public std::enable_shared_from_this<session> {
public:
    explicit session(tcp::socket socket) : socket_(std::move(socket)) {}
    void start() { do_read(); }

private:
    void do_read() {
        socket_.async_read_some(asio::buffer(data_), [self = shared_from_this()](auto error, std::size_t n) {
            if (!error)
                self->do_write(n);
        });
    }
    void do_write(std::size_t n) {
        asio::async_write(socket_, asio::buffer(data_, n), [self = shared_from_this()](auto error, std::size_t) {
            if (!error)
                self->do_read();
        });
    }

    tcp::socket socket_;
    char data_[1024];
};

class server {
public:
    server(asio::io_context& context, unsigned short port) : acceptor_(context, tcp::endpoint(tcp::v4(), port)) {
        do_accept();
    }

private:
    void do_accept() {
        acceptor_.async_accept([this](auto error, tcp::socket socket) {
            if (!error)
                std::make_shared<session>(std::move(socket))->start();
            do_accept();
        });
    }

    tcp::acceptor acceptor_;
};

int main(int argc, char** argv) {
    asio::io_context context;
    server s(context, static_cast<unsigned short>(argc > 1 ? std::atoi(argv[1]) : 0));
    context.run();
}
