// Asio's namespace, for programs that were written for it. One that reopens it, to specialise a trait, is compiled with
// -Dasio=fairlead instead, which the CMake target fairlead::asio_compat does.
#pragma once

#include <fairlead/base/config.hpp>

// Asio's headers bring the system's along, and programs rely on it.
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

#include <chrono>
#include <string_view>

namespace fairlead {
namespace chrono = std::chrono; // Asio has it since before there was <chrono>; its tutorials still use it.
using std::basic_string_view;   // Likewise from before every library had them; libraries for Asio name delimiters so.
using std::string_view;
} // namespace fairlead
#ifndef asio
namespace asio = fairlead;
#endif

// What initiating functions are declared with.
#define ASIO_INITFN_RESULT_TYPE(...) auto
#define ASIO_INITFN_AUTO_RESULT_TYPE(...) auto
#define ASIO_INITFN_AUTO_RESULT_TYPE_PREFIX(...) auto
#define ASIO_INITFN_AUTO_RESULT_TYPE_SUFFIX(...)
#define ASIO_INITFN_DEDUCED_RESULT_TYPE(token, signature, expression) decltype expression
#define ASIO_COMPLETION_TOKEN_FOR(...) ::asio::completion_token_for<__VA_ARGS__>
#define ASIO_COMPLETION_HANDLER_FOR(...) ::asio::completion_handler_for<__VA_ARGS__>
#define ASIO_DISPOSITION ::asio::disposition
#define ASIO_DEFAULT_COMPLETION_TOKEN_TYPE(...) = ::asio::default_completion_token_t<__VA_ARGS__>
#define ASIO_DEFAULT_COMPLETION_TOKEN(...) = ::asio::default_completion_token_t<__VA_ARGS__>()
#define ASIO_HANDLER_LOCATION(where) static_cast<void>(0) // Handlers are not tracked.

// What programs ask for before they use it.
#define ASIO_VERSION 103800 // 1.38.0, as far as the names go that are there
#define ASIO_STANDALONE 1
#define ASIO_HAS_CO_AWAIT 1
#define ASIO_HAS_LOCAL_SOCKETS 1
#define ASIO_HAS_PIPE 1
#define ASIO_HAS_POSIX_STREAM_DESCRIPTOR 1
#define ASIO_HAS_STD_CHRONO 1
#define ASIO_HAS_STD_FUTURE_CLASS 1
#define ASIO_HAS_STD_STRING_VIEW 1
#define ASIO_HAS_STRING_VIEW 1
#define ASIO_HAS_STD_HASH 1
#define ASIO_HAS_USER_DEFINED_LITERALS 1
#define ASIO_HAS_RETURN_TYPE_DEDUCTION 1
#define ASIO_HAS_VARIABLE_TEMPLATES 1
#define ASIO_HAS_CONCEPTS 1

// Contexts take these and need none (fairlead::config_from_concurrency_hint).
#define ASIO_CONCURRENCY_HINT_1 1
#define ASIO_CONCURRENCY_HINT_DEFAULT (-1)
#define ASIO_CONCURRENCY_HINT_SAFE (-2)
#define ASIO_CONCURRENCY_HINT_UNSAFE (-3)
#define ASIO_CONCURRENCY_HINT_UNSAFE_IO (-4)

// What an executor can do is always deduced: nobody needs to specialise a trait for it.
#define ASIO_HAS_DEDUCED_EQUALITY_COMPARABLE_TRAIT 1
#define ASIO_HAS_DEDUCED_EXECUTE_MEMBER_TRAIT 1
#define ASIO_HAS_DEDUCED_EXECUTION_IS_EXECUTOR_TRAIT 1
#define ASIO_HAS_DEDUCED_PREFER_FREE_TRAIT 1
#define ASIO_HAS_DEDUCED_PREFER_MEMBER_TRAIT 1
#define ASIO_HAS_DEDUCED_QUERY_FREE_TRAIT 1
#define ASIO_HAS_DEDUCED_QUERY_MEMBER_TRAIT 1
#define ASIO_HAS_DEDUCED_QUERY_STATIC_CONSTEXPR_MEMBER_TRAIT 1
#define ASIO_HAS_DEDUCED_REQUIRE_CONCEPT_FREE_TRAIT 1
#define ASIO_HAS_DEDUCED_REQUIRE_CONCEPT_MEMBER_TRAIT 1
#define ASIO_HAS_DEDUCED_REQUIRE_FREE_TRAIT 1
#define ASIO_HAS_DEDUCED_REQUIRE_MEMBER_TRAIT 1
#define ASIO_HAS_DEDUCED_STATIC_QUERY_TRAIT 1
#define ASIO_HAS_DEDUCED_STATIC_REQUIRE_TRAIT 1
#define ASIO_HAS_DEDUCED_STATIC_REQUIRE_CONCEPT_TRAIT 1
