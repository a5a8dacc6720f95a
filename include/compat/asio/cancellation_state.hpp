#pragma once

#include <fairlead/operation/cancellation_state.hpp>

#include <asio/detail/executors.hpp>
#include <asio/fairlead.hpp>
