#pragma once

#include <fairlead/exec/inline_executor.hpp>

#include <asio/fairlead.hpp>
