#pragma once

#include <fairlead/exec/function_executor.hpp>

#include <asio/fairlead.hpp>
