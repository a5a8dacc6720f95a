#pragma once

#include <fairlead/exec/inline_or_executor.hpp>

#include <asio/fairlead.hpp>
