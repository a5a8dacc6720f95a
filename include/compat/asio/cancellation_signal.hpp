#pragma once

#include <fairlead/operation/cancellation_signal.hpp>

#include <asio/fairlead.hpp>
