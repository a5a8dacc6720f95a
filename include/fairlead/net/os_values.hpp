// Numbers of the kernel's interface that our public headers name: they spare every user the system headers.
// src/net/os_values.cpp asserts each of them against those headers.
#pragma once

namespace fairlead::impl::net::os {

inline constexpr int af_unspec = 0;
inline constexpr int af_unix = 1;
inline constexpr int af_inet = 2;
inline constexpr int af_inet6 = 10;

inline constexpr int sock_stream = 1;
inline constexpr int sock_dgram = 2;
inline constexpr int sock_raw = 3;
inline constexpr int sock_seqpacket = 5;

inline constexpr int sol_socket = 1;
inline constexpr int so_debug = 1;
inline constexpr int so_reuseaddr = 2;
inline constexpr int so_dontroute = 5;
inline constexpr int so_broadcast = 6;
inline constexpr int so_sndbuf = 7;
inline constexpr int so_rcvbuf = 8;
inline constexpr int so_keepalive = 9;
inline constexpr int so_oobinline = 10;
inline constexpr int so_linger = 13;
inline constexpr int so_reuseport = 15;
inline constexpr int so_rcvlowat = 18;
inline constexpr int so_sndlowat = 19;

inline constexpr int ipproto_ip = 0;
inline constexpr int ipproto_icmp = 1;
inline constexpr int ipproto_icmpv6 = 58;
inline constexpr int ip_ttl = 2;
inline constexpr int ip_multicast_if = 32;
inline constexpr int ip_multicast_ttl = 33;
inline constexpr int ip_multicast_loop = 34;
inline constexpr int ip_add_membership = 35;
inline constexpr int ip_drop_membership = 36;

inline constexpr int ipproto_tcp = 6;
inline constexpr int tcp_nodelay = 1;

inline constexpr int ipproto_udp = 17;

inline constexpr int ipproto_ipv6 = 41;
inline constexpr int ipv6_unicast_hops = 16;
inline constexpr int ipv6_multicast_if = 17;
inline constexpr int ipv6_multicast_hops = 18;
inline constexpr int ipv6_multicast_loop = 19;
inline constexpr int ipv6_join_group = 20;
inline constexpr int ipv6_leave_group = 21;
inline constexpr int ipv6_v6only = 26;

inline constexpr int shut_rd = 0;
inline constexpr int shut_wr = 1;
inline constexpr int shut_rdwr = 2;

inline constexpr int msg_oob = 0x1;
inline constexpr int msg_peek = 0x2;
inline constexpr int msg_dontroute = 0x4;
inline constexpr int msg_eor = 0x80;

inline constexpr int somaxconn = 4096;
inline constexpr int fionread = 0x541B;

} // namespace fairlead::impl::net::os
