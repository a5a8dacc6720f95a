#pragma once

#include <fairlead/net/waitable_timer.hpp>

#include <asio/detail/brought_along.hpp>
