// Names from inside Asio that its headers of algorithms on streams bring: programs use them.
#pragma once

#include <asio/detail/assert.hpp>
#include <asio/detail/bind_handler.hpp>
#include <asio/detail/cstdint.hpp>
#include <asio/detail/socket_types.hpp>
#include <asio/detail/string_view.hpp>
