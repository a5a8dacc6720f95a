#pragma once

#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/streambuf.hpp>

#include <asio/fairlead.hpp>
