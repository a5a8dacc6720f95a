// Asio's namespace, for programs that were written for it. One that reopens it, to specialise a trait, is compiled with
// -Dasio=fairlead instead, which the CMake target fairlead::asio_compat does.
#pragma once

#include <fairlead/base/config.hpp>

#include <csignal>

#ifndef asio
namespace fairlead {}
namespace asio = fairlead;
#endif

// What programs ask for before they use it.
#define ASIO_VERSION 103800 // 1.38.0, as far as the names go that are there
#define ASIO_STANDALONE 1
#define ASIO_HAS_CO_AWAIT 1
#define ASIO_HAS_LOCAL_SOCKETS 1
#define ASIO_HAS_PIPE 1
#define ASIO_HAS_POSIX_STREAM_DESCRIPTOR 1
#define ASIO_HAS_STD_CHRONO 1
