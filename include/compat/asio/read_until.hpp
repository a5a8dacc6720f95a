#pragma once

#include <fairlead/stream/read_until.hpp>

#include <asio/fairlead.hpp>
