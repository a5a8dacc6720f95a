// clang-format off
// The listing of "What's New in Asio - Performance" (Asio 1.17; Copyright Christopher M. Kohlhoff, Boost Software
// License 1.0), unchanged: compiled as it stands for Asio, and for Fairlead through the headers of fairlead::asio_compat.

#include <asio.hpp>
#include <array>
#include <memory>

using socket_type = asio::local::stream_protocol::socket;
constexpr std::size_t buffer_size = 64;
constexpr int connections = 100;
constexpr int iterations = 100000;

struct echo_session
{
  socket_type socket;
  std::array<char, buffer_size> data{0};
  int count = 0;

  explicit echo_session(asio::io_context& ctx)
    : socket(ctx)
  {
  }

  friend void do_read(
      std::unique_ptr<echo_session> self)
  {
    auto& socket = self->socket;
    auto buffer = asio::buffer(self->data);
    socket.async_read_some(buffer,
        [self = std::move(self)](auto error, auto n) mutable
        {
          if (!error)
            do_write(std::move(self), n);
        }
      );
  }

  friend void do_write(
      std::unique_ptr<echo_session> self,
      std::size_t n)
  {
    auto& socket = self->socket;
    auto buffer = asio::buffer(self->data, n);
    asio::async_write(socket, buffer,
        [self = std::move(self)](auto error, auto) mutable
        {
          if (!error && self->count++ < iterations)
            do_read(std::move(self));
        }
      );
  }
};

int main()
{
  asio::io_context ctx(1);

  for (int i = 0; i < connections; ++i)
  {
    auto session1 = std::make_unique<echo_session>(ctx);
    auto session2 = std::make_unique<echo_session>(ctx);
    connect_pair(session1->socket, session2->socket);
    do_read(std::move(session1));
    do_write(std::move(session2), buffer_size);
  }

  ctx.run();
}
