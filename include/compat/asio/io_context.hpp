#pragma once

#include <fairlead/exec/config.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/token/post.hpp>

#include <asio/detail/brought_along.hpp>
