#pragma once

#include <fairlead/net/signal_set.hpp>

#include <asio/fairlead.hpp>
