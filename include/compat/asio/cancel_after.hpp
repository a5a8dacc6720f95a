#pragma once

#include <fairlead/net/cancel_after.hpp>

#include <asio/fairlead.hpp>
