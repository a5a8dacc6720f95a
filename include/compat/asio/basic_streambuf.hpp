#pragma once

#include <fairlead/base/streambuf.hpp>

#include <asio/fairlead.hpp>
