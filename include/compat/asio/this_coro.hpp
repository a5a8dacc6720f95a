#pragma once

#include <fairlead/coro/frame.hpp>

#include <asio/fairlead.hpp>
