#pragma once

#include <fairlead/net/signal_set.hpp>

#include <asio/detail/brought_along.hpp>
