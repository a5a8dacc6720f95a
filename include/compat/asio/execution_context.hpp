#pragma once

#include <fairlead/exec/execution_context.hpp>

#include <asio/fairlead.hpp>
