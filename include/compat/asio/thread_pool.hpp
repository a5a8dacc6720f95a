#pragma once

#include <fairlead/exec/config.hpp>
#include <fairlead/exec/thread_pool.hpp>

#include <asio/fairlead.hpp>
