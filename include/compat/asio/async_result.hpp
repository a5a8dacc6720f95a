#pragma once

#include <fairlead/token/async_operation.hpp>

#include <asio/fairlead.hpp>
