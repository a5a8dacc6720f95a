#pragma once

#include <fairlead/operation/associated.hpp>

#include <asio/detail/executors.hpp>
#include <asio/fairlead.hpp>
