#pragma once

#include <fairlead/stream/buffered_write_stream.hpp>

#include <asio/fairlead.hpp>
