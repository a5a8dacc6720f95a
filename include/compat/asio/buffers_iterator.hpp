#pragma once

#include <fairlead/base/buffers_iterator.hpp>

#include <asio/fairlead.hpp>
