#pragma once

#include <fairlead/base/streambuf_fwd.hpp>
#include <fairlead/stream/read_until.hpp>

#include <asio/fairlead.hpp>
