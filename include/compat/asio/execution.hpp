#pragma once

#include <fairlead/exec/any_executor.hpp>
#include <fairlead/exec/blocking_adaptation.hpp>
#include <fairlead/exec/executor.hpp>
#include <fairlead/exec/invocable_archetype.hpp>
#include <fairlead/exec/properties.hpp>
#include <fairlead/exec/property.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/execution/execute.hpp>
#include <asio/fairlead.hpp>
