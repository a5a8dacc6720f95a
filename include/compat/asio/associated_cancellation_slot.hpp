#pragma once

#include <fairlead/token/cancellation.hpp>

#include <asio/detail/executors.hpp>
#include <asio/fairlead.hpp>
