// Fails: write fairlead::buffer\(x\) of an array or a container that is not const
#include <fairlead/net/stream_socket.hpp>

void start(fairlead::local::stream_protocol::socket& socket, char (&bytes)[8]) {
#ifdef GOOD
    auto const op = socket.async_read_some(fairlead::buffer(bytes));
#else
    auto const op = socket.async_read_some(bytes);
#endif
}
