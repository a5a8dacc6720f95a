#pragma once

#include <fairlead/token/adapters.hpp>

#include <asio/fairlead.hpp>
