#pragma once

#include <fairlead/legacy/any_executor.hpp>

#include <asio/fairlead.hpp>
