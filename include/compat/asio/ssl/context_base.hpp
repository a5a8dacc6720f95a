#pragma once

#include <fairlead/tls/stream_base.hpp>

#include <asio/detail/brought_along.hpp>
