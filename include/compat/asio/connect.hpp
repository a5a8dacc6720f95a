#pragma once

#include <fairlead/net/connect.hpp>

#include <asio/detail/brought_along.hpp>
