#pragma once

#include <fairlead/token/cancellation_state.hpp>

#include <asio/fairlead.hpp>
