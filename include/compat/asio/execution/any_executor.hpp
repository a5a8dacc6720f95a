#pragma once

#include <fairlead/exec/any_executor.hpp>

#include <asio/fairlead.hpp>
