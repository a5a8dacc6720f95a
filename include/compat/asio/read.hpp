#pragma once

#include <fairlead/base/buffer_literals.hpp>
#include <fairlead/base/dynamic_buffer.hpp>
#include <fairlead/legacy/read_streambuf.hpp>
#include <fairlead/stream/completion_condition.hpp>
#include <fairlead/stream/read.hpp>

#include <asio/detail/executors.hpp>
#include <asio/detail/inside_of_streams.hpp>
#include <asio/detail/memory.hpp>
#include <asio/fairlead.hpp>
