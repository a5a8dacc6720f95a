#pragma once

#include <fairlead/net/resolver.hpp>

#include <asio/detail/brought_along.hpp>
