#pragma once

#include <fairlead/net/local.hpp>

#include <asio/detail/brought_along.hpp>
