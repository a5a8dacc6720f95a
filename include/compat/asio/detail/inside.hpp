// Names from inside Asio that its headers of executors and handlers bring: programs use them.
#pragma once

#include <asio/detail/atomic_count.hpp>
#include <asio/detail/chrono.hpp>
#include <asio/detail/inside_of_streams.hpp>
#include <asio/detail/memory.hpp>
#include <asio/detail/mutex.hpp>
