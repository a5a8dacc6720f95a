#pragma once

#include <fairlead/net/timer.hpp>

#include <asio/fairlead.hpp>
