#pragma once

#include <fairlead/io/io_context.hpp>
#include <fairlead/legacy/config.hpp>
#include <fairlead/legacy/wrapped_handler.hpp>
#include <fairlead/token/post.hpp>

#include <asio/detail/brought_along.hpp>
