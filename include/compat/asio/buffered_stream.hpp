#pragma once

#include <fairlead/stream/buffered_stream.hpp>

#include <asio/fairlead.hpp>
