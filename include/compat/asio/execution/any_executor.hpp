#pragma once

#include <fairlead/legacy/any_executor.hpp>

#include <asio/detail/executors.hpp>
#include <asio/fairlead.hpp>
