#pragma once

#include <fairlead/exec/strand.hpp>
#include <fairlead/legacy/io_context_strand.hpp>
#include <fairlead/token/post_function.hpp>

#include <asio/detail/executors.hpp>
#include <asio/detail/inside.hpp>
#include <asio/fairlead.hpp>
