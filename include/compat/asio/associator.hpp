#pragma once

#include <fairlead/operation/associator.hpp>

#include <asio/detail/config.hpp>
