#pragma once

#include <fairlead/legacy/uses_executor.hpp>

#include <asio/fairlead.hpp>
