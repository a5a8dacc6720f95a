#pragma once

#include <fairlead/base/buffer_literals.hpp>
#include <fairlead/base/dynamic_buffer.hpp>
#include <fairlead/legacy/streambuf_fwd.hpp>
#include <fairlead/stream/buffered_stream.hpp>

#include <asio/detail/executors.hpp>
#include <asio/detail/inside_of_streams.hpp>
#include <asio/fairlead.hpp>
