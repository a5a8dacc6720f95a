// The exceptions of socket options, and checks of the layouts that they share with the system.
#include <fairlead/net/socket_options.hpp>

#include <stdexcept>

#include <netinet/in.h>
#include <sys/socket.h>

namespace fairlead::impl::net {

static_assert(sizeof(socket_base::linger) == sizeof(::linger) && sizeof(int) == sizeof(::linger::l_onoff));
static_assert(offsetof(::linger, l_onoff) == 0 && offsetof(::linger, l_linger) == sizeof(int));

static_assert(offsetof(ip_mreq, imr_multiaddr) == 0 && offsetof(ip_mreq, imr_interface) == 4 && sizeof(ip_mreq) == 8);
static_assert(offsetof(ipv6_mreq, ipv6mr_multiaddr) == 0 && offsetof(ipv6_mreq, ipv6mr_interface) == 16);
static_assert(sizeof(ipv6_mreq) == 20);

void throw_option_size() { throw std::length_error("socket option: value of unexpected size"); }
void throw_option_range() { throw std::out_of_range("multicast hops: not within 0 to 255"); }

} // namespace fairlead::impl::net
