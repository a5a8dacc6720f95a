#pragma once

#include <fairlead/exec/executor.hpp>
#include <fairlead/legacy/any_executor.hpp>
#include <fairlead/legacy/blocking_adaptation.hpp>
#include <fairlead/legacy/invocable_archetype.hpp>
#include <fairlead/legacy/properties.hpp>
#include <fairlead/legacy/property.hpp>

#include <asio/detail/executors.hpp>
#include <asio/detail/socket_types.hpp>
#include <asio/execution/execute.hpp>
#include <asio/fairlead.hpp>
