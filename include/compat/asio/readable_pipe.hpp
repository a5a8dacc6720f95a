#pragma once

#include <fairlead/net/pipe.hpp>

#include <asio/detail/brought_along.hpp>
