#include "endpoint.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>

namespace fairlead::sim {

bool endpoint::is_unix() const noexcept { return family == AF_UNIX; }
bool endpoint::is_stream() const noexcept { return type == SOCK_STREAM; }
bool endpoint::is_packets() const noexcept { return type == SOCK_SEQPACKET; }

int endpoint::number_option(int level, int key) const noexcept {
    int number = 0;
    for (option const& o : options)
        if (o.level == level && o.key == key)
            std::memcpy(&number, o.bytes, std::min<std::size_t>(sizeof number, o.size));
    return number;
}

int endpoint::set_option(int level, int key, void const* data, std::size_t size) noexcept {
    if (size > sizeof(option::bytes))
        return EINVAL;
    auto i =
        std::find_if(options.begin(), options.end(), [&](option const& o) { return o.level == level && o.key == key; });
    if (i == options.end()) {
        try {
            i = options.insert(i, option{level, key, 0, {}});
        } catch (...) {
            return ENOBUFS;
        }
    }
    i->size = static_cast<std::uint32_t>(size);
    std::memset(i->bytes, 0, sizeof i->bytes);
    std::memcpy(i->bytes, data, size);
    return 0;
}

std::size_t endpoint::get_option(int level, int key, void* data, std::size_t size) noexcept {
    int number = 0;
    void const* from = &number;
    std::size_t n = sizeof number;
    for (option const& o : options)
        if (o.level == level && o.key == key) {
            from = o.bytes;
            n = o.size;
        }
    bool const is_buffer_size = level == SOL_SOCKET && (key == SO_RCVBUF || key == SO_SNDBUF);
    if (is_buffer_size && from != &number && n == sizeof number) { // Twice what was set, as in the kernel.
        std::memcpy(&number, from, sizeof number);
        number *= 2;
        std::memset(data, 0, size);
        std::memcpy(data, &number, std::min(n, size));
        return std::min(n, size);
    }
    if (level == SOL_SOCKET && from == &number) {
        if (key == SO_ERROR)
            number = std::exchange(error, 0);
        else if (key == SO_TYPE)
            number = type;
        else if (key == SO_ACCEPTCONN)
            number = stage == stage::listening;
        else if (is_buffer_size)
            number = 2 * static_cast<int>(pipe::window);
    }
    std::memset(data, 0, size);
    std::memcpy(data, from, std::min(n, size));
    return from == &number && size > n && size <= sizeof(option::bytes) ? size : std::min(n, size);
}

int endpoint::refusal(io::kind k) const noexcept {
    if (!is_pipe() || is_wait(k))
        return 0;
    bool const is_for_sockets =
        k == io::kind::accept || k == io::kind::connect || k == io::kind::receive_from || k == io::kind::send_to;
    return is_for_sockets ? ENOTSOCK : is_write(k) != (sort == sort::write_end) ? EBADF : 0;
}

std::size_t endpoint::available() const noexcept {
    if (is_stream())
        return in.readable();
    if (is_packets())
        return datagram_bytes - datagrams.size() * datagram::overhead;
    return datagrams.empty() ? 0 : datagrams.front().bytes.size();
}

} // namespace fairlead::sim
