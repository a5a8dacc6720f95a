// Fails: Files are not there yet
#ifdef GOOD
#include <asio/ip/tcp.hpp>
#else
#include <asio/stream_file.hpp>
#endif
