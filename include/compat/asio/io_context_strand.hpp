#pragma once

#include <fairlead/io/io_context_strand.hpp>

#include <asio/fairlead.hpp>
