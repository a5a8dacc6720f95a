#pragma once

#include <fairlead/token/async_op.hpp>

#include <asio/fairlead.hpp>
