#pragma once

#include <fairlead/stream/completion_condition.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/streambuf.hpp>

#include <asio/fairlead.hpp>
