#pragma once

#include <fairlead/net/timer.hpp>

#include <asio/detail/brought_along.hpp>
