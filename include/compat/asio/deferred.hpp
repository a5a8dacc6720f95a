#pragma once

#include <fairlead/operation/async_op.hpp>
#include <fairlead/token/deferred.hpp>

#include <asio/detail/executors.hpp>
#include <asio/fairlead.hpp>
