#pragma once

#include <fairlead/exec/thread_pool.hpp>

#include <asio/fairlead.hpp>
