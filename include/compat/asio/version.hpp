#pragma once

#include <fairlead/base/config.hpp>

#include <asio/detail/config.hpp>
