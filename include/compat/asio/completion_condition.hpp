#pragma once

#include <fairlead/stream/completion_condition.hpp>

#include <asio/fairlead.hpp>
