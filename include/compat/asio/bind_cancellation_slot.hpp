#pragma once

#include <fairlead/token/bind_cancellation_slot.hpp>

#include <asio/detail/executors.hpp>
#include <asio/detail/inside.hpp>
#include <asio/fairlead.hpp>
