#pragma once

#include <fairlead/net/cancel_after.hpp>

#include <asio/detail/brought_along.hpp>
