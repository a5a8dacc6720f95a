// Fails: write fairlead::buffer\(x\) of an array or a container that is not const
#include <fairlead/stream/read.hpp>

#include <fairlead/net/stream_socket.hpp>

#ifdef GOOD
using bytes = char[8];
#else
using bytes = char const[8];
#endif

void start(fairlead::local::stream_protocol::socket& socket, bytes& b) {
    auto const op = fairlead::async_read(socket, fairlead::buffer(b));
}
