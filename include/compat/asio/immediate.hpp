#pragma once

#include <fairlead/token/immediate.hpp>

#include <asio/fairlead.hpp>
