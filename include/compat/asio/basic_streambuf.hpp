#pragma once

#include <fairlead/legacy/streambuf.hpp>

#include <asio/fairlead.hpp>
