#pragma once

#include <fairlead/base/streambuf_fwd.hpp>

#include <asio/fairlead.hpp>
