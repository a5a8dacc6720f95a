#pragma once

#include <fairlead/stream/buffered_write_stream.hpp>
#include <fairlead/stream/streambuf.hpp>

#include <asio/fairlead.hpp>
