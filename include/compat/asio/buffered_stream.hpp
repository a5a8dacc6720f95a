#pragma once

#include <fairlead/base/streambuf_fwd.hpp>
#include <fairlead/stream/buffered_stream.hpp>

#include <asio/fairlead.hpp>
