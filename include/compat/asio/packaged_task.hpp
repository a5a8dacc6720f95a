#pragma once

#include <fairlead/token/use_future.hpp>

#include <asio/fairlead.hpp>
