#pragma once

#include <fairlead/exec/config.hpp>

#include <asio/fairlead.hpp>
