#pragma once

#include <fairlead/exec/any_executor.hpp>
#include <fairlead/exec/executor.hpp>
#include <fairlead/exec/properties.hpp>
#include <fairlead/exec/property.hpp>

#include <asio/fairlead.hpp>
