#pragma once

#include <fairlead/net/wait_traits.hpp>

#include <asio/detail/config.hpp>
