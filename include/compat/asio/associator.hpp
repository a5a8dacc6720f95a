#pragma once

#include <fairlead/token/associator.hpp>

#include <asio/detail/config.hpp>
