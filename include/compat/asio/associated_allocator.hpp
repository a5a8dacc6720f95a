#pragma once

#include <fairlead/token/associated.hpp>

#include <asio/detail/executors.hpp>
#include <asio/fairlead.hpp>
