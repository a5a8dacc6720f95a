// Asio's namespace, for programs that were written for it. One that reopens it, to specialise a trait, is compiled with
// -Dasio=fairlead instead, which the CMake target fairlead::asio_compat does.
#pragma once

#include <asio/detail/config.hpp>
#include <asio/detail/execution_context_service_base.hpp>

// Asio's headers bring each other along, the system's and the standard library's; programs rely on it.
#include <fairlead/base/buffer_literals.hpp>
#include <fairlead/base/config.hpp>
#include <fairlead/base/disposition.hpp>
#include <fairlead/base/dynamic_buffer.hpp>
#include <fairlead/base/error.hpp>
#include <fairlead/exec/any_executor.hpp>
#include <fairlead/exec/blocking_adaptation.hpp>
#include <fairlead/exec/config.hpp>
#include <fairlead/exec/inline_executor.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/token/associated.hpp>
#include <fairlead/token/async_operation.hpp>
#include <fairlead/token/cancellation_state.hpp>
#include <fairlead/token/default_token.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/post.hpp>

#include <arpa/inet.h>
#include <csignal>
#include <fcntl.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <any>
#include <array>
#include <cassert>
#include <chrono>
#include <climits>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace fairlead {
namespace chrono = std::chrono; // Asio has it since before there was <chrono>; its tutorials still use it.
using std::basic_string_view;   // Likewise from before every library had them; libraries for Asio name delimiters so.
using std::string_view;
} // namespace fairlead
#ifndef asio
namespace asio = fairlead;
#endif
