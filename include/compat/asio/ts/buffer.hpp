#pragma once

#include <asio/buffer.hpp>
#include <asio/completion_condition.hpp>
#include <asio/error.hpp>
#include <asio/read.hpp>
#include <asio/read_until.hpp>
#include <asio/write.hpp>
