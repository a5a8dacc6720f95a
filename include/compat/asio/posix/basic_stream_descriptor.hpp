#pragma once

#include <fairlead/net/descriptor.hpp>

#include <asio/detail/brought_along.hpp>
