#pragma once

#include <fairlead/token/cancellation_signal.hpp>

#include <asio/fairlead.hpp>
