#pragma once

#include <fairlead/stream/streambuf.hpp>

#include <asio/fairlead.hpp>
