#pragma once

#include <fairlead/exec/strand.hpp>
#include <fairlead/io/io_context_strand.hpp>

#include <asio/fairlead.hpp>
