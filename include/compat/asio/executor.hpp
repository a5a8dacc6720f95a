#pragma once

#include <fairlead/exec/ts_executor.hpp>

#include <asio/fairlead.hpp>
