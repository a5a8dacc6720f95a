#pragma once

#include <fairlead/exec/uses_executor.hpp>

#include <asio/fairlead.hpp>
