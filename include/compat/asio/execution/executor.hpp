#pragma once

#include <fairlead/exec/executor.hpp>

#include <asio/fairlead.hpp>
