// Holds net/os_values.hpp to the system's headers.
#include <fairlead/net/os_values.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace os = fairlead::impl::net::os;

static_assert(os::af_unspec == AF_UNSPEC && os::af_unix == AF_UNIX);
static_assert(os::af_inet == AF_INET && os::af_inet6 == AF_INET6);
static_assert(os::sock_stream == SOCK_STREAM && os::sock_dgram == SOCK_DGRAM);
static_assert(os::sock_raw == SOCK_RAW && os::sock_seqpacket == SOCK_SEQPACKET);

static_assert(os::sol_socket == SOL_SOCKET);
static_assert(os::so_debug == SO_DEBUG);
static_assert(os::so_reuseaddr == SO_REUSEADDR && os::so_reuseport == SO_REUSEPORT);
static_assert(os::so_dontroute == SO_DONTROUTE);
static_assert(os::so_broadcast == SO_BROADCAST);
static_assert(os::so_sndbuf == SO_SNDBUF && os::so_rcvbuf == SO_RCVBUF);
static_assert(os::so_sndlowat == SO_SNDLOWAT && os::so_rcvlowat == SO_RCVLOWAT);
static_assert(os::so_keepalive == SO_KEEPALIVE);
static_assert(os::so_oobinline == SO_OOBINLINE);
static_assert(os::so_linger == SO_LINGER);

static_assert(os::ipproto_ip == IPPROTO_IP);
static_assert(os::ipproto_icmp == IPPROTO_ICMP && os::ipproto_icmpv6 == IPPROTO_ICMPV6);
static_assert(os::ip_ttl == IP_TTL);
static_assert(os::ip_multicast_if == IP_MULTICAST_IF);
static_assert(os::ip_multicast_ttl == IP_MULTICAST_TTL && os::ip_multicast_loop == IP_MULTICAST_LOOP);
static_assert(os::ip_add_membership == IP_ADD_MEMBERSHIP && os::ip_drop_membership == IP_DROP_MEMBERSHIP);

static_assert(os::ipproto_tcp == IPPROTO_TCP && os::tcp_nodelay == TCP_NODELAY);
static_assert(os::ipproto_udp == IPPROTO_UDP);

static_assert(os::ipproto_ipv6 == IPPROTO_IPV6);
static_assert(os::ipv6_unicast_hops == IPV6_UNICAST_HOPS);
static_assert(os::ipv6_multicast_if == IPV6_MULTICAST_IF);
static_assert(os::ipv6_multicast_hops == IPV6_MULTICAST_HOPS && os::ipv6_multicast_loop == IPV6_MULTICAST_LOOP);
static_assert(os::ipv6_join_group == IPV6_JOIN_GROUP && os::ipv6_leave_group == IPV6_LEAVE_GROUP);
static_assert(os::ipv6_v6only == IPV6_V6ONLY);

static_assert(os::shut_rd == SHUT_RD && os::shut_wr == SHUT_WR && os::shut_rdwr == SHUT_RDWR);
static_assert(os::msg_oob == MSG_OOB && os::msg_peek == MSG_PEEK);
static_assert(os::msg_dontroute == MSG_DONTROUTE && os::msg_eor == MSG_EOR);
static_assert(os::somaxconn == SOMAXCONN);
static_assert(os::fionread == FIONREAD);
