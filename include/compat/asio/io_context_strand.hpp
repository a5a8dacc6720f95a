#pragma once

#include <fairlead/legacy/io_context_strand.hpp>

#include <asio/detail/brought_along.hpp>
