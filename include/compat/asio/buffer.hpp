#pragma once

#include <fairlead/base/buffer.hpp>
#include <fairlead/base/buffer_literals.hpp>
#include <fairlead/base/dynamic_buffer.hpp>
#include <fairlead/legacy/null_buffers.hpp>

#include <asio/fairlead.hpp>
