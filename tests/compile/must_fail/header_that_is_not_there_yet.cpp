// Fails: TLS is not there yet
#ifdef GOOD
#include <asio/ip/tcp.hpp>
#else
#include <asio/ssl.hpp>
#endif
