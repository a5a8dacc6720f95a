#pragma once

#include <fairlead/legacy/is_executor.hpp>

#include <asio/fairlead.hpp>
