#pragma once

#include <fairlead/io/io_context_strand.hpp>

#include <asio/detail/brought_along.hpp>
