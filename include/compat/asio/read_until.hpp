#pragma once

#include <fairlead/base/buffer_literals.hpp>
#include <fairlead/base/dynamic_buffer.hpp>
#include <fairlead/legacy/read_until_streambuf.hpp>
#include <fairlead/stream/read_until.hpp>

#include <asio/detail/executors.hpp>
#include <asio/detail/inside_of_streams.hpp>
#include <asio/detail/memory.hpp>
#include <asio/fairlead.hpp>
