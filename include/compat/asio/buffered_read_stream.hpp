#pragma once

#include <fairlead/stream/buffered_read_stream.hpp>

#include <asio/fairlead.hpp>
