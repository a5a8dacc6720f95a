#pragma once

#include <fairlead/legacy/streambuf_fwd.hpp>

#include <asio/fairlead.hpp>
