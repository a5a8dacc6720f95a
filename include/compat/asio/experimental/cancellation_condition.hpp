#pragma once

#include <fairlead/token/cancellation_condition.hpp>

#include <asio/cancellation_type.hpp>
#include <asio/disposition.hpp>
#include <asio/fairlead.hpp>
