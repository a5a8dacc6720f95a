#pragma once

#include <fairlead/token/cancellation.hpp>

#include <asio/fairlead.hpp>
