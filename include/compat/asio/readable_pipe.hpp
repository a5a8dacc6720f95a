#pragma once

#include <fairlead/net/pipe.hpp>

#include <asio/fairlead.hpp>
