#pragma once

#include <fairlead/stream/completion_condition.hpp>
#include <fairlead/stream/streambuf.hpp>
#include <fairlead/stream/write.hpp>

#include <asio/fairlead.hpp>
