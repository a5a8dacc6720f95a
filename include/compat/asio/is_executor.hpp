#pragma once

#include <fairlead/exec/is_executor.hpp>

#include <asio/fairlead.hpp>
