#pragma once

#include <fairlead/base/error.hpp>

#include <asio/fairlead.hpp>
