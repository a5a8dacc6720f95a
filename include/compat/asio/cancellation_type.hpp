#pragma once

#include <fairlead/exec/cancellation_type.hpp>

#include <asio/detail/config.hpp>
