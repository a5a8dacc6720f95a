#pragma once

#include <fairlead/token/cancellation_state.hpp>

#include <asio/detail/executors.hpp>
#include <asio/fairlead.hpp>
