#pragma once

#include <fairlead/base/streambuf_fwd.hpp>
#include <fairlead/stream/completion_condition.hpp>
#include <fairlead/stream/read.hpp>

#include <asio/fairlead.hpp>
