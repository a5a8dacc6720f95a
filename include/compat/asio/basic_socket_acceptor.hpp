#pragma once

#include <fairlead/net/acceptor.hpp>

#include <asio/detail/brought_along.hpp>
