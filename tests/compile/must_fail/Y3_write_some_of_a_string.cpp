// Fails: these are no buffers: write fairlead::buffer\(x\) of a string
#include <fairlead/net/stream_socket.hpp>
#include <string>

std::size_t send(fairlead::ip::tcp::socket& socket, std::string const& text) {
#ifdef GOOD
    auto const op = socket.async_write_some(fairlead::buffer(text));
#else
    auto const op = socket.async_write_some(text);
#endif
    return sizeof op;
}
