#pragma once

#include <fairlead/exec/bad_executor.hpp>

#include <asio/fairlead.hpp>
