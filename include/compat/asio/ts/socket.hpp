#pragma once

#include <asio/basic_datagram_socket.hpp>
#include <asio/basic_socket.hpp>
#include <asio/basic_socket_acceptor.hpp>
#include <asio/basic_stream_socket.hpp>
#include <asio/connect.hpp>
#include <asio/socket_base.hpp>
