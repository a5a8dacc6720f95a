#pragma once

#include <fairlead/token/use_promise.hpp>

#include <asio/experimental/promise.hpp>
#include <asio/fairlead.hpp>
