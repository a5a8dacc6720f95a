#pragma once

#include <fairlead/operation/async_operation.hpp>

#include <asio/fairlead.hpp>
