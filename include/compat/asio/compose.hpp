#pragma once

#include <fairlead/token/compose.hpp>

#include <asio/fairlead.hpp>
