#pragma once

#include <asio/io_context.hpp>
