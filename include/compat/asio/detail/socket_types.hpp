// The headers of the system that Asio's sockets bring along, and what Asio calls the system's names.
#pragma once

#include <asio/detail/config.hpp>

#include <arpa/inet.h>
#include <climits>
#include <fcntl.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

/// The system's constant `c`, whatever a system calls it: this one has them all.
#define ASIO_OS_DEF(c) c

namespace fairlead::detail {

using socket_type = int;
inline constexpr socket_type invalid_socket = -1;
inline constexpr int max_iov_len = IOV_MAX; // by which programs size the lists of buffers that they gather

} // namespace fairlead::detail
