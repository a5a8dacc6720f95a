// Forward declarations; here those of everything are the headers themselves.
#pragma once

#include <asio/ts/buffer.hpp>
#include <asio/ts/executor.hpp>
#include <asio/ts/internet.hpp>
#include <asio/ts/io_context.hpp>
#include <asio/ts/socket.hpp>
#include <asio/ts/timer.hpp>
