#pragma once

#include <fairlead/token/parallel_group.hpp>

#include <asio/async_result.hpp>
#include <asio/experimental/cancellation_condition.hpp>
#include <asio/fairlead.hpp>
