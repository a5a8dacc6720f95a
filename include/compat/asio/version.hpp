#pragma once

#include <fairlead/base/config.hpp>

#include <asio/fairlead.hpp>
